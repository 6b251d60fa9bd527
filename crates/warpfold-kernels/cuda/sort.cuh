// A stable radix sort of keys with their values: one pass, which orders by one digit of up to 8 bits, from the lowest digit on.
//
// Every block takes a contiguous run of the array and walks it tile by tile. Three launches a pass:
//
//   digits (groups.cu)   how often each digit occurs in each run
//   scan   (groups.cu)   where the run's share of each digit begins, among those of all runs
//   scatter (sort.cu)    each key and value to the next place of its digit in the run
//
// Within a tile a warp ranks its keys 32 at a time: lanes of equal digits find each other by a ballot a bit, so no distribution of keys makes them wait for each other; then warps are
// put one after another, and digits. Keys and values are brought into that order in shared memory first, so that neighbours of one digit are written side by side: values of 4 bytes
// in pairs with ordinals of 4, so both by one store and one load; others after their ordinals, a word at a time. Counting needs no order: a key is an atomic addition of 1 to its
// warp's counter, an instruction (ATOMS.POPC.INC) that takes lanes of one counter together.
//
// Runs are few (a multiple of the multiprocessors), so the table of runs and digits is small whatever the length, and no block waits for another (of one launch): what came before in
// the array is known before the scatter begins, and the order is that of the array.
//
// Keys are sorted as ordinals: what they are more than the least one, in as few bits as these need. Only those bits are sorted. The first pass makes ordinals of keys as it reads them.
// Values are moved as they are, by their width alone; 16 bytes are two of 8.
//
// Floor: a pass reads an ordinal twice and writes it once, and reads and writes a value once: 20 bytes of two of 4, for 2^28 of them on an H200 1.2 ms. A warp's 32 keys take about 66
// instructions in the scatter, of which ranking is half, and 21 wavefronts of shared memory: by count 0.6 and 0.8 ms if nothing else were, beside the memory's 1.0.
//
// Measured on an H200, 2^28 keys of 32 bits with f32: counting 0.24 ms, the scatter 5.4 ms for a digit of 8 bits and 3.4 of 7, at 11 % of the instructions and 27 % of the memory's
// speed. What is left grows with how many places a tile writes to, 512 pages of 2 MiB for 8 bits, and not with bytes or instructions: translating addresses, it seems. Larger
// tiles visit fewer: of 8192 and 16384 elements they need 76 and 150 KB of shared memory, which a launch must ask for. That is next, or for few groups no sort at all.
//
// Tried and lost: blocks that take neighbouring tiles in turn, so that they write next to each other, with a table of half a byte an element: 5.6 ms for 5.8 with 8 bits, 11.8 for 11.2
// with 20 and 17.4 for 16.5 with 26. Three arrays of 16 words a thread (ordinals, lanes alike, digits) in 64 registers: their spills had no room in the L1 and went to memory, 10.7 GB
// instead of 4.3, and 6.4 ms; hence a digit rides in the upper half of its element's place, and values are read only when ranks are known. Counting by ballots: 1.04 ms, bound by logic.
// Ballots of C++: a second test of each bit, and seven instructions a bit for two and a half. Values held in registers while digits are scanned: spills of 22 words a thread.
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
