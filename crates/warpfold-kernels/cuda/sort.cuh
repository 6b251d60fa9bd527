// A stable radix sort of keys with their values: one pass, which orders by one digit of up to 8 bits, from the lowest digit on.
//
// Every block takes a contiguous run of the array and walks it tile by tile. Three launches a pass:
//
//   digits (groups.cu)   how often each digit occurs in each run
//   scan   (groups.cu)   where the run's share of each digit begins, among those of all runs
//   scatter (sort.cu)    each key and value to the next place of its digit in the run
//
// Within a tile a warp ranks its keys 32 at a time: lanes of equal digits find each other by a ballot a bit, so no distribution of keys makes them wait for each other; then warps are
// put one after another, and digits. Keys and values are brought into that order in shared memory first, so that neighbours of one digit are written side by side; what is wider than
// the stage takes turns. Places and digits lie in shared memory, too: so the loops that move values are short ones, and one kernel has those of every width.
//
// Runs are few (a multiple of the multiprocessors), so the table of runs and digits is small whatever the length, and no block waits for another (of one launch): what came before in
// the array is known before the scatter begins, and the order is that of the array.
//
// Keys are sorted as ordinals: what they are more than the least one, in as few bits as these need. Only those bits are sorted. The first pass makes ordinals of keys as it reads them.
// Values are moved as they are, by their width alone; 16 bytes are two of 8.
//
// Floor: a pass reads an ordinal twice and writes it once, and reads and writes a value once: 20 bytes of two of 4. Instructions: about 60 a warp and 32 keys, of which ballots are
// half; at 4 a clock and multiprocessor that is half of the time that memory takes.
//
// D. Merrill, A. Grimshaw, High performance and scalable radix sorting, 2011: digits of 8 bits, counted, scanned, scattered; runs of blocks. A. Adinets, D. Merrill, Onesweep, 2022,
// ranks by matching lanes and saves the counting of later passes by looking back at what other blocks have done, which has blocks of one launch wait for each other; not taken.
#pragma once
#include "elements.cuh"

constexpr int SORT_THREADS = 256, SORT_WARPS = SORT_THREADS / 32, DIGITS = 256;
// Elements of a thread in a tile, and of a tile: what is given to a block is whole tiles, but for the last.
constexpr int ITEMS = 16, TILE = SORT_THREADS * ITEMS;
static_assert(SORT_THREADS == DIGITS, "a thread has a digit of its own");

// Which bits are sorted by: at most 8.
struct Digit {
    u32 shift, bits;
    template <class O> __device__ __forceinline__ u32 operator()(O ordinal) const { return u32(ordinal >> shift) & ((1u << bits) - 1); }
};

// Keys as they are given: integers of 1, 2, 4 or 8 bytes, of which the least is `base`.
struct Keys {
    const void* at;
    u64 bytes, base;
};

// What a key is more than the base, for any signs: both wrap.
template <class Raw> __device__ __forceinline__ Raw above(const Keys& keys, u64 i) { return Raw(static_cast<const Raw*>(keys.at)[i] - Raw(keys.base)); }

__device__ __forceinline__ u32 lanes_below() { return (1u << (threadIdx.x % 32)) - 1; }

// What the threads before this one hold, in all; `total`: what all hold. All threads of the block take part; `scratch` may be used again after a barrier.
template <class N> __device__ __forceinline__ N sum_before(N mine, N (&scratch)[SORT_WARPS], N& total) {
    const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    N up_to = mine;
#pragma unroll
    for (u32 by = 1; by < 32; by *= 2) {
        const N below = __shfl_up_sync(0xffffffffu, up_to, by);
        if (lane >= by) up_to += below;
    }
    if (lane == 31) scratch[warp] = up_to;
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
