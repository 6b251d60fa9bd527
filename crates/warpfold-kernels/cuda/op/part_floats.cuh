// Floats of segments, as folds see them.
#pragma once
#include "num/to_16.cuh"
#include "walk/parts.cuh"

struct half {
    u16 bits;
};

// What norms may be asked for: the root of a sum of squares, or the sum.
enum Norm_ { ROOT, SQUARES };

// Floats in their accumulator's type: without their sign for magnitudes, and 0 for a NaN that is skipped.
template <class E> struct Floats;
// Floats as they are.
template <class E> struct PlainFloats {
    __device__ __forceinline__ E of(E x) const { return x; }
};
template <> struct Floats<f32> {
    typedef f32 Wide;
    u32 kept, skipped;
    __device__ __forceinline__ Floats(FoldOptions c, bool absolute)
        : kept(~mask_if<u32>(absolute, 1u << 31)), skipped(mask_if<u32>(c.skip())) {}
    __device__ __forceinline__ bool is_plain() const { return kept == ~0u && skipped == 0; }
    static __device__ __forceinline__ PlainFloats<f32> plain() { return {}; }
    __device__ __forceinline__ f32 of(f32 x) const {
        return __uint_as_float(__float_as_uint(x) & kept & ~(x != x ? skipped : 0));
    }
};
template <> struct Floats<f64> {
    typedef f64 Wide;
    u64 kept, skipped;
    __device__ __forceinline__ Floats(FoldOptions c, bool absolute)
        : kept(~mask_if<u64>(absolute, 1ull << 63)), skipped(mask_if<u64>(c.skip())) {}
    __device__ __forceinline__ bool is_plain() const { return kept == ~0ull && skipped == 0; }
    static __device__ __forceinline__ PlainFloats<f64> plain() { return {}; }
    __device__ __forceinline__ f64 of(f64 x) const {
        return __longlong_as_double(u64(__double_as_longlong(x)) & kept & ~(x != x ? skipped : 0));
    }
};
template <> struct Floats<half> {
    typedef f32 Wide;
    Floats<f32> wide;
    u32 is_bfloat;
    __device__ __forceinline__ Floats(FoldOptions c, bool absolute)
        : wide(c, absolute), is_bfloat(mask_if<u32>(c.is_bfloat())) {}
    __device__ __forceinline__ f32 of(half x) const {
        return wide.of(is_bfloat ? widen(bf16{x.bits}) : widen(f16{x.bits}));
    }
};
template <class E> using Wide = typename Floats<E>::Wide;

// The nearest result to a number, which may stand for one beside it if it is odd: in the accumulator's type, or in the
// elements' own 16 bits, whose numbers f32 holds.
template <class E> __device__ __forceinline__ Wide<E> nearest_result(f64 x, FoldOptions c) {
    if constexpr (sizeof(E) == 2) {
        if (c.is_narrow()) return at_16(x, c.is_bfloat());
    }
    return Wide<E>(x);
}
// Writes such a result.
template <class E> __device__ __forceinline__ void write_result(const SegmentArguments& a, FoldOptions c, u64 k,
                                                                Wide<E> x) {
    if constexpr (sizeof(E) == 2) {
        if (c.is_narrow()) {
            // An exact cut, or one of a NaN that stays one.
            static_cast<u16*>(a.out)[k] = c.is_bfloat() ? narrow<bf16>(x).bits : x != x ? 0x7e00 : narrow<f16>(x).bits;
            return;
        }
    }
    static_cast<Wide<E>*>(a.out)[k] = x;
}
