// How a lane takes whole vectors of a part: element by element, or by the window of its fold, if that has one
// (op/part_window.cuh).
//
//   Window(Setup)             empty; add(Vector[]): whether it holds all elements, which then are in it; covers(field),
//                             place(field): whether it is where an exponent field is, and moves it; take_out(): what it
//                             has, in COUNT numbers, which of the lanes of a warp may be added if none has more than
//                             MOST elements
//   take_in(State&, Sums)     adds these to a state
//   of(Sums)                  the state of these
//   holds_something(State)    whether a state is not that of nothing
#pragma once
#include "walk/parts.cuh"

__device__ __forceinline__ u32 largest_of_lanes(u32 x) {
#pragma unroll
    for (u32 by = 16; by > 0; by /= 2) {
        const u32 other = __shfl_xor_sync(0xffffffffu, x, by);
        x = other > x ? other : x;
    }
    return x;
}

template <int N> __device__ __forceinline__ void move_down(Vector (&p)[N]) {
#pragma unroll
    for (int k = 1; k < N; k++) p[k - 1] = p[k];
}

// The states of so many neighbours, in the first one's.
template <class Fold> __device__ __forceinline__ void join_neighbours(typename Fold::State& state, u32 lanes) {
#pragma unroll(sizeof(typename Fold::State) <= 8 ? 5 : 1)
    for (u32 by = 16; by > 0; by /= 2) {
        if (by >= lanes) continue;
        const typename Fold::State other = shuffle_words(state, (threadIdx.x + by) % 32);
        Fold::merge(state, other);
    }
}

// How a lane takes whole vectors of a part: element by element.
template <class Fold, class = void> struct WholeVectors {
    typedef typename Fold::Element E;
    typedef typename Fold::State State;
    typedef typename Fold::Setup Setup;
    static constexpr u32 PER = PER_VECTOR<E>;
    // Whether zeros may be taken beside the elements, whether vectors that are in the part only in part, and whether
    // these cost no more than whole ones.
    static constexpr bool TAKES_ZEROS = ::TAKES_ZEROS<Fold>, TAKES_PARTS = TAKES_ZEROS, ARE_PARTS_CHEAP = TAKES_ZEROS;

    __device__ __forceinline__ explicit WholeVectors(const Setup&) {}
    __device__ __forceinline__ void begin(const Vector&) {}
    __device__ __forceinline__ void take(State& state, const Vector& p, u64 index, const Setup& setup) {
        add_vector<Fold>(state, p, index, setup);
    }
    // Several, so many elements apart; the code stands COPIES times.
    template <int COPIES, int N> __device__ __forceinline__ void take_all(State& state, Vector (&p)[N], u64 index,
                                                                          u32 apart, const Setup& setup) {
#pragma unroll COPIES
        for (u32 k = 0; k < N; k++) {
            take(state, p[COPIES > 1 ? k : 0], index + u64(k) * apart, setup);
            if constexpr (COPIES == 1) move_down(p);
        }
    }
    // Vectors that are in the part only in part, zeros beside it.
    template <int N> __device__ __forceinline__ void take_some(State& state, Vector (&p)[N], u64 index, u32 apart, u32,
                                                               u32, const Setup& setup) {
        static_assert(TAKES_ZEROS, "what is not in the part is taken, too");
        take_all<N>(state, p, index, apart, setup);
    }
    // All lanes, before so many vectors of each.
    __device__ __forceinline__ void settle(State&, u32) {}
    // The same where nothing is taken yet.
    __device__ __forceinline__ void expect(u32) {}
    // All lanes, when so many neighbours have taken all of a part: whether their states are still apart.
    __device__ __forceinline__ bool flush(State&, u32) { return true; }
};

// By a fold's window: vectors that it does not hold go element by element, and it follows them.
template <class Fold> struct WholeVectors<Fold, typename VoidOf<typename Fold::Window::Sums>::type> {
    typedef typename Fold::Element E;
    typedef typename Fold::State State;
    typedef typename Fold::Setup Setup;
    typedef typename Fold::Window Window;
    static constexpr u32 PER = PER_VECTOR<E>, MOST = Window::MOST / PER;
    static constexpr bool TAKES_ZEROS = true, TAKES_PARTS = true, ARE_PARTS_CHEAP = true;
    Window window;
    u32 taken = 0, missed = 0;  // vectors in the window, and the largest exponent field that it should move for
    bool begun = false;

    __device__ __forceinline__ explicit WholeVectors(const Setup& setup) : window(setup) {}
    // All lanes, before the first vector: puts the window there.
    __device__ __forceinline__ void begin(const Vector& p) {
        if (begun) return;
        begun = true;
        const u32 field = largest_of_lanes(window.binades.field(p));
        if (field > 0) window.place(field);
    }
    __device__ __forceinline__ void take(State& state, const Vector& p, u64 index, const Setup& setup) {
        const Vector one[1] = {p};
        if (window.add(one)) return;
        const u32 field = window.binades.field(p);
        if (!window.covers(field) && field > missed) missed = field;
        // One copy of the code: elements move down to where it looks for them.
        Vector left = p;
#pragma unroll 1
        for (u32 i = 0; i < PER; i++) Fold::add(state, take_first<E>(left), index + i, setup);
    }
    // Two at a time, of one question.
    template <int, int N> __device__ __forceinline__ void take_all(State& state, Vector (&p)[N], u64 index, u32 apart,
                                                                   const Setup& setup) {
        static_assert(N == 1 || N % 2 == 0, "pairs of vectors");
        if constexpr (N == 1) {
            take(state, p[0], index, setup);
        } else {
#pragma unroll
            for (u32 k = 0; k < N; k += 2) {
                const Vector pair[2] = {p[k], p[k + 1]};
                if (window.add(pair)) continue;
                take(state, p[k], index + u64(k) * apart, setup);
                take(state, p[k + 1], index + u64(k + 1) * apart, setup);
            }
        }
    }
    // Vectors that are in the part only in part, zeros beside it.
    template <int N> __device__ __forceinline__ void take_some(State& state, Vector (&p)[N], u64 index, u32 apart, u32,
                                                               u32, const Setup& setup) {
        take_all<N>(state, p, index, apart, setup);
    }
    // What the window has goes to the state where it has no room for more. So a part that is no longer than that has
    // no states, which would be joined at its end, beside its windows.
    __device__ __forceinline__ void settle(State& state, u32 vectors) {
        const bool moves = __any_sync(0xffffffffu, missed > 0);
        taken += vectors;
        if (!moves && taken <= MOST) return;
        Fold::take_in(state, window.take_out());
        taken = vectors;
        if (moves) window.place(largest_of_lanes(missed));
        missed = 0;
    }
    __device__ __forceinline__ void expect(u32 vectors) { taken = vectors; }
    __device__ __forceinline__ bool flush(State& state, u32 lanes) {
        typename Window::Sums all = window.take_out();
        taken = 0;
#pragma unroll 1
        for (u32 by = lanes / 2; by > 0; by /= 2) {
#pragma unroll
            for (int k = 0; k < Window::COUNT; k++)
                all.number[k] = __dadd_rn(all.number[k], __shfl_down_sync(0xffffffffu, all.number[k], by));
        }
        const bool apart = __any_sync(0xffffffffu, Fold::holds_something(state));
        if (threadIdx.x % lanes == 0) {
            if (apart) Fold::take_in(state, all);
            else state = Fold::of(all);
        }
        return apart;
    }
};

// How a lane takes whole vectors of a part that is its own: element by element.
template <class Fold, bool BY_WINDOW> struct LaneVectorsBy {
    typedef typename Fold::Element E;
    typedef typename Fold::State State;
    typedef typename Fold::Setup Setup;
    static constexpr bool TAKES_PAIRS = false;
    __device__ __forceinline__ explicit LaneVectorsBy(const Setup&) {}
    __device__ __forceinline__ void take(State& state, const Vector& p, u64 index, const Setup& setup) {
        add_vector<Fold>(state, p, index, setup);
    }
    __device__ __forceinline__ void flush(State&) {}
};

// By the window of a fold of 16 bits where that pays: a row's end costs more by it, so that short rows are no faster.
template <class Fold> struct LaneVectorsBy<Fold, true> {
    typedef typename Fold::Element E;
    typedef typename Fold::State State;
    typedef typename Fold::Setup Setup;
    static constexpr u32 LEAST = Fold::Window::COUNT > 1 ? 4 : 2;
    static constexpr bool TAKES_PAIRS = true;
    typename Fold::Window window;
    bool begun = false;
    u32 missed = 0;

    __device__ __forceinline__ explicit LaneVectorsBy(const Setup& setup) : window(setup) {}
    __device__ __forceinline__ void begin(const Vector& p) {
        if (begun) return;
        const u32 field = window.binades.field(p);
        begun = field > 0;
        if (begun) window.place(field);
    }
    // Two at a time, of one question.
    __device__ __forceinline__ void take_pair(State& state, const Vector (&pair)[2], u64 index, const Setup& setup) {
        begin(pair[0]);
        if (window.add(pair)) return;
        Vector p = pair[0];
#pragma unroll 1
        for (u32 k = 0; k < 2; k++) {
            take_one(state, p, index + k * PER_VECTOR<E>, setup);
            p = pair[1];
        }
    }
    __device__ __forceinline__ void take(State& state, const Vector& p, u64 index, const Setup& setup) {
        begin(p);
        take_one(state, p, index, setup);
    }
    __device__ __forceinline__ void take_one(State& state, const Vector& p, u64 index, const Setup& setup) {
        const Vector one[1] = {p};
        if (window.add(one)) return;
        const u32 field = window.binades.field(p);
        if (!window.covers(field) && field > missed) missed = field;
        // One copy of the code: elements move down to where it looks for them.
        Vector left = p;
#pragma unroll 1
        for (u32 i = 0; i < PER_VECTOR<E>; i++) Fold::add(state, take_first<E>(left), index + i, setup);
    }
    __device__ __forceinline__ void flush(State& state) {
        if (Fold::holds_something(state)) Fold::take_in(state, window.take_out());
        else state = Fold::of(window.take_out());
        if (missed > 0) window.place(missed);
        missed = 0;
    }
};

template <class Fold, class = void> constexpr bool HAS_WINDOW = false;
template <class Fold> constexpr bool HAS_WINDOW<Fold, typename VoidOf<typename Fold::Window::Sums>::type> = true;
template <class Fold> constexpr bool LANES_HAVE_WINDOWS = HAS_WINDOW<Fold> && sizeof(typename Fold::Element) == 2;
