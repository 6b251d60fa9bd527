// Runs of neighbours that are folded together: of lanes, of warps, of blocks.
#pragma once
#include "walk/parts.cuh"

// How many lanes before this one are of its run, where every lane of `first` begins one.
__device__ __forceinline__ u32 lanes_behind(u32 first) {
    const u32 lane = threadIdx.x % 32, begun = first << (31 - lane);
    return begun != 0 ? u32(__clz(begun)) : lane;
}

// Folds the states of lanes, in their order: each is left with what those behind it and itself hold. Runs in as many
// steps as the longest asks for.
template <class Fold, class State> __device__ __forceinline__ void scan_lanes(State& state, u32 behind) {
    const u32 lane = threadIdx.x % 32;
#pragma unroll 1
    for (u32 by = 1; __any_sync(0xffffffffu, by <= behind); by *= 2) {
        State earlier = shuffle_words(state, (lane - by) % 32);
        if (by <= behind) {
            Fold::merge(earlier, state);
            state = earlier;
        }
    }
}

// What a stretch of the array leaves open at its two ends.
template <class State> struct alignas(8) alignas(State) CarryOut {
    State head;   // up to its first end, if it has one
    State tail;   // after its last end
    u64 segment;  // the one that ends first
    u64 ended;    // whether any does
};

// A result with its true bounds, which do not come cheap.
template <class Fold> __device__ __forceinline__ void finish_spanned(const SegmentArguments& a, FoldOptions c,
                                                                     u64 segment, const typename Fold::State& s) {
    const Bounds bounds(a);
    Fold::finish(a, c, segment, s, bounds[segment], bounds[segment + 1]);
}

// One thread: the pieces of the block's warps, joined to one. What both begins and ends within is finished.
template <class Fold, class State>
__device__ __forceinline__ CarryOut<State> join_carry_outs(const SegmentArguments& a, FoldOptions desc,
                                                           const CarryOut<State>* carry_outs) {
    CarryOut<State> all = {Fold::identity(), Fold::identity(), 0, 0};
#pragma unroll 1
    for (int w = 0; w < SEGMENT_WARPS; w++) {
        if (!carry_outs[w].ended) {
            Fold::merge(all.tail, carry_outs[w].tail);
            continue;
        }
        Fold::merge(all.tail, carry_outs[w].head);
        if (all.ended) {
            finish_spanned<Fold>(a, desc, carry_outs[w].segment, all.tail);
        } else {
            all.head = all.tail;
            all.segment = carry_outs[w].segment;
            all.ended = 1;
        }
        all.tail = carry_outs[w].tail;
    }
    return all;
}

// The last block: every warp joins an equal run of the blocks' pieces, a piece a lane at a time.
template <class Fold, class State>
__device__ __forceinline__ void join_blocks(const SegmentArguments& a, FoldOptions desc,
                                            const CarryOut<State>* of_block, CarryOut<State>& carry_out) {
    const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32,
              each = (gridDim.x + SEGMENT_THREADS - 1) / SEGMENT_THREADS * 32;
    CarryOut<State> run = {Fold::identity(), Fold::identity(), 0, 0};
#pragma unroll 1
    for (u32 k = 0; k < each; k += 32) {
        const u32 at = warp * each + k + lane;
        CarryOut<State> mine = {Fold::identity(), Fold::identity(), 0, 0};
        if (at < gridDim.x) mine = load_state(of_block + at);
        const u32 enders = __ballot_sync(0xffffffffu, mine.ended != 0);
        // What came before goes through the first lane.
        State state = mine.tail;
        if (lane == 0 && !mine.ended) {
            state = run.tail;
            Fold::merge(state, mine.tail);
        }
        scan_lanes<Fold>(state, lanes_behind(enders));
        State before = shuffle_words(state, (lane + 31) % 32);
        if (lane == 0) before = run.tail;
        if (mine.ended) {
            Fold::merge(before, mine.head);
            const bool closed = (enders & ((1u << lane) - 1)) != 0;
            if (closed || run.ended) finish_spanned<Fold>(a, desc, mine.segment, before);
        }
        if (!run.ended && enders != 0) {
            const u32 first = __ffs(enders) - 1;
            run.head = shuffle_words(before, first);
            run.segment = __shfl_sync(0xffffffffu, mine.segment, first);
            run.ended = 1;
        }
        run.tail = shuffle_words(state, 31);
    }
    if (lane == 0) carry_out = run;
}
