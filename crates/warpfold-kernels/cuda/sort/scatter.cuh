// The scatter of a pass of the radix sort (sort.cuh), for ordinals of 4 and of 8 bytes, and values of 1, 2, 4, 8
// and 16.
#pragma once
#include "sort/sort.cuh"

constexpr int DIGIT_AT = 16;

struct Pass {
    Keys keys;
    u64 n;
    Digit digit;
    u64 run;            // elements of a block: whole tiles
    const u64* table;   // [digit][block]: how many of the digit are in the runs before
    const u64* totals;  // how many of each digit there are
    const void* values;
    u64 width;  // bytes of a value
    void* keys_out;
    void* values_out;
};

// How a block works. PAIRS: ordinals and values of 4 bytes are staged and written together; else values of any width
// follow their ordinals, a word at a time.
template <class O, bool TOGETHER, int BLOCK, int EACH> struct Shape {
    typedef O Ordinal;
    static constexpr bool PAIRS = TOGETHER;
    static constexpr int THREADS = BLOCK, WARPS = BLOCK / 32, ITEMS = EACH, TILE = BLOCK * EACH;
    // Elements of a digit that are written at once, side by side: what is staged of a digit is as many of these as it
    // takes.
    static constexpr int GROUP = PAIRS ? 8 : 4, STAGE = TILE + DIGITS * 2 * (GROUP - 1), WORDS = PAIRS ? 1 : 2;
    typedef typename Select<PAIRS, u32, u64>::type Word;
    // What the host allows for is in plan/groups.rs.
    struct Shared {
        u64 stage[STAGE];           // of the sorted tile: ordinals, or values; of pairs ordinals, then values
        O partial[DIGITS * GROUP];  // of each digit what its last group, not yet whole, has
        Word partial_values[WORDS][DIGITS * GROUP];
        i64 displacement[DIGITS];  // from an element's place in the stage to its place in the result
        uint2 ends[DIGITS];  // where in the stage a digit's first element is that is not yet written, and where its
                             // whole groups end
        u32 start[DIGITS];   // where its first group begins
        u64 wide[SORT_WARPS];
        u32 narrow[SORT_WARPS];
        u16 counts[WARPS][DIGITS];
        u8 digit[PAIRS ? 16 : STAGE / GROUP];  // of each group
    };
    static_assert(sizeof(Shared) % sizeof(uint4) == 0, "it is cleared in pieces of 16 bytes");
};

// A tile: a warp's elements lie one after another, and come in the order of items, then of lanes.
template <class S> struct Tile {
    u64 first;
    u32 there;  // elements
    __device__ __forceinline__ Tile(u64 first, u64 end)
        : first(first), there(end - first < S::TILE ? u32(end - first) : S::TILE) {}
    __device__ __forceinline__ u32 lane_first() const { return threadIdx.x / 32 * 32 * S::ITEMS + threadIdx.x % 32; }
};

// A lane's elements; `none` for what is not there.
template <class S, class T> __device__ __forceinline__ void load_all(T (&what)[S::ITEMS], const T* array,
                                                                     const Tile<S>& tile, T none, u32 stride = 1) {
    const T* from = array + (tile.first + tile.lane_first()) * stride;
    const i32 left = i32(tile.there - tile.lane_first());
    if (sizeof(T) >= 4 && tile.there == S::TILE) {
#pragma unroll
        for (int k = 0; k < S::ITEMS; k++) what[k] = from[k * 32 * stride];
        return;
    }
#pragma unroll
    for (int k = 0; k < S::ITEMS; k++) what[k] = k * 32 < left ? from[k * 32 * stride] : none;
}

// Keys made ordinals. What is not there has all bits set and is last: its place is behind all that is.
template <class S, class Raw> __device__ __forceinline__ void load_raw(typename S::Ordinal (&ordinal)[S::ITEMS],
                                                                       const Keys& keys, const Tile<S>& tile) {
    const Raw base = Raw(keys.base);
    Raw key[S::ITEMS];
    load_all<S, Raw>(key, static_cast<const Raw*>(keys.at), tile, base - 1);
#pragma unroll
    for (int k = 0; k < S::ITEMS; k++) ordinal[k] = typename S::Ordinal(Raw(key[k] - base));
}
template <class S> __device__ __forceinline__ void load_ordinals(typename S::Ordinal (&ordinal)[S::ITEMS],
                                                                 const Keys& keys, const Tile<S>& tile) {
    if (keys.bytes == sizeof(typename S::Ordinal)) load_raw<S, typename S::Ordinal>(ordinal, keys, tile);
    else if (keys.bytes == 8) load_raw<S, u64>(ordinal, keys, tile);
    else if (keys.bytes == 2) load_raw<S, u16>(ordinal, keys, tile);
    else load_raw<S, u8>(ordinal, keys, tile);
}

// The lanes that have the same digit: a ballot a bit. All lanes of a warp ask. Of C++ the compiler makes seven
// instructions a bit; of this it makes two and a half, and one for all tests of bits.
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
            : "=r"(same[bit])
            : "r"(digit), "r"(1 << bit));
    }
    const auto all = [](u32 a, u32 b, u32 c) {
        u32 d;
        asm("lop3.b32 %0, %1, %2, %3, 0x80;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
        return d;
    };
    return all(all(same[0], same[1], same[2]), all(same[3], same[4], same[5]), same[6] & same[7]);
}

template <class S> struct Scatter {
    typedef typename S::Ordinal O;
    typedef typename S::Word Word;
    static constexpr int ITEMS = S::ITEMS, GROUP = S::GROUP;

    const Pass& pass;
    typename S::Shared& shared;
    // Of the thread's digit: where its group that is not yet whole will go, how many elements it has, and how many of
    // these are not the block's: the run before wrote them.
    u64 next;
    u32 have, skip;
    u32 staged;  // places of the stage that are taken

    // How many of its digit are before each element among the warp's, and above DIGIT_AT the digit; `counts` becomes
    // how many there are in all.
    __device__ __forceinline__ void rank(u32 (&slot)[ITEMS], u16* counts, const O (&ordinal)[ITEMS]) {
        const u32 below = lanes_below(), up_to = 2 * below + 1;
#pragma unroll
        for (int k = 0; k < ITEMS; k++) {
            const u32 mine = pass.digit(ordinal[k]), alike = lanes_alike(mine),
                      before = counts[mine] + __popc(alike & below);
            __syncwarp();
            // The last of them.
            if (alike <= up_to) counts[mine] = before + 1;
            __syncwarp();
            slot[k] = before + (mine << DIGIT_AT);
        }
    }

    // Digits one after another in the stage, each from a whole group on: what is late of it, then the warps' elements,
    // whose counts become their first places.
    __device__ __forceinline__ void rank_tile(u32 missing) {
        const u32 mine = threadIdx.x;
        u32 total = have, start;
        if (mine < DIGITS) {
#pragma unroll
            for (int w = 0; w < S::WARPS; w++) total += shared.counts[w][mine];
        }
        start = sum_before<u32>((total + GROUP - 1) / GROUP * GROUP, shared.narrow, staged);
        if (mine >= DIGITS) return;
        shared.start[mine] = start;
        u32 slot = start + have;
#pragma unroll
        for (int w = 0; w < S::WARPS; w++) {
            const u32 count = shared.counts[w][mine];
            shared.counts[w][mine] = slot;
            slot += count;
        }
        // What is not there has the last digit.
        if (mine == pass.digit(~O(0))) total -= missing;
        const u32 whole = total / GROUP * GROUP;
        shared.ends[mine] = {start + skip, start + whole};
        shared.displacement[mine] = i64(next) - start;
        next += whole;
        have = total - whole;
        if (whole > 0) skip = 0;
    }

    // What is late of every digit, to the front of it.
    template <class T> __device__ __forceinline__ void stage_partial(T* stage, const T* partial) {
#pragma unroll
        for (u32 at = threadIdx.x; at < DIGITS * GROUP; at += S::THREADS) {
            const u32 digit = at / GROUP, start = shared.start[digit];
            if (at % GROUP < shared.counts[0][digit] - start) stage[start + at % GROUP] = partial[at];
        }
    }
    template <class T> __device__ __forceinline__ void stage_all(T* stage, const T (&what)[ITEMS],
                                                                 const u32 (&slot)[ITEMS]) {
#pragma unroll
        for (int k = 0; k < ITEMS; k++) stage[slot[k]] = what[k];
    }

    // Whole groups of pairs to their places, four at a time; what is left of each digit is late.
    __device__ __forceinline__ void write_pairs() {
        const u32 *ordinals = reinterpret_cast<const u32*>(shared.stage), *values = ordinals + S::STAGE;
        u32 *out = static_cast<u32*>(pass.keys_out), *values_out = static_cast<u32*>(pass.values_out);
#pragma unroll 1
        for (u32 at = 4 * threadIdx.x; at < staged; at += 4 * S::THREADS) {
            const u32 digit = pass.digit(ordinals[at / GROUP * GROUP]);
            const uint4 ordinal = *reinterpret_cast<const uint4*>(ordinals + at),
                        value = *reinterpret_cast<const uint4*>(values + at);
            const uint2 ends = shared.ends[digit];
            const i64 to = shared.displacement[digit] + at;
            if (at >= ends.x && at < ends.y) {
                *reinterpret_cast<uint4*>(out + to) = ordinal;
                *reinterpret_cast<uint4*>(values_out + to) = value;
            } else if (at < ends.x) {
                // A run's first group of a digit is the last one of the run before.
                const u32 ordinal_of[4] = {ordinal.x, ordinal.y, ordinal.z, ordinal.w},
                          value_of[4] = {value.x, value.y, value.z, value.w};
#pragma unroll
                for (u32 k = 0; k < 4; k++) {
                    if (at + k < ends.x || at >= ends.y) continue;
                    out[to + k] = ordinal_of[k];
                    values_out[to + k] = value_of[k];
                }
            }
            if (at >= ends.y && at < ends.y + GROUP) {
                *reinterpret_cast<uint4*>(shared.partial + digit * GROUP + at % GROUP) = ordinal;
                *reinterpret_cast<uint4*>(reinterpret_cast<u32*>(shared.partial_values[0]) + digit * GROUP +
                                          at % GROUP) = value;
            }
        }
    }

    // The same for anything by itself: so many words apart in the result.
    template <class T> __device__ __forceinline__ void write_one(u32 at, u32 digit, T what, T* out, u32 stride,
                                                                 T* partial) {
        const uint2 ends = shared.ends[digit];
        if (at >= ends.y) {
            if (at < ends.y + GROUP) partial[digit * GROUP + at % GROUP] = what;
        } else if (at >= ends.x) {
            out[(shared.displacement[digit] + at) * stride] = what;
        }
    }
    __device__ __forceinline__ void write_ordinals() {
        const O* ordinals = reinterpret_cast<const O*>(shared.stage);
#pragma unroll 2
        for (u32 at = threadIdx.x; at < staged; at += S::THREADS) {
            const u32 digit = pass.digit(ordinals[at / GROUP * GROUP]);
            if (at % GROUP == 0) shared.digit[at / GROUP] = digit;
            write_one<O>(at, digit, ordinals[at], static_cast<O*>(pass.keys_out), 1, shared.partial);
        }
    }

    // Values of `words` words each, once their ordinals are written: one word at a time by way of the stage.
    template <class V> __device__ __forceinline__ void move_values(const Tile<S>& tile, const u32 (&slot)[ITEMS],
                                                                   u32 words) {
        V* stage = reinterpret_cast<V*>(shared.stage);
#pragma unroll 1
        for (u32 word = 0; word < words; word++) {
            V value[ITEMS], *partial = reinterpret_cast<V*>(shared.partial_values[word]);
            load_all<S, V>(value, static_cast<const V*>(pass.values) + word, tile, 0, words);
            stage_partial<V>(stage, partial);
            stage_all<V>(stage, value, slot);
            __syncthreads();
#pragma unroll 2
            for (u32 at = threadIdx.x; at < staged; at += S::THREADS) {
                write_one<V>(at, shared.digit[at / GROUP], stage[at], static_cast<V*>(pass.values_out) + word, words,
                             partial);
            }
            __syncthreads();
        }
    }

    // `ordinal`: the tile's, and afterwards the next one's, which arrive while this one is written.
    __device__ __forceinline__ void move(const Tile<S>& tile, O (&ordinal)[ITEMS], u64 end) {
        const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        u16* counts = shared.counts[warp];
        u32 value[ITEMS], slot[ITEMS];
        if (S::PAIRS) load_all<S, u32>(value, static_cast<const u32*>(pass.values), tile, 0);
        reinterpret_cast<uint4*>(counts)[lane] = {0, 0, 0, 0};
        __syncwarp();
        rank(slot, counts, ordinal);
        __syncthreads();
        rank_tile(S::TILE - tile.there);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < ITEMS; k++) slot[k] = (slot[k] & ((1 << DIGIT_AT) - 1)) + counts[slot[k] >> DIGIT_AT];
        O* stage = reinterpret_cast<O*>(shared.stage);
        stage_partial<O>(stage, shared.partial);
        stage_all<O>(stage, ordinal, slot);
        if (S::PAIRS) {
            u32* values = reinterpret_cast<u32*>(shared.stage) + S::STAGE;
            stage_partial<u32>(values, reinterpret_cast<const u32*>(shared.partial_values[0]));
            stage_all<u32>(values, value, slot);
        }
        if (tile.first + S::TILE < end) load_ordinals<S>(ordinal, pass.keys, Tile<S>(tile.first + S::TILE, end));
        __syncthreads();
        if (S::PAIRS) write_pairs();
        else write_ordinals();
        __syncthreads();
        if (S::PAIRS) return;
        if (pass.width >= 8) move_values<u64>(tile, slot, pass.width / 8);
        else if (pass.width == 4) move_values<u32>(tile, slot, 1);
        else if (pass.width == 2) move_values<u16>(tile, slot, 1);
        else move_values<u8>(tile, slot, 1);
    }

    // Values that are late at the run's end.
    template <class V> __device__ __forceinline__ void write_last_values(u32 words) {
#pragma unroll 1
        for (u32 word = 0; word < words; word++) {
            const V* partial = reinterpret_cast<const V*>(shared.partial_values[word]) + threadIdx.x * GROUP;
#pragma unroll 1
            for (u32 k = skip; k < have; k++) static_cast<V*>(pass.values_out)[(next + k) * words + word] = partial[k];
        }
    }
    __device__ __forceinline__ void write_last_groups() {
#pragma unroll 1
        for (u32 k = skip; k < have; k++)
            static_cast<O*>(pass.keys_out)[next + k] = shared.partial[threadIdx.x * GROUP + k];
        if (S::PAIRS) write_last_values<u32>(1);
        else if (pass.width >= 8) write_last_values<u64>(pass.width / 8);
        else if (pass.width == 4) write_last_values<u32>(1);
        else if (pass.width == 2) write_last_values<u16>(1);
        else write_last_values<u8>(1);
    }
};

template <class S> __device__ __forceinline__ void scatter(const Pass& pass) {
    extern __shared__ uint4 memory[];
    typename S::Shared& shared = *reinterpret_cast<typename S::Shared*>(memory);
    const u32 mine = threadIdx.x;
    // Places of the stage that nothing is at are moved with what is beside them.
#pragma unroll 1
    for (u32 at = mine; at < sizeof(shared) / sizeof(uint4); at += S::THREADS) memory[at] = {0, 0, 0, 0};
    __syncthreads();
    u64 all;
    const u64 before = sum_before<u64>(mine < DIGITS ? pass.totals[mine] : 0, shared.wide, all);
    Scatter<S> of = {pass, shared, 0, 0, 0, 0};
    if (mine < DIGITS) {
        of.next = before + pass.table[u64(mine) * gridDim.x + blockIdx.x];
        // A group begins on a multiple of its length; digits that there are none of have none.
        if (mine >> pass.digit.bits == 0) of.have = of.skip = of.next % S::GROUP;
        of.next -= of.have;
        for (int k = 0; k < S::GROUP; k++)
            shared.partial[mine * S::GROUP + k] = typename S::Ordinal(mine) << pass.digit.shift;
    }
    const u64 begin = blockIdx.x * pass.run, end = pass.n - begin < pass.run ? pass.n : begin + pass.run;
    typename S::Ordinal ordinal[S::ITEMS];
    load_ordinals<S>(ordinal, pass.keys, Tile<S>(begin, end));
#pragma unroll 1
    for (u64 tile = begin; tile < end; tile += S::TILE) of.move(Tile<S>(tile, end), ordinal, end);
    if (mine < DIGITS) of.write_last_groups();
}

// A kernel of so many threads a block, elements a thread, and blocks a multiprocessor.
#define SCATTER(NAME, O, PAIRS, THREADS, ITEMS, BLOCKS) \
    extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) \
        NAME(const void* keys, u64 bytes, u64 base, u64 n, u64 shift, u64 bits, u64 run, const u64* table, \
             const u64* totals, const void* values, u64 width, void* keys_out, void* values_out) { \
        scatter<Shape<O, PAIRS, THREADS, ITEMS>>({{keys, bytes, base}, \
                                                  n, \
                                                  {u32(shift), u32(bits)}, \
                                                  run, \
                                                  table, \
                                                  totals, \
                                                  values, \
                                                  width, \
                                                  keys_out, \
                                                  values_out}); \
    }
