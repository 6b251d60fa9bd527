// From one state a block to one a grid, within the same launch: the last block to arrive folds what all have left.
//
// Memory order: thread 0 of a block writes the block's state, then takes a ticket with release and acquire semantics;
// the barrier after it hands what it has acquired to the rest of its block. Reads bypass L1 (`__ldcg`). A full fence on
// both sides instead of the ticket's own semantics costs 0.2 us more on an H200.
#pragma once
#include "walk/block.cuh"

// Belongs to one stream; zero before its first use. The ticket returns to zero by itself (the last block's `inc`
// wraps).
struct Workspace {
    u32 ticket;
    u32 pad[31];
    u64 exact[296];  // what exact folds add up (carry_and_round.cuh); zero between launches
    // One state a block follows.
};

// The number of blocks that were here before; the last one resets it.
__device__ __forceinline__ u32 take_ticket(u32* ticket, u32 last) {
    u32 before;
    asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;" : "=r"(before) : "l"(ticket), "r"(last) : "memory");
    return before;
}

template <class State> __device__ __forceinline__ State load_state(const State* at) {
    Words<State, Word<State>> words;
#pragma unroll
    for (int k = 0; k < words.COUNT; k++) words.word[k] = __ldcg(reinterpret_cast<const Word<State>*>(at) + k);
    return words.state;
}

// Every thread calls it with what its block has folded. Returns whether this was the last block of the grid.
template <class State> __device__ __forceinline__ bool publish_block(const State& state, Workspace* workspace) {
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
        reinterpret_cast<State*>(workspace + 1)[blockIdx.x] = state;
        is_last = take_ticket(&workspace->ticket, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    return is_last;
}

// A thread's share of what all blocks have left, one of so many threads.
template <class Fold> __device__ __forceinline__ typename Fold::State share_of_blocks(const Workspace* workspace,
                                                                                      u32 threads) {
    typename Fold::State state = Fold::identity();
#pragma unroll 1
    for (u32 block = threadIdx.x; block < gridDim.x; block += threads) {
        Fold::merge(state, load_state(reinterpret_cast<const typename Fold::State*>(workspace + 1) + block));
    }
    return state;
}

// Every thread calls it with its own state. Returns true in exactly one thread of the grid, whose `state` is the total.
template <class Fold>
__device__ __forceinline__ bool grid_fold(typename Fold::State& state, Workspace* workspace) {
    if constexpr (sizeof(typename Fold::State) > 64) {
        // Code for both in one place.
        bool last = gridDim.x == 1;
#pragma unroll 1
        while (true) {
            state = block_fold<Fold>(state);
            if (last) return threadIdx.x == 0;
            last = publish_block(state, workspace);
            if (!last) return false;
            state = share_of_blocks<Fold>(workspace, blockDim.x);
        }
    } else {
        state = block_fold<Fold>(state);
        if (gridDim.x == 1) return threadIdx.x == 0;
        if (!publish_block(state, workspace)) return false;
        state = block_fold<Fold>(share_of_blocks<Fold>(workspace, blockDim.x));
        return threadIdx.x == 0;
    }
}
