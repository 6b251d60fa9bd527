// Rows of mapped values, one after another and of one length: the walk of rows.cuh, in which lanes share a row, over an
// expression of up to eight inputs, whose code is put in where it is known (map_array.cuh). An input has one value for
// each element, for each column or for each row.
//
// A template has five pseudo-instructions, for steps of E elements of a row, `begin` being the index of its first one:
//
//   warpfold.load_row V, E, begin, column, row, apart, end;  starts to load V steps of each input, from a column on and
//                                                            so many columns apart, as far as they end before `end`
//   warpfold.begin_row row, end;                             a row begins; starts to load the values of the next one
//   warpfold.map_row k, E, words, kept, begin, column, row;  maps what was loaded as step k, which begins at a column
//   warpfold.next_row k, E, begin, column, end;              starts to load another step in its place, if it is there
//   warpfold.end_row E, words, kept, begin, column, row, end; loads and maps one step, of which some lies beyond `end`
//
// So loads are in flight at all times, from one row to the next.
//
// What is folded, a struct that a lane owns:
//
//   Loaded, ELEMENTS, FLIGHT, BLOCKS   what is mapped at once, how many elements that is, such steps in flight
//   State, merge(), finish()           as folds of parts have them (parts.cuh)
//   Fold(FoldOptions)                       empty
//   begin(Loaded)                      all lanes, before each first step, or zeros where that is not there
//   take(Loaded, index)                a step
//   some(Loaded, kept, index)          of a step what is there
//   settle()                           all lanes, after FLIGHT steps of each at most
//   leave(lanes)                       all lanes: what so many neighbours have, in the first one's; it is empty then
#pragma once
#include "walk/map_array.cuh"
#include "walk/whole_vectors.cuh"
#include "walk/row_results.cuh"

// Values of a step, or of two.
struct Step {
    Vector p[2];
};
struct TwoSteps {
    Step x, y;
};

#define WORDS_OF_STEP(s) \
    "=r"((s).p[0].word[0]), "=r"((s).p[0].word[1]), "=r"((s).p[0].word[2]), "=r"((s).p[0].word[3]), \
        "=r"((s).p[1].word[0]), "=r"((s).p[1].word[1]), "=r"((s).p[1].word[2]), "=r"((s).p[1].word[3])

template <int K, int E> __device__ __forceinline__ void map_row_step(Step& s, u32& kept, u64 begin, u64 at, u64 row) {
    asm volatile("warpfold.map_row %12, %13, %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11;"
                 : WORDS_OF_STEP(s), "=r"(kept)
                 : "l"(begin), "l"(at), "l"(row), "n"(K), "n"(E));
}
template <int K, int E>
__device__ __forceinline__ void map_row_step(TwoSteps& s, u32& kept, u64 begin, u64 at, u64 row) {
    asm volatile(
        "warpfold.map_row %20, %21, %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19;"
        : WORDS_OF_STEP(s.x), WORDS_OF_STEP(s.y), "=r"(kept)
        : "l"(begin), "l"(at), "l"(row), "n"(K), "n"(E));
}
template <int E> __device__ __forceinline__ void end_row_step(Step& s, u32& kept, u64 begin, u64 at, u64 row, u64 end) {
    asm volatile("warpfold.end_row %13, %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12;"
                 : WORDS_OF_STEP(s), "=r"(kept)
                 : "l"(begin), "l"(at), "l"(row), "l"(end), "n"(E));
}
template <int E>
__device__ __forceinline__ void end_row_step(TwoSteps& s, u32& kept, u64 begin, u64 at, u64 row, u64 end) {
    asm volatile(
        "warpfold.end_row %21, %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, "
        "%17, %18, %19, %20;"
        : WORDS_OF_STEP(s.x), WORDS_OF_STEP(s.y), "=r"(kept)
        : "l"(begin), "l"(at), "l"(row), "l"(end), "n"(E));
}

template <class Fold> struct MapRows {
    typedef typename Fold::State State;
    typedef typename Fold::Loaded Loaded;
    static constexpr u32 E = Fold::ELEMENTS, V = Fold::FLIGHT;

    const SegmentArguments& a;
    const FoldOptions desc;
    const u32 lanes, sub, length;
    Fold fold;

    __device__ __forceinline__ explicit MapRows(const SegmentArguments& a)
        : a(a), desc{u32(a.options)}, lanes(u32(a.bounds)), sub(threadIdx.x % lanes), length(u32(a.length)),
          fold(desc) {}

    // The steps that were loaded, from the k-th on; in their place others are, of a row that begins elsewhere.
    template <int K> __device__ __forceinline__ void take_from(u64 begin, u32 at, u64 row, u32 end, u64 next,
                                                               u32 next_at, u32 next_end) {
        const u32 column = at + K * lanes * E;
        const bool is_there = column + E <= end;
        Loaded step{};
        if (is_there) {
            u32 kept;
            map_row_step<K, E>(step, kept, begin, column, row);
        }
        if constexpr (K == 0) fold.begin(step);
        if (is_there) fold.take(step, begin + column);
        asm volatile("warpfold.next_row %0, %1, %2, %3, %4;" ::"n"(K), "n"(E), "l"(next),
                     "l"(u64(next_at + K * lanes * E)), "l"(u64(next_end)));
        if constexpr (K + 1 < V) take_from<K + 1>(begin, at, row, end, next, next_at, next_end);
    }

    // Where a row is several warps', they leave their states in `joined`. Results wait in `states` until every lane has
    // one to finish.
    __device__ __forceinline__ void run(State* joined, State* states) {
        RowResults<State> results(a.segments, lanes, joined, states);
        const u32 at_once = results.at_once, each = V * lanes * E, steps = (length + each - 1) / each,
                  whole = length / E * E;
        u64 row = results.waiting_from + threadIdx.x / lanes;
        asm volatile("warpfold.load_row %0, %1, %2, %3, %4, %5, %6;" ::"n"(V), "n"(E), "l"(row * length),
                     "l"(u64(sub * E)), "l"(row), "l"(u64(lanes * E)),
                     "l"(u64(row < a.segments ? length : 0)));
#pragma unroll 1
        for (u64 base = results.waiting_from; base < a.segments; base += u64(gridDim.x) * at_once) {
            const u64 begin = row * length, next_row = row + u64(gridDim.x) * at_once, next = next_row * length;
            const u32 end = row < a.segments ? length : 0, next_end = next_row < a.segments ? length : 0;
            asm volatile("warpfold.begin_row %0, %1;" ::"l"(next_row), "l"(u64(next_end)));
            u32 at = sub * E;
#pragma unroll 1
            for (u32 step = 0; step < steps; step++, at += each) {
                const bool is_last = step + 1 == steps;
                take_from<0>(begin, at, row, end, is_last ? next : begin, is_last ? sub * E : at + each,
                             is_last ? next_end : end);
                fold.settle();
            }
            if (whole < end && whole / E % lanes == sub) {
                Loaded step;
                u32 kept;
                end_row_step<E>(step, kept, begin, whole, row, end);
                fold.some(step, kept, begin + whole);
            }
            __syncwarp();
            State state = fold.flush(results.near);
            results.add(
                state, base, [](State& s, u32 lanes) { join(s, lanes); },
                [&](u64 row, const State& s) { Fold::finish(a, desc, row, s, row * length, (row + 1) * length); });
            row = next_row;
        }
    }

    // The states of so many neighbours, in the first one's.
    static __device__ __forceinline__ void join(State& state, u32 lanes) {
#pragma unroll 1
        for (u32 by = lanes / 2; by > 0; by /= 2) {
            const State other = shuffle_words(state, (threadIdx.x + by) % 32);
            Fold::merge(state, other);
        }
    }
};

// A fold of parts, of its elements or by its window.
template <class Part> struct RowsOf {
    typedef typename Part::Element Element;
    typedef typename Part::State State;
    typedef Step Loaded;
    static constexpr u32 PER = PER_VECTOR<Element>, ELEMENTS = 2 * PER, FLIGHT = 4;
    static constexpr int BLOCKS = 2;

    const typename Part::Setup setup;
    WholeVectors<Part> whole;
    State state;

    __device__ __forceinline__ explicit RowsOf(FoldOptions c) : setup(c), whole(setup), state(Part::identity()) {
        whole.expect(2 * FLIGHT);
    }
    __device__ __forceinline__ void begin(const Step& s) { whole.begin(s.p[0]); }
    __device__ __forceinline__ void take(Step& s, u64 index) {
        whole.template take_all<2>(state, s.p, index, PER, setup);
    }
    __device__ __forceinline__ void some(const Step& s, u32 kept, u64 index) {
#pragma unroll
        for (u32 k = 0; k < ELEMENTS; k++) {
            const Elements<Element> e(s.p[k / PER]);
            if (kept >> k & 1) Part::add(state, e.element[k % PER], index + k, setup);
        }
    }
    // After each step, for the next one: the first of a row is expected.
    __device__ __forceinline__ void settle() { whole.settle(state, 2 * FLIGHT); }
    // Of segments: what a lane has mapped, one by one, or all of it within a segment.
    typedef typename Select<PER == 4, Step, TwoSteps>::type Tile;
    typedef Element Own[8];
    static __device__ __forceinline__ void own(Own& x, const Tile& s) {
        const Vector* p = reinterpret_cast<const Vector*>(&s);
#pragma unroll
        for (u32 k = 0; k < 8; k++) x[k] = Elements<Element>(p[k / PER]).element[k % PER];
    }
    __device__ __forceinline__ void one(State& s, Element x) const { Part::add(s, x, 0, setup); }
    __device__ __forceinline__ void take_tile(Step& s, u64 index) {
        begin(s);
        take(s, index);
        settle();
    }
    __device__ __forceinline__ void take_tile(TwoSteps& s, u64 index) {
        begin(s.x);
        take(s.x, index);
        take(s.y, index + ELEMENTS);
        settle();
    }
    static __device__ __forceinline__ bool spans(FoldOptions c) { return Part::spans(c); }
    static __device__ __forceinline__ State identity() { return Part::identity(); }
    __device__ __forceinline__ State flush(u32 lanes) {
        if (whole.flush(state, lanes)) MapRows<RowsOf>::join(state, lanes);
        whole.expect(2 * FLIGHT);
        const State all = state;
        state = Part::identity();
        return all;
    }
    static __device__ __forceinline__ void merge(State& a, const State& b) { Part::merge(a, b); }
    static __device__ __forceinline__ void finish(const SegmentArguments& a, FoldOptions c, u64 k, const State& s,
                                                  u64 begin, u64 end) {
        Part::finish(a, c, k, s, begin, end);
    }
};

template <class Fold> __device__ __forceinline__ void fold_map_rows(const SegmentArguments& a) {
    typedef typename Fold::State State;
    __shared__ State joined[SEGMENT_WARPS];
    __shared__ State states[SEGMENT_WARPS][32];
    MapRows<Fold>(a).run(joined, states[threadIdx.x / 32]);
}

// An entry point: the inputs, and what all are told. Rows are shared by `lanes`, a power of two up to 256.
#define MAP_ROWS_KERNEL(name, ...) \
    extern "C" __global__ void __launch_bounds__(SEGMENT_THREADS, __VA_ARGS__::BLOCKS) \
        name(const void*, const void*, const void*, const void*, const void*, const void*, const void*, const void*, \
             u64 rows, u64 length, void* out, u64* counts, u64* faults, u64 options, u64 lanes) { \
        fold_map_rows<__VA_ARGS__>({nullptr, 0, nullptr, lanes, length, rows, out, nullptr, faults, options}); \
    }
