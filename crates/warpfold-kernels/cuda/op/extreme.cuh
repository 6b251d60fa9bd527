// One extreme of an array, and where it stands first.
//
// A thread keeps the best rank and, for arg*, where the vector stood that first showed it; only at the very end one
// thread looks for the element within that one vector. So narrow types cost no more for arg* than for min and max.
//
// record: [1 if there is a maximum + 2 if there is a minimum, the maximum's bits, its index, the minimum's bits, its
// index]; there is none of nothing, nor of NaNs alone when they are ignored. Indices by arg* only. A magnitude stands
// as the maximum.
#pragma once
#include "walk/array.cuh"
#include "num/vector_rank.cuh"

enum class Want { Value, Index };

// Where an extreme stands, in states of folds that are asked for it.
template <Want> struct ArgIndex {
    u64 at;
};
template <> struct ArgIndex<Want::Value> {};

template <class E, Nan NAN, Side SIDE, Want WANT> struct Extreme {
    typedef E Element;
    typedef Rank<E> R;
    static constexpr int VECTORS = 4, BLOCKS = 3;
    struct State : ArgIndex<WANT> {
        i64 best;
    };
    R best = LOWEST<R>;
    u64 at = ~0ull;

    __device__ __forceinline__ Extreme(const E*, u64) {}
    // Vectors come in the order of their indices, so the first of equals stays.
    __device__ __forceinline__ void vector(const Vector& p, u64 index) {
        R r = highest_rank<E, SIDE, NAN>(p);
        if constexpr (WANT == Want::Index) at = r > best || at == ~0ull ? index : at;
        best = larger(best, r);
    }
    __device__ __forceinline__ void one(E x, u64 index) {
        const R r = rank<E, SIDE, NAN>(x);
        if (r > best || (r == best && index < at)) at = index;
        best = larger(best, r);
    }
    __device__ __forceinline__ State state() {
        State s = identity();
        s.best = best;
        if constexpr (WANT == Want::Index) s.at = at;
        return s;
    }
    static __device__ __forceinline__ State identity() {
        State s = {};
        s.best = LOWEST<R>;
        if constexpr (WANT == Want::Index) s.at = ~0ull;
        return s;
    }
    static __device__ __forceinline__ void merge(State& a, const State& b) {
        if constexpr (WANT == Want::Index) {
            if (b.best > a.best || (b.best == a.best && b.at < a.at)) a = b;
        } else {
            a.best = larger(a.best, b.best);
        }
    }
    static __device__ __forceinline__ void finish(const State& s, const Arguments& a) {
        u64 index = 0;
        if constexpr (WANT == Want::Index) {
            const E* x = static_cast<const E*>(a.x);
            index = s.at;
            // `at` is the element, or the first of the vector that holds it. It ends at n: for no elements at once.
            while (index < a.n && rank<E, SIDE, NAN>(x[index]) != s.best) index++;
        }
        if (a.record) {
            const bool none = a.n == 0 || (NAN == Nan::Ignore && s.best == LOWEST<R>);
            const int k = SIDE == Side::Min ? 3 : 1;
            a.record[0] = none ? 0 : SIDE == Side::Min ? 2 : 1;
            a.record[k] = from_rank<E, SIDE>(R(s.best));
            a.record[k + 1] = index;
        }
        if (a.value) {
            if constexpr (WANT == Want::Index) *static_cast<u64*>(a.value) = index;
            else if constexpr (SIDE == Side::Magnitude && Traits<E>::integer)
                *static_cast<u64*>(a.value) = from_rank<E, SIDE>(R(s.best));
            else store<E>(a.value, 0, from_rank<E, SIDE>(R(s.best)));
        }
    }
};
