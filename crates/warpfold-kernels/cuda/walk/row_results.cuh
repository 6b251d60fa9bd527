// What becomes of the states of rows that lanes share: those of a row's lanes are joined, and results wait until every
// lane of the warp has one, as one takes as long to finish as 32 side by side.
#pragma once
#include "walk/parts.cuh"

template <class State> struct RowResults {
    const u64 rows;
    const u32 lanes, at_once, near, per_warp;
    // Those of a block's warps, where a row is several warps', and those of this warp that wait.
    State *const joined, *const states;
    u32 waiting = 0;
    u64 waiting_from;

    // Rows that so many lanes share, a power of two.
    __device__ __forceinline__ RowResults(u64 rows, u32 lanes, State* joined, State* states)
        : rows(rows), lanes(lanes), at_once(SEGMENT_THREADS / lanes), near(lanes < 32 ? lanes : 32),
          per_warp(32 / near), joined(joined), states(states), waiting_from(u64(blockIdx.x) * at_once) {}

    // The whole block: a state that lanes of a warp have joined, of a row of those from `base` on. `join` takes the
    // states of so many neighbours to the first one's, `finish` a row and its state.
    template <class Join, class Finish>
    __device__ __forceinline__ void add(State& state, u64 base, const Join& join, const Finish& finish) {
        const u32 lane = threadIdx.x % 32;
        if (lanes > 32) {
            if (lane == 0) joined[threadIdx.x / 32] = state;
            __syncthreads();
            if (threadIdx.x % lanes < 32) {
                state = joined[(threadIdx.x / 32 + lane) % SEGMENT_WARPS];
                join(state, lanes / 32);
            }
            __syncthreads();
        }
        if (lane % near == 0) states[waiting + lane / near] = state;
        waiting += per_warp;
        if (waiting == 32 || base + u64(gridDim.x) * at_once >= rows) {
            __syncwarp();
            const u64 mine = waiting_from + u64(gridDim.x) * at_once * (lane / per_warp) +
                             threadIdx.x / 32 * 32 / lanes + lane % per_warp;
            // Of warps that share rows the first one finishes them.
            if (lane < waiting && mine < rows && threadIdx.x / 32 * 32 % lanes == 0) finish(mine, states[lane]);
            __syncwarp();
            waiting = 0;
            waiting_from = base + u64(gridDim.x) * at_once;
        }
    }
};
