// Correctly rounded sums of segments.
//
// A state is an unevaluated sum of two f64, together exact: an addition's error goes to the second (D. Knuth's two-sum). An addition whose error the second cannot take without
// one of its own makes the sum a NaN, which nothing changes any more, and so do infinities and NaNs of the data. So a result is either right or known to be missed: a
// segment that was missed gets a mark, and a second kernel folds those again as exact_sum does whole arrays, a block a segment.
//
// The window of such a pair is more than 100 bits, wherever the data lie: numbers of one scale are not missed.
#pragma once
#include "segments.cuh"

template <class F> struct Mark;
template <> struct Mark<f32> { typedef u32 Bits; static constexpr u32 BITS = 0x7fc0dead; };
template <> struct Mark<f64> { typedef u64 Bits; static constexpr u64 BITS = 0x7ff800000000dead; };

// What floats round to: their accumulator's type.
__device__ __forceinline__ f32 round_pair(f64 sum, f64 rest, f32) {
    // To odd where something is left, so that the second rounding sees that it is.
    u64 bits = __double_as_longlong(sum);
    if (rest != 0 && bits % 2 == 0) bits = (rest > 0) == (sum > 0) ? bits + 1 : bits - 1;
    return f32(__longlong_as_double(bits));
}
__device__ __forceinline__ f64 round_pair(f64 sum, f64, f64) { return sum; }

template <class F> struct ExactTotal {
    typedef F Element;
    struct State { f64 sum, rest; };
    static constexpr int BLOCKS = 4;
    struct Setup {
        u32 skip;
        __device__ __forceinline__ explicit Setup(Choice c) : skip(mask_if<u32>(c.skip())) {}
    };
    static __device__ __forceinline__ bool spans(Choice) { return false; }
    static __device__ __forceinline__ State identity() { return {0, 0}; }
    static __device__ __forceinline__ f64 missed() { return __longlong_as_double(0x7ff8000000000000ll); }

    // What adding x to a lost.
    static __device__ __forceinline__ f64 lost(f64 a, f64 x, f64 sum) {
        const f64 added = __dsub_rn(sum, a);
        return __dadd_rn(__dsub_rn(a, __dsub_rn(sum, added)), __dsub_rn(x, added));
    }
    // Whether the sum is that of both, exactly. One of the differences is exact by itself, that from the larger.
    static __device__ __forceinline__ bool is_exact(f64 a, f64 x, f64 sum) { return __dsub_rn(sum, a) == x && __dsub_rn(sum, x) == a; }

    static __device__ __forceinline__ void add(State& s, F x, u64, const Setup& setup) {
        if (x != x && setup.skip) return;
        const f64 sum = __dadd_rn(s.sum, f64(x));
        // Narrow numbers hardly ever leave anything.
        if (sizeof(F) < 8 && is_exact(s.sum, f64(x), sum)) {
            s.sum = sum;
            return;
        }
        const f64 error = lost(s.sum, f64(x), sum), rest = __dadd_rn(s.rest, error);
        s.sum = is_exact(s.rest, error, rest) ? sum : missed();
        s.rest = rest;
    }
    static __device__ __forceinline__ void merge(State& a, const State& b) {
        const f64 sum = __dadd_rn(a.sum, b.sum), error = lost(a.sum, b.sum, sum);
        const f64 both = __dadd_rn(a.rest, b.rest), rest = __dadd_rn(both, error);
        const bool exact = is_exact(a.rest, b.rest, both) && is_exact(both, error, rest);
        a.sum = exact ? sum : missed();
        a.rest = rest;
    }
    static __device__ __forceinline__ void finish(const SegmentArguments& a, Choice, u64 k, const State& s, u64, u64) {
        typedef typename Mark<F>::Bits Bits;
        const f64 sum = __dadd_rn(s.sum, s.rest), rest = lost(s.sum, s.rest, sum);
        if (sum - sum != 0) {
            static_cast<Bits*>(a.out)[k] = Mark<F>::BITS;
            fault(a, MISSED, k);
        } else {
            static_cast<F*>(a.out)[k] = round_pair(sum, rest, F());
        }
    }
};
