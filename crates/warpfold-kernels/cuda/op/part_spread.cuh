// Variances, deviations, l2 and sums of squares of floats in parts: correctly rounded, or known to be missed.
//
// Sums of elements and of their squares are unevaluated sums of two f64, each with a bound of what it lacks. Of f16,
// bf16 and f32 squares fit an f64; what an addition loses goes to the second f64, which is zero at the end only if
// nothing was ever lost. Of f64 squares are two f64.
//
// With n elements, sum s and squares q the variance is (n q - s s) / (n (n - ddof)). The numerator is taken in
// double-double arithmetic with a bound of its error; if both ends of the interval round to the same result, that is
// it (A. Ziv, Fast evaluation of elementary mathematical functions with correctly rounded last bit, 1991). Where they
// do not, as where the mean is larger than the deviation by many powers of ten, the output gets a mark, and a second
// kernel folds it again. Small data whose numerator one f64 holds need no interval, so that ties and constants are not
// missed.
//
// Floor: for an element of f32 a conversion, a product and 12 additions of f64, of f64 itself 24, at 64 a cycle and
// multiprocessor. Tried: sums of squares that are exact or missed, as sums of elements are: 1100 to 1400 GB/s of f32 on
// an H200, and outputs of 2^24 elements, which were missed, at 1.
#pragma once
#include "num/double_double.cuh"
#include "op/part_exact.cuh"

enum ExactSpread_ { EXACT_VAR, EXACT_STD };

// A number within `error` of high + low.
struct Interval {
    f64 high, low, error;
    __device__ __forceinline__ DoubleDouble end(f64 sign) const {
        return two_sum(high, __dadd_rn(low, __dmul_rn(sign, error)));
    }
};

// The nearest result to a number from 2^-1000 to 2^1000, or zero, or to its root.
template <class E> __device__ __forceinline__ Wide<E> round_nearest(DoubleDouble x, bool root, FoldOptions c) {
    if (root && x.high != 0) {
        const f64 r = near_root(x.high).root, left = __dadd_rn(__fma_rn(-r, r, x.high), x.low);
        if constexpr (sizeof(Wide<E>) == 8) return __dadd_rn(r, near_quotient(left, 2 * r));
        x = {r, left};
    }
    if constexpr (sizeof(Wide<E>) == 8) return x.high;
    else return nearest_result<E>(to_odd(x.high, x.low), c);
}

// A result, and whether it is known to be the nearest.
template <class W> struct Rounded {
    W value;
    bool known;
};

// The nearest result to a number of an interval, or to its root, known where both ends have the same.
template <class E> __device__ __forceinline__ Rounded<Wide<E>> round_interval(const Interval& v, bool root,
                                                                              FoldOptions c) {
    Rounded<Wide<E>> result = {0, false};
#pragma unroll 1
    for (u32 of_least = 0; of_least < 2; of_least++) {
        const DoubleDouble end = v.end(of_least ? -1 : 1);
        const Wide<E> value = round_nearest<E>(end, root, c);
        result.known = end.high > 0 && value == result.value;
        if (!of_least) result.value = value;
    }
    return result;
}

// A result of up to 32 bits to a number within `error` of x, or to its root; false where two are possible.
template <class E> __device__ __forceinline__ bool round_certainly(f64 x, f64 error, bool root, FoldOptions c,
                                                                   Wide<E>& value) {
    f64 least = __dsub_rn(x, error), most = __dadd_rn(x, error);
    if (!(least > 0x1p-900 && most < 0x1p900)) return false;
    if (root) {
        // A root lacks up to a unit.
        const NearRoot r = near_root(x);
        const f64 of_root = __fma_rn(__dmul_rn(error, 0x1.01p0), r.reciprocal, __dmul_rn(r.root, 0x1p-51));
        least = __dsub_rn(r.root, of_root), most = __dadd_rn(r.root, of_root);
    }
    value = nearest_result<E>(most, c);
    return nearest_result<E>(least, c) == value;
}

// A sum of two f64 that may lack something: its second part is zero only if nothing was ever lost.
struct LooseSum {
    f64 sum, rest;
    // Whatever is lost later, it stays something.
    __device__ __forceinline__ void lose(f64 error, f64 more) {
        if ((u64(__double_as_longlong(more)) << 1) == 0 && (error != 0 || rest != 0)) more = 0x1p-1000;
        rest = more;
    }
    __device__ __forceinline__ void add(f64 x) {
        const f64 all = __dadd_rn(sum, x), error = lost(sum, x, all);
        lose(error, __dadd_rn(rest, error));
        sum = all;
    }
    // The same with what the number lacks.
    __device__ __forceinline__ void add(f64 x, f64 lacking) {
        const f64 all = __dadd_rn(sum, x), error = __dadd_rn(lost(sum, x, all), lacking);
        lose(error, __dadd_rn(rest, error));
        sum = all;
    }
    // The same of numbers of few bits, of which hardly any addition loses something. One of the differences is exact by
    // itself, that from the larger.
    __device__ __forceinline__ void add_short(f64 x) {
        const f64 all = __dadd_rn(sum, x);
        if (__dsub_rn(all, sum) == x && __dsub_rn(all, x) == sum) sum = all;
        else add(x);
    }
    // A number with a second part of its own.
    __device__ __forceinline__ void add_pair(f64 high, f64 low) {
        const DoubleDouble all = two_sum(sum, high);
        const DoubleDouble kept = fast_two_sum(all.high, __dadd_rn(rest, __dadd_rn(all.low, low)));
        sum = kept.high;
        rest = kept.low;
    }
    __device__ __forceinline__ void merge(const LooseSum& b) {
        const f64 all = __dadd_rn(sum, b.sum), error = lost(sum, b.sum, all);
        const f64 more = __dadd_rn(__dadd_rn(rest, b.rest), error);
        if (more == 0 && (error != 0 || rest != 0 || b.rest != 0)) rest = 0x1p-1000;
        else rest = more;
        sum = all;
    }
    static __device__ __forceinline__ LooseSum of(f64 a, f64 b) {
        const DoubleDouble both = two_sum(a, b);
        return {both.high, both.low};
    }
    __device__ __forceinline__ bool is_finite() const { return sum - sum == 0; }
    __device__ __forceinline__ bool holds_something() const { return !(sum == 0 && rest == 0); }
};
// What the sum of so many magnitudes lacks at most, in parts of itself. An addition to the second part, which n errors
// of half a unit of the first make up, loses half a unit of that; a merge does so twice.
__device__ __forceinline__ f64 lacks(f64 n) { return __dmul_rn(__dadd_rn(__dmul_rn(n, n), 64), 0x1p-102); }

// So few that what sums lack is no more than their second part and some units of the first.
constexpr f64 SMALL_COUNT = 0x1p20;

// Numbers near the ends of f64 have no second part to count on.
__device__ __forceinline__ bool is_within(f64 x) { return x > 0x1p-900 && x < 0x1p900; }

// The square of a number added to a sum of squares. False where the second part of the square is not all that the first
// lacks.
template <class E> __device__ __forceinline__ bool add_square(LooseSum& squares, f64 w) {
    if constexpr (sizeof(E) == 2) {
        squares.add_short(__dmul_rn(w, w));
        return true;
    } else if constexpr (sizeof(E) == 4) {
        squares.add(__dmul_rn(w, w));
        return true;
    } else {
        const DoubleDouble square = two_product(w, w);
        squares.add_pair(square.high, square.low);
        return square.high >= 0x1p-900 || w == 0;
    }
}
template <class W> __device__ __forceinline__ void merge_sums(LooseSum& a, const LooseSum& b, W) {
    if constexpr (sizeof(W) == 4) a.merge(b);
    else a.add_pair(b.sum, b.rest);
}

template <class E> struct ExactNorm : WindowOf<E, Powers::Two> {
    typedef E Element;
    typedef ExactTotal<E> WideInteger;
    typedef Wide<E> W;
    static constexpr bool NARROW = sizeof(W) == 4;
    struct alignas(16) State {
        LooseSum squares;
    };
    static constexpr int BLOCKS = 4;
    typedef typename WideInteger::Setup Setup;
    static __device__ __forceinline__ bool spans(FoldOptions) { return true; }
    static __device__ __forceinline__ State identity() { return {{0, 0}}; }
    template <class Finish> static __device__ __forceinline__ void add(State& s, E x, u64, const Finish& wanted) {
        if (!add_square<E>(s.squares, wanted.of(x))) s.squares.sum = WideInteger::missed();
    }
    static __device__ __forceinline__ bool holds_something(const State& s) { return s.squares.holds_something(); }
    template <class Sums> static __device__ __forceinline__ void take_in(State& s, const Sums& all) {
        s.squares.add(all.number[0]);
        s.squares.add(all.number[1]);
    }
    template <class Sums> static __device__ __forceinline__ State of(const Sums& all) {
        return {LooseSum::of(all.number[0], all.number[1])};
    }
    static __device__ __forceinline__ void merge(State& a, const State& b) { merge_sums(a.squares, b.squares, W()); }
    static __device__ __forceinline__ void finish(const SegmentArguments& a, FoldOptions c, u64 k, const State& s,
                                                  u64 begin, u64 end) {
        const Rounded<W> r = rounded(s.squares, 2 * f64(end - begin), c.fold() == ROOT, c);
        WideInteger::write(a, c, k, r.value, r.known);
    }
    static __device__ __noinline__ Rounded<W> rounded(LooseSum squares, f64 n, bool root, FoldOptions c) {
        W value = 0;
        if (squares.sum == 0 && squares.rest == 0) return {0, true};
        if constexpr (NARROW) {
            // One f64 is enough for nearly all.
            const f64 lost = __dadd_rn(__dmul_rn(squares.sum, 0x1p-50), fabs(squares.rest));
            if (n < SMALL_COUNT && round_certainly<E>(squares.sum, lost, root, c, value)) return {value, true};
        }
        const DoubleDouble q = two_sum(squares.sum, squares.rest);
        const bool exact = NARROW && squares.rest == 0;
        const f64 lacking = NARROW ? lacks(n) : __dmul_rn(__dadd_rn(n, 4), 0x1p-102);
        const Interval v = {q.high, q.low, exact ? 0 : __dmul_rn(q.high, lacking)};
        Rounded<W> result = round_interval<E>(v, root, c);
        result.known = result.known && squares.is_finite() && (NARROW || is_within(q.high));
        return result;
    }
};

template <class E> struct ExactSpread : WindowOf<E, Powers::Both> {
    typedef E Element;
    typedef ExactTotal<E> WideInteger;
    typedef Wide<E> W;
    static constexpr bool NARROW = sizeof(W) == 4;
    struct alignas(16) State {
        LooseSum sum, squares;
    };
    static constexpr int BLOCKS = 3;
    struct Setup : Floats<E> {
        __device__ __forceinline__ explicit Setup(FoldOptions c) : Floats<E>(c, false) {}
    };
    static __device__ __forceinline__ bool spans(FoldOptions) { return true; }
    static __device__ __forceinline__ State identity() { return {{0, 0}, {0, 0}}; }

    template <class Finish> static __device__ __forceinline__ void add(State& s, E x, u64, const Finish& wanted) {
        const f64 w = wanted.of(x);
        if constexpr (NARROW) s.sum.add_short(w);
        else s.sum.add_pair(w, 0);
        if (!add_square<E>(s.squares, w)) s.sum.sum = WideInteger::missed();
    }
    static __device__ __forceinline__ bool holds_something(const State& s) {
        return s.sum.holds_something() || s.squares.holds_something();
    }
    template <class Sums> static __device__ __forceinline__ void take_in(State& s, const Sums& all) {
        s.sum.add_short(all.number[0]);
        s.squares.add(all.number[1]);
        s.squares.add(all.number[2]);
    }
    template <class Sums> static __device__ __forceinline__ State of(const Sums& all) {
        return {{all.number[0], 0}, LooseSum::of(all.number[1], all.number[2])};
    }
    static __device__ __forceinline__ void merge(State& a, const State& b) {
        merge_sums(a.sum, b.sum, W());
        merge_sums(a.squares, b.squares, W());
    }

    // The variance; whether it is exactly `high`.
    static __device__ __forceinline__ Interval variance(const State& s, f64 n, f64 less, bool& exact) {
        const DoubleDouble sum = two_sum(s.sum.sum, s.sum.rest), squares = two_sum(s.squares.sum, s.squares.rest);
        const DoubleDouble first = two_product(n, squares.high), second = two_product(sum.high, sum.high);
        const f64 small = __dsub_rn(__dmul_rn(n, squares.low), __dmul_rn(2 * sum.high, sum.low));
        return variance(first, second, small, s.squares.rest == 0 && s.sum.rest == 0, n, n, less, exact);
    }
    // The same of n times the squares, of which there are so many, the square of the sum, and what both leave out,
    // which is nothing of sums that are whole.
    static __device__ __forceinline__ Interval variance(DoubleDouble first, DoubleDouble second, f64 small, bool whole,
                                                        f64 terms, f64 n, f64 less, bool& exact) {
        const DoubleDouble top = two_sum(first.high, -second.high);
        const f64 below = __dadd_rn(__dsub_rn(first.low, second.low), small);
        const DoubleDouble numerator = two_sum(top.high, __dadd_rn(top.low, below));
        const DoubleDouble denominator = two_product(n, less);
        const bool held = NARROW && whole && (top.low == 0 || below == 0) &&
                          (first.low == second.low || first.low == 0 || second.low == 0);

        const f64 quotient = near_quotient(numerator.high, denominator.high);
        const f64 left = __dadd_rn(__fma_rn(-quotient, denominator.high, numerator.high),
                                   __dsub_rn(numerator.low, __dmul_rn(quotient, denominator.low)));
        exact = held && left == 0 && numerator.low == 0 && denominator.low == 0;
        // A sum of elements is no larger than the root of n q, so what it lacks counts twice; what the numerator's own
        // operations lose is less than 2^-102.
        const f64 lacking = NARROW ? lacks(terms) : __dmul_rn(__dadd_rn(n, 16), 0x1p-101);
        const f64 of_numerator = held ? 0 : __dmul_rn(first.high, __dadd_rn(__dmul_rn(4, lacking), 0x1p-100));
        const f64 error = __dadd_rn(at_least(of_numerator, denominator.high), __dmul_rn(fabs(quotient), 0x1p-100));
        return {quotient, near_quotient(left, denominator.high), exact ? 0 : error};
    }

    // The variance by one f64 for the numerator, which is enough for nearly all: of numbers of few bits exactly `x` and
    // `left` over the denominator, of others within an error.
    struct Quotient {
        f64 x, error, left, numerator;
        bool is_exact, is_of_few;
        // It, or its root; false where it is not certain.
        __device__ __forceinline__ bool round(bool root, FoldOptions c, W& value) const {
            if (!is_of_few) return false;
            if (is_exact && numerator == 0) {
                value = 0;
                return true;
            }
            if (is_exact && !root && x > 0x1p-900 && x < 0x1p900) {
                value = nearest_result<E>(to_odd(x, left), c);
                return true;
            }
            return round_certainly<E>(x, error, root, c, value);
        }
    };
    static __device__ __forceinline__ Quotient quotient(const State& s, u64 count, u64 ddof) {
        const f64 n = f64(u32(count)), denominator = __dmul_rn(n, f64(u32(count) - u32(ddof)));
        const DoubleDouble first = two_product(n, s.squares.sum), second = two_product(s.sum.sum, s.sum.sum);
        const DoubleDouble numerator = two_sum(first.high, -second.high);
        const f64 x = near_quotient(numerator.high, denominator), below = __dsub_rn(first.low, second.low);
        const bool exact = s.squares.rest == 0 && s.sum.rest == 0 && numerator.low == 0 && below == 0;
        const f64 rests = __dadd_rn(__dmul_rn(n, fabs(s.squares.rest)), fabs(2 * __dmul_rn(s.sum.sum, s.sum.rest)));
        const f64 lost = __dadd_rn(__dmul_rn(first.high, 0x1p-50), 2 * rests);
        return {x,     at_least(lost, denominator),
                __fma_rn(-x, denominator, numerator.high), numerator.high,
                exact, count < u64(SMALL_COUNT)};
    }

    // Apart from the loops, and compiled once.
    static __device__ __noinline__ Rounded<W> rounded(State s, u64 count, u64 ddof, bool root, FoldOptions c) {
        W value = 0;
        // Of nothing but zeros.
        if (s.squares.sum == 0 && s.squares.rest == 0 && s.sum.sum == 0 && s.sum.rest == 0) return {0, true};
        if constexpr (NARROW) {
            if (quotient(s, count, ddof).round(root, c, value)) return {value, true};
        }
        bool exact = false;
        const Interval v = variance(s, f64(count), f64(count - ddof), exact);
        Rounded<W> result = round_interval<E>(v, root, c);
        const bool within = NARROW || (is_within(s.squares.sum) && v.high > 0x1p-900 && count < 1ull << 50);
        result.known = (exact || result.known) && within && s.sum.is_finite() && s.squares.is_finite();
        return result;
    }

    static __device__ __forceinline__ void finish(const SegmentArguments& a, FoldOptions c, u64 k, const State& s,
                                                  u64 begin, u64 end) {
        const u64 n = end - begin, ddof = a.options >> 32;
        if (n <= ddof) {
            fault(a, n == 0 ? EMPTY : TOO_FEW, k);
            // How many there are is left where the result would be.
            write_instead<E>(a, c, k, typename Mark<W>::Bits(n), u16(n));
            return;
        }
        const Rounded<W> r = rounded(s, n, ddof, c.fold() == EXACT_STD, c);
        WideInteger::write(a, c, k, r.value, r.known);
    }
};
