// Products of complex floats: two double-doubles and one exponent apart.
//
// Factors far from 1 are brought there by the exponent of their larger part, and so is the product after every few
// steps. Two of complex64 are multiplied exactly first: their four products fit f64, and the two sums are
// double-doubles.
//
// Floor: 48 (complex64) and 28 (complex128) operations of f64 a vector, of which an H200 does 48 in the memory's time.
// Registers for one block of 512 threads: with room for two, 230 to 450 bytes of a thread were spilled, and 64 and 57 %
// of the read ceiling reached.
//
// record: [real part high, low; imaginary part high, low; all as f64; exponent].
#pragma once
#include "num/double_double.cuh"
#include "walk/array.cuh"

struct ComplexState {
    DoubleDouble re, im;
    i64 exponent;

    static __device__ __forceinline__ ComplexState one() { return {{1, 0}, {0, 0}, 0}; }
    __device__ __forceinline__ f64 larger() const { return fmax(fabs(re.high), fabs(im.high)); }
    __device__ __forceinline__ bool is_finite() const {
        return fabs(re.high) <= 1.7976931348623157e308 && fabs(im.high) <= 1.7976931348623157e308;
    }
    __device__ __forceinline__ bool is_one() const {
        return re.high == 1 && re.low == 0 && im.high == 0 && exponent == 0;
    }

    // Brings the larger part to 1 <= |high| < 2. The power that scales the very largest numbers is itself subnormal:
    // two steps.
    __device__ __forceinline__ void normalise() {
        const f64 most = larger();
        if (!is_finite() || most == 0) {
            exponent = 0;
            return;
        }
        const i32 shift = exponent_of(most), half = -shift / 2, rest = -(shift - shift / 2);
        const f64 first = power_of_two(half), second = power_of_two(rest);
        re = {re.high * first * second, re.low * first * second};
        im = {im.high * first * second, im.low * first * second};
        exponent += shift;
    }
};

__device__ __forceinline__ DoubleDouble multiply(DoubleDouble a, DoubleDouble b) {
    const DoubleDouble product = two_product(a.high, b.high);
    return fast_two_sum(product.high, product.low + fma(a.high, b.low, a.low * b.high));
}

// The product of any two; a number that is not finite follows the rules of IEEE 754 for its parts, but one changes
// nothing.
template <class S> __device__ __noinline__ S product_of(S a, S b) {
    if (a.is_finite() && b.is_finite()) {
        const DoubleDouble cross = multiply(a.im, b.im);
        S s = {add(multiply(a.re, b.re), {-cross.high, -cross.low}), add(multiply(a.re, b.im), multiply(a.im, b.re)),
               a.exponent + b.exponent};
        s.normalise();
        return s;
    }
    if (a.is_one()) return b;
    if (b.is_one()) return a;
    return {{a.re.high * b.re.high - a.im.high * b.im.high, 0}, {a.re.high * b.im.high + a.im.high * b.re.high, 0}, 0};
}

template <class E, Nan NAN> struct ComplexProduct {
    typedef E Element;
    typedef ComplexState State;
    static constexpr bool NARROW = sizeof(E) == 8;
    static constexpr int VECTORS = 4, BLOCKS = 1;
    static constexpr bool ROLLED = true;
    static constexpr u32 STEPS = 16, NEAR = 30;  // 2^((30 + 1.5) * 16) is finite, and its square root far from it
    State product = State::one();
    i64 shift = 0;  // what the exponent has not been told yet
    u32 steps = 0;
    State apart = State::one();  // what has no normal exponent

    __device__ __forceinline__ ComplexProduct(const E*, u64) {}

    // A product of double-doubles, not brought to order. Where the factor is one f64 its low part is not looked at.
    static __device__ __forceinline__ DoubleDouble times(DoubleDouble a, DoubleDouble b) {
        const DoubleDouble product = two_product(a.high, b.high);
        const f64 error = fma(a.low, b.high, product.low);
        return {product.high, NARROW ? fma(a.high, b.low, error) : error};
    }
    static __device__ __forceinline__ DoubleDouble sum(DoubleDouble a, DoubleDouble b) {
        const DoubleDouble sum = two_sum(a.high, b.high);
        return {sum.high, sum.low + (a.low + b.low)};
    }
    // Multiplies by a factor whose larger part has a normal exponent, and is not among the very largest; else does
    // nothing and says so.
    __device__ __forceinline__ bool step(DoubleDouble re, DoubleDouble im) {
        const u32 of_re = __double2hiint(re.high) >> 20 & 0x7ff, of_im = __double2hiint(im.high) >> 20 & 0x7ff;
        const u32 larger = of_re > of_im ? of_re : of_im;
        DoubleDouble c = re, d = im;
        if (larger - (1023 - NEAR) > 2 * NEAR) {
            if (larger - 1 >= 2045) return false;
            scale(c, d, larger);
        }
        const DoubleDouble a = product.re, b = product.im, minus_d = {-d.high, -d.low};
        product.re = sum(times(a, c), times(b, minus_d));
        product.im = sum(times(a, d), times(b, c));
        if (++steps == STEPS) {
            const u32 re = __double2hiint(product.re.high) >> 20 & 0x7ff,
                      im = __double2hiint(product.im.high) >> 20 & 0x7ff;
            scale(product.re, product.im, re > im ? re : im);
            steps = 0;
        }
        return true;
    }
    // Brings the larger part, whose exponent's bits are told, to 1 <= |high| < 2.
    __device__ __forceinline__ void scale(DoubleDouble& re, DoubleDouble& im, u32 larger) {
        const f64 by = __hiloint2double((2046 - larger) << 20, 0);
        re = {re.high * by, re.low * by};
        im = {im.high * by, im.low * by};
        shift += i32(larger) - 1023;
    }
    __device__ __forceinline__ void gather() {
        const State s = {two_sum(product.re.high, product.re.low), two_sum(product.im.high, product.im.low),
                         product.exponent + shift};
        product = normal(s);
        shift = 0;
    }
    static __device__ __forceinline__ State normal(const State& s) { return product_of(s, State::one()); }
    static __device__ __forceinline__ E kept(E z) {
        if constexpr (NAN == Nan::Ignore) {
            if (is_nan(z)) return {1, 0};
        }
        return z;
    }
    __device__ __forceinline__ void vector(const Vector& p, u64) {
        Elements<E> e(p);
        if constexpr (NARROW) {
            const E x = kept(e.element[0]), y = kept(e.element[1]);
            const f64 a = x.re, b = x.im, c = y.re, d = y.im;
            if (!step(two_sum(a * c, -(b * d)), two_sum(a * d, b * c))) {
                closely(x);
                closely(y);
            }
        } else {
            const E z = kept(e.element[0]);
            if (!step({z.re, 0}, {z.im, 0})) closely(z);
        }
    }
    // Any number; subnormal ones are brought among the normals first.
    __device__ __forceinline__ void closely(E z) {
        State s = {{z.re, 0}, {z.im, 0}, 0};
        if (s.larger() < power_of_two(-1022)) s = {{z.re * power_of_two(64), 0}, {z.im * power_of_two(64), 0}, -64};
        apart = product_of(apart, normal(s));
    }
    __device__ __forceinline__ void one(E z, u64) { closely(kept(z)); }
    __device__ __forceinline__ State state() {
        gather();
        return product_of(product, apart);
    }
    static __device__ __forceinline__ State identity() { return State::one(); }
    static __device__ __forceinline__ void merge(State& a, const State& b) { a = product_of(a, b); }
    static __device__ __forceinline__ void finish(const State& s, const Arguments& a) {
        if (!a.record) return;
        a.record[0] = __double_as_longlong(s.re.high);
        a.record[1] = __double_as_longlong(s.re.low);
        a.record[2] = __double_as_longlong(s.im.high);
        a.record[3] = __double_as_longlong(s.im.low);
        a.record[4] = s.exponent;
    }
};
