// Order as signed integers: every element has a rank, and a greater rank means nearer to the extreme looked for.
//
// Ranks follow IEEE 754's minimum and maximum: -0 < +0, and a NaN outranks everything, whichever extreme is sought;
// when NaNs are ignored they rank below everything. The smallest rank stands for "nothing yet".
#pragma once
#include "num/elements.cuh"

enum class Side { Min, Max, Magnitude };

template <class E> struct RankOf {
    typedef i32 type;
};
template <> struct RankOf<i64> {
    typedef i64 type;
};
template <> struct RankOf<u64> {
    typedef i64 type;
};
template <> struct RankOf<f64> {
    typedef i64 type;
};
template <class E> using Rank = typename RankOf<E>::type;

template <class R> constexpr R LOWEST = R(1) << (8 * sizeof(R) - 1);
template <class R> constexpr R HIGHEST = ~LOWEST<R>;

template <class R> __device__ __forceinline__ R larger(R a, R b) { return a > b ? a : b; }

// Integers: the value itself, with the sign bit flipped where it is none.
__device__ __forceinline__ i32 signed_order(i32 x) { return x; }
__device__ __forceinline__ i64 signed_order(i64 x) { return x; }
__device__ __forceinline__ i32 signed_order(u32 x) { return i32(x ^ 0x80000000u); }
__device__ __forceinline__ i64 signed_order(u64 x) { return i64(x ^ 0x8000000000000000ull); }

// Magnitudes as unsigned numbers, so that the one of the least integer exists.
__device__ __forceinline__ u32 magnitude(i32 x) { return x < 0 ? 0u - u32(x) : u32(x); }
__device__ __forceinline__ u64 magnitude(i64 x) { return x < 0 ? 0ull - u64(x) : u64(x); }
__device__ __forceinline__ u32 magnitude(u32 x) { return x; }
__device__ __forceinline__ u64 magnitude(u64 x) { return x; }

// Floats: negative ones grow downwards, so all bits but the sign are flipped. 32 and 64 bits wide.
__device__ __forceinline__ i32 float_order(u32 b) { return i32(b) ^ ((i32(b) >> 31) & 0x7fffffff); }
__device__ __forceinline__ i64 float_order(u64 b) { return i64(b) ^ ((i64(b) >> 63) & 0x7fffffffffffffffll); }
__device__ __forceinline__ u32 wide_bits(f16 x) { return bits(x) << 16; }
__device__ __forceinline__ u32 wide_bits(bf16 x) { return bits(x) << 16; }
__device__ __forceinline__ u32 wide_bits(f32 x) { return bits(x); }
__device__ __forceinline__ u64 wide_bits(f64 x) { return bits(x); }

template <class E, Side SIDE, Nan NAN> __device__ __forceinline__ Rank<E> rank(E x) {
    typedef Rank<E> R;
    R r;
    if constexpr (Traits<E>::integer) {
        if constexpr (SIDE == Side::Magnitude) return signed_order(magnitude(widen(x)));
        else r = signed_order(widen(x));
    } else {
        if (is_nan(x)) return NAN == Nan::Ignore ? LOWEST<R> : HIGHEST<R>;
        // A magnitude's bits are its order.
        if constexpr (SIDE == Side::Magnitude) return R(wide_bits(x)) & HIGHEST<R>;
        else r = float_order(wide_bits(x));
    }
    return SIDE == Side::Min ? ~r : r;
}

template <class E> constexpr u64 NAN_BITS = 0;
template <> constexpr u64 NAN_BITS<f16> = 0x7e00;
template <> constexpr u64 NAN_BITS<bf16> = 0x7fc0;
template <> constexpr u64 NAN_BITS<f32> = 0x7fc00000;
template <> constexpr u64 NAN_BITS<f64> = 0x7ff8000000000000;

// The element of a rank, as the bits of its own width (magnitudes of integers: 64 bits).
template <class E, Side SIDE> __device__ __forceinline__ u64 from_rank(Rank<E> r) {
    typedef Rank<E> R;
    if constexpr (!Traits<E>::integer) {
        if (r == HIGHEST<R>) return NAN_BITS<E>;
    }
    if constexpr (SIDE == Side::Min) r = ~r;
    if constexpr (Traits<E>::integer) {
        if constexpr (!Traits<E>::is_signed || SIDE == Side::Magnitude) r ^= LOWEST<R>;
    } else if constexpr (SIDE != Side::Magnitude) {
        if constexpr (sizeof(R) == 4) r = float_order(u32(r));
        else r = float_order(u64(r));
    }
    const u64 raw = sizeof(R) == 4 ? u64(u32(r)) : u64(r);
    return !Traits<E>::integer && sizeof(E) == 2 ? raw >> 16 : raw;
}

// Writes an element given by its bits.
template <class E> __device__ __forceinline__ void store(void* to, int k, u64 element_bits) {
    if constexpr (sizeof(E) == 1) static_cast<u8*>(to)[k] = u8(element_bits);
    else if constexpr (sizeof(E) == 2) static_cast<u16*>(to)[k] = u16(element_bits);
    else if constexpr (sizeof(E) == 4) static_cast<u32*>(to)[k] = u32(element_bits);
    else static_cast<u64*>(to)[k] = element_bits;
}
