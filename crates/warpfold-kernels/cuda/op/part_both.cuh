// Two operations on the same elements of parts, side by side in one pass: each has a state of its own and takes whole
// vectors in its own way.
//
// The second says how many elements the first does not count: left_out(State, FoldOptions). It alone has indices:
// renumber(State&, folds, index).
#pragma once
#include "walk/whole_vectors.cuh"

template <class First, class Second> struct Both {
    typedef typename First::Element Element;
    struct alignas(16) State {
        typename First::State first;
        typename Second::State second;
    };
    static constexpr int BLOCKS = 2;
    struct Setup {
        typename First::Setup first;
        typename Second::Setup second;
        __device__ __forceinline__ explicit Setup(FoldOptions c) : first(c), second(c) {}
    };
    static __device__ __forceinline__ bool spans(FoldOptions) { return true; }
    static __device__ __forceinline__ State identity() { return {First::identity(), Second::identity()}; }
    static __device__ __forceinline__ void add(State& s, Element x, u64 index, const Setup& setup) {
        First::add(s.first, x, index, setup.first);
        Second::add(s.second, x, index, setup.second);
    }
    static __device__ __forceinline__ void merge(State& a, const State& b) {
        First::merge(a.first, b.first);
        Second::merge(a.second, b.second);
    }
    // Indices count rows that are `folds` of the output's each; the elements are the `place`-th of theirs.
    static __device__ __forceinline__ void renumber(State& s, u64 folds, u64 index) {
        Second::renumber(s.second, folds, index);
    }
    static __device__ __forceinline__ void finish(const SegmentArguments& a, FoldOptions c, u64 k, const State& s,
                                                  u64 begin, u64 end) {
        First::finish(a, c, k, s.first, begin, end - Second::left_out(s.second, c));
        Second::finish(a, c, k, s.second, begin, end);
    }
};

template <class First, class Second> struct WholeVectors<Both<First, Second>> {
    typedef Both<First, Second> Fold;
    typedef typename Fold::Element E;
    typedef typename Fold::State State;
    typedef typename Fold::Setup Setup;
    typedef WholeVectors<First> OfFirst;
    static constexpr bool TAKES_ZEROS = false, TAKES_PARTS = true, ARE_PARTS_CHEAP = OfFirst::TAKES_ZEROS;
    OfFirst first;
    WholeVectors<Second> second;

    __device__ __forceinline__ explicit WholeVectors(const Setup& setup) : first(setup.first), second(setup.second) {}
    __device__ __forceinline__ void begin(const Vector& p) {
        first.begin(p);
        second.begin(p);
    }
    template <int COPIES, int N> __device__ __forceinline__ void take_all(State& state, Vector (&p)[N], u64 index,
                                                                          u32 apart, const Setup& setup) {
        // The first may move the vectors.
        second.template take_all<COPIES>(state.second, p, index, apart, setup.second);
        first.template take_all<COPIES>(state.first, p, index, apart, setup.first);
    }
    // Vectors that are in the part only in part, zeros beside it: of its elements from number `from` on, which is the
    // first vector's first, those up to `count`.
    template <int N> __device__ __forceinline__ void take_some(State& state, Vector (&p)[N], u64 index, u32 apart,
                                                               u32 from, u32 count, const Setup& setup) {
        second.take_some(state.second, p, index, apart, from, count, setup.second);
        if constexpr (OfFirst::TAKES_ZEROS) {
            first.take_some(state.first, p, index, apart, from, count, setup.first);
        } else {
#pragma unroll 1
            for (u32 k = 0; k < N; k++) {
#pragma unroll 1
                for (u32 i = 0; i < PER_VECTOR<E>; i++) {
                    const E x = take_first<E>(p[0]);
                    if (from + k * apart + i < count) First::add(state.first, x, index + (k * apart + i), setup.first);
                }
                move_down(p);
            }
        }
    }
    __device__ __forceinline__ void settle(State& state, u32 vectors) {
        first.settle(state.first, vectors);
        second.settle(state.second, vectors);
    }
    // The second's states are apart, also where the first's are joined.
    __device__ __forceinline__ bool flush(State& state, u32 lanes) {
        if (first.flush(state.first, lanes)) return true;
#pragma unroll 1
        for (u32 by = lanes / 2; by > 0; by /= 2) {
            const typename Second::State other = shuffle_words(state.second, (threadIdx.x + by) % 32);
            Second::merge(state.second, other);
        }
        return false;
    }
};

// Of a lane's own rows, the second by whole vectors, the first element by element.
template <class First, class Second> struct LaneVectorsBy<Both<First, Second>, false> {
    typedef Both<First, Second> Fold;
    typedef typename Fold::Element E;
    static constexpr bool TAKES_PAIRS = false;
    __device__ __forceinline__ explicit LaneVectorsBy(const typename Fold::Setup&) {}
    __device__ __forceinline__ void take(typename Fold::State& state, const Vector& p, u64 index,
                                         const typename Fold::Setup& setup) {
        WholeVectors<Second>::take(state.second, p, index, 0, PER_VECTOR<E>, setup.second);
        const Elements<E> e(p);
        add_all<First>(state.first, e.element, index, setup.first);
    }
    __device__ __forceinline__ void flush(typename Fold::State&) {}
};
