// Arrays of few numbers, at most seven vectors a thread: what they cost is how long the last steps take, one after
// another.
//
// A thread's window then never moves and is never drained, and holds more binades than that of a long array; what lies
// in the binades below goes to another one. What a block has in a window is one whole number an integer, of less than
// 63 bits and a sign, by shuffles alone; limbs are cleared only by threads that need them. Blocks meet by adding their
// numbers, cut in two pieces, to words that count the blocks as well: the addition that completes a word hands its
// total back, so that nothing is left in memory, fenced and read again. A block that has something in limbs adds it to
// the words of all, as in long arrays, and says so in a piece.
#pragma once
#include "acc/carry_and_round.cuh"

// Everything that all blocks have seen.
struct SpecialValues {
    u32 specials[3];
    u64 nans;
};

// The sum over groups of so many lanes, in each of them.
template <u32 LANES> __device__ __forceinline__ i64 sum_of_lanes(i64 x) {
#pragma unroll
    for (u32 lanes = LANES / 2; lanes > 0; lanes /= 2) x += __shfl_xor_sync(0xffffffffu, x, lanes);
    return x;
}

// The numbers of a block, then of all: in the first warp's lanes alike.
template <class Fold, bool = Fold::SMALL_PATH> struct SmallInput {
    static constexpr u32 INTEGERS = Fold::INTEGERS, WINDOWS = Fold::BELOW > 0 ? 2 : 1, NUMBERS = WINDOWS * INTEGERS,
                         PIECES = 2 * NUMBERS;
    // The bits of a number that its lower piece has; where the upper piece counts blocks with limbs; where both count
    // blocks, of which plans ask for fewer than 4096. POSITIVE keeps upper pieces from borrowing.
    static constexpr int LOWER = 40, DIGITS = 36, COUNT = 52;
    static constexpr i64 POSITIVE = 1ll << (63 - LOWER);
    // Those of windows, then those of the windows below; once all blocks have met, the former alone, in units of the
    // latter.
    WideSum total[NUMBERS];

    // The numbers of one of the windows, in the first warp, after a barrier that says whether any thread has what is
    // asked.
    __device__ __forceinline__ bool fold_window(u32 first, const i64 (&mine)[INTEGERS], bool requested) {
        constexpr u32 WARPS = Fold::THREADS / 32;
        __shared__ i64 of_warp[NUMBERS][WARPS];
        const u32 lane = threadIdx.x % 32;
#pragma unroll
        for (u32 k = 0; k < INTEGERS; k++) {
            const i64 sum = sum_of_lanes<32>(mine[k]);
            if (lane == 0) of_warp[first + k][threadIdx.x / 32] = sum;
        }
        const bool any = __syncthreads_or(requested);
        if (threadIdx.x < 32) {
#pragma unroll
            for (u32 k = 0; k < INTEGERS; k++)
                total[first + k] =
                    WideSum(sum_of_lanes<WARPS>(lane % WARPS < blockDim.x / 32 ? of_warp[first + k][lane % WARPS] : 0));
        }
        return any;
    }
    // All threads. Returns whether the block has anything in limbs, or NaNs.
    __device__ __forceinline__ bool fold_block(const Fold& fold) {
        const bool in_limbs = fold.in_limbs() || fold.nans != 0;
        i64 mine[INTEGERS];
#pragma unroll
        for (u32 k = 0; k < INTEGERS; k++) mine[k] = fold.integer(k);
        if constexpr (WINDOWS == 1) {
            return fold_window(0, mine, in_limbs);
        } else {
#pragma unroll
            for (u32 k = 0; k < INTEGERS; k++) total[INTEGERS + k] = WideSum(0);
            if (!fold_window(0, mine, in_limbs || fold.in_below())) return false;
#pragma unroll
            for (u32 k = 0; k < INTEGERS; k++) mine[k] = fold.whole_below(k);
            return fold_window(INTEGERS, mine, in_limbs);
        }
    }
    static __device__ __forceinline__ void close(Fold& fold) {
        fold.open_limbs();
        fold.close_limbs();
    }
    // Adds the block's numbers to those of all, after what it has added of limbs. Returns whether all blocks have, so
    // that the total is known.
    __device__ __forceinline__ bool meet(ExactState* state, bool& in_limbs) {
        const u32 lane = threadIdx.x;
        if (in_limbs) __threadfence();
        __syncwarp();
        u64 sum = 0;
        if (lane < PIECES) {
            i64 number = total[0].number();
#pragma unroll
            for (u32 k = 1; k < NUMBERS; k++) {
                const i64 other = total[k].number();
                number = lane / 2 == k ? other : number;
            }
            const u64 lower = u64(number) & ((1ull << LOWER) - 1),
                      upper = u64((number >> LOWER) + POSITIVE) | u64(in_limbs) << DIGITS;
            const u64 piece = (lane % 2 ? upper : lower) | 1ull << COUNT;
            sum = atomicAdd(&state->piece[lane], piece) + piece;
        }
        const bool complete = sum >> COUNT == gridDim.x;
        const u32 known = __popc(__ballot_sync(0xffffffffu, complete));
        if (known == 0) return false;
        if (known < PIECES && !combine_published(state, sum, complete, known)) return false;
        if (lane < PIECES) atomicExch(&state->piece[lane], 0ull);
        in_limbs = __shfl_sync(0xffffffffu, sum, 1) << (64 - COUNT) >> (64 - COUNT + DIGITS) != 0;
        if (in_limbs) __threadfence(), __syncwarp();
#pragma unroll
        for (u32 k = 0; k < NUMBERS; k++) {
            const u64 lower = __shfl_sync(0xffffffffu, sum, 2 * k), upper = __shfl_sync(0xffffffffu, sum, 2 * k + 1);
            total[k].low = lower & ((1ull << COUNT) - 1);
            total[k].high = (i64(upper & ((1ull << DIGITS) - 1)) - i64(gridDim.x) * POSITIVE) * (1ll << (LOWER - 32));
        }
        return true;
    }
    // Different blocks may complete different words; they publish them, and the last block combines.
    static __device__ __forceinline__ bool combine_published(ExactState* state, u64& sum, bool complete, u32 known) {
        const u32 lane = threadIdx.x;
        if (complete) state->complete[lane] = sum;
        __threadfence();
        __syncwarp();
        u64 before = 0;
        if (lane == 0) before = atomicAdd(&state->arrived, u64(known));
        if (__shfl_sync(0xffffffffu, before, 0) + known < PIECES) return false;
        __threadfence(), __syncwarp();
        if (lane < PIECES) sum = __ldcg(&state->complete[lane]);
        if (lane == 0) state->arrived = 0;
        return true;
    }
    // Once they are those of all.
    __device__ __forceinline__ void join_windows() {
        if constexpr (WINDOWS > 1) {
#pragma unroll
            for (u32 k = 0; k < INTEGERS; k++) {
                total[INTEGERS + k].add(total[k], Fold::BELOW);
                total[k] = total[INTEGERS + k];
            }
        }
    }
    // Without limbs, and without a record.
    __device__ __forceinline__ void finish(const Arguments& a) const { Fold::finish_small_array(total, a); }
    // Into the words of limbs, if any.
    __device__ __forceinline__ void add_to(u64* word, SpecialValues& flags, bool in_limbs) const {
        constexpr u32 WORDS = Fold::WORDS / INTEGERS;
        static_assert(Fold::WORDS <= 32, "a word a lane");
        const u32 lane = threadIdx.x;
        if (!in_limbs && lane == 0) flags = {};
        constexpr int PLACE = Fold::Window::SMALL_OFFSET - Fold::BELOW;
        u32 mine = total[0].word(lane, PLACE);
#pragma unroll
        for (u32 k = 1; k < INTEGERS; k++) {
            const u32 other = total[k].word(lane - k * WORDS, PLACE);
            mine = lane / WORDS == k ? other : mine;
        }
        if (lane < Fold::WORDS) word[lane] = (in_limbs ? word[lane] : 0) + mine;
        __syncwarp();
    }
};
// Folds that know of no such thing.
template <class Fold> struct SmallInput<Fold, false> {
    __device__ __forceinline__ bool fold_block(const Fold&) { return true; }
    static __device__ __forceinline__ void close(Fold&) {}
    __device__ __forceinline__ bool meet(ExactState*, bool&) { return false; }
    __device__ __forceinline__ void join_windows() {}
    __device__ __forceinline__ void finish(const Arguments&) const {}
    __device__ __forceinline__ void add_to(u64*, SpecialValues&, bool) const {}
};

// Whether so many vectors are few: seven a thread and an element before or after them are eight additions to a lane.
// Decided by a vote, for ptxas to know that the lanes of a warp agree; else it makes sure of that in every tile of long
// arrays.
template <class Fold> __device__ __forceinline__ bool is_small(u64 vectors) {
    if constexpr (!Fold::SMALL_PATH) return false;
    return __any_sync(0xffffffffu, vectors <= 7 * u64(gridDim.x) * blockDim.x);
}
template <class Fold> __device__ __forceinline__ void expect_small(Fold& fold) {
    if constexpr (Fold::SMALL_PATH) fold.expect_small();
}
// How far a window reaches in the last steps of an array.
template <class Fold> __device__ __forceinline__ u32 last_reach(const Fold& fold, bool small) {
    if constexpr (Fold::SMALL_PATH) return small ? Fold::Window::SMALL_REACH : Fold::Window::REACH;
    else return 0;
}
template <class Fold, class Loaded> __device__ __forceinline__ void fold_last(Fold& fold, bool small, u32 reach,
                                                                              const Loaded& p, u64 index) {
    if constexpr (Fold::SMALL_PATH) {
        if (fold.inside_reach(p, reach)) return;
        if (small) {
            if (fold.inside_below(p)) return;
            fold.open_limbs();
        }
        fold.outside(p, index);
    } else {
        if (!fold.inside(p, index)) fold.outside(p, index);
    }
}
// An element before the first vector or after the last.
template <class Fold, class E> __device__ __forceinline__ void fold_end(Fold& fold, bool small, u32 reach, int end,
                                                                        u64 index, E x) {
    if constexpr (Fold::SMALL_PATH) {
        if (small && fold.end_inside_reach(end, {x}, reach)) return;
        if (small) fold.open_limbs();
    }
    fold.one(index, x);
}
