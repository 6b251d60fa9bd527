// Double-double arithmetic: an unevaluated sum of two f64. The same IEEE operations in the same order as the library's
// own on the CPU, so the same bits; but near quotients and roots, which are for what is corrected or bounded.
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
// 1 / x within a part in 2^10 of it, of a normal number below 2^1000: the hardware takes the upper word of x, and
// answers with the upper word of the reciprocal.
__device__ __forceinline__ f64 near_reciprocal(f64 x) {
    f64 y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    return y;
}

// Quotients and roots of numbers from 2^-1000 to 2^1000 (and a quotient of zero), within a unit of the last place:
// approximate ones, taken to the third power of what they lack, and corrected by what is left. They do not ask, as
// those that are rounded correctly do, for subnormal numbers and infinities, and call nothing.

// 1 / x within a part in 2^28 of it.
__device__ __forceinline__ f64 nearer_reciprocal(f64 x) {
    const f64 near = near_reciprocal(x), lacking = __fma_rn(-x, near, 1.0);
    return __fma_rn(near, __fma_rn(lacking, lacking, lacking), near);
}
__device__ __forceinline__ f64 near_quotient(f64 a, f64 b) {
    const f64 reciprocal = nearer_reciprocal(b), q = __dmul_rn(a, reciprocal);
    return __fma_rn(__fma_rn(-q, b, a), reciprocal, q);
}
// And one over it, within a part in 2^28.
struct NearRoot {
    f64 root, reciprocal;
};
__device__ __forceinline__ NearRoot near_root(f64 x) {
    f64 near;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(near) : "d"(x));
    const f64 lacking = __fma_rn(-near, __dmul_rn(x, near), 1.0);
    const f64 reciprocal = __fma_rn(__dmul_rn(near, lacking), __fma_rn(lacking, 0.375, 0.5), near);
    const f64 root = __dmul_rn(x, reciprocal);
    return {__fma_rn(__fma_rn(-root, root, x), 0.5 * reciprocal, root), reciprocal};
}
// No less than a / b, of positive numbers: b from 2^-1000 to 2^1000, and a / b normal, or a zero.
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
