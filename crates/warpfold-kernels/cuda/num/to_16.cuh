// Numbers rounded to 16 bits, once.
#pragma once
#include "num/elements.cuh"

// An f64 as an f32, to odd: what rounds it again sees that something was left below.
__device__ __forceinline__ f32 to_odd_f32(f64 x) {
    const f32 cut = __double2float_rz(x);
    return f64(cut) == x ? cut : __uint_as_float(__float_as_uint(cut) | 1);
}

// The bits of the bf16 or f16 nearest to an f64, which may stand for a number beside it if it is odd. There is one NaN.
__device__ __forceinline__ u16 nearest_of_16(f64 x, bool is_bfloat) {
    if (x != x) return is_bfloat ? 0x7fc0 : 0x7e00;
    const f32 odd = to_odd_f32(x);
    if (!is_bfloat) return narrow<f16>(odd).bits;
    const u32 bits = __float_as_uint(odd);
    return u16((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// The same as an f32, which holds it.
__device__ __forceinline__ f32 at_16(f64 x, bool is_bfloat) {
    const u16 bits = nearest_of_16(x, is_bfloat);
    return is_bfloat ? widen(bf16{bits}) : widen(f16{bits});
}
