// Columns of mapped values (map_array.cuh): the array is `batches` matrices of rows that lie one behind the other, and
// each column of each is folded. An input has one value for each element, for each column, or for each row of a matrix.
//
// A lane owns C neighbouring columns, so that what a warp loads of a row lies together; where rows do not begin at
// vectors its columns lie apart, and each load of a warp is one of neighbours. A tile is the columns of some lanes: of
// 32, or of fewer where a matrix has no more; then the rest of the warp has other rows of them. Up to all warps of a
// block share a tile, and up to all blocks, as runs of rows: those of a block join what they have in shared memory,
// runs leave it in the workspace, and the last one joins them. So results are those of any other order, as each is
// rounded correctly or known to be missed.
//
// A template has two pseudo-instructions beside one for each step, which has R rows of the columns of a lane:
//
//   warpfold.begin_columns C, output, apart, count;          a tile begins: a lane's first column is so many-th of all
//                                                            results, its others so far apart, of which `count` exist;
//                                                            in place of those that do not stands the last that does
//   warpfold.load_columns V, E, C, at, row, rows_apart, apart;  starts to load V steps of each input, from the element
//                                                            and the row on that are given, so many rows (and elements)
//                                                            apart, as far as they begin before the last row's end
//   warpfold.map_columns k, E, C, words, kept, at, row;      maps what was loaded as step k, which begins there
//
// In place of rows beyond the last one stands the last one.
//
// What is folded, a struct that a lane owns:
//
//   Loaded, COLUMNS, ROWS, FLIGHT, BLOCKS   what is mapped at once, of how many columns and rows, such steps in flight
//   State, identity(), merge(), finish()    as folds of parts have them (parts.cuh)
//   Fold(FoldOptions, LaneStates)           empty
//   cut(Loaded, rows)                       takes rows beyond so many out of a step
//   take(Loaded)                            a step
//   end()                                   leaves the state of each column where they are to be; it is empty then
//
// Floor: input once through the memory, results once.
#pragma once
#include "walk/map_rows.cuh"
#include "walk/window_columns.cuh"

struct MapColumnArguments {
    u64 width, rows;
    void* out;
    u64* faults;
    u64 options;
    u64 batches, runs;
    u64 lanes;       // of a tile
    u64 share;       // warps that share a tile, a power of two: all of a block where there are several runs
    u64 is_apart;    // whether columns of a lane lie apart
    u32* workspace;  // a ticket for each tile, zero before and after; then states, [run][tile][column]
};

__device__ __forceinline__ SegmentArguments as_segments(const MapColumnArguments& a) {
    return {nullptr, 0, nullptr, 0, a.rows, a.batches * a.width, a.out, nullptr, a.faults, a.options};
}

// States of a block's tiles, and those of a lane among them.
template <class Fold>
using BlockStates = TileStates<typename Fold::State, SEGMENT_THREADS * Fold::COLUMNS>;
template <class States> struct LaneStates {
    States& all;
    u32 first, apart;
    __device__ __forceinline__ auto& operator[](u32 c) { return all[first + c * apart]; }
};

template <int K, int E, int C>
__device__ __forceinline__ void map_column_step(Step& s, u32& kept, u64 at, u64 row) {
    asm volatile("warpfold.map_columns %11, %12, %13, %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10;"
                 : WORDS_OF_STEP(s), "=r"(kept)
                 : "l"(at), "l"(row), "n"(K), "n"(E), "n"(C));
}
template <int K, int E, int C>
__device__ __forceinline__ void map_column_step(TwoSteps& s, u32& kept, u64 at, u64 row) {
    asm volatile(
        "warpfold.map_columns %19, %20, %21, %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18;"
        : WORDS_OF_STEP(s.x), WORDS_OF_STEP(s.y), "=r"(kept)
        : "l"(at), "l"(row), "n"(K), "n"(E), "n"(C));
}

template <class Fold> struct MapColumns {
    typedef typename Fold::State State;
    typedef typename Fold::Loaded Loaded;
    typedef BlockStates<Fold> States;
    static constexpr u32 C = Fold::COLUMNS, R = Fold::ROWS, E = C * R, V = Fold::FLIGHT;

    const MapColumnArguments& a;
    const FoldOptions desc;
    States& states;
    // Of a tile: lanes, columns, groups of lanes that have rows of their own, threads; and the place of this one.
    const u32 lanes, columns, groups, threads, thread, group, of_group;
    const u32 base;  // where the states of the block's tile are that this warp has
    Fold fold;

    __device__ __forceinline__ MapColumns(const MapColumnArguments& a, States& states)
        : a(a), desc{u32(a.options)}, states(states), lanes(u32(a.lanes)), columns(lanes * C),
          groups(u32(a.share) * (32 / lanes)), threads(32 * u32(a.share)), thread(threadIdx.x % threads),
          group(thread / 32 * (32 / lanes) + threadIdx.x % 32 / lanes), of_group(threadIdx.x % 32 % lanes),
          base(threadIdx.x / threads * groups * columns), fold(desc, lane_states()) {}

    __device__ __forceinline__ bool is_spare() const { return threadIdx.x % 32 / lanes >= 32 / lanes; }
    __device__ __forceinline__ u32 apart() const { return a.is_apart ? lanes : 1; }
    // A lane's first column among those of its tile.
    __device__ __forceinline__ u32 first() const { return a.is_apart ? of_group : of_group * C; }
    __device__ __forceinline__ LaneStates<States> lane_states() const {
        return {states, base + group * columns + first(), apart()};
    }
    __device__ __forceinline__ void barrier() const {
        if (threads > 32) __syncthreads();
        else __syncwarp();
    }

    template <int K> __device__ __forceinline__ void take_from(u64 at, u64 row, u64 rows_apart, u64 far) {
        if (row < a.rows) {
            Loaded step;
            u32 kept;
            map_column_step<K, E, C>(step, kept, at, row);
            if (a.rows - row < R) Fold::cut(step, u32(a.rows - row));
            fold.take(step);
        }
        if constexpr (K + 1 < V) take_from<K + 1>(at + far, row + rows_apart, rows_apart, far);
    }

    // What lanes have of a tile's columns, of a run of their rows.
    __device__ __forceinline__ void fold_rows(u64 batch, u64 column, u64 run) {
        const u64 reach = column < a.width ? a.width - column : 0, all = (reach + apart() - 1) / apart();
        const u32 count = all < C ? u32(all) : C;
        if (is_spare()) return;
        if (count > 0) {
            const u64 rows_apart = a.runs * groups * R, far = rows_apart * a.width;
            u64 row = (run * groups + group) * R, at = (batch * a.rows + row) * a.width + column;
            asm volatile("warpfold.begin_columns %0, %1, %2, %3;" ::"n"(C), "l"(batch * a.width + column),
                         "l"(u64(apart())), "l"(u64(count)));
#pragma unroll 1
            for (; row < a.rows; row += V * rows_apart, at += V * far) {
                asm volatile("warpfold.load_columns %0, %1, %2, %3, %4, %5, %6;" ::"n"(V), "n"(E), "n"(C), "l"(at),
                             "l"(row), "l"(rows_apart), "l"(far));
                take_from<0>(at, row, rows_apart, far);
            }
        }
        fold.end();
    }

    // All warps: so many states of each column, if this warp has a tile, to the first one's.
    __device__ __forceinline__ void join(u32 held, bool is_there) {
        barrier();
#pragma unroll 1
        while (held > 1) {
            const u32 half = (held + 1) / 2;
#pragma unroll 1
            for (u32 i = thread; is_there && i < (held - half) * columns; i += threads)
                Fold::merge(states[base + i], states[base + half * columns + i]);
            held = half;
            barrier();
        }
    }

    // The whole block: what runs have left of a tile, if this one comes last.
    __device__ __forceinline__ bool join_runs(u32 tile, u32 tiles, u32 run) {
        __shared__ bool is_last;
        State* left = reinterpret_cast<State*>(a.workspace + (tiles + 3) / 4 * 4) + u64(tile) * columns;
        const u64 of_run = u64(tiles) * columns;
        for (u32 i = thread; i < columns; i += threads) left[run * of_run + i] = states[i];
        __syncthreads();
        if (thread == 0) is_last = take_ticket(a.workspace + tile, u32(a.runs) - 1) == u32(a.runs) - 1;
        __syncthreads();
        if (!is_last) return false;
        const u32 held = threads / columns, i = thread % columns, part = thread / columns;
        if (part < held) {
            State all = Fold::identity();
#pragma unroll 1
            for (u64 k = part; k < a.runs; k += held) Fold::merge(all, load_state(left + k * of_run + i));
            states[part * columns + i] = all;
        }
        join(held, true);
        return true;
    }

    __device__ __forceinline__ void run() {
        const u32 of_row = u32((a.width + columns - 1) / columns), tiles = of_row * u32(a.batches),
                  units = tiles * u32(a.runs), at_once = SEGMENT_THREADS / threads;
        const SegmentArguments ends = as_segments(a);
#pragma unroll 1
        for (u32 first_unit = blockIdx.x * at_once; first_unit < units; first_unit += gridDim.x * at_once) {
            const u32 unit = first_unit + threadIdx.x / threads, tile = unit % tiles, run = unit / tiles;
            const u64 batch = tile / of_row, from = u64(tile % of_row) * columns;
            const bool is_there = unit < units;
            if (is_there) fold_rows(batch, from + first(), run);
            join(groups, is_there);
            if (is_there && (a.runs == 1 || join_runs(tile, tiles, run))) {
                const u64 output = batch * a.width + from;
                const u32 here = a.width - from < columns ? u32(a.width - from) : columns;
#pragma unroll 1
                for (u32 i = thread; i < here; i += threads)
                    Fold::finish(ends, desc, output + i, states[base + i], 0, a.rows);
            }
            barrier();
        }
    }
};

// A fold of parts, of its elements.
template <class Part, class = void> struct ColumnsOf {
    typedef typename Part::Element Element;
    typedef typename Part::State State;
    typedef Step Loaded;
    static constexpr u32 COLUMNS = PER_VECTOR<Element>, ROWS = 2, FLIGHT = 4;
    static constexpr int BLOCKS = 2;

    const typename Part::Setup setup;
    LaneStates<BlockStates<ColumnsOf>> kept;
    State state[COLUMNS];

    __device__ __forceinline__ ColumnsOf(FoldOptions c, LaneStates<BlockStates<ColumnsOf>> kept)
        : setup(c), kept(kept) {
        clear();
    }
    __device__ __forceinline__ void clear() {
#pragma unroll
        for (u32 c = 0; c < COLUMNS; c++) state[c] = Part::identity();
    }
    // Of sums zeros stand for what is not there; extremes may see the last row twice.
    static __device__ __forceinline__ void cut(Step& s, u32) {
        if constexpr (FLOAT<Element>) s.p[1] = Vector{};
    }
    __device__ __forceinline__ void take(const Step& s) {
#pragma unroll
        for (u32 r = 0; r < ROWS; r++) {
            const Elements<Element> e(s.p[r]);
#pragma unroll
            for (u32 c = 0; c < COLUMNS; c++) Part::add(state[c], e.element[c], 0, setup);
        }
    }
    __device__ __forceinline__ void end() {
#pragma unroll
        for (u32 c = 0; c < COLUMNS; c++) kept[c] = state[c];
        clear();
    }
    static __device__ __forceinline__ State identity() { return Part::identity(); }
    static __device__ __forceinline__ void merge(State& a, const State& b) { Part::merge(a, b); }
    static __device__ __forceinline__ void finish(const SegmentArguments& a, FoldOptions c, u64 k, const State& s,
                                                  u64 begin, u64 end) {
        Part::finish(a, c, k, s, begin, end);
    }
};

// By its window.
template <class Part> struct ColumnsOf<Part, typename VoidOf<typename Part::Window::Sums>::type> {
    typedef typename Part::State State;
    typedef Step Loaded;
    static constexpr u32 COLUMNS = WINDOW_COLUMNS<Part>, ROWS = 2, FLIGHT = 4;
    static constexpr int BLOCKS = 2;
    static_assert(COLUMNS == PER_VECTOR<typename Part::Element>, "a vector is one row of a lane's columns");
    typedef LaneStates<BlockStates<ColumnsOf>> Kept;

    const typename Part::Setup setup;
    Kept kept;
    LaneColumns<Part, Kept> of_lane;

    __device__ __forceinline__ ColumnsOf(FoldOptions c, Kept kept)
        : setup(c), kept(kept), of_lane(setup, this->kept, 0) {}
    static __device__ __forceinline__ void cut(Step& s, u32) { s.p[1] = Vector{}; }
    __device__ __forceinline__ void take(Step& s) { of_lane.take(s.p); }
    __device__ __forceinline__ void end() { of_lane.end(); }
    static __device__ __forceinline__ State identity() { return Part::identity(); }
    static __device__ __forceinline__ void merge(State& a, const State& b) { Part::merge(a, b); }
    static __device__ __forceinline__ void finish(const SegmentArguments& a, FoldOptions c, u64 k, const State& s,
                                                  u64 begin, u64 end) {
        Part::finish(a, c, k, s, begin, end);
    }
};

template <class Fold> __device__ __forceinline__ void fold_map_columns(const MapColumnArguments& a) {
    __shared__ BlockStates<Fold> states;
    MapColumns<Fold>(a, states).run();
}

// An entry point: the inputs, and what all are told.
#define MAP_COLUMNS_KERNEL(name, ...) \
    MANIFEST(state_, name) = sizeof(__VA_ARGS__::State); \
    extern "C" __global__ void __launch_bounds__(SEGMENT_THREADS, __VA_ARGS__::BLOCKS) \
        name(const void*, const void*, const void*, const void*, const void*, const void*, const void*, const void*, \
             u64 width, u64 rows, void* out, u64* counts, u64* faults, u64 options, u64 batches, u64 runs, u64 lanes, \
             u64 share, u64 is_apart, u32* workspace) { \
        fold_map_columns<__VA_ARGS__>( \
            {width, rows, out, faults, options, batches, runs, lanes, share, is_apart, workspace}); \
    }
