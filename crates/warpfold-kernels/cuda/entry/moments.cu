// var, std, and l2 of integers: sum and sum of squares in one pass.
//
// Floats in f64, as distances from the first element (if it is finite), so that a mean far from zero does not swallow
// the variance.
//
// record: integers see integer_moments.cuh; floats as f64 [sum of distances, real and imaginary; sum of their squares;
// the point they are from, real and imaginary], then the elements skipped. value: none.
#include "op/integer_moments.cuh"

__device__ __forceinline__ f64 finite_or_zero(f64 x) { return fabs(x) <= 1.7976931348623157e308 ? x : 0.0; }

template <class E, Nan NAN> struct FloatMoments {
    typedef E Element;
    static constexpr int COMPONENTS = Parts<E>::COUNT;
    static constexpr int VECTORS = 4, BLOCKS = 3;
    struct State : Skipped<NAN> {
        f64 part[COMPONENTS];
        f64 squares;
    };
    f64 re = 0, im = 0, squares = 0, other_squares = 0, from_re = 0, from_im = 0;
    u64 skipped = 0;

    // Every thread takes the same first element for its point.
    __device__ __forceinline__ FloatMoments(const E* x, u64 n) {
        if (n == 0) return;
        if constexpr (COMPONENTS == 2) {
            from_re = finite_or_zero(x[0].re);
            from_im = finite_or_zero(x[0].im);
        } else {
            from_re = finite_or_zero(widen(x[0]));
        }
    }
    __device__ __forceinline__ void add(E x, int at) {
        if constexpr (NAN == Nan::Ignore) {
            if (is_nan(x)) {
                skipped++;
                return;
            }
        }
        f64& into = at % 2 ? other_squares : squares;
        if constexpr (COMPONENTS == 2) {
            const f64 a = x.re - from_re, b = x.im - from_im;
            re += a;
            im += b;
            squares = fma(a, a, squares);
            other_squares = fma(b, b, other_squares);
        } else {
            const f64 a = f64(widen(x)) - from_re;
            if (at % 2) im += a;  // a second lane, joined in state()
            else re += a;
            into = fma(a, a, into);
        }
    }
    __device__ __forceinline__ void vector(const Vector& p, u64) {
        Elements<E> e(p);
#pragma unroll
        for (int k = 0; k < PER_VECTOR<E>; k++) add(e.element[k], k);
    }
    __device__ __forceinline__ void one(E x, u64) { add(x, 0); }
    __device__ __forceinline__ State state() {
        State s = identity();
        s.skip(skipped);
        s.squares = squares + other_squares;
        s.part[0] = COMPONENTS == 2 ? re : re + im;
        if constexpr (COMPONENTS == 2) s.part[1] = im;
        return s;
    }
    static __device__ __forceinline__ State identity() { return {}; }
    static __device__ __forceinline__ void merge(State& a, const State& b) {
        a.part[0] += b.part[0];
        if constexpr (COMPONENTS == 2) a.part[1] += b.part[1];
        a.squares += b.squares;
        a.skip(b.all_skipped());
    }
    static __device__ __forceinline__ void finish(const State& s, const Arguments& a) {
        if (!a.record) return;
        const FloatMoments point(static_cast<const E*>(a.x), a.n);
        a.record[0] = __double_as_longlong(s.part[0]);
        a.record[1] = COMPONENTS == 2 ? __double_as_longlong(s.part[COMPONENTS - 1]) : 0;
        a.record[2] = __double_as_longlong(s.squares);
        a.record[3] = __double_as_longlong(point.from_re);
        a.record[4] = __double_as_longlong(point.from_im);
        a.record[5] = s.all_skipped();
    }
};

template <class E, Nan NAN>
using Moments = typename Select<Traits<E>::integer, IntegerMoments<E>, FloatMoments<E, NAN>>::type;

#include "entry/entries.cuh"
