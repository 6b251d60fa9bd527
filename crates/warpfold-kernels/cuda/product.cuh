// Products that neither overflow nor underflow on their way; product.cu says what of them is written.
//
// flags: 1 a zero, 2 an infinity (integers: beyond 2^64), 4 a NaN, 8 negative.
#pragma once
#include "fold.cuh"
#include "order.cuh"

constexpr u64 ZERO = 1, BEYOND = 2, NOT_A_NUMBER = 4, NEGATIVE = 8;

template <class E> struct IntegerProduct {
    typedef E Element;
    struct State { u64 low, flags; };
    static constexpr int PACKS = 4, BLOCKS = 3;
    u64 low = 1;
    u64 flags = 0;

    __device__ __forceinline__ IntegerProduct(const E*, u64) {}
    // Multiplies by a magnitude of up to 64 bits.
    static __device__ __forceinline__ void multiply(State& s, u64 factor) {
        // Once beyond, only a zero matters, so the upper half need not be known.
        if (!(s.flags & BEYOND) && __umul64hi(s.low, factor)) s.flags |= BEYOND;
        s.low *= factor;
        if (factor == 0) s.flags |= ZERO;
    }
    __device__ __forceinline__ void factor(u64 f) {
        State s = {low, flags};
        multiply(s, f);
        low = s.low;
        flags = s.flags;
    }
    // As many magnitudes as 64 bits hold for certain are multiplied first: eight bytes, four halves, two words.
    __device__ __forceinline__ void pack(const Pack& p, u64) {
        Elements<E> e(p);
        u32 signs = p.word[0] ^ p.word[1] ^ p.word[2] ^ p.word[3];
        if constexpr (sizeof(E) == 8) signs = p.word[1] ^ p.word[3];
        // Once all low bits are gone (a zero, or 64 factors of two), only a zero can change anything but the sign.
        if (low == 0) {
            if (has_zero(p)) flags |= ZERO;
        } else {
            multiply_groups(e);
        }
        if constexpr (Traits<E>::is_signed) {
            constexpr u32 SIGNS = sizeof(E) == 1 ? 0x80808080u : sizeof(E) == 2 ? 0x80008000u : 0x80000000u;
            flags ^= (__popc(signs & SIGNS) & 1) ? NEGATIVE : 0;
        }
    }
    static __device__ __forceinline__ bool has_zero(const Pack& p) {
        if constexpr (sizeof(E) == 8) {
            return (p.word[0] | p.word[1]) == 0 || (p.word[2] | p.word[3]) == 0;
        } else {
            // The lowest zero byte (half, word) sets its top bit here, and where there is none nothing does.
            constexpr u32 ONES = sizeof(E) == 1 ? 0x01010101u : sizeof(E) == 2 ? 0x00010001u : 1u;
            constexpr u32 TOPS = ONES << (8 * sizeof(E) - 1);
            u32 zero = 0;
#pragma unroll
            for (int k = 0; k < 4; k++) zero |= (p.word[k] - ONES) & ~p.word[k] & TOPS;
            return zero != 0;
        }
    }
    __device__ __forceinline__ void multiply_groups(const Elements<E>& e) {
#pragma unroll
        for (int g = 0; g < 2; g++) {
            if constexpr (sizeof(E) == 1) {
                u32 a = 1, b = 1;
#pragma unroll
                for (int k = 0; k < 4; k++) {
                    a *= magnitude(widen(e.element[8 * g + k]));
                    b *= magnitude(widen(e.element[8 * g + 4 + k]));
                }
                factor(u64(a) * b);
            } else if constexpr (sizeof(E) == 2) {
                const u32 a = magnitude(widen(e.element[4 * g])) * magnitude(widen(e.element[4 * g + 1]));
                const u32 b = magnitude(widen(e.element[4 * g + 2])) * magnitude(widen(e.element[4 * g + 3]));
                factor(u64(a) * b);
            } else if constexpr (sizeof(E) == 4) {
                factor(u64(magnitude(widen(e.element[2 * g]))) * magnitude(widen(e.element[2 * g + 1])));
            } else {
                factor(magnitude(widen(e.element[g])));
            }
        }
    }
    __device__ __forceinline__ void one(E x, u64) {
        factor(magnitude(widen(x)));
        if constexpr (Traits<E>::is_signed) flags ^= x < E(0) ? NEGATIVE : 0;
    }
    __device__ __forceinline__ State state() { return {low, flags}; }
    static __device__ __forceinline__ State identity() { return {1, 0}; }
    static __device__ __forceinline__ void merge(State& a, const State& b) {
        const u64 flags = (a.flags ^ (b.flags & NEGATIVE)) | (b.flags & ~NEGATIVE);
        multiply(a, b.low);
        // A low half of zero is no zero factor.
        a.flags = flags | (a.flags & BEYOND);
    }
    static __device__ __forceinline__ void finish(const State& s, const Arguments& a) {
        if (!a.record) return;
        a.record[0] = s.low;
        a.record[1] = s.flags;
    }
};

__device__ __forceinline__ i32 exponent_field(f64 x) { return __double2hiint(x) >> 20 & 0x7ff; }

template <class E, Nan NAN> struct FloatProduct {
    typedef E Element;
    struct State { f64 high, low; i64 exponent; u64 flags; };
    static constexpr int PACKS = 4, BLOCKS = 3;
    State product = identity();

    __device__ __forceinline__ FloatProduct(const E*, u64) {}

    // Brings the mantissa to 1 <= |high| < 2. It is a normal number.
    static __device__ __forceinline__ void normalise(State& s) {
        const i32 shift = exponent_field(s.high) - 1023;
        const f64 scale = __hiloint2double((1023 - shift) << 20, 0);
        s.high *= scale;
        s.low *= scale;
        s.exponent += shift;
    }
    // Multiplies by a number that is exact in f64; those of f64 itself may be subnormal.
    __device__ __forceinline__ void multiply(f64 x) {
        i32 field = exponent_field(x);
        if (u32(field - 1) >= 0x7feu) {
            if (field == 0x7ff) {
                product.flags |= x != x ? NOT_A_NUMBER : BEYOND;
                if (x < 0) product.flags ^= NEGATIVE;
                return;
            }
            if (x == 0) {
                product.flags |= ZERO;
                if (__double2hiint(x) < 0) product.flags ^= NEGATIVE;
                return;
            }
            x *= 18446744073709551616.0;  // 2^64
            product.exponent -= 64;
            field = exponent_field(x);
        }
        const f64 m = __hiloint2double((__double2hiint(x) & 0x800fffff) | 0x3ff00000, __double2loint(x));
        product.exponent += field - 1023;
        const f64 high = product.high * m;
        const f64 low = fma(product.low, m, fma(product.high, m, -high));
        product.high = high + low;
        product.low = low - (product.high - high);
    }
    static __device__ __forceinline__ auto kept(E x) {
        auto w = widen(x);
        if constexpr (NAN == Nan::Ignore) return w != w ? decltype(w)(1) : w;
        else return w;
    }
    // Multiplies by factors so far from the ends of f64 that a mantissa times all of them is a normal number, unless one is
    // zero, infinite or NaN: then one by one.
    template <int COUNT> __device__ __forceinline__ void multiply_moderate(const f64 (&factor)[COUNT]) {
        State s = product;
#pragma unroll
        for (int k = 0; k < COUNT; k++) {
            const f64 high = s.high * factor[k];
            const f64 low = fma(s.low, factor[k], fma(s.high, factor[k], -high));
            s.high = high + low;
            s.low = low - (s.high - high);
        }
        if (u32(exponent_field(s.high) - 1) < 0x7feu) {
            product = s;
        } else {
#pragma unroll
            for (int k = 0; k < COUNT; k++) multiply(factor[k]);
        }
        normalise(product);
    }
    // As many elements as f64 multiplies exactly come first: four of f16 and bf16, two of f32.
    __device__ __forceinline__ void pack(const Pack& p, u64) {
        Elements<E> e(p);
        if constexpr (sizeof(E) == 2) {
            f64 four[2];
#pragma unroll
            for (int k = 0; k < 2; k++) {
                const f64 a = f64(kept(e.element[4 * k])) * f64(kept(e.element[4 * k + 1]));
                const f64 b = f64(kept(e.element[4 * k + 2])) * f64(kept(e.element[4 * k + 3]));
                four[k] = a * b;
            }
            // Four of bf16 reach 2^-532, so that two such factors leave the normal numbers.
            if constexpr (is_half(E())) {
                multiply_moderate(four);
            } else {
                multiply_moderate<1>({four[0]});
                multiply_moderate<1>({four[1]});
            }
        } else if constexpr (sizeof(E) == 4) {
            multiply_moderate<2>({f64(kept(e.element[0])) * f64(kept(e.element[1])),
                                  f64(kept(e.element[2])) * f64(kept(e.element[3]))});
        } else {
            multiply(kept(e.element[0]));
            multiply(kept(e.element[1]));
            normalise(product);
        }
    }
    static constexpr __device__ bool is_half(f16) { return true; }
    template <class T> static constexpr __device__ bool is_half(T) { return false; }
    __device__ __forceinline__ void one(E x, u64) {
        multiply(f64(kept(x)));
        normalise(product);
    }
    __device__ __forceinline__ State state() { return product; }
    static __device__ __forceinline__ State identity() { return {1, 0, 0, 0}; }
    static __device__ __forceinline__ void merge(State& a, const State& b) {
        a.flags = (a.flags ^ (b.flags & NEGATIVE)) | (b.flags & ~NEGATIVE);
        a.exponent += b.exponent;
        const f64 high = a.high * b.high;
        const f64 low = fma(a.high, b.low, fma(a.low, b.high, fma(a.high, b.high, -high)));
        a.high = high + low;
        a.low = low - (a.high - high);
        normalise(a);
    }
    static __device__ __forceinline__ void finish(const State& s, const Arguments& a) {
        if (!a.record) return;
        const bool negative = s.high < 0;
        a.record[0] = __double_as_longlong(negative ? -s.high : s.high);
        a.record[1] = __double_as_longlong(negative ? -s.low : s.low);
        a.record[2] = s.exponent;
        a.record[3] = negative ? s.flags ^ NEGATIVE : s.flags;
    }
};
