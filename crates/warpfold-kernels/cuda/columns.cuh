// Many reductions at once: of columns, where neighbours in memory belong to different outputs.
//
// The array is `batches` matrices of `rows` rows of `width` elements; each column of each is folded. A warp takes 32 packs of neighbouring columns (or 32 elements, where rows do not
// begin at packs) and a run of rows: a lane owns its columns, so nothing is exchanged, and every load of a warp is one piece of memory. Where there are fewer warps' worth of columns
// than warps, rows are split into runs, whose states are left in the workspace, [run][batch][column], and joined by a second kernel in the order of the runs: so the bits depend on
// the shape of the launch alone. Narrow matrices come here as wide ones whose rows are several of theirs; the join folds the columns that are one (`columns`).
//
// Floor: input once through the memory. A lane has 4 packs or 8 elements in flight.
#pragma once
#include "segments.cuh"

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

// VECTOR elements a lane: a pack, or one.
template <class Fold, u32 VECTOR> __device__ __forceinline__ void fold_columns(const ColumnArguments& a) {
    typedef typename Fold::Element E;
    typedef typename Fold::State State;
    constexpr u32 FLIGHT = VECTOR > 1 ? 4 : 8;
    const Choice choice{u32(a.options)};
    const typename Fold::Setup setup(choice);
    const u32 lane = threadIdx.x % 32;
    const u64 warp = (u64(blockIdx.x) * blockDim.x + threadIdx.x) / 32, warps = u64(gridDim.x) * blockDim.x / 32;
    const u64 tiles = (a.width + 32 * VECTOR - 1) / (32 * VECTOR), units = tiles * a.batches * a.runs;
    const u64 each = (a.rows + a.runs - 1) / a.runs;
#pragma unroll 1
    for (u64 unit = warp; unit < units; unit += warps) {
        // Neighbouring warps take neighbouring tiles.
        const u64 tile = unit % tiles, batch = unit / tiles % a.batches, run = unit / tiles / a.batches;
        const u64 column = (tile * 32 + lane) * VECTOR;
        if (column >= a.width) continue;
        const u64 first = run * each, last = first + each < a.rows ? first + each : a.rows;
        const E* x = static_cast<const E*>(a.x) + batch * a.batch_pitch + column;
        State state[VECTOR];
#pragma unroll
        for (u32 v = 0; v < VECTOR; v++) state[v] = Fold::identity();
        // Rows that are whole for this lane.
        const u64 whole = a.elements > column + VECTOR - 1 ? (a.elements - column - VECTOR) / a.width + 1 : 0;
        const u64 end = last < whole ? last : whole;
        u64 row = first;
#pragma unroll 1
        for (; row + FLIGHT <= end; row += FLIGHT) {
            if constexpr (VECTOR > 1) {
                Pack p[FLIGHT];
#pragma unroll
                for (u32 k = 0; k < FLIGHT; k++) p[k] = load(reinterpret_cast<const Pack*>(x + (row + k) * a.row_pitch));
#pragma unroll
                for (u32 k = 0; k < FLIGHT; k++) {
                    Elements<E> e(p[k]);
#pragma unroll
                    for (u32 v = 0; v < VECTOR; v++) Fold::add(state[v], e.element[v], row + k, setup);
                }
            } else {
                E e[FLIGHT];
#pragma unroll
                for (u32 k = 0; k < FLIGHT; k++) e[k] = x[(row + k) * a.row_pitch];
#pragma unroll
                for (u32 k = 0; k < FLIGHT; k++) Fold::add(state[0], e[k], row + k, setup);
            }
        }
        // What is left, and a last row that is in part there.
#pragma unroll 1
        for (; row < last; row++) {
#pragma unroll
            for (u32 v = 0; v < VECTOR; v++) {
                if (row * a.width + column + v < a.elements) Fold::add(state[v], x[row * a.row_pitch + v], row, setup);
            }
        }
#pragma unroll
        for (u32 v = 0; v < VECTOR; v++) {
            if (a.states) static_cast<State*>(a.states)[(run * a.batches + batch) * a.width + column + v] = state[v];
            else Fold::finish(as_segments(a), choice, batch * a.width + column + v, state[v], 0, a.inputs);
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
