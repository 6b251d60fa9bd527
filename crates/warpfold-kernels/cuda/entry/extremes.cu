// min, max, minmax, argmin and argmax.
//
// record: see extreme.cuh. value: minmax two elements, min and max one; arg* the index.
#include "op/extreme.cuh"

template <class E, Nan NAN> struct Both {
    typedef E Element;
    typedef Rank<E> R;
    static constexpr int VECTORS = 4, BLOCKS = 3;
    static constexpr bool PAIRS = SEARCH<E> == Search::Pairs;
    struct State {
        i64 min, max;
    };
    R min = LOWEST<R>, max = LOWEST<R>;
    // Where the hardware compares two at a time, ranks are asked for at the end only.
    BestPair<E, Side::Min, NAN> least;
    BestPair<E, Side::Max, NAN> most;

    __device__ __forceinline__ Both(const E*, u64) {}
    __device__ __forceinline__ void vector(const Vector& p, u64) {
        if constexpr (PAIRS) {
            least.add(p);
            most.add(p);
        } else {
            min = larger(min, highest_rank<E, Side::Min, NAN>(p));
            max = larger(max, highest_rank<E, Side::Max, NAN>(p));
        }
    }
    __device__ __forceinline__ void one(E x, u64) {
        min = larger(min, rank<E, Side::Min, NAN>(x));
        max = larger(max, rank<E, Side::Max, NAN>(x));
    }
    __device__ __forceinline__ State state() {
        if constexpr (PAIRS) return {larger(min, least.highest_rank()), larger(max, most.highest_rank())};
        else return {min, max};
    }
    static __device__ __forceinline__ State identity() { return {LOWEST<R>, LOWEST<R>}; }
    static __device__ __forceinline__ void merge(State& a, const State& b) {
        a.min = larger(a.min, b.min);
        a.max = larger(a.max, b.max);
    }
    static __device__ __forceinline__ void finish(const State& s, const Arguments& a) {
        if (a.record) {
            const bool none = a.n == 0 || (NAN == Nan::Ignore && s.max == LOWEST<R>);
            a.record[0] = none ? 0 : 3;
            a.record[1] = from_rank<E, Side::Max>(R(s.max));
            a.record[3] = from_rank<E, Side::Min>(R(s.min));
        }
        if (a.value) {
            store<E>(a.value, 0, from_rank<E, Side::Min>(R(s.min)));
            store<E>(a.value, 1, from_rank<E, Side::Max>(R(s.max)));
        }
    }
};

template <class E, Nan NAN> using Min = Extreme<E, NAN, Side::Min, Want::Value>;
template <class E, Nan NAN> using Max = Extreme<E, NAN, Side::Max, Want::Value>;
template <class E, Nan NAN> using MinMax = Both<E, NAN>;
template <class E, Nan NAN> using ArgMin = Extreme<E, NAN, Side::Min, Want::Index>;
template <class E, Nan NAN> using ArgMax = Extreme<E, NAN, Side::Max, Want::Index>;

#include "entry/entries.cuh"
