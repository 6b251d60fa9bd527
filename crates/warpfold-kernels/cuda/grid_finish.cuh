// From one state a block to one a grid, within the same launch: the last block to arrive folds what all have left.
//
// Memory order: thread 0 of a block writes the block's state, then takes a ticket with release and acquire semantics; the barrier
// after it hands what it has acquired to the rest of its block. Reads bypass L1 (`__ldcg`). A full fence on both sides
// instead of the ticket's own semantics costs 0.2 us more on an H200.
#pragma once
#include "block_fold.cuh"

// Belongs to one stream; zero before its first use. The ticket returns to zero by itself (the last block's `inc` wraps).
struct Workspace {
    u32 ticket;
    u32 pad[31];
    u64 exact[288];  // what exact folds add up (exact_total.cuh); zero between launches
    // One state a block follows.
};

// The number of blocks that were here before; the last one resets it.
__device__ __forceinline__ u32 take_ticket(u32* ticket, u32 last) {
    u32 before;
    asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;"
                 : "=r"(before) : "l"(ticket), "r"(last) : "memory");
    return before;
}

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
        is_last = take_ticket(&workspace->ticket, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last) return false;

    state = Fold::identity();
    for (u32 block = threadIdx.x; block < gridDim.x; block += blockDim.x) {
        Fold::merge(state, load_state(of_block + block));
    }
    state = block_fold<Fold>(state);
    return threadIdx.x == 0;
}
