// The scatter of a pass of the radix sort (sort.cuh), for ordinals of 4 and of 8 bytes, and values of 1, 2, 4, 8 and 16.
#include "sort.cuh"

constexpr int WARP_TILE = 32 * ITEMS, DIGIT_AT = 16;

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
    u64 stage[TILE];     // what is moved, in the order of the sorted tile: ordinals or values; of 4 bytes, pairs of both
    i64 gap[DIGITS];     // from an ordinal's place in the sorted tile to its place in the result, in bytes
    uint4 counts[SORT_WARPS][DIGITS / 8];   // 16 bits a digit
    u8 digit[TILE];      // of each place, where values are moved by themselves
    u64 wide[SORT_WARPS];
    u32 narrow[SORT_WARPS];
};

// A tile: a warp's elements lie one after another, and come in the order of items, then of lanes.
struct Tile {
    u64 first;
    u32 there;   // elements
    __device__ __forceinline__ bool whole() const { return there == TILE; }
    __device__ __forceinline__ u32 lane_first() const { return threadIdx.x / 32 * WARP_TILE + threadIdx.x % 32; }
};

// A lane's elements; `none` for what is not there. Caches are told to FORGET ordinals first, since sectors written in part wait there for the next tile to fill them; of values it
// costs spills.
template <bool FORGET, class T> __device__ __forceinline__ void load_all(T (&what)[ITEMS], const T* array, const Tile& tile, T none, u32 stride = 1) {
    const T* from = array + (tile.first + tile.lane_first()) * stride;
    const i32 left = i32(tile.there - tile.lane_first());
    if (sizeof(T) >= 4 && tile.whole()) {
#pragma unroll
        for (int k = 0; k < ITEMS; k++) what[k] = FORGET ? __ldcs(from + k * 32 * stride) : from[k * 32 * stride];
        return;
    }
#pragma unroll
    for (int k = 0; k < ITEMS; k++) what[k] = k * 32 < left ? from[k * 32 * stride] : none;
}

// Keys made ordinals. What is not there has all bits set and is last: its place is behind all that is.
template <class Raw, class O> __device__ __forceinline__ void load_ordinals(O (&ordinal)[ITEMS], const Keys& keys, const Tile& tile) {
    const Raw base = Raw(keys.base);
    Raw key[ITEMS];
    load_all<true, Raw>(key, static_cast<const Raw*>(keys.at), tile, base - 1);
#pragma unroll
    for (int k = 0; k < ITEMS; k++) ordinal[k] = O(Raw(key[k] - base));
}

// Each to its place in the sorted tile.
template <class T> __device__ __forceinline__ void stage_all(T* stage, const T (&what)[ITEMS], const u32 (&place)[ITEMS]) {
#pragma unroll
    for (int k = 0; k < ITEMS; k++) stage[place[k]] = what[k];
}

// The lanes that have the same digit: a ballot a bit. All lanes of a warp ask. Of C++ the compiler makes seven instructions a bit; of this it makes two and a half, and one for all
// tests of bits.
__device__ __forceinline__ u32 lanes_alike(u32 digit) {
    u32 same[8];
#pragma unroll
    for (int bit = 0; bit < 8; bit++) {
        asm volatile(
            "{ .reg .pred is_set;\n"
            "and.b32 %0, %1, %2;\n"
            "setp.ne.u32 is_set, %0, 0;\n"
            "vote.sync.ballot.b32 %0, is_set, 0xffffffff;\n"
            "@!is_set not.b32 %0, %0; }"
            : "=r"(same[bit]) : "r"(digit), "r"(1 << bit));
    }
    const auto all = [](u32 a, u32 b, u32 c) {
        u32 d;
        asm("lop3.b32 %0, %1, %2, %3, 0x80;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
        return d;
    };
    return all(all(same[0], same[1], same[2]), all(same[3], same[4], same[5]), same[6] & same[7]);
}

// How many of its digit are before each element among the warp's, and above DIGIT_AT the digit; `counts` becomes how many there are in all.
template <class O> __device__ __forceinline__ void rank(u32 (&place)[ITEMS], u16* counts, const O (&ordinal)[ITEMS], Digit digit) {
    const u32 below = lanes_below(), up_to = 2 * below + 1;
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        const u32 mine = digit(ordinal[k]), alike = lanes_alike(mine), before = counts[mine] + __popc(alike & below);
        __syncwarp();
        // The last of them.
        if (alike <= up_to) counts[mine] = before + 1;
        __syncwarp();
        place[k] = before + (mine << DIGIT_AT);
    }
}

// Values of `parts` words each, once their ordinals are written: one word at a time by way of the stage.
template <class V, class O>
__device__ __forceinline__ void move_values(const Pass& pass, const Tile& tile, const u32 (&place)[ITEMS], Shared& shared, u32 parts) {
    V *stage = reinterpret_cast<V*>(shared.stage), *out = static_cast<V*>(pass.values_out);
#pragma unroll 1
    for (u32 part = 0; part < parts; part++) {
        V value[ITEMS];
        load_all<false, V>(value, static_cast<const V*>(pass.values) + part, tile, 0, parts);
        __syncthreads();
        stage_all(stage, value, place);
        __syncthreads();
#pragma unroll 4
        for (u32 at = threadIdx.x; at < tile.there; at += SORT_THREADS) {
            out[(shared.gap[shared.digit[at]] / i64(sizeof(O)) + at) * parts + part] = stage[at];
        }
    }
}

template <class O> struct Scatter {
    const Pass& pass;
    Shared& shared;
    u32 past;   // where the thread's digit ended in the sorted tile before

    // What is staged to its place in the result: ordinals, and TOGETHER with them values of 4 bytes; or what is to be known for moving values.
    template <bool TOGETHER, bool WHOLE> __device__ __forceinline__ void write(const Tile& tile) {
        const u32 mine = threadIdx.x;
        const O* ordinals = reinterpret_cast<const O*>(shared.stage) + mine;
        const uint2* pairs = reinterpret_cast<const uint2*>(shared.stage) + mine;
        u8* digits = shared.digit + mine;
        char *out = reinterpret_cast<char*>(static_cast<O*>(pass.keys_out) + mine), *values_out = reinterpret_cast<char*>(static_cast<u32*>(pass.values_out) + mine);
#pragma unroll
        for (int at = 0; at < TILE; at += SORT_THREADS) {
            uint2 pair = {0, 0};
            if (TOGETHER) pair = pairs[at];
            const O ordinal = TOGETHER ? O(pair.x) : ordinals[at];
            const u32 digit = pass.digit(ordinal);
            const i64 gap = shared.gap[digit];
            if (!TOGETHER) digits[at] = digit;
            if (WHOLE || at + mine < tile.there) {
                reinterpret_cast<O*>(out + gap)[at] = ordinal;
                if (TOGETHER) reinterpret_cast<u32*>(values_out + gap)[at] = pair.y;
            }
        }
    }

    __device__ __forceinline__ void move(const Tile& tile) {
        const u32 mine = threadIdx.x, lane = mine % 32, warp = mine / 32;
        u16 *counts = reinterpret_cast<u16*>(shared.counts[warp]), *column = reinterpret_cast<u16*>(shared.counts) + mine;
        shared.counts[warp][lane] = {0, 0, 0, 0};
        O ordinal[ITEMS];
        if (pass.keys.bytes == sizeof(O)) load_ordinals<O>(ordinal, pass.keys, tile);
        else if (pass.keys.bytes == 8) load_ordinals<u64>(ordinal, pass.keys, tile);
        else if (pass.keys.bytes == 2) load_ordinals<u16>(ordinal, pass.keys, tile);
        else load_ordinals<u8>(ordinal, pass.keys, tile);
        __syncwarp();
        u32 place[ITEMS];
        rank(place, counts, ordinal, pass.digit);
        __syncthreads();
        u32 count[SORT_WARPS], total = 0, none;
#pragma unroll
        for (int w = 0; w < SORT_WARPS; w++) {
            count[w] = column[w * DIGITS];
            total += count[w];
        }
        u32 start = sum_before<u32>(total, shared.narrow, none);
        shared.gap[mine] += (i64(past) - start) * i64(sizeof(O));
        past = start + total;
#pragma unroll
        for (int w = 0; w < SORT_WARPS; w++) {
            column[w * DIGITS] = start;
            start += count[w];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < ITEMS; k++) place[k] = (place[k] & ((1 << DIGIT_AT) - 1)) + counts[place[k] >> DIGIT_AT];
        if (sizeof(O) == 4 && pass.width == 4) {
            u32 value[ITEMS];
            load_all<false, u32>(value, static_cast<const u32*>(pass.values), tile, 0);
            uint2* pairs = reinterpret_cast<uint2*>(shared.stage);
#pragma unroll
            for (int k = 0; k < ITEMS; k++) pairs[place[k]] = {u32(ordinal[k]), value[k]};
            __syncthreads();
            if (tile.whole()) write<true, true>(tile);
            else write<true, false>(tile);
            return;
        }
        stage_all(reinterpret_cast<O*>(shared.stage), ordinal, place);
        __syncthreads();
        write<false, false>(tile);
        if (pass.width >= 8) move_values<u64, O>(pass, tile, place, shared, pass.width / 8);
        else if (sizeof(O) == 8 && pass.width == 4) move_values<u32, O>(pass, tile, place, shared, 1);
        else if (pass.width == 2) move_values<u16, O>(pass, tile, place, shared, 1);
        else move_values<u8, O>(pass, tile, place, shared, 1);
    }
};

template <class O> __device__ __forceinline__ void scatter(const Pass& pass, Shared& shared) {
    const u32 mine = threadIdx.x;
    u64 all;
    const u64 next = sum_before<u64>(pass.totals[mine], shared.wide, all) + pass.table[u64(mine) * gridDim.x + blockIdx.x];
    shared.gap[mine] = next * sizeof(O);
    const u64 begin = blockIdx.x * pass.run, end = pass.n - begin < pass.run ? pass.n : begin + pass.run;
    Scatter<O> of = {pass, shared, 0};
#pragma unroll 1
    for (u64 tile = begin; tile < end; tile += TILE) of.move({tile, end - tile < TILE ? u32(end - tile) : TILE});
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
