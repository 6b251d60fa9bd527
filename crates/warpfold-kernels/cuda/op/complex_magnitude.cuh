// The largest magnitude of complex numbers, compared exactly.
//
// A thread keeps the largest number so far. Numbers of which both parts are within its magnitude over the root of 2 are
// smaller, which is nearly all of them; squares in f64, scaled to near 1, show it of most others; what is left is
// compared as it is.
//
// record: [1 if a NaN was met + 2 if an infinity, the bits of the magnitudes of the parts of the number that is
// largest].
#pragma once
#include "num/double_double.cuh"
#include "walk/array.cuh"

// The sign of the exact sum of 8 numbers, which grow into an expansion without overlaps; its greatest part has it.
// (J. Shewchuk, Adaptive precision floating-point arithmetic and fast robust geometric predicates, 1997.)
__device__ __forceinline__ f64 sign_of_sum(const f64 (&x)[8]) {
    f64 sum[8], sign = 0;
#pragma unroll
    for (int n = 0; n < 8; n++) {
        f64 rising = x[n];
#pragma unroll
        for (int k = 0; k < n; k++) {
            const DoubleDouble both = two_sum(rising, sum[k]);
            sum[k] = both.low;
            rising = both.high;
        }
        sum[n] = rising;
    }
#pragma unroll
    for (int n = 0; n < 8; n++) sign = sum[n] != 0 ? sum[n] : sign;
    return sign;
}

// Whether x^2 + y^2 > u^2 + v^2 for finite numbers that are not negative, exactly.
template <class F> __device__ __noinline__ bool is_above(F x, F y, F u, F v) {
    f64 a = x > y ? x : y, b = x > y ? y : x, c = u > v ? u : v, d = u > v ? v : u;
    if (a == c) return b > d;
    // Factors differ by little where squares nearly cancel, so that the sum of these products has a small error beside
    // them.
    const i32 exponent = exponent_of(a > c ? a : c);
    const f64 scale = power_of_two(exponent > 1022 ? -1022 : exponent < -1022 ? 1022 : -exponent);
    const bool tiny_b = b != 0, tiny_d = d != 0;
    a *= scale, b *= scale, c *= scale, d *= scale;
    const f64 first = (a - c) * (a + c), second = (b - d) * (b + d), sum = first + second;
    if (fabs(sum) > (fabs(first) + fabs(second)) * power_of_two(-48)) return sum > 0;
    const DoubleDouble p = two_product(a, a), q = two_product(b, b), r = two_product(c, -c), s = two_product(d, -d);
    const f64 sign = sign_of_sum({p.high, p.low, q.high, q.low, r.high, r.low, s.high, s.low});
    if (sign != 0) return sign > 0;
    // a and c differ, by far more than a square that underflows; only where the rest cancels does it count that there
    // is one.
    return a > c && tiny_b && q.high == 0 && !tiny_d;
}

template <class E, Nan NAN> struct LargestComplex {
    typedef E Element;
    typedef typename Parts<E>::Part Part;
    static constexpr bool NARROW = sizeof(Part) == 4;
    static constexpr int VECTORS = 4, BLOCKS = 2;
    static constexpr bool ROLLED = true;
    static constexpr u64 NOT_A_NUMBER = 1, INFINITE = 2;
    struct State {
        f64 re, im;
        u64 specials;
    };
    State best = identity();
    f64 scale = 1, limit = 0;
    Part near = 0;

    __device__ __forceinline__ LargestComplex(const E*, u64) {}
    // A NaN is near nothing.
    __device__ __forceinline__ bool is_near(E z) const { return fabs(z.re) < near && fabs(z.im) < near; }
    // Squares of narrow parts are exact, and their sum is rounded once; no scale is needed.
    __device__ __forceinline__ f64 square(f64 re, f64 im) const {
        if constexpr (!NARROW) re *= scale, im *= scale;
        return fma(re, re, im * im);
    }
    __device__ __forceinline__ bool is_below(E z) const { return square(z.re, z.im) < limit; }
    __device__ __forceinline__ void add(E z) {
        const f64 re = fabs(f64(z.re)), im = fabs(f64(z.im));
        const f64 infinity = __hiloint2double(0x7ff00000, 0);
        if (is_nan(z)) {
            if constexpr (NAN == Nan::Propagate) best.specials |= NOT_A_NUMBER;
        } else if (re == infinity || im == infinity) {
            best.specials |= INFINITE;
        } else if (is_above(re, im, best.re, best.im)) {
            best.re = re;
            best.im = im;
            if constexpr (!NARROW) {
                const i32 exponent = exponent_of(re > im ? re : im);
                scale = power_of_two(exponent > 1022 ? -1022 : exponent < -1022 ? 1022 : -exponent);
            }
            // Two squares and a sum, each within 2^-53 of itself, on either side of the comparison.
            limit = NARROW ? square(re, im) : square(re, im) * (1 - power_of_two(-50));
            // Less than the root by far more than it is wrong; what is below the normal numbers is rounded down.
            const f64 root = sqrt(limit * 0.5) * (1 - power_of_two(-20));
            if constexpr (NARROW) near = __double2float_rd(root);
            else near = __ddiv_rd(root, scale);
        }
    }
    __device__ __forceinline__ void vector(const Vector& p, u64) {
        Elements<E> e(p);
        bool all_near = true, below = true;
#pragma unroll
        for (int k = 0; k < PER_VECTOR<E>; k++) all_near = all_near && is_near(e.element[k]);
        if (all_near) return;
#pragma unroll
        for (int k = 0; k < PER_VECTOR<E>; k++) below = below && is_below(e.element[k]);
        if (below) return;
#pragma unroll
        for (int k = 0; k < PER_VECTOR<E>; k++) add(e.element[k]);
    }
    __device__ __forceinline__ void one(E z, u64) { add(z); }
    __device__ __forceinline__ State state() { return best; }
    static __device__ __forceinline__ State identity() { return {0, 0, 0}; }
    static __device__ __forceinline__ void merge(State& a, const State& b) {
        const u64 specials = a.specials | b.specials;
        if (is_above(b.re, b.im, a.re, a.im)) a = b;
        a.specials = specials;
    }
    static __device__ __forceinline__ u64 bits_of(f64 part) {
        if constexpr (NARROW) return __float_as_uint(f32(part));
        else return __double_as_longlong(part);
    }
    static __device__ __forceinline__ void finish(const State& s, const Arguments& a) {
        if (!a.record) return;
        a.record[0] = s.specials;
        a.record[1] = bits_of(s.re);
        a.record[2] = bits_of(s.im);
    }
};
