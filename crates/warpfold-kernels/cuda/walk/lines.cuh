// Many reductions at once: of columns, those of all matrices in one line, where rows begin anywhere and end in the
// middle of what a warp takes (columns.cuh). A lane's columns, a warp apart, may be of different matrices.
//
// Measured on an H200, 1536 matrices of 512 rows of 341 f32, in % of the read ceiling, fast and exact: a tile of
// columns within its matrix, of which every third is two thirds empty, and 16 runs of rows to be joined, 76 and 58;
// this with 16 runs 79 and 61, with one run, whose 4092 units 4224 warps take at once, 92 and 79. Of three rows it is
// slower than columns.cuh (68 beside 88), as a unit begins with the places of four columns.
#pragma once
#include "walk/columns.cuh"

template <class Fold> __device__ __forceinline__ void fold_lines(const ColumnArguments& a) {
    typedef typename Fold::Element E;
    typedef typename Fold::State State;
    constexpr u32 COLUMNS = APART_COLUMNS, TILE = 32 * COLUMNS, FLIGHT = sizeof(E) <= 4 ? 4 : 2;
    __shared__ TileStates<State, TILE> of_warp[SEGMENT_WARPS];
    TileStates<State, TILE>& states = of_warp[threadIdx.x / 32];
    const FoldOptions desc{u32(a.options)};
    const typename Fold::Setup setup(desc);
    const u32 lane = threadIdx.x % 32;
    const u64 line = a.width * a.batches;
    const u32 warp = blockIdx.x * SEGMENT_WARPS + threadIdx.x / 32, warps = gridDim.x * SEGMENT_WARPS,
              tiles = u32((line + TILE - 1) / TILE), runs = u32(a.runs);
    const Unit step(warps, tiles, 1);
#pragma unroll 1
    for (Unit unit(warp, tiles, 1); unit.run < runs; unit.advance(step, tiles, 1)) {
        const u64 first = u64(unit.tile) * TILE, matrix = first / a.width, before = first - matrix * a.width;
        const u32 held = line - first < TILE ? u32(line - first) : TILE;
        // Columns that are not there are the first one's.
        const E* at[COLUMNS];
        State state[COLUMNS];
#pragma unroll
        for (u32 v = 0; v < COLUMNS; v++) {
            const u32 i = v * 32 + lane;
            const u64 column = before + (i < held ? i : 0), over = column < a.width  ? 0
                                                                   : a.width >= TILE ? 1
                                                                                     : u32(column) / u32(a.width);
            at[v] = static_cast<const E*>(a.x) + (matrix + over) * a.batch_pitch + (column - over * a.width) +
                    unit.run * FLIGHT * a.row_pitch;
            state[v] = Fold::identity();
        }
#pragma unroll 1
        for (u64 row = u64(unit.run) * FLIGHT; row < a.rows; row += a.runs * FLIGHT) {
            const u32 rows = a.rows - row < FLIGHT ? u32(a.rows - row) : FLIGHT;
            E e[FLIGHT][COLUMNS];
#pragma unroll
            for (u32 k = 0; k < FLIGHT; k++) {
                const u64 there = k < rows ? k * a.row_pitch : 0;
#pragma unroll
                for (u32 v = 0; v < COLUMNS; v++) e[k][v] = at[v][there];
            }
#pragma unroll
            for (u32 k = 0; k < FLIGHT; k++) {
#pragma unroll
                for (u32 v = 0; v < COLUMNS; v++) {
                    if (k < rows) Fold::add(state[v], e[k][v], row + k, setup);
                }
            }
#pragma unroll
            for (u32 v = 0; v < COLUMNS; v++) at[v] += a.runs * FLIGHT * a.row_pitch;
        }
#pragma unroll
        for (u32 v = 0; v < COLUMNS; v++) states[v * 32 + lane] = state[v];
        __syncwarp();
        store_states<Fold, COLUMNS>(a, desc, states, unit.run, first, held);
        __syncwarp();
    }
}
