// Correctly rounded sums, means and norms of segments.
//
// A state is an unevaluated sum of two f64, together exact: an addition's error goes to the second (D. Knuth's
// two-sum). An addition whose error the second cannot take without one of its own makes the sum a NaN, which nothing
// changes any more, and so do infinities and NaNs of the data. So a result is either right or known to be missed: a
// segment that was missed gets a mark, and a second kernel folds those again as whole arrays are folded, a block a
// segment.
//
// The window of such a pair is more than 100 bits, wherever the data lie: numbers of one scale are not missed.
#pragma once
#include "num/double_double.cuh"
#include "op/part_window.cuh"

// What pairs give, beside fold() of SegmentArguments' choice.
enum Exact_ { EXACT_SUM, EXACT_MEAN, EXACT_L1 };

template <class F> struct Mark;
template <> struct Mark<f32> {
    typedef u32 Bits;
    static constexpr Bits BITS = 0x7fc0dead;
};
template <> struct Mark<f64> {
    typedef u64 Bits;
    static constexpr Bits BITS = 0x7ff800000000dead;
};
// Of results of 16 bits: a NaN of both formats that no result is.
constexpr u16 MARK_OF_16 = 0x7fad;

// Writes bits in the place of a result: the mark, or how many elements there are, of which 16 bits hold the lowest.
template <class E, class Bits>
__device__ __forceinline__ void write_instead(const SegmentArguments& a, FoldOptions c, u64 k, Bits bits,
                                              u16 short_bits) {
    if (sizeof(E) == 2 && c.is_narrow()) static_cast<u16*>(a.out)[k] = short_bits;
    else static_cast<Bits*>(a.out)[k] = bits;
}

// An f64 beside a number that lies between it and its neighbour on the side of `rest`, to odd: so that a second
// rounding sees that there is something left.
__device__ __forceinline__ f64 to_odd(f64 x, f64 rest) {
    u64 bits = __double_as_longlong(x);
    if (rest != 0 && bits % 2 == 0) bits = (rest > 0) == (x > 0) ? bits + 1 : bits - 1;
    return __longlong_as_double(bits);
}

// The result of a pair whose first is the nearest f64.
template <class E> __device__ __forceinline__ Wide<E> round_pair(f64 sum, f64 rest, FoldOptions c) {
    if constexpr (sizeof(Wide<E>) == 8) return sum;
    else return nearest_result<E>(to_odd(sum, rest), c);
}

// What adding x to a lost.
__device__ __forceinline__ f64 lost(f64 a, f64 x, f64 sum) {
    const f64 added = __dsub_rn(sum, a);
    return __dadd_rn(__dsub_rn(a, __dsub_rn(sum, added)), __dsub_rn(x, added));
}

// The quotient of a pair, whose second is less than half a unit of the first, and n; false where that is not certain.
//
// A remainder of a quotient within a unit of the true one is exact if it does not underflow, so its sign is right, and
// to odd the quotient of narrow floats is. For f64 itself the quotient of what is left is added: right if that is
// exact, or if the sum is the same a little below and a little above. A quotient of narrow floats is a near one,
// corrected by what is left of both.
__device__ __forceinline__ bool divide_pair(f64 sum, f64 rest, f64 n, f64& quotient, f32) {
    const f64 reciprocal = nearer_reciprocal(n), q = __dmul_rn(sum, reciprocal);
    const f64 nearest = __fma_rn(__dadd_rn(__fma_rn(-q, n, sum), rest), reciprocal, q);
    quotient = to_odd(nearest, __dadd_rn(__fma_rn(-nearest, n, sum), rest));
    return true;
}
__device__ __forceinline__ bool divide_pair(f64 sum, f64 rest, f64 n, f64& quotient, f64) {
    const f64 q = __ddiv_rn(sum, n), remainder = __fma_rn(-q, n, sum), left = __dadd_rn(remainder, rest);
    const f64 more = __ddiv_rn(left, n);
    quotient = __dadd_rn(q, more);
    const bool exact = lost(remainder, rest, left) == 0 && __fma_rn(-more, n, left) == 0;
    const f64 little = __dmul_rn(more, 0x1p-50);
    return (exact || __dadd_rn(q, __dadd_rn(more, little)) == __dadd_rn(q, __dsub_rn(more, little))) &&
           (sum == 0 || fabs(sum) > 0x1p-800);
}

// Windows of floats of up to 32 bits; a fold of f64 has none.
template <class E, Powers POWERS> struct WindowOf {
    typedef PartWindow<E, POWERS> Window;
    template <int COLUMNS> using Windows = PartWindow<E, POWERS, COLUMNS>;
};
template <Powers POWERS> struct WindowOf<f64, POWERS> {};

template <class E> struct ExactTotal : WindowOf<E, Powers::One> {
    typedef E Element;
    typedef Wide<E> W;
    struct alignas(16) State {
        f64 sum, rest;
    };
    static constexpr int BLOCKS = 4;
    struct Setup : Floats<E> {
        __device__ __forceinline__ explicit Setup(FoldOptions c) : Floats<E>(c, c.fold() == EXACT_L1) {}
    };
    static __device__ __forceinline__ bool spans(FoldOptions c) { return c.fold() == EXACT_MEAN; }
    static __device__ __forceinline__ State identity() { return {0, 0}; }
    static __device__ __forceinline__ f64 missed() { return __longlong_as_double(0x7ff8000000000000ll); }

    // Whether the sum is that of both, exactly. One of the differences is exact by itself, that from the larger.
    static __device__ __forceinline__ bool is_exact(f64 a, f64 x, f64 sum) {
        return __dsub_rn(sum, a) == x && __dsub_rn(sum, x) == a;
    }

    static __device__ __forceinline__ void add_f64(State& s, f64 x) {
        const f64 sum = __dadd_rn(s.sum, x);
        // Narrow numbers hardly ever leave anything.
        if (sizeof(E) < 8 && is_exact(s.sum, x, sum)) {
            s.sum = sum;
            return;
        }
        const f64 error = lost(s.sum, x, sum), rest = __dadd_rn(s.rest, error);
        s.sum = is_exact(s.rest, error, rest) ? sum : missed();
        s.rest = rest;
    }
    template <class Finish> static __device__ __forceinline__ void add(State& s, E x, u64, const Finish& requested) {
        add_f64(s, f64(requested.of(x)));
    }
    static __device__ __forceinline__ bool holds_something(const State& s) { return !(s.sum == 0 && s.rest == 0); }
    template <class Sums> static __device__ __forceinline__ void take_in(State& s, const Sums& all) {
        add_f64(s, all.number[0]);
    }
    template <class Sums> static __device__ __forceinline__ State of(const Sums& all) { return {all.number[0], 0}; }
    static __device__ __forceinline__ void merge(State& a, const State& b) {
        const f64 sum = __dadd_rn(a.sum, b.sum), error = lost(a.sum, b.sum, sum);
        const f64 both = __dadd_rn(a.rest, b.rest), rest = __dadd_rn(both, error);
        const bool exact = is_exact(a.rest, b.rest, both) && is_exact(both, error, rest);
        a.sum = exact ? sum : missed();
        a.rest = rest;
    }
    static __device__ __forceinline__ void write(const SegmentArguments& a, FoldOptions c, u64 k, W value, bool known) {
        if (known) {
            write_result<E>(a, c, k, value);
        } else {
            write_instead<E>(a, c, k, Mark<W>::BITS, MARK_OF_16);
            fault(a, MISSED, k);
        }
    }
    static __device__ __forceinline__ void finish(const SegmentArguments& a, FoldOptions c, u64 k, const State& s,
                                                  u64 begin, u64 end) {
        const f64 sum = __dadd_rn(s.sum, s.rest), rest = lost(s.sum, s.rest, sum);
        bool known = sum - sum == 0;
        if (c.fold() != EXACT_MEAN) {
            write(a, c, k, round_pair<E>(sum, rest, c), known);
        } else if (begin == end) {
            fault(a, EMPTY, k);
        } else {
            f64 quotient;
            known = divide_pair(sum, rest, f64(end - begin), quotient, W()) && known;
            write(a, c, k, nearest_result<E>(quotient, c), known);
        }
    }
};
