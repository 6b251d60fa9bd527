// The scatter of a pass of the radix sort (sort.cuh), for ordinals of 4 and of 8 bytes, and values of 1, 2, 4, 8 and 16.
#include "sort.cuh"

constexpr int ITEMS = 16, WARP_TILE = 32 * ITEMS, TILE = SORT_WARPS * WARP_TILE;

struct Pass {
    Keys keys;
    u64 n;
    Digit digit;
    u64 run;             // elements of a block: whole tiles
    const u64* table;    // [digit][block]: how many of the digit are in the runs before
    const u64* totals;   // how many of each digit there are
    const void* values;
    u64 width;           // bytes of a value
    void* keys_out;
    void* values_out;
};

struct Shared {
    u16 counts[SORT_WARPS][DIGITS];
    u64 gap[DIGITS];     // from an element's place in the sorted tile to its place in the result
    u16 place[TILE];     // of each element, in the sorted tile
    u8 digit[TILE];      // of each place
    u32 stage[TILE];
    u64 wide[SORT_WARPS];
    u32 narrow[SORT_WARPS];
};

// A warp's elements lie one after another, and come in the order of items, then of lanes.
struct Place {
    u32 lane, warp;
    u64 tile;
    u32 there;   // elements of the tile
    __device__ __forceinline__ u32 of(int item) const { return warp * WARP_TILE + item * 32 + lane; }
};

// Keys that have not the width of an ordinal, by way of the stage: each lane reads what it has written.
template <class Raw> __device__ __forceinline__ void make_ordinals(const Keys& keys, const Place& p, u32* stage) {
#pragma unroll sizeof(Raw) == 8 ? 4 : 1
    for (int k = 0; k < ITEMS; k++) {
        const u32 at = p.of(k);
        stage[at] = at < p.there ? u32(above<Raw>(keys, p.tile + at)) : 0;
    }
}

template <class O> __device__ __forceinline__ void load_ordinals(O (&ordinal)[ITEMS], const Keys& keys, const Place& p, u32* stage) {
    if (sizeof(O) == 4 && keys.bytes != 4) {
        if (keys.bytes == 8) make_ordinals<u64>(keys, p, stage);
        else if (keys.bytes == 2) make_ordinals<u16>(keys, p, stage);
        else make_ordinals<u8>(keys, p, stage);
#pragma unroll
        for (int k = 0; k < ITEMS; k++) ordinal[k] = stage[p.of(k)];
        return;
    }
#pragma unroll
    for (int k = 0; k < ITEMS; k++) ordinal[k] = p.of(k) < p.there ? above<O>(keys, p.tile + p.of(k)) : O(0);
}

// The values of a tile to their places: of `parts` words each, one of them at a time.
template <class V> __device__ __forceinline__ void move_values(const Pass& pass, const Place& p, Shared& shared, u32 parts) {
    constexpr int AT_ONCE = TILE * 4 / (sizeof(V) < 4 ? 4 : sizeof(V));
    // Bytes and halves are loops of a few instructions: of them PTX would be long for little.
    constexpr int UNROLL = sizeof(V) < 4 ? 1 : 4;
    const V* from = static_cast<const V*>(pass.values);
    V* to = static_cast<V*>(pass.values_out);
    V* stage = reinterpret_cast<V*>(shared.stage);
#pragma unroll 1
    for (u32 part = 0; part < parts; part++) {
#pragma unroll 1
        for (u32 turn = 0; turn < p.there; turn += AT_ONCE) {
            __syncthreads();
#pragma unroll UNROLL
            for (int k = 0; k < ITEMS; k++) {
                const u32 at = p.of(k);
                const u32 slot = at < p.there ? shared.place[at] - turn : AT_ONCE;
                if (slot < AT_ONCE) stage[slot] = from[(p.tile + at) * parts + part];
            }
            __syncthreads();
#pragma unroll UNROLL
            for (int k = 0; k < AT_ONCE / SORT_THREADS; k++) {
                const u32 slot = k * SORT_THREADS + threadIdx.x, at = turn + slot;
                if (at < p.there) to[(shared.gap[shared.digit[at]] + at) * parts + part] = stage[slot];
            }
        }
    }
}

template <class O> __device__ __forceinline__ void scatter(const Pass& pass, Shared& shared) {
    constexpr int AT_ONCE = TILE * 4 / sizeof(O);
    const u32 mine = threadIdx.x, lane = mine % 32, warp = mine / 32;
    u64 all;
    u64 next = sum_before<u64>(pass.totals[mine], shared.wide, all) + pass.table[u64(mine) * gridDim.x + blockIdx.x];
    const u64 begin = blockIdx.x * pass.run, end = pass.n - begin < pass.run ? pass.n : begin + pass.run;
    O* out = static_cast<O*>(pass.keys_out);
    O* stage = reinterpret_cast<O*>(shared.stage);
#pragma unroll 1
    for (u64 tile = begin; tile < end; tile += TILE) {
        const Place p = {lane, warp, tile, end - tile < TILE ? u32(end - tile) : TILE};
        __syncthreads();
#pragma unroll
        for (int w = 0; w < SORT_WARPS; w++) shared.counts[w][mine] = 0;
        O ordinal[ITEMS];
        load_ordinals(ordinal, pass.keys, p, shared.stage);
        u32 peers[ITEMS], digit[ITEMS];
#pragma unroll
        for (int k = 0; k < ITEMS; k++) peers[k] = __ballot_sync(0xffffffffu, p.of(k) < p.there);
        // Digits of wide ordinals only are held in registers meanwhile.
        if constexpr (sizeof(O) == 4) keep_peers(peers, ordinal, pass.digit);
#pragma unroll
        for (int k = 0; k < ITEMS; k++) digit[k] = pass.digit(ordinal[k]);
        if constexpr (sizeof(O) == 8) keep_peers(peers, digit, {0, pass.digit.bits});
        __syncthreads();
#pragma unroll
        for (int k = 0; k < ITEMS; k++) {
            // Ranks beyond the array's end are of no use to anyone.
            const u32 before = shared.counts[warp][digit[k]], below = peers[k] & lanes_below();
            __syncwarp();
            if (below == 0 && p.of(k) < p.there) shared.counts[warp][digit[k]] = before + __popc(peers[k]);
            __syncwarp();
            peers[k] = before + __popc(below);
        }
        __syncthreads();
        u32 total = 0, none;
#pragma unroll
        for (int w = 0; w < SORT_WARPS; w++) {
            const u32 count = shared.counts[w][mine];
            shared.counts[w][mine] = total;
            total += count;
        }
        const u32 start = sum_before<u32>(total, shared.narrow, none);
#pragma unroll
        for (int w = 0; w < SORT_WARPS; w++) shared.counts[w][mine] += start;
        shared.gap[mine] = next - start;
        next += total;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < ITEMS; k++) {
            peers[k] += shared.counts[warp][digit[k]];
            if (p.of(k) < p.there) {
                shared.place[p.of(k)] = peers[k];
                shared.digit[peers[k]] = digit[k];
            }
        }
#pragma unroll 1
        for (u32 turn = 0; turn < p.there; turn += AT_ONCE) {
            __syncthreads();
#pragma unroll
            for (int k = 0; k < ITEMS; k++) {
                const u32 slot = peers[k] - turn;
                if (p.of(k) < p.there && slot < AT_ONCE) stage[slot] = ordinal[k];
            }
            __syncthreads();
#pragma unroll 4
            for (int k = 0; k < AT_ONCE / SORT_THREADS; k++) {
                const u32 slot = k * SORT_THREADS + mine, at = turn + slot;
                if (at < p.there) out[shared.gap[shared.digit[at]] + at] = stage[slot];
            }
        }
        if (pass.width == 4) move_values<u32>(pass, p, shared, 1);
        else if (pass.width >= 8) move_values<u64>(pass, p, shared, pass.width / 8);
        else if (pass.width == 2) move_values<u16>(pass, p, shared, 1);
        else move_values<u8>(pass, p, shared, 1);
    }
}

#define SCATTER(NAME, O, BLOCKS)                                                                                                                              \
    extern "C" __global__ void __launch_bounds__(SORT_THREADS, BLOCKS) NAME(                                                                                  \
        const void* keys, u64 bytes, u64 base, u64 n, u64 shift, u64 bits, u64 run, const u64* table, const u64* totals, const void* values, u64 width,       \
        void* keys_out, void* values_out) {                                                                                                                   \
        __shared__ Shared shared;                                                                                                                             \
        scatter<O>({{keys, bytes, base}, n, {u32(shift), u32(bits)}, run, table, totals, values, width, keys_out, values_out}, shared);                       \
    }
SCATTER(sort_scatter_32, u32, 4)
SCATTER(sort_scatter_64, u64, 3)
