// Double-double arithmetic: an unevaluated sum of two f64. The same IEEE operations in the same order as the library's
// own on the CPU, so the same bits.
//
// Source: M. Joldes, J.-M. Muller, V. Popescu, Tight and rigorous error bounds for basic building blocks of double-word
// arithmetic, 2017.
#pragma once
#include "num/elements.cuh"

struct DoubleDouble {
    f64 high, low;
};

__device__ __forceinline__ DoubleDouble two_sum(f64 a, f64 b) {
    const f64 high = __dadd_rn(a, b), b_in = __dsub_rn(high, a);
    return {high, __dadd_rn(__dsub_rn(a, __dsub_rn(high, b_in)), __dsub_rn(b, b_in))};
}
// 1 / x within 2^-19 of itself, for bounds and for corrections, of a normal number below 2^1000.
__device__ __forceinline__ f64 near_reciprocal(f64 x) {
    f64 y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    return y;
}
// No less than a / b, of positive numbers.
__device__ __forceinline__ f64 at_least(f64 a, f64 b) { return __dmul_rn(__dmul_rn(a, 0x1.01p0), near_reciprocal(b)); }

// For |a| >= |b|, or a zero.
__device__ __forceinline__ DoubleDouble fast_two_sum(f64 a, f64 b) {
    const f64 high = __dadd_rn(a, b);
    return {high, __dsub_rn(b, __dsub_rn(high, a))};
}
__device__ __forceinline__ DoubleDouble two_product(f64 a, f64 b) {
    const f64 high = __dmul_rn(a, b);
    return {high, __fma_rn(a, b, -high)};
}
__device__ __forceinline__ DoubleDouble add(DoubleDouble a, DoubleDouble b) {
    const DoubleDouble high = two_sum(a.high, b.high), low = two_sum(a.low, b.low);
    const DoubleDouble sum = fast_two_sum(high.high, __dadd_rn(high.low, low.high));
    return fast_two_sum(sum.high, __dadd_rn(sum.low, low.low));
}
__device__ __forceinline__ DoubleDouble multiply(DoubleDouble a, DoubleDouble b) {
    const DoubleDouble product = two_product(a.high, b.high);
    return fast_two_sum(product.high, __dadd_rn(product.low, __fma_rn(a.high, b.low, __dmul_rn(a.low, b.high))));
}
// Of a number that is not negative: one Newton step on the exact residual.
__device__ __forceinline__ DoubleDouble square_root(DoubleDouble x) {
    const f64 root = __dsqrt_rn(x.high);
    const f64 residual = __dadd_rn(__fma_rn(root, -root, x.high), x.low);
    const f64 correction = root > 0 ? __ddiv_rn(residual, 2 * root) : 0.0;
    return fast_two_sum(root, correction);
}

__device__ __forceinline__ i32 exponent_of(f64 x) { return (__double2hiint(x) >> 20 & 0x7ff) - 1023; }
// 2^exponent, for exponents of normal numbers.
__device__ __forceinline__ f64 power_of_two(i32 exponent) { return __hiloint2double((exponent + 1023) << 20, 0); }
