// Both extremes of an array and where each stands first: what stats keep beside their sums.
//
// record: as in extreme.cuh.
#pragma once
#include "fold.cuh"
#include "pack_rank.cuh"

template <class E, Nan NAN> struct ExtremePair {
    typedef Rank<E> R;
    struct State {
        i64 max, min;
        u64 max_at, min_at;
    };
    R max = LOWEST<R>, min = LOWEST<R>;
    u64 max_at = 0, min_at = 0;

    // Every thread starts with the first element.
    __device__ __forceinline__ ExtremePair(const E* x, u64 n) {
        if (n == 0) return;
        max = rank<E, Side::Max, NAN>(x[0]);
        min = rank<E, Side::Min, NAN>(x[0]);
    }
    // Packs come in the order of their indices, so the first of equals stays. Few hold a new extreme: most are asked one question.
    __device__ __forceinline__ void pack(const Pack& p, u64 index) {
        const R high = highest_rank<E, Side::Max, NAN>(p), low = highest_rank<E, Side::Min, NAN>(p);
        if (high > max || low > min) take(high, low, index);
    }
    // The elements of a pack, widened; none is NaN, nor a zero of 64 bits, whose sign a comparison would not see.
    template <class Terms> __device__ __forceinline__ void numbers(const Terms& terms, u64 index) {
        auto most = terms[0].x, least = terms[0].x;
#pragma unroll
        for (int k = 1; k < PER_PACK<E>; k++) {
            most = extreme<Side::Max, Nan::Ignore>(most, terms[k].x);
            least = extreme<Side::Min, Nan::Ignore>(least, terms[k].x);
        }
        const R high = rank<E, Side::Max, NAN>(narrow<E>(most)), low = rank<E, Side::Min, NAN>(narrow<E>(least));
        if (high > max || low > min) take(high, low, index);
    }
    __device__ __forceinline__ void take(R high, R low, u64 index) {
        if (high > max) max_at = index;
        if (low > min) min_at = index;
        max = larger(max, high);
        min = larger(min, low);
    }
    // Elements before the first pack come after the last one.
    __device__ __forceinline__ void one(E x, u64 index) {
        State mine = state();
        const R high = rank<E, Side::Max, NAN>(x), low = rank<E, Side::Min, NAN>(x);
        merge(mine, {high, low, index, index});
        max = R(mine.max), min = R(mine.min);
        max_at = mine.max_at, min_at = mine.min_at;
    }
    __device__ __forceinline__ State state() const { return {max, min, max_at, min_at}; }
    static __device__ __forceinline__ State identity() { return {LOWEST<R>, LOWEST<R>, ~0ull, ~0ull}; }
    static __device__ __forceinline__ void merge(State& a, const State& b) {
        if (b.max > a.max || (b.max == a.max && b.max_at < a.max_at)) a.max = b.max, a.max_at = b.max_at;
        if (b.min > a.min || (b.min == a.min && b.min_at < a.min_at)) a.min = b.min, a.min_at = b.min_at;
    }
    // `at` is the element, or the first of the pack that holds it. It ends at n: for no elements at once.
    template <Side SIDE> static __device__ __forceinline__ u64 index_of(i64 best, u64 at, const Arguments& a) {
        const E* x = static_cast<const E*>(a.x);
        while (at < a.n && rank<E, SIDE, NAN>(x[at]) != best) at++;
        return at;
    }
    static __device__ __forceinline__ void write(const State& s, const Arguments& a, u64* record) {
        const bool none = a.n == 0 || (NAN == Nan::Ignore && s.max == LOWEST<R>);
        record[0] = none ? 0 : 3;
        record[1] = from_rank<E, Side::Max>(R(s.max));
        record[2] = index_of<Side::Max>(s.max, s.max_at, a);
        record[3] = from_rank<E, Side::Min>(R(s.min));
        record[4] = index_of<Side::Min>(s.min, s.min_at, a);
    }
};
