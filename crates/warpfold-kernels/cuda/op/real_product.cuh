// Products of real floats: a mantissa of two f64 (106 bits) and its exponent apart in 64 bits; which of zero, infinity,
// NaN was met.
//
// record: [mantissa high, low as f64; exponent; flags]. flags: 1 a zero, 2 an infinity, 4 a NaN, 8 negative.
#pragma once
#include "op/integer_product.cuh"

__device__ __forceinline__ i32 exponent_field(f64 x) { return __double2hiint(x) >> 20 & 0x7ff; }

template <class E, Nan NAN> struct RealProduct {
    typedef E Element;
    struct State {
        f64 high, low;
        i64 exponent;
        u64 flags;
    };
    static constexpr int VECTORS = 4, BLOCKS = 3;
    State product = identity();

    __device__ __forceinline__ RealProduct(const E*, u64) {}

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
    // Multiplies by two factors so far from the ends of f64 that a mantissa times both is a normal number, unless one
    // is zero, infinite or NaN: then it does nothing and says so.
    __device__ __forceinline__ bool multiply_moderate(f64 first, f64 second) {
        State s = product;
#pragma unroll
        for (int k = 0; k < 2; k++) {
            const f64 factor = k ? second : first;
            const f64 high = s.high * factor;
            const f64 low = fma(s.low, factor, fma(s.high, factor, -high));
            s.high = high + low;
            s.low = low - (s.high - high);
        }
        const bool normal = u32(exponent_field(s.high) - 1) < 0x7feu;
        if (normal) product = s;
        return normal;
    }
    // As many elements as can be multiplied exactly come first: two of f16 and bf16 in f32, and two such pairs, or two
    // of f32, in f64.
    __device__ __forceinline__ void vector(const Vector& p, u64) {
        Elements<E> e(p);
        if constexpr (sizeof(E) == 2) {
            f32 pair[4];
#pragma unroll
            for (int k = 0; k < 4; k++) pair[k] = __fmul_rn(kept(e.element[2 * k]), kept(e.element[2 * k + 1]));
            const f64 first = f64(pair[0]) * f64(pair[1]), second = f64(pair[2]) * f64(pair[3]);
            if constexpr (is_half(E())) {
                if (!multiply_moderate(first, second)) multiply(first), multiply(second);
            } else {
                // Those of bf16 may leave the normal numbers of f32.
                const f32 least = fminf(fminf(fabsf(pair[0]), fabsf(pair[1])), fminf(fabsf(pair[2]), fabsf(pair[3])));
                if (!(least >= 1.17549435e-38f) || !multiply_moderate(first, second)) one_by_one(p);
            }
        } else if constexpr (sizeof(E) == 4) {
            const f64 first = f64(kept(e.element[0])) * f64(kept(e.element[1])),
                      second = f64(kept(e.element[2])) * f64(kept(e.element[3]));
            if (!multiply_moderate(first, second)) multiply(first), multiply(second);
        } else {
            multiply(kept(e.element[0]));
            multiply(kept(e.element[1]));
        }
        normalise(product);
    }
    __device__ __forceinline__ void one_by_one(Vector p) {
#pragma unroll 1
        for (int k = 0; k < PER_VECTOR<E>; k++) one(take_first<E>(p), 0);
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
