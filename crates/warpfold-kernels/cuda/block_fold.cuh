// From one state a thread to one a block: shuffles within warps, shared memory across them.
//
// A state is a plain struct of 32-bit words or wider. `Fold::merge(State&, const State&)` is commutative and associative;
// the order of merging is fixed by the thread numbers, so that equal launches give equal bits.
#pragma once
#include "elements.cuh"

template <class State> __device__ __forceinline__ State shuffle_down(const State& state, u32 lanes) {
    static_assert(sizeof(State) % 4 == 0, "states are made of whole words");
    union Words {
        State state;
        u32 word[sizeof(State) / 4];
        __device__ __forceinline__ explicit Words(const State& s) : state(s) {}
    } words(state);
#pragma unroll
    for (int k = 0; k < int(sizeof(State) / 4); k++) {
        words.word[k] = __shfl_down_sync(0xffffffffu, words.word[k], lanes);
    }
    return words.state;
}

template <class Fold> __device__ __forceinline__ void warp_fold(typename Fold::State& state) {
#pragma unroll
    for (u32 lanes = 16; lanes > 0; lanes /= 2) Fold::merge(state, shuffle_down(state, lanes));
}

// Every thread of the block calls it; the result is right in thread 0. Blocks are whole warps.
template <class Fold>
__device__ __forceinline__ typename Fold::State block_fold(typename Fold::State state) {
    __shared__ typename Fold::State of_warp[32];
    const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    warp_fold<Fold>(state);
    if (lane == 0) of_warp[warp] = state;
    __syncthreads();
    if (warp == 0) {
        state = lane < warps ? of_warp[lane] : Fold::identity();
        warp_fold<Fold>(state);
    }
    return state;
}
