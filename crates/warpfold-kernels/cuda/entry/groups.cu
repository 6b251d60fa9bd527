// Groups of keys: the counting of digits for the radix sort (sort.cuh), the runs of equal keys in a sorted array, and
// where each number's run begins.
//
// Floor: digits and heads read every key once (heads twice: they are counted, then written); a bound of a number costs
// a binary search, whose last steps neighbours share.
#include "sort/sort.cuh"

constexpr u64 NONE = ~u64(0);
// Counting: threads, elements of a thread at once, and of a block.
constexpr int COUNT_THREADS = 1024, COUNT_WARPS = COUNT_THREADS / 32, ITEMS = 16, TILE = COUNT_THREADS * ITEMS;

// Counts the digits of a tile that begins at `first`, each warp its own. Told is the first key that is not below
// `limit`, if the thread has not seen one and comes upon one here.
template <class Raw> __device__ __forceinline__ void count_tile(u32 (&counts)[DIGITS], const Keys& keys, Digit digit,
                                                                u64 first, u64 end, u64 limit, u64& bad) {
    constexpr int PER = PER_VECTOR<Raw>;
    const Raw* from = static_cast<const Raw*>(keys.at) + first;
    Raw most = 0;
    const auto count = [&](Raw key) {
        const Raw over = key - Raw(keys.base);
        most = over > most ? over : most;
        atomicAdd(&counts[digit(over)], 1);
    };
    if (end - first >= TILE && u64(from) % sizeof(Vector) == 0) {
        const Vector* vectors = reinterpret_cast<const Vector*>(from) + threadIdx.x;
        Vector vector[ITEMS / PER];
#pragma unroll
        for (int k = 0; k < ITEMS / PER; k++) vector[k] = load(vectors + k * COUNT_THREADS);
#pragma unroll
        for (int k = 0; k < ITEMS; k++) count(Elements<Raw>(vector[k / PER]).element[k % PER]);
    } else {
#pragma unroll 4
        for (int k = 0; k < ITEMS; k++) {
            const u32 at = k * COUNT_THREADS + threadIdx.x;
            if (at < end - first) count(from[at]);
        }
    }
    if (most >= limit && bad == NONE) {
        bad = first;
        while (above<Raw>(keys, bad) < limit) bad++;
    }
}

// How often each digit of a pass occurs in each block's run: table[digit][block]. The place of the first key that is
// not below `limit` goes to `beyond[block]`, or all ones, where that is asked for.
__device__ __forceinline__ void count_digits(const Keys& keys, u64 n, Digit digit, u64 run, u64* table, u64 limit,
                                             u64* beyond) {
    __shared__ u32 counts[COUNT_WARPS][DIGITS];
    __shared__ u64 worst[COUNT_WARPS];
    const u32 mine = threadIdx.x, lane = mine % 32, warp = mine / 32;
#pragma unroll
    for (int k = 0; k < DIGITS / 32; k++) counts[warp][k * 32 + lane] = 0;
    __syncwarp();
    const u64 begin = blockIdx.x * run, end = n - begin < run ? n : begin + run;
    u64 bad = NONE;
#pragma unroll 1
    for (u64 tile = begin; tile < end; tile += TILE) {
        if (keys.bytes == 4) count_tile<u32>(counts[warp], keys, digit, tile, end, limit, bad);
        else if (keys.bytes == 8) count_tile<u64>(counts[warp], keys, digit, tile, end, limit, bad);
        else if (keys.bytes == 2) count_tile<u16>(counts[warp], keys, digit, tile, end, limit, bad);
        else count_tile<u8>(counts[warp], keys, digit, tile, end, limit, bad);
    }
    if (beyond) {
#pragma unroll
        for (u32 by = 16; by > 0; by /= 2) {
            const u64 other = __shfl_down_sync(0xffffffffu, bad, by);
            bad = other < bad ? other : bad;
        }
        if (lane == 0) worst[warp] = bad;
    }
    __syncthreads();
    if (mine < DIGITS) {
        u32 total = 0;
#pragma unroll
        for (int w = 0; w < COUNT_WARPS; w++) total += counts[w][mine];
        table[u64(mine) * gridDim.x + blockIdx.x] = total;
    }
    if (beyond && mine == 0) {
#pragma unroll 1
        for (int w = 1; w < COUNT_WARPS; w++) bad = worst[w] < bad ? worst[w] : bad;
        beyond[blockIdx.x] = bad;
    }
}

extern "C" __global__ void __launch_bounds__(COUNT_THREADS, 2)
    groups_digits(const void* keys, u64 bytes, u64 base, u64 n, u64 shift, u64 bits, u64 run, u64* table, u64 limit,
                  u64* beyond) {
    count_digits({keys, bytes, base}, n, {u32(shift), u32(bits)}, run, table, limit, beyond);
}

// A block a row: its entries become what stands before them in the row, all of it goes to `totals`. A row after the
// last, if there is a block for it, keeps its entries; its total is the least of them.
extern "C" __global__ void __launch_bounds__(SORT_THREADS) groups_scan(u64* table, u64 rows, u64 columns, u64* totals) {
    __shared__ u64 scratch[SORT_WARPS];
    u64* row = table + blockIdx.x * columns;
    if (blockIdx.x == rows) {
        u64 least = ~u64(0);
#pragma unroll 1
        for (u64 at = threadIdx.x; at < columns; at += SORT_THREADS) least = row[at] < least ? row[at] : least;
#pragma unroll
        for (u32 by = 16; by > 0; by /= 2) {
            const u64 other = __shfl_down_sync(0xffffffffu, least, by);
            least = other < least ? other : least;
        }
        if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = least;
        __syncthreads();
        if (threadIdx.x > 0) return;
#pragma unroll 1
        for (int w = 1; w < SORT_WARPS; w++) least = scratch[w] < least ? scratch[w] : least;
        totals[rows] = least;
        return;
    }
    u64 before = 0;
#pragma unroll 1
    for (u64 first = 0; first < columns; first += SORT_THREADS) {
        const u64 at = first + threadIdx.x;
        u64 total;
        const u64 position = before + sum_before<u64>(at < columns ? row[at] : 0, scratch, total);
        if (at < columns) row[at] = position;
        before += total;
        __syncthreads();
    }
    if (threadIdx.x == 0) totals[blockIdx.x] = before;
}

// Runs of equal keys, each warp's share of the array by itself: how many begin there, or, with `starts`, where they
// begin and what their keys are.
struct Runs {
    u64 n, share;
    u64* counts;   // a warp's; afterwards how many begin before its share
    u64* starts;   // one more than runs
    void* labels;  // of `bytes` bytes each: a key and `base`
    u64 bytes, base, runs;
};

template <class K> __device__ __forceinline__ void walk_runs(const K* keys, const Runs& a) {
    constexpr int AT_ONCE = 4;
    const u32 lane = threadIdx.x % 32;
    const u64 warp = (u64(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
    const u64 begin = warp * a.share < a.n ? warp * a.share : a.n, end = a.n - begin < a.share ? a.n : begin + a.share;
    u64 found = a.starts ? a.counts[warp] : 0;
#pragma unroll 1
    for (u64 first = begin; first < end; first += 32 * AT_ONCE) {
        u32 heads = 0;
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
            const u64 at = first + 32 * k + lane;
            if (at < end && (at == 0 || keys[at] != keys[at - 1])) heads |= 1u << k;
        }
#pragma unroll 1
        for (int k = 0; k < AT_ONCE; k++) {
            const u32 all = __ballot_sync(0xffffffffu, heads >> k & 1);
            if (a.starts && heads >> k & 1) {
                const u64 at = first + 32 * k + lane, position = found + __popc(all & lanes_below()),
                          label = u64(keys[at]) + a.base;
                a.starts[position] = at;
                if (a.bytes == 8) static_cast<u64*>(a.labels)[position] = label;
                else if (a.bytes == 4) static_cast<u32*>(a.labels)[position] = u32(label);
                else if (a.bytes == 2) static_cast<u16*>(a.labels)[position] = u16(label);
                else static_cast<u8*>(a.labels)[position] = u8(label);
            }
            found += __popc(all);
        }
    }
    if (!a.starts && lane == 0) a.counts[warp] = found;
    if (a.starts && warp == 0 && lane == 0) a.starts[a.runs] = a.n;
}

#define RUNS(NAME, K) \
    extern "C" __global__ void __launch_bounds__(SORT_THREADS) \
        NAME(const K* keys, u64 n, u64 share, u64* counts, u64* starts, void* labels, u64 bytes, u64 base, u64 runs) { \
        walk_runs<K>(keys, {n, share, counts, starts, labels, bytes, base, runs}); \
    }
RUNS(groups_runs_8, u8)
RUNS(groups_runs_16, u16)
RUNS(groups_runs_32, u32)
RUNS(groups_runs_64, u64)

// The first of the places from `low` to `high` whose key, without its lowest bits, is not below a number.
__device__ __forceinline__ u64 lower_bound(const u32* keys, u32 shift, u64 low, u64 high, u64 group) {
#pragma unroll 1
    while (low < high) {
        const u64 middle = low + (high - low) / 2;
        if (keys[middle] >> shift < group) low = middle + 1;
        else high = middle;
    }
    return low;
}

// Where the elements of each number begin among sorted ones, and after the last number where they end. A block's
// numbers are neighbours, and so are their elements: two searches of the whole array tell where, and the others stay in
// between, where caches have what is read.
extern "C" __global__ void __launch_bounds__(SORT_THREADS)
    groups_bounds(const u32* keys, u64 shift, u64 n, u64 groups, u64* starts) {
    constexpr u64 AT_ONCE = 8 * SORT_THREADS;
    __shared__ u64 ends[2];
#pragma unroll 1
    for (u64 first = blockIdx.x * AT_ONCE; first <= groups; first += gridDim.x * AT_ONCE) {
        const u64 last = groups - first < AT_ONCE ? groups : first + AT_ONCE - 1;
        // Of two warps, that neither waits for the other.
        if (threadIdx.x % 32 == 0 && threadIdx.x < 64)
            ends[threadIdx.x / 32] = lower_bound(keys, u32(shift), 0, n, threadIdx.x == 0 ? first : last);
        __syncthreads();
        const u64 low = ends[0], high = ends[1];
#pragma unroll 1
        for (u64 group = first + threadIdx.x; group <= last; group += SORT_THREADS)
            starts[group] = lower_bound(keys, u32(shift), low, high, group);
        __syncthreads();
    }
}
