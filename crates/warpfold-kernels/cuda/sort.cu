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
    u64 stage[TILE];     // what is moved, in the order of the sorted tile: ordinals or values; of 4 bytes, both
    u64 gap[DIGITS];     // from an element's place in the sorted tile to its place in the result
    uint4 counts[SORT_WARPS][DIGITS / 8];   // 16 bits a digit
    u8 digit[TILE];      // of each place; for wide values
    u64 wide[SORT_WARPS];
    u32 narrow[SORT_WARPS];
};

// A warp's elements lie one after another, and come in the order of items, then of lanes.
struct Place {
    u64 tile;
    u32 there;   // elements of the tile
    u32 first;   // the lane's first
    // The lane's elements have every 32nd number below this. Hidden from the compiler, which would rather keep what it has compared than compare again.
    __device__ __forceinline__ i32 left() const {
        i32 left = i32(there - first);
        asm volatile("" : "+r"(left));
        return left;
    }
};

// What is not there is greater than all that is, and last: it has its place behind.
template <class Raw, class O> __device__ __forceinline__ void load_ordinals(O (&ordinal)[ITEMS], const Keys& keys, const Place& p) {
    const Raw* from = static_cast<const Raw*>(keys.at) + p.tile + p.first;
    const i32 left = p.left();
#pragma unroll
    for (int k = 0; k < ITEMS; k++) ordinal[k] = k * 32 < left ? O(Raw(from[k * 32] - Raw(keys.base))) : ~O(0);
}

template <class V> __device__ __forceinline__ void load_values(V (&value)[ITEMS], const void* values, const Place& p, u32 parts, u32 part) {
    const V* from = static_cast<const V*>(values) + (p.tile + p.first) * parts + part;
    const i32 left = p.left();
#pragma unroll
    for (int k = 0; k < ITEMS; k++) value[k] = k * 32 < left ? from[k * 32 * parts] : V(0);
}

// Each to its place in the sorted tile.
template <class T> __device__ __forceinline__ void stage_all(T* stage, const T (&what)[ITEMS], const u32 (&place)[ITEMS]) {
#pragma unroll
    for (int k = 0; k < ITEMS; k++) stage[place[k]] = what[k];
}

// The lanes that have the same digit: a ballot a bit. All lanes of a warp ask. Of C++ the compiler makes a second test of every bit; of this it makes one instruction for the tests of
// all of them.
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

// Ordinals from the stage to their places in the result, and values that lie beside them; or what is to be known for moving values.
template <bool TOGETHER, class O> __device__ __forceinline__ void write(const Pass& pass, const Place& p, Shared& shared) {
    constexpr int AT_ONCE = 8;
    const O* stage = reinterpret_cast<const O*>(shared.stage) + threadIdx.x;
    const u32* beside = reinterpret_cast<const u32*>(shared.stage) + TILE + threadIdx.x;
    u8* digits = shared.digit + threadIdx.x;
    O* out = static_cast<O*>(pass.keys_out) + threadIdx.x;
    u32* values_out = static_cast<u32*>(pass.values_out) + threadIdx.x;
    // Hidden from the compiler, which would add what is known last.
    asm volatile("" : "+l"(out), "+l"(values_out));
    const i32 left = i32(p.there - threadIdx.x);
#pragma unroll
    for (int first = 0; first < TILE; first += AT_ONCE * SORT_THREADS) {
        O ordinal[AT_ONCE];
        u64 gap[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) ordinal[k] = stage[first + k * SORT_THREADS];
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
            const u32 digit = pass.digit(ordinal[k]);
            gap[k] = shared.gap[digit];
            if (!TOGETHER) digits[first + k * SORT_THREADS] = digit;
        }
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
            const i32 at = first + k * SORT_THREADS;
            if (at < left) {
                __stwb(out + gap[k] + at, ordinal[k]);
                if (TOGETHER) __stwb(values_out + gap[k] + at, beside[at]);
            }
        }
    }
}

// Values of `parts` words each, once their ordinals are written: one word at a time by way of the stage.
template <class V> __device__ __forceinline__ void move_values(const Pass& pass, const Place& p, const u32 (&place)[ITEMS], Shared& shared, u32 parts) {
    V *stage = reinterpret_cast<V*>(shared.stage), *out = static_cast<V*>(pass.values_out);
#pragma unroll 1
    for (u32 part = 0; part < parts; part++) {
        V value[ITEMS];
        load_values(value, pass.values, p, parts, part);
        __syncthreads();
        stage_all(stage, value, place);
        __syncthreads();
#pragma unroll 4
        for (u32 at = threadIdx.x; at < p.there; at += SORT_THREADS) out[(shared.gap[shared.digit[at]] + at) * parts + part] = stage[at];
    }
}

template <class O> __device__ __forceinline__ void scatter(const Pass& pass, Shared& shared) {
    const u32 mine = threadIdx.x, lane = mine % 32, warp = mine / 32;
    u64 all;
    shared.gap[mine] = sum_before<u64>(pass.totals[mine], shared.wide, all) + pass.table[u64(mine) * gridDim.x + blockIdx.x];
    const u64 begin = blockIdx.x * pass.run, end = pass.n - begin < pass.run ? pass.n : begin + pass.run;
    u16 *counts = reinterpret_cast<u16*>(shared.counts[warp]), *column = reinterpret_cast<u16*>(shared.counts) + mine;
    u32 past = 0;   // where the thread's digit ended in the sorted tile before
#pragma unroll 1
    for (u64 tile = begin; tile < end; tile += TILE) {
        const Place p = {tile, end - tile < TILE ? u32(end - tile) : TILE, warp * WARP_TILE + lane};
        shared.counts[warp][lane] = {0, 0, 0, 0};
        O ordinal[ITEMS];
        if (pass.keys.bytes == sizeof(O)) load_ordinals<O>(ordinal, pass.keys, p);
        else if (pass.keys.bytes == 8) load_ordinals<u64>(ordinal, pass.keys, p);
        else if (pass.keys.bytes == 2) load_ordinals<u16>(ordinal, pass.keys, p);
        else load_ordinals<u8>(ordinal, pass.keys, p);
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
        shared.gap[mine] += u64(past) - start;
        past = start + total;
#pragma unroll
        for (int w = 0; w < SORT_WARPS; w++) {
            column[w * DIGITS] = start;
            start += count[w];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < ITEMS; k++) place[k] = (place[k] & ((1 << DIGIT_AT) - 1)) + counts[place[k] >> DIGIT_AT];
        stage_all(reinterpret_cast<O*>(shared.stage), ordinal, place);
        if (sizeof(O) == 4 && pass.width == 4) {
            u32 value[ITEMS];
            load_values(value, pass.values, p, 1, 0);
            stage_all(reinterpret_cast<u32*>(shared.stage) + TILE, value, place);
            __syncthreads();
            write<true, O>(pass, p, shared);
            continue;
        }
        __syncthreads();
        write<false, O>(pass, p, shared);
        if (pass.width >= 8) move_values<u64>(pass, p, place, shared, pass.width / 8);
        else if (sizeof(O) == 8 && pass.width == 4) move_values<u32>(pass, p, place, shared, 1);
        else if (pass.width == 2) move_values<u16>(pass, p, place, shared, 1);
        else move_values<u8>(pass, p, place, shared, 1);
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
