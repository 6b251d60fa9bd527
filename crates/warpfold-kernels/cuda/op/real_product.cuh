// Products of real floats along the canonical tree (crates/warpfold-exact/src/tree, partial/product/tree.rs): the same
// IEEE operations in the same order as the library's own on the processor, so the same bits. No contraction: each
// operation is named.
//
// A run of 32 elements multiplies its factors in order: a factor is one element of f64, the product of two of f32, of
// four of f16 or bf16, which f64 holds exactly. Exponents are taken out of the factors, which does not show in the bits
// (theorem there). A run with a factor that is no normal number is multiplied again, leaf by leaf.
#pragma once
#include "num/double_double.cuh"
#include "op/integer_product.cuh"
#include "walk/tree_block.cuh"

// The product of a span of the tree: mantissa 1 <= high < 2, exponent and sign apart. Flags: 1 a zero, 2 an infinity, 4
// a NaN was met, which make the mantissa 1; 8 negative.
struct RealNode {
    f64 high, low;
    i64 exponent;
    u64 flags;
};

__device__ __forceinline__ i32 exponent_field(f64 x) { return __double2hiint(x) >> 20 & 0x7ff; }
// The same number from 1 on and below 2, with its sign.
__device__ __forceinline__ f64 mantissa_of(f64 x) {
    return __hiloint2double((__double2hiint(x) & 0x800fffff) | 0x3ff00000, __double2loint(x));
}

// Exactly: the sum of two numbers above zero, times a power of two, the first from 1 on and below 2.
__device__ __forceinline__ RealNode brought_to_order(DoubleDouble sum, i64 exponent, u64 flags) {
    const i32 shift = exponent_of(sum.high);
    const f64 scale = power_of_two(-shift);
    return {__dmul_rn(sum.high, scale), __dmul_rn(sum.low, scale), exponent + shift, flags};
}

struct RealSpans {
    typedef RealNode Node;
    typedef Node State;
    static constexpr u32 NODE_WORDS = 4, PACKED_WORDS = 3, LANES = 1;
    static constexpr u64 SPECIAL = ZERO | BEYOND | NOT_A_NUMBER;

    static __device__ __forceinline__ Node one() { return {1, 0, 0, 0}; }
    // From a chain of factors, as high + low times a power of two, neither of which is special.
    static __device__ __forceinline__ Node of_chain(f64 high, f64 low, i64 exponent) {
        DoubleDouble sum = fast_two_sum(high, low);
        const bool negative = sum.high < 0;
        // A zero is +0.
        sum = {fabs(sum.high), __dadd_rn(negative ? -sum.low : sum.low, 0.0)};
        return brought_to_order(sum, exponent, negative ? NEGATIVE : 0);
    }
    static __device__ __forceinline__ u64 joined(u64 a, u64 b) { return (a ^ (b & NEGATIVE)) | (b & ~NEGATIVE); }

    // Runs of a block, in order, whose exponents fit 32 bits.
    struct Block {
        f64 high, low;
        i32 exponent;
        u32 flags;
        __device__ __forceinline__ explicit Block(const Node& first)
            : high(first.high), low(first.low), exponent(i32(first.exponent)), flags(u32(first.flags)) {}
        __device__ __forceinline__ void multiply(const Node& n) {
            const f64 product = __dmul_rn(high, n.high), error = __fma_rn(high, n.high, -product);
            low = __fma_rn(low, n.high, __fma_rn(high, n.low, error));
            high = product;
            exponent += i32(n.exponent);
            flags = (flags ^ (u32(n.flags) & NEGATIVE)) | (u32(n.flags) & ~u32(NEGATIVE));
        }
        __device__ __forceinline__ bool is_plain() const { return true; }
        __device__ __forceinline__ Node node() const {
            if (flags & SPECIAL) return {1, 0, 0, flags};
            Node n = of_chain(high, low, exponent);
            n.flags = flags;
            return n;
        }
    };
    // A whole block by its runs.
    template <class Run> static __device__ __forceinline__ Node block(bool is_some, const Run& run) {
        return is_some ? multiply_block<RealSpans, 4>(run) : one();
    }
    // The left neighbour first.
    static __device__ __forceinline__ Node join(const Node& a, const Node& b) {
        const u64 flags = joined(a.flags, b.flags);
        if (flags & SPECIAL) return {1, 0, 0, flags};
        return brought_to_order(multiply({a.high, a.low}, {b.high, b.low}), a.exponent + b.exponent, flags);
    }
    static __device__ __forceinline__ void pack(const Node& n, u64 (&word)[PACKED_WORDS]) {
        word[0] = __double_as_longlong(n.high);
        word[1] = __double_as_longlong(n.low);
        word[2] = n.exponent * 16 + n.flags;
    }
    static __device__ __forceinline__ Node unpack(const u64 (&word)[PACKED_WORDS]) {
        return {__longlong_as_double(word[0]), __longlong_as_double(word[1]), i64(word[2]) >> 4, word[2] & 15};
    }
    // Up to 32 leaves, one by one, of which so many make a factor; leaf(k) is the k-th as f64.
    template <u32 FACTOR, class Leaf>
    static __device__ __forceinline__ Node run_of_leaves(u32 count, const Leaf& leaf) {
        f64 high = 1, low = 0;
        i64 exponent = 0;
        u64 flags = 0;
#pragma unroll 1
        for (u32 k = 0; k < count; k += FACTOR) {
            f64 factor = 1;
#pragma unroll
            for (u32 j = 0; j < FACTOR; j++) {
                if (k + j >= count) continue;
                const f64 x = leaf(k + j);
                if (x != x) flags |= NOT_A_NUMBER;
                else flags ^= __double2hiint(x) < 0 ? NEGATIVE : 0;
                if (x == 0) flags |= ZERO;
                if (fabs(x) > 1.7976931348623157e308) flags |= BEYOND;
                factor = __dmul_rn(factor, x);
            }
            if (exponent_field(factor) == 0) {
                factor = __dmul_rn(factor, 18446744073709551616.0);  // 2^64
                exponent -= 64;
            }
            exponent += exponent_of(factor);
            const f64 m = mantissa_of(factor), product = __dmul_rn(high, m), error = __fma_rn(high, m, -product);
            low = __fma_rn(low, m, error);
            high = product;
        }
        if (flags & SPECIAL) return {1, 0, 0, flags};
        return of_chain(high, low, exponent);
    }
    static __device__ __forceinline__ void write_leaf(u64* word, f64 x) { word[0] = __double_as_longlong(x); }
};

// Elements of a factor: as many as f64 multiplies exactly.
template <class E> constexpr u32 FACTOR_OF = sizeof(E) == 2 ? 4 : sizeof(E) == 4 ? 2 : 1;

// Whether f64 has every product of 32 elements, and what it leaves, among its normal numbers: no exponent is taken out,
// and a product that is zero or no number tells that a factor was.
template <class E> constexpr bool IN_RANGE = false;
template <> constexpr bool IN_RANGE<f16> = true;

// A leaf: an element as f64; 1 for a NaN that is skipped, and of others there is one.
__device__ __forceinline__ f64 leaf_of(f64 x, bool skip) {
    return x == x ? x : skip ? 1.0 : __longlong_as_double(0x7ff8000000000000ll);
}

// Of an array of one type.
template <class E, Nan NAN> struct RealProduct : RealSpans {
    typedef E Element;
    static constexpr u32 FACTOR = FACTOR_OF<E>, WARPS = 4, THREADS = 32 * WARPS, TILE_LEVEL = 3;
    static constexpr int BLOCKS = 4;

    // A run by vectors of its elements.
    struct Chain {
        f64 high = 1, low = 0;
        i32 fields = 0;
        u32 worst = 0;  // at least 0x7fe if a factor was no normal number

        __device__ __forceinline__ void multiply(f64 factor) {
            f64 m = factor;
            if constexpr (!IN_RANGE<E>) {
                const i32 field = exponent_field(factor);
                fields += field - 1023;
                worst = max(worst, u32(field - 1));
                m = mantissa_of(factor);
            }
            const f64 product = __dmul_rn(high, m), error = __fma_rn(high, m, -product);
            low = __fma_rn(low, m, error);
            high = product;
        }
        __device__ __forceinline__ void vector(const Vector& p, int) {
            Elements<E> e(p);
#pragma unroll
            for (u32 k = 0; k < PER_VECTOR<E>; k += FACTOR) factor(&e.element[k]);
        }
        __device__ __forceinline__ void factor(const E* e) {
            if constexpr (FACTOR == 1) multiply(kept(e[0]));
            else if constexpr (FACTOR == 2) multiply(__dmul_rn(f64(kept(e[0])), f64(kept(e[1]))));
            else multiply(__dmul_rn(pair(kept(e[0]), kept(e[1]), e[0]), pair(kept(e[2]), kept(e[3]), e[0])));
        }
        // Four elements of a run, the first of which is one of those that four divides.
        __device__ __forceinline__ void four(const E (&e)[4]) {
#pragma unroll
            for (u32 k = 0; k < 4; k += FACTOR) factor(&e[k]);
        }
        // Two of f16 fit f32; those of bf16 may leave its normal numbers.
        static __device__ __forceinline__ f64 pair(f32 x, f32 y, f16) { return __fmul_rn(x, y); }
        template <class T> static __device__ __forceinline__ f64 pair(f32 x, f32 y, T) {
            return __dmul_rn(f64(x), f64(y));
        }
        static __device__ __forceinline__ auto kept(E x) {
            auto w = widen(x);
            if constexpr (NAN == Nan::Ignore) return w != w ? decltype(w)(1) : w;
            else return w;
        }
        __device__ __forceinline__ bool is_plain() const {
            return (IN_RANGE<E> ? u32(exponent_field(high) - 1) : worst) < 0x7fe;
        }
        __device__ __forceinline__ Node node() const { return of_chain(high, low, fields); }
    };
    static __device__ __forceinline__ E unit() { return narrow<E>(decltype(widen(E()))(1)); }
    static __device__ __forceinline__ f64 leaf(E x) { return leaf_of(f64(widen(x)), NAN == Nan::Ignore); }
    template <class Leaf> static __device__ __forceinline__ Node run(u32 count, const Leaf& leaf) {
        return run_of_leaves<FACTOR>(count, leaf);
    }
};
