// Variances and deviations of floats in parts, and the l2 of f64: correctly rounded, or known to be missed.
//
// A state holds two unevaluated sums of two f64: of the elements, exact as in part_exact.cuh, and of their squares. Of
// f16, bf16 and f32 squares fit an f64, so that both sums are exact. Squares of f64 are two f64, and their sum is off
// by at most n units of 2^-103 of itself.
//
// With n elements, sum s and squares q the variance is (n q - s s) / (n (n - ddof)). The numerator is taken in
// double-double arithmetic with a bound of its error; if both ends of the interval round to the same result, that is
// it (A. Ziv, Fast evaluation of elementary mathematical functions with correctly rounded last bit, 1991). Where they
// do not, as where the mean is larger than the deviation by thirty powers of ten, the output gets a mark, and a second
// kernel folds it again. Small data whose numerator one f64 holds need no interval, so that ties and constants are not
// missed.
//
// Floor: for an element of f32 one product and two additions with their errors, of f64 24 operations, less than the
// memory takes.
#pragma once
#include "num/double_double.cuh"
#include "op/part_exact.cuh"

enum ExactSpread_ { EXACT_L2, EXACT_VAR, EXACT_STD };

// A number within `error` of high + low.
struct Interval {
    f64 high, low, error;
    __device__ __forceinline__ DoubleDouble end(f64 sign) const {
        return two_sum(high, __dadd_rn(low, __dmul_rn(sign, error)));
    }
};

// The nearest result to a number that is not negative, or to its root.
__device__ __forceinline__ f32 round_nearest(DoubleDouble x, bool root, f32) {
    if (!root) return f32(to_odd(x.high, x.low));
    const f64 r = __dsqrt_rn(x.high);
    return f32(to_odd(r, __dadd_rn(__fma_rn(-r, r, x.high), x.low)));
}
__device__ __forceinline__ f64 round_nearest(DoubleDouble x, bool root, f64) {
    if (!root || x.high == 0) return x.high;
    const f64 r = __dsqrt_rn(x.high);
    return __dadd_rn(r, __ddiv_rn(__dadd_rn(__fma_rn(-r, r, x.high), x.low), 2 * r));
}

template <class E> struct ExactSpread {
    typedef E Element;
    typedef ExactTotal<E> Total;
    typedef Wide<E> W;
    static constexpr bool NARROW = sizeof(W) == 4;
    struct alignas(16) State {
        typename Total::State sum, squares;
    };
    static constexpr int BLOCKS = 3;
    struct Setup : Floats<E> {
        __device__ __forceinline__ explicit Setup(Choice c) : Floats<E>(c, false) {}
    };
    static __device__ __forceinline__ bool spans(Choice) { return true; }
    static __device__ __forceinline__ State identity() { return {{0, 0}, {0, 0}}; }

    template <class Finish> static __device__ __forceinline__ void add(State& s, E x, u64, const Finish& wanted) {
        const f64 w = wanted.of(x);
        Total::add_f64(s.sum, w);
        if constexpr (NARROW) {
            Total::add_f64(s.squares, __dmul_rn(w, w));
        } else {
            const DoubleDouble square = two_product(w, w);
            add_square(s.squares, square.high, square.low);
            // Below, the second part of a square is no longer all that the first lacks.
            if (square.high < 0x1p-900 && w != 0) s.sum.sum = Total::missed();
        }
    }
    static __device__ __forceinline__ void add_square(typename Total::State& s, f64 high, f64 low) {
        const DoubleDouble sum = two_sum(s.sum, high);
        const DoubleDouble all = fast_two_sum(sum.high, __dadd_rn(s.rest, __dadd_rn(sum.low, low)));
        s.sum = all.high;
        s.rest = all.low;
    }
    static __device__ __forceinline__ void merge(State& a, const State& b) {
        Total::merge(a.sum, b.sum);
        if constexpr (NARROW) Total::merge(a.squares, b.squares);
        else add_square(a.squares, b.squares.sum, b.squares.rest);
    }

    // The variance, and whether its numerator and quotient are exactly `high`.
    static __device__ __forceinline__ Interval variance(const State& s, f64 n, f64 less, bool& exact) {
        const DoubleDouble sum = two_sum(s.sum.sum, s.sum.rest), squares = two_sum(s.squares.sum, s.squares.rest);
        const DoubleDouble first = two_product(n, squares.high), second = two_product(sum.high, sum.high);
        const f64 small = __dsub_rn(__dmul_rn(n, squares.low), __dmul_rn(2 * sum.high, sum.low));
        const DoubleDouble top = two_sum(first.high, -second.high);
        const f64 below = __dadd_rn(__dsub_rn(first.low, second.low), small);
        const DoubleDouble numerator = two_sum(top.high, __dadd_rn(top.low, below));
        const DoubleDouble denominator = two_product(n, less);
        const bool held = squares.low == 0 && sum.low == 0 && (top.low == 0 || below == 0) &&
                          (first.low == second.low || first.low == 0 || second.low == 0);
        exact = NARROW && held;

        const f64 quotient = __ddiv_rn(numerator.high, denominator.high);
        const f64 left = __dadd_rn(__fma_rn(-quotient, denominator.high, numerator.high),
                                   __dsub_rn(numerator.low, __dmul_rn(quotient, denominator.low)));
        exact = exact && left == 0 && numerator.low == 0 && denominator.low == 0;
        const f64 of_squares = NARROW ? 0x1p-100 : __dadd_rn(0x1p-100, __dmul_rn(n, 0x1p-102));
        const f64 error = __dadd_rn(__ddiv_rn(__dmul_rn(first.high, held && NARROW ? 0 : of_squares), denominator.high),
                                    __dmul_rn(fabs(quotient), 0x1p-100));
        return {quotient, __ddiv_rn(left, denominator.high), exact ? 0 : error};
    }

    // Apart from the loops, and compiled once.
    static __device__ __noinline__ bool rounded(const State& s, u64 count, u64 ddof, u32 fold, W& value) {
        const f64 n = f64(count);
        // Of nothing but zeros.
        if (s.squares.sum == 0 && s.squares.rest == 0 && s.sum.sum == 0 && s.sum.rest == 0) {
            value = 0;
            return true;
        }
        Interval v;
        bool exact = false;
        if (fold == EXACT_L2) {
            const DoubleDouble squares = two_sum(s.squares.sum, s.squares.rest);
            v = {squares.high, squares.low, __dmul_rn(squares.high, __dmul_rn(__dadd_rn(n, 4), 0x1p-102))};
        } else {
            v = variance(s, n, f64(count - ddof), exact);
        }
        const bool root = fold != EXACT_VAR;
        const DoubleDouble least = v.end(-1), most = v.end(1);
        value = round_nearest(most, root, W());
        // Numbers at the ends of f64 have no second part to count on; a NaN is neither.
        const bool within =
            NARROW || (s.squares.sum > 0x1p-900 && s.squares.sum < 0x1p900 && n < 0x1p50 && v.high > 0x1p-900);
        const bool known = exact || (least.high > 0 && round_nearest(least, root, W()) == value);
        return known && within && s.sum.sum - s.sum.sum == 0 && s.squares.sum - s.squares.sum == 0;
    }

    static __device__ __forceinline__ void finish(const SegmentArguments& a, Choice c, u64 k, const State& s, u64 begin,
                                                  u64 end) {
        const u64 n = end - begin, ddof = a.options >> 32;
        if (c.fold() != EXACT_L2 && n <= ddof) {
            fault(a, n == 0 ? EMPTY : TOO_FEW, k);
            // How many there are is left where the result would be.
            static_cast<typename Mark<W>::Bits*>(a.out)[k] = n;
            return;
        }
        W value;
        const bool known = rounded(s, n, ddof, c.fold() & 3, value);
        Total::write(a, k, value, known);
    }
};
