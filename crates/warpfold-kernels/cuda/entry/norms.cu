// l1 of every type, l2 of floats: sums of magnitudes and of squares.
//
// record: l1 of integers the total's two limbs; of floats [sum of magnitudes, 0, elements skipped], and l2 likewise
// [sum of squares, 0, elements skipped], sums as f64. value: none. Magnitudes are summed in the accumulator type (f32
// up to f32), squares in f64, so that only those of f64 itself can overflow.
#include "walk/array.cuh"
#include "num/order.cuh"
#include "num/wide_integers.cuh"

template <class E> struct IntegerNorm1 {
    typedef E Element;
    typedef WideInteger<2> State;
    static constexpr int VECTORS = 4, BLOCKS = 3;
    State total = State::zero();
    u64 narrow = 0;

    __device__ __forceinline__ IntegerNorm1(const E*, u64) {}
    __device__ __forceinline__ void vector(const Vector& p, u64) {
        Elements<E> e(p);
        if constexpr (sizeof(E) <= 2) {
            u32 sum = 0;
#pragma unroll
            for (int k = 0; k < PER_VECTOR<E>; k++) sum += magnitude(widen(e.element[k]));
            narrow += sum;
        } else {
#pragma unroll
            for (int k = 0; k < PER_VECTOR<E>; k++) one(e.element[k], 0);
        }
    }
    __device__ __forceinline__ void one(E x, u64) {
        if constexpr (sizeof(E) == 8) total.add(magnitude(widen(x)));
        else narrow += magnitude(widen(x));
    }
    __device__ __forceinline__ State state() {
        State s = total;
        s.add(narrow);
        return s;
    }
    static __device__ __forceinline__ State identity() { return State::zero(); }
    static __device__ __forceinline__ void merge(State& a, const State& b) { a.add(b); }
    static __device__ __forceinline__ void finish(const State& s, const Arguments& a) {
        if (!a.record) return;
        a.record[0] = s.limb[0];
        a.record[1] = s.limb[1];
    }
};

enum class Power { One, Two };

__device__ __forceinline__ bool is_safe_square(f32 s) { return s > 1e-30f && s < 1e38f; }
__device__ __forceinline__ bool is_safe_square(f64 s) { return s > 1e-290 && s < 1e308; }

// Norms within one unit in the last place, or correctly rounded.
__device__ __forceinline__ f32 root(f32 x) {
    f32 y;
    asm("sqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
__device__ __forceinline__ f64 root(f64 x) { return sqrt(x); }

// |z| within two units in the last place. Squares that leave the range are the exception, and scaled.
template <class F> __device__ __forceinline__ F absolute(F re, F im) {
    const F square = fma(re, re, im * im);
    if (is_safe_square(square)) return sqrt(square);
    const F a = fabs(re), b = fabs(im);
    if (a + b == a || a + b == b || a + b != a + b) return a + b;  // one is nothing beside the other, infinite or NaN
    const F large = a > b ? a : b, ratio = (a > b ? b : a) / large;
    return large * sqrt(fma(ratio, ratio, F(1)));
}

template <class E, Nan NAN, Power POWER> struct FloatPowers {
    typedef E Element;
    typedef typename Parts<E>::Part Part;
    typedef typename Select<POWER == Power::One, Part, f64>::type Sum;
    static constexpr int COMPONENTS = Parts<E>::COUNT;
    static constexpr int LANES = sizeof(Sum) == 4 ? 4 : 2;
    static constexpr int VECTORS = POWER == Power::One && sizeof(E) == 16 ? 2 : 4, BLOCKS = 3;
    struct State : Skipped<NAN> {
        f64 sum;
    };
    Sum lane[LANES];
    u64 skipped = 0;

    __device__ __forceinline__ FloatPowers(const E*, u64) {
#pragma unroll
        for (int k = 0; k < LANES; k++) lane[k] = 0;
    }
    __device__ __forceinline__ void add(E x, int at) {
        if constexpr (NAN == Nan::Ignore) {
            if (is_nan(x)) {
                skipped++;
                return;
            }
        }
        Sum& into = lane[at % LANES];
        if constexpr (POWER == Power::One) {
            if constexpr (COMPONENTS == 2) into += absolute(x.re, x.im);
            else into += fabs(widen(x));
        } else if constexpr (COMPONENTS == 2) {
            into = fma(Sum(x.re), Sum(x.re), fma(Sum(x.im), Sum(x.im), into));
        } else {
            into = fma(Sum(widen(x)), Sum(widen(x)), into);
        }
    }
    __device__ __forceinline__ void vector(const Vector& p, u64) {
        Elements<E> e(p);
        if constexpr (POWER == Power::Two && sizeof(E) == 2 && NAN_BITS<E> == NAN_BITS<f16> && NAN == Nan::Propagate) {
            // Squares of f16 are exact in f32, and eight of them far from its end: one conversion a vector.
            f32 sum = 0;
#pragma unroll
            for (int k = 0; k < PER_VECTOR<E>; k++) sum = fma(widen(e.element[k]), widen(e.element[k]), sum);
            lane[0] += sum;
        } else if constexpr (POWER == Power::One && COMPONENTS == 2) {
            // The exception (absolute) must not stand in the way of the rule: one question a vector.
            Sum square[PER_VECTOR<E>];
            bool safe = true;
#pragma unroll
            for (int k = 0; k < PER_VECTOR<E>; k++) {
                square[k] = fma(e.element[k].re, e.element[k].re, e.element[k].im * e.element[k].im);
                safe = safe && is_safe_square(square[k]);
            }
            if (safe) {
#pragma unroll
                for (int k = 0; k < PER_VECTOR<E>; k++) lane[k % LANES] += root(square[k]);
            } else {
#pragma unroll
                for (int k = 0; k < PER_VECTOR<E>; k++) add(e.element[k], k);
            }
        } else {
#pragma unroll
            for (int k = 0; k < PER_VECTOR<E>; k++) add(e.element[k], k);
        }
    }
    __device__ __forceinline__ void one(E x, u64) { add(x, 0); }
    __device__ __forceinline__ State state() {
        f64 sum = lane[0];
#pragma unroll
        for (int k = 1; k < LANES; k++) sum += lane[k];
        State s = identity();
        s.sum = sum;
        s.skip(skipped);
        return s;
    }
    static __device__ __forceinline__ State identity() { return {}; }
    static __device__ __forceinline__ void merge(State& a, const State& b) {
        a.sum += b.sum;
        a.skip(b.all_skipped());
    }
    static __device__ __forceinline__ void finish(const State& s, const Arguments& a) {
        if (!a.record) return;
        a.record[0] = __double_as_longlong(s.sum);
        a.record[1] = 0;
        a.record[2] = s.all_skipped();
    }
};

template <class E, Nan NAN>
using L1 = typename Select<Traits<E>::integer, IntegerNorm1<E>, FloatPowers<E, NAN, Power::One>>::type;
template <class E, Nan NAN> using Squares = FloatPowers<E, NAN, Power::Two>;

#include "entry/entries.cuh"
