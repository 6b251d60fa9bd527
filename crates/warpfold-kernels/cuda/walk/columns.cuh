// Many reductions at once: of columns, where neighbours in memory belong to different outputs.
//
// The array is `batches` matrices of `rows` rows of `width` elements; each column of each is folded. A warp takes 32
// vectors of neighbouring columns (half vectors for indices of 16 bits; 4 times 32 elements, where rows do not begin
// at vectors): a lane owns its
// columns, so nothing is exchanged, and every load of a warp is one piece of memory. What lanes hold goes through
// shared memory, so that every store is one piece too. Where there are fewer warps' worth of columns than warps, or so
// few more that most would wait for some, rows are dealt out to runs, a few at a time, so that the memory sees one
// front that moves on and not as many as there are warps; what runs hold is left in the workspace,
// [run][batch][column], and joined by a second kernel in the order of the runs: so the bits depend on the shape of the
// launch alone. Narrow matrices come here as wide ones whose rows are several of theirs: a warp folds the columns that
// are one and leaves a state for each output, [run][batch][tile][column]; the join folds those of all tiles
// (`columns`).
//
// Floor: input once through the memory, results once. A lane has 4 vectors, or 8 or 16 elements in flight, also where
// rows are fewer. Tried, measured on an H200, in % of the read ceiling, fast and exact: each run a contiguous stretch
// of rows, 2^26 x 4 f32 at 58; rows beyond the last four one element at a time, so that three rows (512 x 3 x 174592)
// ran at 58; one column a lane where rows are no vectors, 3 x 89478485 at 23. Each lane writing its own four results,
// so that a store touched four times its sectors, 4 x 2^26 at 71 and 55; the place of a unit by three divisions of 64
// bits, 3 x 89478485 at 72 and 47; a state for each column of a widened row, all joined by as many blocks as outputs,
// which took longer than the fold, 2^26 x 4 at 58 and 48; 4608 units on 4224 warps, 1536 x 512 x 341 at 47 and 42;
// loads of elements each under its condition, between which the assembler puts the additions, at 52 and 62, 3 x
// 89478485 at 58 and 50; four rows wherever there are fewer, each asked whether it is there, 3 x 89478485 at 75 and 50,
// now 89 and 60; vectors of three rows told to leave the caches first, 512 x 3 x 174592 at 85, now 90, as results are
// written beside them.
#pragma once
#include "op/part_folds.cuh"

struct ColumnArguments {
    const void* x;
    u64 width, rows, batches;    // as the warps see them
    u64 row_pitch, batch_pitch;  // elements from one to the next
    u64 elements;                // of a batch, if its last row is not whole; else rows * width
    u64 runs;                    // of rows
    u64 columns;                 // outputs of a batch: `width`, or a divisor of it
    void* states;  // one for each run, batch and column, or null where there is one run, and columns are the width
    void* out;
    u64* faults;
    u64 inputs;  // elements folded into each output
    u64 options;
};

// What finishing needs of segments: every output has the same bounds.
__device__ __forceinline__ SegmentArguments as_segments(const ColumnArguments& a) {
    return {a.x, 0, nullptr, 0, a.inputs, a.batches * a.columns, a.out, nullptr, a.faults, a.options};
}

template <u32 N> struct Number {
    static constexpr u32 value = N;
};

// Columns of a lane: those of a vector, or four that lie a warp's apart.
constexpr u32 APART_COLUMNS = 4;

// A piece of work: a run of rows of a tile of columns. The next of a warp is found without a division.
struct Unit {
    u32 tile, batch, run;
    __device__ __forceinline__ Unit(u32 number, u32 tiles, u32 batches)
        : tile(number % tiles), batch(number / tiles % batches), run(number / tiles / batches) {}
    __device__ __forceinline__ void advance(const Unit& by, u32 tiles, u32 batches) {
        tile += by.tile, batch += by.batch, run += by.run;
        if (tile >= tiles) tile -= tiles, batch++;
        if (batch >= batches) batch -= batches, run++;
    }
};

// Whether a state has indices of elements, which are of a row's columns that are one until they are renumbered.
template <class Fold, class = void> constexpr bool HAS_INDICES = false;
template <class Fold>
constexpr bool HAS_INDICES<Fold, typename VoidOf<decltype(&Fold::renumber)>::type> = true;

// A warp's states, one a column; some room between them, so that what lanes hold meets different banks both as
// neighbours and as vectors. Neighbours of an odd number of words of 64 bits do so by themselves.
template <class State, u32 TILE> struct TileStates {
    static constexpr u32 TOGETHER = sizeof(State) > 16 && sizeof(State) % 16 != 0 ? TILE + 1 : 128 / sizeof(State);
    State state[TILE + TILE / TOGETHER];
    __device__ __forceinline__ State& operator[](u32 i) { return state[i + i / TOGETHER]; }
};

// Columns that are one, `columns` apart, folded onto the first of them by a warp.
template <class Fold, class States> __device__ __forceinline__ void fold_alike(States& states, u32 held, u32 columns) {
#pragma unroll 1
    while (held > columns) {
        const u32 periods = (held + columns - 1) / columns, kept = (periods + 1) / 2 * columns;
#pragma unroll 1
        for (u32 i = threadIdx.x % 32; i + kept < held; i += 32) Fold::merge(states[i], states[i + kept]);
        __syncwarp();
        held = kept;
    }
}

// Half a vector, and its elements.
struct alignas(8) HalfVector {
    u32 word[2];
};
__device__ __forceinline__ HalfVector load(const HalfVector* at) {
    const uint2 v = __ldcs(reinterpret_cast<const uint2*>(at));
    return {v.x, v.y};
}
template <class E> union HalfElements {
    HalfVector vector;
    E element[8 / sizeof(E)];
    __device__ __forceinline__ explicit HalfElements(const HalfVector& p) : vector(p) {}
};

// Neighbours that a lane loads at once.
template <class E, u32 N> struct Neighbours {
    static constexpr bool WHOLE = N == PER_VECTOR<E>;
    static_assert(WHOLE || 2 * N == PER_VECTOR<E>, "one load");
    typedef typename Select<WHOLE, Vector, HalfVector>::type Words;
    typedef typename Select<WHOLE, Elements<E>, HalfElements<E>>::type Each;
};

// Rows of elements of(row, column), a column at a time.
template <class Fold, u32 COLUMNS, u32 ROWS, class State, class Of>
__device__ __forceinline__ void take_by_columns(State (&state)[COLUMNS], const Of& of, Number<ROWS>, u64 row,
                                                const typename Fold::Setup& setup) {
#pragma unroll
    for (u32 v = 0; v < COLUMNS; v++) {
        typename Fold::Element e[ROWS];
#pragma unroll
        for (u32 k = 0; k < ROWS; k++) e[k] = of(k, v);
        add_all<Fold>(state[v], e, row, setup);
    }
}

// Rows of a lane's columns, which lie APART elements from each other, all loaded before the first is used. Nothing is
// asked of any: what stands under a condition is waited for before the next is begun.
template <class Fold, u32 ROWS, u32 APART, u32 COLUMNS, class State, class E>
__device__ __forceinline__ void take_elements(State (&state)[COLUMNS], const E* at, u64 pitch, u64 row,
                                              const typename Fold::Setup& setup) {
    E e[ROWS][COLUMNS];
#pragma unroll
    for (u32 k = 0; k < ROWS; k++) {
#pragma unroll
        for (u32 v = 0; v < COLUMNS; v++) e[k][v] = at[k * pitch + v * APART];
    }
    if constexpr (TAKES_SOME<Fold>) {
        take_by_columns<Fold>(state, [&](u32 k, u32 v) { return e[k][v]; }, Number<ROWS>(), row, setup);
    } else {
#pragma unroll
        for (u32 k = 0; k < ROWS; k++) {
#pragma unroll
            for (u32 v = 0; v < COLUMNS; v++) Fold::add(state[v], e[k][v], row + k, setup);
        }
    }
}

// The same of columns that are a vector, or half of one. Few rows are not told to leave the caches first: results are
// written beside them, and that costs a tenth there.
template <class Fold, u32 ROWS, u32 COLUMNS, class State, class E>
__device__ __forceinline__ void take_vectors(State (&state)[COLUMNS], const E* at, u64 pitch, u64 row,
                                             const typename Fold::Setup& setup) {
    typedef typename Neighbours<E, COLUMNS>::Words Words;
    typedef typename Neighbours<E, COLUMNS>::Each Each;
    Words p[ROWS];
#pragma unroll
    for (u32 k = 0; k < ROWS; k++) {
        const Words* words = reinterpret_cast<const Words*>(at + k * pitch);
        p[k] = ROWS < 4 ? *words : load(words);
    }
    if constexpr (TAKES_SOME<Fold>) {
        take_by_columns<Fold>(state, [&](u32 k, u32 v) { return Each(p[k]).element[v]; }, Number<ROWS>(), row, setup);
    } else {
#pragma unroll
        for (u32 k = 0; k < ROWS; k++) {
            const Each e(p[k]);
#pragma unroll
            for (u32 v = 0; v < COLUMNS; v++) Fold::add(state[v], e.element[v], row + k, setup);
        }
    }
}

// A run's states of neighbouring outputs, which a warp holds: its lanes write neighbours.
template <class Fold, u32 COLUMNS, class States>
__device__ __forceinline__ void store_states(const ColumnArguments& a, FoldOptions desc, States& states, u32 run,
                                             u64 output, u32 held) {
    // Only results of floats are finished in few instructions.
    constexpr int UNROLL = FLOAT<typename Fold::Element> ? 4 : 1;
    const SegmentArguments ends = as_segments(a);
    typename Fold::State* left = static_cast<typename Fold::State*>(a.states) + run * (a.batches * a.width) + output;
#pragma unroll(UNROLL)
    for (u32 v = 0; v < COLUMNS; v++) {
        const u32 i = v * 32 + threadIdx.x % 32;
        if (i >= held) continue;
        if (a.states) left[i] = states[i];
        else Fold::finish(ends, desc, output + i, states[i], 0, a.inputs);
    }
}

// What a warp has of a unit's columns, so many a lane: left for the join, of columns that are one together, or
// finished.
template <class Fold, u32 COLUMNS, class States>
__device__ __forceinline__ void store_tile(const ColumnArguments& a, FoldOptions desc, States& states, const Unit& unit,
                                           u32 tiles) {
    constexpr u32 TILE = 32 * COLUMNS;
    __syncwarp();
    if (a.columns < a.width && a.columns <= TILE) {
        const u64 matrix = u64(unit.run) * a.batches + unit.batch;
        const u32 columns = u32(a.columns), before = unit.tile * TILE % columns;
        fold_alike<Fold>(states, TILE, columns);
        typename Fold::State* left =
            static_cast<typename Fold::State*>(a.states) + (matrix * tiles + unit.tile) * columns;
#pragma unroll 1
        for (u32 i = threadIdx.x % 32; i < columns; i += 32)
            left[before + i < columns ? before + i : before + i - columns] = states[i];
    } else {
        const u64 first = u64(unit.tile) * TILE;
        store_states<Fold, COLUMNS>(a, desc, states, unit.run, unit.batch * a.width + first,
                                    a.width - first < TILE ? u32(a.width - first) : TILE);
    }
    __syncwarp();
}

// Columns of a lane that loads neighbours: a vector, of indices of 16 bits half of one, whose states would be spilled.
template <class Fold>
constexpr u32 COLUMNS_OF_VECTORS =
    HAS_INDICES<Fold> && sizeof(typename Fold::Element) == 2 ? 4 : PER_VECTOR<typename Fold::Element>;

// VECTOR elements at once: a vector, half of one, or one.
template <class Fold, u32 VECTOR> __device__ __forceinline__ void fold_columns(const ColumnArguments& a) {
    typedef typename Fold::Element E;
    typedef typename Fold::State State;
    constexpr u32 COLUMNS = VECTOR > 1 ? VECTOR : APART_COLUMNS, APART = VECTOR > 1 ? 1 : 32, TILE = 32 * COLUMNS;
    // Rows in flight: as registers allow.
    constexpr u32 FLIGHT = VECTOR * sizeof(E) == 8 && VECTOR > 1 ? 8 : VECTOR > 1 || sizeof(E) <= 4 ? 4 : 2;
    // Rows whose number is known are worth their code where states are small.
    constexpr bool KNOWN = VECTOR == 1 || sizeof(State) <= 8 || TAKES_SOME<Fold>;
    __shared__ TileStates<State, TILE> of_warp[SEGMENT_WARPS];
    TileStates<State, TILE>& states = of_warp[threadIdx.x / 32];
    const FoldOptions desc{u32(a.options)};
    const typename Fold::Setup setup(desc);
    const u32 lane = threadIdx.x % 32;
    const u32 warp = blockIdx.x * SEGMENT_WARPS + threadIdx.x / 32, warps = gridDim.x * SEGMENT_WARPS;
    const u32 tiles = u32((a.width + TILE - 1) / TILE), batches = u32(a.batches), runs = u32(a.runs);
    const u64 last_width = a.elements - (a.rows - 1) * a.width;
    const Unit step(warps, tiles, batches);
    // Neighbouring warps take neighbouring tiles, or neighbouring rows of one.
#pragma unroll 1
    for (Unit unit(warp, tiles, batches); unit.run < runs; unit.advance(step, tiles, batches)) {
        const u64 column = u64(unit.tile) * TILE + lane * VECTOR;
        const E* x = static_cast<const E*>(a.x) + unit.batch * a.batch_pitch + column;
        State state[COLUMNS];
#pragma unroll
        for (u32 v = 0; v < COLUMNS; v++) state[v] = Fold::identity();
        // How far columns go from the lane's first on, and how far in the last row.
        const auto reach = [column](u64 width) {
            return width <= column ? 0 : width - column < TILE ? u32(width - column) : TILE;
        };
        const u32 here = reach(a.width), at_last = reach(last_width);
        const bool whole_tile = VECTOR > 1 || a.width - u64(unit.tile) * TILE >= TILE;
#pragma unroll 1
        for (u64 row = u64(unit.run) * FLIGHT; row < a.rows && here > 0; row += a.runs * FLIGHT) {
            const E* at = x + row * a.row_pitch;
            const bool is_last = a.rows - row <= FLIGHT;
            const u32 rows = is_last ? u32(a.rows - row) : FLIGHT;
            if (KNOWN && whole_tile && (!is_last || last_width == a.width)) {
                const auto take = [&](auto number, u32 from = 0) {
                    constexpr u32 ROWS = decltype(number)::value;
                    const E* there = at + from * a.row_pitch;
                    if constexpr (VECTOR > 1) take_vectors<Fold, ROWS>(state, there, a.row_pitch, row + from, setup);
                    else take_elements<Fold, ROWS, APART>(state, there, a.row_pitch, row + from, setup);
                };
                if (FLIGHT > 4 && rows < FLIGHT) {
                    if (rows & 4) take(Number<4>());
                    if (rows & 2) take(Number<2>(), rows & 4);
                    if (rows & 1) take(Number<1>(), rows & 6);
                    continue;
                }
                if (rows == FLIGHT) take(Number<FLIGHT>());
                else if (FLIGHT > 3 && rows == 3) take(Number<3>());
                else if (FLIGHT > 2 && rows == 2) take(Number<2>());
                else take(Number<1>());
                continue;
            }
            if constexpr (VECTOR > 1) {
                // Vectors that are whole; of a last row that is in part there, the elements.
                const bool part = is_last && at_last < VECTOR;
                const u32 whole = rows - part;
                typedef typename Neighbours<E, VECTOR>::Words Words;
                Words p[FLIGHT];
#pragma unroll
                for (u32 k = 0; k < FLIGHT; k++) {
                    if (k < whole) p[k] = load(reinterpret_cast<const Words*>(at + k * a.row_pitch));
                }
#pragma unroll
                for (u32 k = 0; k < FLIGHT; k++) {
                    if (k >= whole) continue;
                    typename Neighbours<E, VECTOR>::Each e(p[k]);
#pragma unroll
                    for (u32 v = 0; v < VECTOR; v++) Fold::add(state[v], e.element[v], row + k, setup);
                }
                if (part) {
#pragma unroll
                    for (u32 v = 0; v < VECTOR; v++) {
                        if (v < at_last) Fold::add(state[v], at[whole * a.row_pitch + v], row + whole, setup);
                    }
                }
            } else {
                u32 count[COLUMNS];
                E e[FLIGHT][COLUMNS];
#pragma unroll
                for (u32 v = 0; v < COLUMNS; v++)
                    count[v] = v * APART < here ? rows - (is_last && v * APART >= at_last) : 0;
#pragma unroll
                for (u32 k = 0; k < FLIGHT; k++) {
#pragma unroll
                    for (u32 v = 0; v < COLUMNS; v++) {
                        // Loads without a condition: of those that have one, each is waited for before the next is
                        // begun.
                        const E* there = k < count[v] ? at + k * a.row_pitch + v * APART : static_cast<const E*>(a.x);
                        e[k][v] = *there;
                    }
                }
#pragma unroll
                for (u32 k = 0; k < FLIGHT; k++) {
#pragma unroll
                    for (u32 v = 0; v < COLUMNS; v++) {
                        if (k < count[v]) Fold::add(state[v], e[k][v], row + k, setup);
                    }
                }
            }
        }
#pragma unroll
        for (u32 v = 0; v < COLUMNS; v++) {
            if constexpr (HAS_INDICES<Fold>) {
                if (a.columns < a.width)
                    Fold::renumber(state[v], a.width / a.columns, (column + v * APART) / a.columns);
            }
            states[lane * VECTOR + v * APART] = state[v];
        }
        store_tile<Fold, COLUMNS>(a, desc, states, unit, tiles);
    }
}

// Joins the states of an output's runs, and of the columns that are one: `share` threads of a block an output, 1 or
// all; a thread has FLIGHT of them in flight.
template <class Fold, u32 FLIGHT> __device__ __forceinline__ void join_columns(const ColumnArguments& a, u64 share) {
    typedef typename Fold::State State;
    __shared__ State of_warp[SEGMENT_WARPS];
    const FoldOptions desc{u32(a.options)};
    const u64 outputs = a.batches * a.columns, folds = a.width / a.columns, count = a.runs * folds;
    const u64 part = share == 1 ? 0 : threadIdx.x;
    const u64 from = share == 1 ? u64(blockIdx.x) * blockDim.x + threadIdx.x : blockIdx.x,
              step = share == 1 ? u64(gridDim.x) * blockDim.x : gridDim.x;
    // A run's states of an output are as many as its folds; then come those of other batches.
    const u64 of_run = a.batches * a.width, others = of_run - a.width,
              ahead = share / folds * of_run + share % folds * a.columns;
#pragma unroll 1
    for (u64 output = from; output < outputs; output += step) {
        const u64 batch = output / a.columns, column = output % a.columns;
        const State* at = static_cast<const State*>(a.states) + part / folds * of_run + batch * a.width +
                          part % folds * a.columns + column;
        u64 fold = part % folds;
        State all = Fold::identity();
#pragma unroll 1
        for (u64 k = part; k < count;) {
            State some[FLIGHT];
#pragma unroll
            for (u32 i = 0; i < FLIGHT; i++, k += share) {
                some[i] = k < count ? *at : Fold::identity();
                at += ahead, fold += share % folds;
                if (fold >= folds) fold -= folds, at += others;
            }
#pragma unroll
            for (u32 i = 0; i < FLIGHT; i++) Fold::merge(all, some[i]);
        }
        if (share > 1) {
            for (u32 by = 16; by > 0; by /= 2) {
                const State other = shuffle_words(all, (threadIdx.x + by) % 32);
                Fold::merge(all, other);
            }
            if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = all;
            __syncthreads();
            if (threadIdx.x == 0) {
                for (u32 w = 1; w < blockDim.x / 32; w++) Fold::merge(all, of_warp[w]);
            }
        }
        if (share == 1 || threadIdx.x == 0) Fold::finish(as_segments(a), desc, output, all, 0, a.inputs);
        if (share > 1) __syncthreads();
    }
}

#define COLUMN_PARAMETERS \
    const void *x, u64 width, u64 rows, u64 batches, u64 row_pitch, u64 batch_pitch, u64 elements, u64 runs, \
        u64 columns, void *states, void *out, u64 *faults, u64 inputs, u64 options
#define COLUMN_ARGUMENTS \
    {x, width, rows, batches, row_pitch, batch_pitch, elements, runs, columns, states, out, faults, inputs, options}
