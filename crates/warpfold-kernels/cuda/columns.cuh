// Many reductions at once: of columns, where neighbours in memory belong to different outputs.
//
// The array is `batches` matrices of `rows` rows of `width` elements; each column of each is folded. A warp takes 32 packs of neighbouring columns (or 4 times 32 elements, where rows
// do not begin at packs): a lane owns its columns, so nothing is exchanged, and every load of a warp is one piece of memory. Where there are fewer warps' worth of columns
// than warps, rows are dealt out to runs, a few at a time, so that the memory sees one front that moves on and not as many as there are warps; what runs hold is left in the
// workspace, [run][batch][column], and joined by a second kernel in the order of the runs: so the bits depend on the shape of the launch alone. Narrow matrices come here as wide
// ones whose rows are several of theirs; the join folds the columns that are one (`columns`).
//
// Floor: input once through the memory. A lane has 4 packs, or 8 or 16 elements in flight, also where rows are fewer.
// Tried, measured on an H200: each run a contiguous stretch of rows, 2^26 x 4 f32 at 58 % of the read ceiling; rows beyond the last four one element at a time, so that three rows
// (512 x 3 x 174592) ran at 58 %; one column a lane where rows are no packs, 3 x 89478485 at 23 %.
#pragma once
#include "segment_arguments.cuh"

struct ColumnArguments {
    const void* x;
    u64 width, rows, batches;       // as the warps see them
    u64 row_pitch, batch_pitch;     // elements from one to the next
    u64 elements;                   // of a batch, if its last row is not whole; else rows * width
    u64 runs;                       // of rows
    u64 columns;                    // outputs of a batch: `width`, or a divisor of it
    void* states;                   // one for each run, batch and column, or null where there is one run, and columns are the width
    void* out;
    u64* faults;
    u64 inputs;                     // elements folded into each output
    u64 options;
};

// What finishing needs of segments: every output has the same bounds.
__device__ __forceinline__ SegmentArguments as_segments(const ColumnArguments& a) {
    return {a.x, 0, nullptr, 0, a.inputs, a.batches * a.columns, a.out, nullptr, a.faults, a.options};
}

// Columns of a lane: those of a pack, or four that lie a warp's apart.
constexpr u32 APART_COLUMNS = 4;

// VECTOR elements at once: a pack, or one.
template <class Fold, u32 VECTOR> __device__ __forceinline__ void fold_columns(const ColumnArguments& a) {
    typedef typename Fold::Element E;
    typedef typename Fold::State State;
    constexpr u32 COLUMNS = VECTOR > 1 ? VECTOR : APART_COLUMNS, APART = VECTOR > 1 ? 1 : 32;
    // Rows in flight: as registers allow.
    constexpr u32 FLIGHT = VECTOR > 1 || sizeof(State) == 4 ? 4 : 2;
    const Choice choice{u32(a.options)};
    const typename Fold::Setup setup(choice);
    const u32 lane = threadIdx.x % 32;
    const u64 warp = (u64(blockIdx.x) * blockDim.x + threadIdx.x) / 32, warps = u64(gridDim.x) * blockDim.x / 32;
    const u64 tiles = (a.width + 32 * COLUMNS - 1) / (32 * COLUMNS), units = tiles * a.batches * a.runs;
#pragma unroll 1
    for (u64 unit = warp; unit < units; unit += warps) {
        // Neighbouring warps take neighbouring tiles, or neighbouring rows of one.
        const u64 tile = unit % tiles, batch = unit / tiles % a.batches, run = unit / tiles / a.batches;
        const u64 column = tile * 32 * COLUMNS + lane * VECTOR;
        if (column >= a.width) continue;
        const E* x = static_cast<const E*>(a.x) + batch * a.batch_pitch + column;
        State state[COLUMNS];
#pragma unroll
        for (u32 v = 0; v < COLUMNS; v++) state[v] = Fold::identity();
        // Which columns there are, and which of them in the last row.
        u32 here = 0, at_last = 0;
#pragma unroll
        for (u32 v = 0; v < COLUMNS; v++) {
            here |= u32(column + v * APART < a.width) << v;
            at_last |= u32((a.rows - 1) * a.width + column + v * APART < a.elements) << v;
        }
#pragma unroll 1
        for (u64 row = run * FLIGHT; row < a.rows; row += a.runs * FLIGHT) {
            const E* at = x + row * a.row_pitch;
            const bool is_last = a.rows - row <= FLIGHT;
            const u32 rows = is_last ? u32(a.rows - row) : FLIGHT;
            if constexpr (VECTOR > 1) {
                // Packs that are whole; of a last row that is in part there, the elements.
                const bool part = is_last && at_last != (1u << VECTOR) - 1;
                const u32 whole = rows - part;
                Pack p[FLIGHT];
#pragma unroll
                for (u32 k = 0; k < FLIGHT; k++) {
                    if (k < whole) p[k] = load(reinterpret_cast<const Pack*>(at + k * a.row_pitch));
                }
#pragma unroll
                for (u32 k = 0; k < FLIGHT; k++) {
                    if (k >= whole) continue;
                    Elements<E> e(p[k]);
#pragma unroll
                    for (u32 v = 0; v < VECTOR; v++) Fold::add(state[v], e.element[v], row + k, setup);
                }
                if (part) {
#pragma unroll
                    for (u32 v = 0; v < VECTOR; v++) {
                        if (at_last >> v & 1) Fold::add(state[v], at[whole * a.row_pitch + v], row + whole, setup);
                    }
                }
            } else {
                u32 count[COLUMNS];
                E e[FLIGHT][COLUMNS];
#pragma unroll
                for (u32 v = 0; v < COLUMNS; v++) count[v] = here >> v & 1 ? rows - (is_last && !(at_last >> v & 1)) : 0;
#pragma unroll
                for (u32 k = 0; k < FLIGHT; k++) {
#pragma unroll
                    for (u32 v = 0; v < COLUMNS; v++) {
                        if (k < count[v]) e[k][v] = at[k * a.row_pitch + v * APART];
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
            const u64 mine = column + v * APART;
            if (mine >= a.width) continue;
            if (a.states) static_cast<State*>(a.states)[(run * a.batches + batch) * a.width + mine] = state[v];
            else Fold::finish(as_segments(a), choice, batch * a.width + mine, state[v], 0, a.inputs);
        }
    }
}

// Joins the states of an output's runs, and of the columns that are one: `share` threads of a block an output, 1 or all.
template <class Fold> __device__ __forceinline__ void join_columns(const ColumnArguments& a, u64 share) {
    typedef typename Fold::State State;
    __shared__ State of_warp[SEGMENT_WARPS];
    const Choice choice{u32(a.options)};
    const u64 outputs = a.batches * a.columns, folds = a.width / a.columns, count = a.runs * folds;
    const u64 part = share == 1 ? 0 : threadIdx.x;
    const u64 from = share == 1 ? u64(blockIdx.x) * blockDim.x + threadIdx.x : blockIdx.x, step = share == 1 ? u64(gridDim.x) * blockDim.x : gridDim.x;
#pragma unroll 1
    for (u64 output = from; output < outputs; output += step) {
        const u64 batch = output / a.columns, column = output % a.columns;
        State all = Fold::identity();
        for (u64 k = part; k < count; k += share) {
            const u64 at = (k / folds * a.batches + batch) * a.width + k % folds * a.columns + column;
            Fold::merge(all, static_cast<const State*>(a.states)[at]);
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
        if (share == 1 || threadIdx.x == 0) Fold::finish(as_segments(a), choice, output, all, 0, a.inputs);
        if (share > 1) __syncthreads();
    }
}

#define COLUMN_PARAMETERS                                                                                                             \
    const void *x, u64 width, u64 rows, u64 batches, u64 row_pitch, u64 batch_pitch, u64 elements, u64 runs, u64 columns, void *states, \
        void *out, u64 *faults, u64 inputs, u64 options
#define COLUMN_ARGUMENTS {x, width, rows, batches, row_pitch, batch_pitch, elements, runs, columns, states, out, faults, inputs, options}
