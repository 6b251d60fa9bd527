// Complex numbers in segments, as pairs of floats: what does not come of their parts alone, as an element goes for a
// NaN in either, or bounds count elements.
//
// A fold is for both types; results are finished as those of reals are.
#pragma once
#include "op/complex_magnitude.cuh"
#include "op/part_spread.cuh"
#include "op/part_folds.cuh"
#include "num/wide_ratio.cuh"

// What totals of complex numbers are beside COUNT.
enum NonzeroOf_ { ANY_PAIR = COUNT + 1, ALL_PAIRS };

// What is asked where only NaNs are told apart.
struct SkipsOnly {
    bool skip;
    __device__ __forceinline__ explicit SkipsOnly(FoldOptions c) : skip(c.skip()) {}
};

// How many are nonzero, or zero where that none is so is asked.
template <class E> struct PairCount {
    typedef E Element;
    struct State {
        u64 counted;
    };
    static constexpr int BLOCKS = 4;
    struct Setup {
        bool skip, zeros;
        __device__ __forceinline__ explicit Setup(FoldOptions c) : skip(c.skip()), zeros(c.fold() == ALL_PAIRS) {}
    };
    static __device__ __forceinline__ bool spans(FoldOptions) { return false; }
    static __device__ __forceinline__ State identity() { return {0}; }
    static __device__ __forceinline__ void add(State& s, E z, u64, const Setup& setup) {
        // A NaN differs from zero.
        const bool nonzero = z.re != 0 || z.im != 0;
        s.counted += nonzero != setup.zeros && !(setup.skip && is_nan(z));
    }
    static __device__ __forceinline__ void merge(State& a, const State& b) { a.counted += b.counted; }
    static __device__ __forceinline__ void finish(const SegmentArguments& a, FoldOptions c, u64 k, const State& s, u64,
                                                  u64) {
        if (c.fold() == COUNT) results<u64>(a)[k] = s.counted;
        else results<bool>(a)[k] = (s.counted > 0) == (c.fold() == ANY_PAIR);
    }
};

// Correctly rounded sums and means of both parts. If either is missed, both are done again.
template <class E> struct ExactPair {
    typedef E Element;
    typedef typename Parts<E>::Part Part;
    typedef ExactTotal<Part> WideInteger;
    struct State {
        typename WideInteger::State re, im;
    };
    static constexpr int BLOCKS = 3;
    struct Setup {
        typename WideInteger::Setup part;
        bool skip;
        __device__ __forceinline__ explicit Setup(FoldOptions c) : part(FoldOptions{c.options & ~1u}), skip(c.skip()) {}
    };
    static __device__ __forceinline__ bool spans(FoldOptions c) { return WideInteger::spans(c); }
    static __device__ __forceinline__ State identity() { return {WideInteger::identity(), WideInteger::identity()}; }
    static __device__ __forceinline__ void add(State& s, E z, u64 index, const Setup& setup) {
        const bool skipped = setup.skip && is_nan(z);
        WideInteger::add(s.re, skipped ? Part(0) : z.re, index, setup.part);
        WideInteger::add(s.im, skipped ? Part(0) : z.im, index, setup.part);
    }
    static __device__ __forceinline__ void merge(State& a, const State& b) {
        WideInteger::merge(a.re, b.re);
        WideInteger::merge(a.im, b.im);
    }
    // A part's result, and whether it is certain.
    static __device__ __forceinline__ bool rounded(const typename WideInteger::State& s, bool mean, u64 n,
                                                   Part& result) {
        const f64 sum = __dadd_rn(s.sum, s.rest), rest = lost(s.sum, s.rest, sum);
        const bool known = sum - sum == 0;
        if (!mean) {
            result = round_pair<Part>(sum, rest, FoldOptions{0});
            return known;
        }
        f64 quotient;
        const bool certain = divide_pair(sum, rest, f64(n), quotient, Part());
        result = Part(quotient);
        return certain && known;
    }
    static __device__ __forceinline__ void finish(const SegmentArguments& a, FoldOptions c, u64 k, const State& s,
                                                  u64 begin, u64 end) {
        const bool mean = c.fold() == EXACT_MEAN;
        if (mean && begin == end) return fault(a, EMPTY, k);
        Part re, im;
        bool known = rounded(s.re, mean, end - begin, re);
        known = rounded(s.im, mean, end - begin, im) && known;
        WideInteger::write(a, c, 2 * k, re, true);
        WideInteger::write(a, c, 2 * k + 1, im, true);
        if (known) return;
        static_cast<typename Mark<Part>::Bits*>(a.out)[2 * k] = Mark<Part>::BITS;
        fault(a, MISSED, k);
    }
};

// The root of the exact sum of squares of both parts of complex64.
template <class E> struct PairNorm : ExactNorm<f32> {
    typedef E Element;
    typedef struct {
    } Window;  // none of both parts
    typedef ExactNorm<f32> Norm;
    struct Setup {
        typename Norm::Setup part;
        bool skip;
        __device__ __forceinline__ explicit Setup(FoldOptions c) : part(FoldOptions{c.options & ~1u}), skip(c.skip()) {}
    };
    static __device__ __forceinline__ void add(State& s, E z, u64 index, const Setup& setup) {
        const bool skipped = setup.skip && is_nan(z);
        Norm::add(s, skipped ? 0 : z.re, index, setup.part);
        Norm::add(s, skipped ? 0 : z.im, index, setup.part);
    }
};

// The largest magnitude, compared exactly and rounded once.
template <class E> struct PairLargest {
    typedef E Element;
    typedef LargestComplex<E, Nan::Propagate> Largest;
    typedef typename Largest::State State;
    typedef typename Parts<E>::Part Part;
    static constexpr int BLOCKS = 3;
    typedef SkipsOnly Setup;
    static __device__ __forceinline__ bool spans(FoldOptions) { return false; }
    static __device__ __forceinline__ State identity() { return Largest::identity(); }
    static __device__ __forceinline__ void add(State& s, E z, u64, const Setup& setup) {
        const f64 re = fabs(f64(z.re)), im = fabs(f64(z.im)), infinity = __longlong_as_double(0x7ff0000000000000ll);
        if (is_nan(z)) s.specials |= setup.skip ? 0 : Largest::NOT_A_NUMBER;
        else if (re == infinity || im == infinity) s.specials |= Largest::INFINITE;
        else if (!is_small(s, re, im) && is_above(re, im, s.re, s.im)) s.re = re, s.im = im;
    }
    // Both parts below half of the larger one so far, as most are.
    static __device__ __forceinline__ bool is_small(const State& s, f64 re, f64 im) {
        const f64 half = 0.5 * fmax(s.re, s.im);
        return re < half && im < half;
    }
    static __device__ __forceinline__ void merge(State& a, const State& b) { Largest::merge(a, b); }
    static __device__ __forceinline__ void finish(const SegmentArguments& a, FoldOptions, u64 k, const State& s, u64,
                                                  u64) {
        const bool nan = s.specials & Largest::NOT_A_NUMBER;
        results<Part>(a)[k] =
            s.specials ? canonical(Part(__longlong_as_double(nan ? 0x7ff8000000000000ll : 0x7ff0000000000000ll)))
                       : magnitude(s.re, s.im, Part());
    }
    // Squares of narrow parts are exact in f64, and so is what their sum loses.
    static __device__ __noinline__ f32 magnitude(f64 re, f64 im, f32) {
        const f64 x = re * re, y = im * im, sum = __dadd_rn(x, y), rest = lost(x, y, sum), root = __dsqrt_rn(sum);
        return f32(to_odd(root, __dadd_rn(__fma_rn(-root, root, sum), rest)));
    }
    // Squares of integers, in units of the smaller part's lowest bit. What is smaller by more than 2^54 moves nothing.
    static __device__ __noinline__ f64 magnitude(f64 re, f64 im, f64) {
        const f64 larger = fmax(re, im), smaller = fmin(re, im);
        const u64 x = __double_as_longlong(larger), y = __double_as_longlong(smaller);
        const i32 x_field = i32(x >> 52), y_field = i32(y >> 52), x_unit = x_field > 0 ? x_field : 1,
                  y_unit = y_field > 0 ? y_field : 1;
        if (smaller == 0 || x_unit - y_unit > 54) return larger;
        const u64 a = (x & 0xfffffffffffffull) | u64(x_field > 0) << 52, b = (y & 0xfffffffffffffull) | u64(y_field > 0)
                                                                                                            << 52;
        const Wide320 wide = Wide320::of(a).shifted(u32(x_unit - y_unit));
        const Wide320 squares =
            Wide320::product(wide.limb[0], wide.limb[1], wide.limb[0], wide.limb[1]).plus(Wide320::of(b).times(b));
        return nearest_ratio(squares, 1, 0, true, y_unit - 1075);
    }
};

// Kernels ask for all of them by the names of those of real numbers.
template <> struct TotalOf<complex64> {
    typedef PairCount<complex64> type;
};
template <> struct TotalOf<complex128> {
    typedef PairCount<complex128> type;
};
template <> struct Extreme<complex64> : PairLargest<complex64> {};
template <> struct Extreme<complex128> : PairLargest<complex128> {};
template <> struct ExactTotal<complex64> : ExactPair<complex64> {};
template <> struct ExactTotal<complex128> : ExactPair<complex128> {};
template <> struct ExactNorm<complex64> : PairNorm<complex64> {};
