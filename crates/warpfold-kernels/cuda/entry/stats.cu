// stats of integers: sum, sum of squares, sum of magnitudes, and both extremes with their places, in one pass.
//
// record: [sum, 2 limbs; sum of squares, 3 limbs; sum of magnitudes, 2 limbs; the extremes: see extreme.cuh]. value:
// none.
#include "op/extreme_pair.cuh"
#include "op/integer_moments.cuh"

// Sums of magnitudes; those of unsigned numbers are their sums.
template <class E> struct Norm1 {
    u64 sum = 0;
    Halves wide;

    __device__ __forceinline__ void vector(const Vector& p) {
        if constexpr (sizeof(E) == 1) {
            // Each byte times its sign.
            i32 all = 0;
#pragma unroll
            for (int k = 0; k < 4; k++)
                all = dp4a(i32(p.word[k]), i32(((p.word[k] & 0x80808080u) >> 7) * 0xfeu + 0x01010101u), all);
            sum += all;
        } else if constexpr (sizeof(E) == 2) {
            Elements<E> e(p);
            u32 all = 0;
#pragma unroll
            for (int k = 0; k < PER_VECTOR<E>; k++) all = __sad(widen(e.element[k]), 0, all);
            sum += all;
        } else {
            Elements<E> e(p);
#pragma unroll
            for (int k = 0; k < PER_VECTOR<E>; k++) one(e.element[k]);
        }
    }
    __device__ __forceinline__ void one(E x) {
        if constexpr (sizeof(E) == 8) wide.add(magnitude(widen(x)));
        else sum += magnitude(widen(x));
    }
    __device__ __forceinline__ WideInteger<2> total() const {
        WideInteger<2> t = WideInteger<2>::zero();
        t.add(sum);
        wide.template add_to<0>(t);
        return t;
    }
};

template <class E> struct IntegerStats {
    typedef E Element;
    typedef ExtremePair<E, Nan::Propagate> Extremes;
    struct State {
        typename IntegerMoments<E>::State moments;
        WideInteger<2> norm1;
        typename Extremes::State extremes;
    };
    static constexpr int VECTORS = sizeof(E) == 8 ? 2 : 4, BLOCKS = 2;
    static constexpr bool ROLLED = true, SIGNED = Traits<E>::is_signed;
    IntegerMoments<E> moments;
    Norm1<E> norm1;
    Extremes extremes;

    __device__ __forceinline__ IntegerStats(const E* x, u64 n) : moments(x, n), extremes(x, n) {}
    __device__ __forceinline__ void vector(const Vector& p, u64 index) {
        moments.vector(p, index);
        if constexpr (SIGNED) norm1.vector(p);
        extremes.vector(p, index);
    }
    __device__ __forceinline__ void one(E x, u64 index) {
        moments.one(x, index);
        if constexpr (SIGNED) norm1.one(x);
        extremes.one(x, index);
    }
    __device__ __forceinline__ State state() { return {moments.state(), norm1.total(), extremes.state()}; }
    static __device__ __forceinline__ State identity() {
        return {IntegerMoments<E>::identity(), WideInteger<2>::zero(), Extremes::identity()};
    }
    static __device__ __forceinline__ void merge(State& a, const State& b) {
        IntegerMoments<E>::merge(a.moments, b.moments);
        if constexpr (SIGNED) a.norm1.add(b.norm1);
        Extremes::merge(a.extremes, b.extremes);
    }
    static __device__ __forceinline__ void finish(const State& s, const Arguments& a) {
        if (!a.record) return;
        IntegerMoments<E>::finish(s.moments, a);
        const WideInteger<2> norm1 = SIGNED ? s.norm1 : s.moments.sum;
        a.record[5] = norm1.limb[0];
        a.record[6] = norm1.limb[1];
        Extremes::write(s.extremes, a, a.record + 7);
    }
};

template <class E, Nan> using Stats = IntegerStats<E>;

#include "entry/entries.cuh"
