// From one state a block to one a grid, within the same launch: the last block to arrive folds what all have left.
//
// Memory order: a block's state is written before the fence, the fence before the ticket; the last block takes its
// ticket before its own fence, and reads after it. Reads bypass L1 (`__ldcg`), which is not coherent across blocks.
#pragma once
#include "block_fold.cuh"

// Belongs to one stream; zero before its first use. The ticket returns to zero by itself (atomicInc wraps).
struct Workspace {
    u32 ticket;
    u32 pad[31];
    // One state a block follows, at byte 128.
};

template <class State> __device__ __forceinline__ State load_state(const State* at) {
    union Words {
        u64 word[(sizeof(State) + 7) / 8];
        State state;
        __device__ __forceinline__ Words() {}
    } words;
    static_assert(sizeof(State) % 8 == 0, "states in memory are made of whole 64-bit words");
#pragma unroll
    for (int k = 0; k < int(sizeof(State) / 8); k++) {
        words.word[k] = __ldcg(reinterpret_cast<const u64*>(at) + k);
    }
    return words.state;
}

// Every thread calls it with its own state. Returns true in exactly one thread of the grid, whose `state` is the total.
template <class Fold>
__device__ __forceinline__ bool grid_fold(typename Fold::State& state, Workspace* workspace) {
    typedef typename Fold::State State;
    state = block_fold<Fold>(state);
    if (gridDim.x == 1) return threadIdx.x == 0;

    __shared__ bool is_last;
    State* of_block = reinterpret_cast<State*>(workspace + 1);
    if (threadIdx.x == 0) {
        of_block[blockIdx.x] = state;
        __threadfence();
        is_last = atomicInc(&workspace->ticket, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last) return false;

    __threadfence();
    state = Fold::identity();
    for (u32 block = threadIdx.x; block < gridDim.x; block += blockDim.x) {
        Fold::merge(state, load_state(of_block + block));
    }
    state = block_fold<Fold>(state);
    return threadIdx.x == 0;
}
