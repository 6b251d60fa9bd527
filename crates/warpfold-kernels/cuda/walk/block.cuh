// From one state a thread to one a block: shuffles within warps, shared memory across them.
//
// A state is a plain struct of 32-bit words or wider. `Fold::merge(State&, const State&)` is commutative and
// associative; the order of merging is fixed by the thread numbers, so that equal launches give equal bits.
#pragma once
#include "num/elements.cuh"

// A state as words of W.
template <class State, class W> union Words {
    static constexpr int COUNT = sizeof(State) / sizeof(W);
    static_assert(sizeof(State) % sizeof(W) == 0, "states are made of whole words");
    State state;
    W word[COUNT];
    __device__ __forceinline__ Words() {}
    __device__ __forceinline__ explicit Words(const State& s) : state(s) {}
};

// The widest that a state is made of.
template <class State> using Word = typename Select<sizeof(State) % 8 == 0, u64, u32>::type;

template <class State> __device__ __forceinline__ State shuffle_down(const State& state, u32 lanes) {
    Words<State, u32> words(state);
#pragma unroll
    for (int k = 0; k < words.COUNT; k++) words.word[k] = __shfl_down_sync(0xffffffffu, words.word[k], lanes);
    return words.state;
}

template <class State> __device__ __forceinline__ State shuffle_words(const State& state, u32 from) {
    union Words {
        State state;
        u32 word[sizeof(State) / 4];
        __device__ __forceinline__ explicit Words(const State& s) : state(s) {}
    } words(state);
#pragma unroll
    for (int k = 0; k < int(sizeof(State) / 4); k++) words.word[k] = __shfl_sync(0xffffffffu, words.word[k], from);
    return words.state;
}

// Steps of large states, which take many instructions, stand in a loop.
template <class Fold> __device__ __forceinline__ void warp_fold(typename Fold::State& state) {
    constexpr int AT_ONCE = sizeof(typename Fold::State) > 32 ? 1 : 5;
#pragma unroll AT_ONCE
    for (u32 lanes = 16; lanes > 0; lanes /= 2) Fold::merge(state, shuffle_down(state, lanes));
}

// Every thread of the block calls it; the result is right in thread 0. Blocks are whole warps. In shared memory the
// first words of all states lie side by side, then the second ones: no bank is asked twice, and no two accesses of a
// thread are neighbours, which ptxas would merge to what PTX does not say.
template <class Fold>
__device__ __forceinline__ typename Fold::State block_fold(typename Fold::State state) {
    typedef Word<typename Fold::State> W;
    typedef Words<typename Fold::State, W> Parts;
    __shared__ W of_warp[Parts::COUNT][32];
    const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    warp_fold<Fold>(state);
    if (lane == 0) {
        const Parts parts(state);
#pragma unroll
        for (int k = 0; k < Parts::COUNT; k++) of_warp[k][warp] = parts.word[k];
    }
    __syncthreads();
    if (warp == 0) {
        Parts parts(Fold::identity());
        if (lane < warps) {
#pragma unroll
            for (int k = 0; k < Parts::COUNT; k++) parts.word[k] = of_warp[k][lane];
        }
        state = parts.state;
        warp_fold<Fold>(state);
    }
    return state;
}
