// Many reductions at once: of columns (columns.cuh), each of which a lane takes as if it were a row: the elements of
// neighbouring rows, which it puts together to vectors, go the way of whole vectors (whole_vectors.cuh).
//
// For folds with much state, of which a lane has registers for one. A load of a warp is 32 neighbouring elements.
//
// Floor: input once through the memory, results once; a load an element, and a half to put two of 16 bits together.
#pragma once
#include "walk/columns.cuh"
#include "walk/whole_vectors.cuh"

// The elements of `count` rows of a column, or of as many as there is room for, as vectors.
template <class E, bool ALL, int N>
__device__ __forceinline__ void gather(Vector (&p)[N], const E* at, u64 pitch, u32 count) {
    constexpr u32 PER = PER_VECTOR<E>;
#pragma unroll
    for (u32 k = 0; k < N; k++) {
        Elements<E> e(Vector{});
#pragma unroll
        for (u32 i = 0; i < PER; i++, at += pitch) {
            if (ALL || k * PER + i < count) e.element[i] = *at;
        }
        p[k] = e.vector;
    }
}

template <class Fold> __device__ __forceinline__ void fold_own_columns(const ColumnArguments& a) {
    typedef typename Fold::Element E;
    typedef typename Fold::State State;
    constexpr u32 PER = PER_VECTOR<E>, VECTORS = PER > 4 ? 2 : 4, ROWS = VECTORS * PER, TILE = 32;
    __shared__ TileStates<State, TILE> of_warp[SEGMENT_WARPS];
    TileStates<State, TILE>& states = of_warp[threadIdx.x / 32];
    const FoldOptions desc{u32(a.options)};
    const typename Fold::Setup setup(desc);
    const u32 lane = threadIdx.x % 32;
    const u32 warp = blockIdx.x * SEGMENT_WARPS + threadIdx.x / 32, warps = gridDim.x * SEGMENT_WARPS;
    const u32 tiles = u32((a.width + TILE - 1) / TILE), batches = u32(a.batches), runs = u32(a.runs);
    const u64 last_width = a.elements - (a.rows - 1) * a.width;
    const Unit step(warps, tiles, batches);
    WholeVectors<Fold> whole(setup);
#pragma unroll 1
    for (Unit unit(warp, tiles, batches); unit.run < runs; unit.advance(step, tiles, batches)) {
        const u64 column = u64(unit.tile) * TILE + lane;
        const E* x = static_cast<const E*>(a.x) + unit.batch * a.batch_pitch + column;
        // Of a column that is not there no rows are.
        const u64 rows = column < a.width ? a.rows - (column >= last_width) : 0;
        State state = Fold::identity();
#pragma unroll 1
        for (u64 row = u64(unit.run) * ROWS; row < a.rows; row += a.runs * ROWS) {
            const E* at = x + row * a.row_pitch;
            const u32 count = row >= rows ? 0 : rows - row < ROWS ? u32(rows - row) : ROWS;
            const bool all = __all_sync(0xffffffffu, count == ROWS);
            Vector p[VECTORS];
            // Nothing is asked of a load where all rows are there: what stands under a condition is waited for before
            // the next is begun.
            if (all) gather<E, true>(p, at, a.row_pitch, ROWS);
            else gather<E, false>(p, at, a.row_pitch, count);
            whole.begin(p[0]);
            whole.settle(state, VECTORS);
            if (all) whole.template take_all<VECTORS>(state, p, row, PER, setup);
            else whole.take_some(state, p, row, PER, 0, count, setup);
        }
        // Of each lane by itself.
        whole.flush(state, 1);
        if constexpr (HAS_INDICES<Fold>) {
            if (a.columns < a.width) Fold::renumber(state, a.width / a.columns, column / a.columns);
        }
        states[lane] = state;
        store_tile<Fold, 1>(a, desc, states, unit, tiles);
    }
}
