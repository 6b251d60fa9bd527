// The launches of sums in tables: tables.cuh.
#include "walk/tables.cuh"

template <class S> struct Summing {
    const Tables& a;
    Table<S> table;
    u64 no_key = ~u64(0), no_sum = ~u64(0);

    __device__ __forceinline__ Summing(const Tables& a, u32* words) : a(a), table{words, u32(a.width_bits)} {}

    __device__ __forceinline__ void clear(u32* to) {
#pragma unroll 1
        for (u32 k = threadIdx.x; k < table.size(); k += TABLE_THREADS) {
            if (to) to[k] = table.words[k];
            table.words[k] = 0;
        }
    }

    // Elements side by side: all additions before the first question.
    __device__ __forceinline__ void add(const Four& groups, const Four& values) {
        const bool is_signed = a.kind >= I8;
        LimbParts p[AT_ONCE];
        u32 low[AT_ONCE], high[AT_ONCE];
        bool wraps = false, special = false;
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
            p[k] = S::limbs(values.of[k], is_signed);
            low[k] = atomicAdd(table.limb(p[k].limb, groups.of[k]), u32(p[k].low));
            high[k] = atomicAdd(table.limb(p[k].limb + 1, groups.of[k]), u32(p[k].high));
            special = special || S::special(values.of[k]) >= 0;
        }
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
            wraps = wraps || table.wraps(low[k], p[k].low) || table.wraps(high[k], p[k].high);
        if (wraps) carry(groups, p, low, high);
        if (S::SPECIALS && special) meet(groups, values);
    }

    // Each step by all that need it together; what wraps a second time is hardly ever there.
    __device__ __forceinline__ void carry(const Four& groups, const LimbParts (&p)[AT_ONCE], const u32 (&low)[AT_ONCE],
                                          const u32 (&high)[AT_ONCE]) {
#pragma unroll
        for (int k = 0; k < 2 * AT_ONCE; k++) {
            const bool is_low = k < AT_ONCE;
            const int of = k % AT_ONCE;
            const i32 lacking = is_low ? table.lacks(low[of], p[of].low) : table.lacks(high[of], p[of].high);
            const u32 at = p[of].limb + (is_low ? 1 : 2);
            i32 more = 0;
            if (lacking != 0 && at < S::LIMBS)
                more = table.lacks(atomicAdd(table.limb(at, groups.of[of]), u32(lacking)), lacking);
            if (lacking != 0 && at == S::LIMBS) no_sum = 0;
            if (more != 0 && !table.carry(at, groups.of[of], more)) no_sum = 0;
        }
    }

    __device__ __forceinline__ void meet(const Four& groups, const Four& values) {
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
            const int which = S::special(values.of[k]);
            if (which >= 0 && !(which == 0 && a.options & IGNORE_NAN))
                atomicOr(table.special(which, groups.of[k]), 1u << groups.of[k] % 32);
        }
    }

    // Elements of the range that has those from `begin` to `end`.
    __device__ __forceinline__ void walk(u64 begin, u64 end) {
        const u32 kind = u32(a.kind), key_bytes = u32(a.key_bytes), bytes = bytes_of(kind), mask = table.width() - 1,
                  limit = narrowed(a.limit);
        const bool aligned = u64(a.keys) % (AT_ONCE * key_bytes < 16 ? AT_ONCE * key_bytes : 16) == 0 &&
                             u64(a.values) % (AT_ONCE * bytes) == 0;
        // Words that are added as they are: most of what there is to ask of others is asked once.
        const bool plain = aligned && key_bytes == 4 && bytes == 4 && !(a.options & ABSOLUTE);
#pragma unroll 1
        for (u64 at = begin / AT_ONCE * AT_ONCE + AT_ONCE * threadIdx.x; at < end; at += AT_ONCE * TABLE_THREADS) {
            Four key, value;
            const bool inside = at >= begin && at + AT_ONCE <= end;
            if (plain && inside) {
                key = load_words(static_cast<const u32*>(a.keys) + at);
                value = load_words(static_cast<const u32*>(a.values) + at);
            } else {
                const bool together = aligned && at + AT_ONCE <= a.n;
                key = load(a.keys, at, a.n, key_bytes, together);
                value = load(a.values, at, a.n, bytes, together);
                S::widen_all(value, kind, a.options & ABSOLUTE);
            }
            bool known = true;
#pragma unroll
            for (int j = 0; j < AT_ONCE; j++) known = known && key.of[j] < limit;
            if (!known || !inside) leave_out(key, value, at, begin, end, limit);
#pragma unroll
            for (int j = 0; j < AT_ONCE; j++) key.of[j] &= mask;
            add(key, value);
        }
    }

    // What is not of the range or of no group becomes zero, which adds nothing anywhere.
    __device__ __forceinline__ void leave_out(const Four& key, Four& value, u64 at, u64 begin, u64 end, u32 limit) {
#pragma unroll
        for (int j = 0; j < AT_ONCE; j++) {
            const bool mine = at + j >= begin && at + j < end, known = key.of[j] < limit;
            if (mine && !known && no_key > at + j) no_key = at + j;
            if (!mine || !known) value.of[j] = 0;
        }
    }

    // All sums of a range that is the block's alone; the table is left empty.
    __device__ __forceinline__ void round(u64 range) {
#pragma unroll 1
        for (u32 k = threadIdx.x; k < table.width(); k += TABLE_THREADS) {
            i32 limb[S::LIMBS];
            u32 any = 0;
#pragma unroll
            for (int l = 0; l < S::LIMBS; l++) {
                limb[l] = i32(*table.limb(l, k));
                any |= u32(limb[l]);
                *table.limb(l, k) = 0;
            }
            const u32 specials = table.specials(k);
            const u64 group = (range << a.width_bits) + k;
            if (group < a.groups)
                static_cast<typename S::Result*>(a.out)[group] = (any | specials) != 0 ? S::result(limb, specials) : 0;
        }
        if (S::SPECIALS) {
            __syncthreads();
            for (u32 k = threadIdx.x; k < S::SPECIALS * table.width() / 32; k += TABLE_THREADS)
                *(table.words + S::LIMBS * table.width() + k) = 0;
        }
    }
};

// The last range that begins at an element or before, of which there may be empty ones; `ends`: where it and the next
// begin.
__device__ __forceinline__ u64 range_of(const Tables& a, u64 element, u64 (&ends)[2]) {
    u64 low = 0, high = a.ranges;
#pragma unroll 1
    while (high - low > 1) {
        const u64 middle = (low + high) / 2;
        if (a.starts[middle] <= element) low = middle;
        else high = middle;
    }
    ends[0] = a.starts ? a.starts[low] : 0;
    ends[1] = a.starts ? a.starts[low + 1] : a.n;
    return low;
}

template <class S> __device__ __forceinline__ void sum(const Tables& a) {
    extern __shared__ u32 table_memory[];
    Summing<S> of(a, table_memory);
    of.clear(nullptr);
    const u64 begin = blockIdx.x * a.share, end = a.n - begin < a.share ? a.n : begin + a.share;
    u64 ends[2];
    u64 range = range_of(a, begin, ends);
    __syncthreads();
#pragma unroll 1
    while (true) {
        const u64 from = ends[0] > begin ? ends[0] : begin, to = ends[1] < end ? ends[1] : end;
        if (from < to) {
            of.walk(from, to);
            __syncthreads();
            const bool starts_here = ends[0] >= begin;
            if (starts_here && ends[1] <= end) of.round(range);
            else of.clear(a.slots + (2 * u64(blockIdx.x) + starts_here) * of.table.size());
            __syncthreads();
        }
        // After the last range come keys of no group.
        if (ends[1] >= end || range + 1 == a.ranges) break;
        ends[0] = ends[1];
        ends[1] = a.starts[++range + 1];
        // Ranges without elements may be many.
        if (ends[0] == ends[1]) range = range_of(a, ends[0], ends);
    }
    if (of.no_key != ~u64(0)) atomicMin(a.faults, of.no_key);
    if (of.no_sum != ~u64(0)) atomicMin(a.faults + 1, of.no_sum);
}

// Words that a warp of a join leaves the first one.
template <class S> constexpr u32 JOIN_WORDS = 32 * (S::LIMBS + 1);

// Adds the tables of a range that begins in one block and goes on in others: a block of threads for 32 of its groups,
// each warp every so manieth table.
template <class S> __device__ __forceinline__ void join(const Tables& a) {
    // Of each warp limbs, a row of 32 each, then the specials that were met.
    extern __shared__ u64 parts[];
    const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32,
              chunks = 1u << (a.width_bits - 5);
    const u64 block = blockIdx.x / chunks, begin = block * a.share, end = begin + a.share;
    const u32 group = blockIdx.x % chunks * 32 + lane;
    if (end >= a.n) return;
    u64 ends[2];
    const u64 range = range_of(a, end - 1, ends);
    if (ends[0] < begin || ends[1] <= end) return;
    const u64 last = (ends[1] - 1) / a.share;
    i64 limb[S::LIMBS] = {};
    u32 specials = 0;
#pragma unroll 1
    for (u64 k = block + warp; k <= last; k += warps) {
        Table<S> slot = {nullptr, u32(a.width_bits)};
        slot.words = a.slots + (2 * k + (k == block)) * slot.size();
#pragma unroll
        for (int l = 0; l < S::LIMBS; l++) limb[l] += i32(*slot.limb(l, group));
        specials |= slot.specials(group);
    }
    u64* const mine = parts + warp * JOIN_WORDS<S> + lane;
#pragma unroll
    for (int l = 0; l < S::LIMBS; l++) mine[32 * l] = u64(limb[l]);
    mine[32 * S::LIMBS] = specials;
    __syncthreads();
    const u64 output = (range << a.width_bits) + group;
    if (warp > 0 || output >= a.groups) return;
#pragma unroll 1
    for (u32 w = 1; w < warps; w++) {
        const u64* other = mine + w * JOIN_WORDS<S>;
#pragma unroll
        for (int l = 0; l < S::LIMBS; l++) limb[l] += i64(other[32 * l]);
        specials |= u32(other[32 * S::LIMBS]);
    }
    static_cast<typename S::Result*>(a.out)[output] = S::result(limb, specials);
}

#define TABLES(NAME, BODY, SUMS, ...) \
    extern "C" __global__ void __launch_bounds__(__VA_ARGS__) NAME( \
        const void* keys, u64 key_bytes, u64 limit, const void* values, u64 kind, u64 n, u64 share, u64 width_bits, \
        u64 ranges, const u64* starts, u64 groups, void* out, u32* slots, u64* faults, u64 options) { \
        BODY<SUMS>({keys, key_bytes, limit, values, kind, n, share, width_bits, ranges, starts, groups, out, slots, \
                    faults, options}); \
    }
TABLES(tables_floats, sum, FloatSums, TABLE_THREADS, 1)
TABLES(tables_floats_join, join, FloatSums, JOIN_THREADS)
TABLES(tables_integers, sum, IntegerSums, TABLE_THREADS, 1)
TABLES(tables_integers_join, join, IntegerSums, JOIN_THREADS)
