// A stable radix sort of keys with their values: one pass, which orders by one digit of up to 8 bits, from the lowest
// digit on.
//
// Every block takes a contiguous run of the array and walks it tile by tile. Three launches a pass:
//
//   digits (groups.cu)   how often each digit occurs in each run
//   scan   (groups.cu)   where the run's share of each digit begins, among those of all runs
//   scatter (sort.cu)    each key and value to the next place of its digit in the run
//
// Within a tile a warp ranks its keys 32 at a time: lanes of equal digits find each other by a ballot a bit, so no
// distribution of keys makes them wait for each other; then warps are put one after another, and digits. Keys and
// values are brought into that order in shared memory first, so that neighbours of one digit are written side by side,
// and in groups: what does not fill a group of 8 (ordinals of 4 bytes with values of 4) or of 4 waits in shared memory
// for the next tile, so that sectors of 32 bytes are written whole. Of a sector that is written in part the L2 cache
// first reads the rest from memory. Counting needs no order: a key is an atomic addition of 1 to its warp's counter, an
// instruction (ATOMS.POPC.INC) that takes lanes of one counter together.
//
// Runs are few (a multiple of the multiprocessors), so the table of runs and digits is small whatever the length, and
// no block waits for another (of one launch): what came before in the array is known before the scatter begins, and the
// order is that of the array.
//
// Keys are sorted as ordinals: what they are more than the least one, in as few bits as these need. Only those bits are
// sorted. The first pass makes ordinals of keys as it reads them. Values are moved as they are, by their width alone;
// 16 bytes are two of 8.
//
// Floor: a pass reads an ordinal twice and writes it once, and reads and writes a value once: 20 bytes of two of 4, for
// 2^28 of them on an H200 1.2 ms.
//
// Measured on an H200, the scatter of 2^28 keys of 32 bits with f32, digits of 8 bits, each row from one run of a
// program of its own:
//
//   pairs written as a tile of 4096 has them, runs of 16 elements       4.41 ms   3.45 GB read where 2.15 are needed:
//   every second sector written is read first the same to where they come from, to 32 MB, or
//   nowhere              1.26, 1.40, 1.03 tiles of 8192 and of
//   16384                                          2.91, 2.17 groups of 4, 8 and 16, tiles of 8192 2.11, 1.75, 1.76
//   groups of 8, tiles of 4096 in two blocks a multiprocessor           1.78      91 KB of shared memory a block, which
//   every GPU has but Turing the same, keys and values loaded a tile ahead                       1.66      1.49 for 7
//   bits. As it is where less shared memory is to be had the same, tiles of 8192 in one block 1.47      124 KB, which
//   desktop GPUs lack. As it is on all others
//
// Loads that are told to leave the caches first, as whole-array folds do, cost 2 % beside so much that is written: sums
// by 2^20 uniform keys 2.93 ms, now 2.87.
//
// Tried and lost, when groups were not whole: blocks that take neighbouring tiles in turn, with a table of half a byte
// an element: 5.6 ms for 5.8. Three arrays of 16 words a thread (ordinals, lanes alike, digits) in 64 registers: their
// spills had no room in the L1 and went to memory; hence a digit rides in the upper half of its element's place.
// Counting by ballots: 1.04 ms, bound by logic, for 0.24. Ballots of C++: a second test of each bit, and seven
// instructions a bit for two and a half.
//
// D. Merrill, A. Grimshaw, High performance and scalable radix sorting, 2011: digits of 8 bits, counted, scanned,
// scattered; runs of blocks. A. Adinets, D. Merrill, Onesweep, 2022, ranks by matching lanes and saves the counting of
// later passes by looking back at what other blocks have done, which has blocks of one launch wait for each other; not
// taken.
#pragma once
#include "num/elements.cuh"

constexpr int SORT_THREADS = 256, SORT_WARPS = SORT_THREADS / 32, DIGITS = 256;
static_assert(SORT_THREADS == DIGITS, "a thread has a digit of its own");

// Which bits are sorted by: at most 8.
struct Digit {
    u32 shift, bits;
    template <class O> __device__ __forceinline__ u32 operator()(O ordinal) const {
        return u32(ordinal >> shift) & ((1u << bits) - 1);
    }
};

// Keys as they are given: integers of 1, 2, 4 or 8 bytes, of which the least is `base`.
struct Keys {
    const void* at;
    u64 bytes, base;
};

// What a key is more than the base, for any signs: both wrap.
template <class Raw> __device__ __forceinline__ Raw above(const Keys& keys, u64 i) {
    return Raw(static_cast<const Raw*>(keys.at)[i] - Raw(keys.base));
}

__device__ __forceinline__ u32 lanes_below() { return (1u << (threadIdx.x % 32)) - 1; }

// What the threads before this one hold, in all; `total`: what all hold, of the first SORT_THREADS. All threads of the
// block take part; `scratch` may be used again after a barrier.
template <class N> __device__ __forceinline__ N sum_before(N mine, N (&scratch)[SORT_WARPS], N& total) {
    const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    N up_to = mine;
#pragma unroll
    for (u32 by = 1; by < 32; by *= 2) {
        const N below = __shfl_up_sync(0xffffffffu, up_to, by);
        if (lane >= by) up_to += below;
    }
    if (lane == 31 && warp < SORT_WARPS) scratch[warp] = up_to;
    __syncthreads();
    N before = 0;
    total = 0;
#pragma unroll
    for (u32 w = 0; w < SORT_WARPS; w++) {
        if (w == warp) before = total;
        total += scratch[w];
    }
    return before + up_to - mine;
}
