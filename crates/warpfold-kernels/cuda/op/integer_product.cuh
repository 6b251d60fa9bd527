// Products of integers: the product of the magnitudes modulo 2^64, whether it ever went beyond, whether a zero was met,
// the sign.
//
// record: [low 64 bits of the magnitude, flags]. flags: 1 a zero, 2 beyond 2^64, 8 negative.
#pragma once
#include "walk/array.cuh"
#include "num/order.cuh"

constexpr u64 ZERO = 1, BEYOND = 2, NOT_A_NUMBER = 4, NEGATIVE = 8;

template <class E> struct IntegerProduct {
    typedef E Element;
    struct State {
        u64 low, flags;
    };
    static constexpr int VECTORS = 4, BLOCKS = 3;
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
    __device__ __forceinline__ void vector(const Vector& p, u64) {
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
    static __device__ __forceinline__ bool has_zero(const Vector& p) {
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
