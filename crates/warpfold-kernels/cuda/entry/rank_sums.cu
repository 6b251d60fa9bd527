// rank_sums: columns of one element of every rank, each summed and rounded once: what a rank does with everyone's
// elements of its share when tensors are summed over ranks.
//
// Row r of `columns` elements begins `r * pitch` elements behind `rows`, but for that of rank `own_rank` (none if there
// are no so many ranks), which begins at `own`; `out` may be there too. A column is added up with the error of each
// addition, the errors beside it in the same way, and the magnitudes of what these leave (T. Ogita, S. Rump, S. Oishi,
// Accurate sum and dot product, 2005, SumK for K = 3). Where nothing is left, the sum is that of two f64 exactly; else
// it lies between two numbers, and if both round to one result, that is the sum's. All other columns, those with
// infinities and NaNs among them, a warp of the block adds up exactly, a column a lane.
#include "acc/carry_and_round.cuh"
#include "num/double_double.cuh"
#include "num/to_16.cuh"

constexpr u32 THREADS = 256;
// The integers of columns that are in doubt: a lane's own, of f64, which holds the other types.
typedef IntegerLimbs<32, 41, 1, 0> Limbs;
constexpr int UNIT = -1074;

template <class E> struct Format : FormatOf<E> {};
template <> struct Format<f16> {
    typedef Binary16 type;
};
template <> struct Format<bf16> {
    typedef Brain16 type;
};

__device__ __forceinline__ void set_bits(f16* to, u64 bits) { to->bits = u16(bits); }
__device__ __forceinline__ void set_bits(bf16* to, u64 bits) { to->bits = u16(bits); }

template <class E> __device__ __forceinline__ E nearest(f64 x);
template <> __device__ __forceinline__ f16 nearest(f64 x) { return {nearest_of_16(x, false)}; }
template <> __device__ __forceinline__ bf16 nearest(f64 x) { return {nearest_of_16(x, true)}; }
template <> __device__ __forceinline__ f32 nearest(f64 x) { return __double2float_rn(x); }
template <> __device__ __forceinline__ f64 nearest(f64 x) { return x; }

// An f64 nearest to a number that lies on the side of `rest`, to odd: a second rounding sees that something is left.
__device__ __forceinline__ f64 to_odd(f64 x, f64 rest) {
    const i64 bits = __double_as_longlong(x);
    if (rest == 0 || bits % 2 != 0) return x;
    return __longlong_as_double((rest > 0) == (x > 0) ? bits + 1 : bits - 1);
}

// A sum as two f64 and a bound for what they are off.
struct Column {
    f64 sum, rest, left;

    __device__ __forceinline__ void begin(f64 first) {
        sum = first;
        rest = left = 0;
    }
    __device__ __forceinline__ void add(f64 x) {
        const DoubleDouble both = two_sum(sum, x), errors = two_sum(rest, both.low);
        sum = both.high;
        rest = errors.high;
        left = __dadd_rn(left, fabs(errors.low));
    }
    // What it rounds to, where that is certain.
    template <class E> __device__ __forceinline__ bool is_certain(E& result) const {
        constexpr bool NARROW = sizeof(E) < 8;
        if (left == 0) {
            const DoubleDouble both = two_sum(sum, rest);
            // A zero is positive.
            result = nearest<E>(__dadd_rn(NARROW ? to_odd(both.high, both.low) : both.high, 0.0));
            return both.high - both.high == 0;
        }
        // Twice the bound covers the roundings in it.
        const f64 twice = __dadd_rn(left, left);
        f64 low, high;
        if (NARROW) {
            low = __dadd_rd(sum, __dsub_rd(rest, twice));
            high = __dadd_ru(sum, __dadd_ru(rest, twice));
        } else {
            // Half an ulp of the rest covers the rounding that it takes part in.
            const f64 off = __dadd_rn(twice, __dmul_rn(fabs(rest), 0x1p-52));
            low = __dadd_rn(sum, __dsub_rn(rest, off));
            high = __dadd_rn(sum, __dadd_rn(rest, off));
        }
        const E least = nearest<E>(__dadd_rn(low, 0.0)), most = nearest<E>(__dadd_rn(high, 0.0));
        result = least;
        return bits(least) == bits(most) && low - low == 0 && high - high == 0;
    }
};

// What a thread sums: elements side by side, of 16 bits half a vector, as the sums of a whole one have no registers.
template <class E> constexpr u32 EACH = sizeof(E) == 8 ? 2 : 4;
template <class E> union Some {
    uint2 half;
    uint4 vector;
    E element[EACH<E>];

    __device__ __forceinline__ void load(const E* from) {
        if constexpr (sizeof(E) == 2) half = __ldcs(reinterpret_cast<const uint2*>(from));
        else vector = __ldcs(reinterpret_cast<const uint4*>(from));
    }
    __device__ __forceinline__ void store(E* to) const {
        if constexpr (sizeof(E) == 2) *reinterpret_cast<uint2*>(to) = half;
        else *reinterpret_cast<uint4*>(to) = vector;
    }
};

template <class E> struct Rows {
    const E *rows, *own;
    u64 own_rank, ranks, pitch, columns;

    __device__ __forceinline__ const E* row(u64 rank) const { return rank == own_rank ? own : rows + rank * pitch; }
    // Some elements of a row, zeros beyond its end.
    __device__ __forceinline__ Some<E> read(u64 rank, u64 first, bool whole) const {
        const E* from = row(rank) + first;
        Some<E> some;
        if (whole) {
            some.load(from);
            return some;
        }
#pragma unroll
        for (u32 k = 0; k < EACH<E>; k++) some.element[k] = first + k < columns ? from[k] : E{};
        return some;
    }
};

// The bits of the float nearest to what limbs hold, which are settled.
template <class Format> __device__ __forceinline__ u64 round_limbs(const Limbs& limbs, u64 sign) {
    const auto limb = [&](int k) -> i64& { return limbs.limb[k * Limbs::THREADS]; };
    const bool negative = limb(Limbs::COUNT - 1) < 0;
    if (negative) {
        i64 carry = 0;
#pragma unroll 1
        for (int k = 0; k < Limbs::COUNT; k++) {
            const i64 opposite = carry - limb(k);
            limb(k) = opposite & i64(Limbs::MASK);
            carry = opposite >> Limbs::BITS;
        }
    }
    int top = Limbs::COUNT - 1;
#pragma unroll 1
    while (top > 0 && limb(top) == 0) top--;
    const u64 first = limb(top);
    if (first == 0) return 0;
    // The 64 highest bits: 1 to 52 of the first limb, and those of two more.
    const int zeros = __clzll(first);
    const u64 second = top > 0 ? u64(limb(top - 1)) << 12 : 0, third = top > 1 ? u64(limb(top - 2)) << 12 : 0;
    u64 head = first << zeros | second >> (64 - zeros), below = second << zeros;
    if (zeros > 52) {
        head |= third >> (116 - zeros);
        below |= third << (zeros - 52);
    } else {
        below |= third;
    }
#pragma unroll 1
    for (int k = top - 3; k >= 0; k--) below |= limb(k);
    const u64 magnitude = round_head<Format>(head | (below != 0), UNIT + Limbs::BITS * top + 63 - zeros);
    return magnitude | (negative ? sign : 0);
}

template <class E> __device__ __forceinline__ void sum_exactly(const Rows<E>& in, u64 column, u64* storage, E* out) {
    typedef typename Format<E>::type Format;
    constexpr u64 INFINITE = u64(Format::FIELD) << (Format::PRECISION - 1), SIGN = 1ull << (8 * sizeof(E) - 1);
    Limbs limbs;
    limbs.open(storage);
#pragma unroll 1
    for (int k = 0; k < Limbs::COUNT; k++) limbs.limb[k * Limbs::THREADS] = 0;
#pragma unroll 1
    for (u64 rank = 0; rank < in.ranks; rank++) {
        limbs.add(f64(widen(in.row(rank)[column])));
        if (++limbs.waiting == Limbs::ADDITIONS) {
            limbs.settle();
            limbs.waiting = 0;
        }
    }
    limbs.settle();
    u64 bits;
    if (limbs.specials == 0) bits = round_limbs<Format>(limbs, SIGN);
    else if (limbs.specials == FLAG_PLUS) bits = INFINITE;
    else if (limbs.specials == FLAG_MINUS) bits = SIGN | INFINITE;
    else bits = INFINITE | 1ull << (Format::PRECISION - 2);
    set_bits(out + column, bits);
}

template <class E> __device__ __forceinline__ void sum_rows(const Rows<E>& in, E* out) {
    constexpr u32 SIDE = EACH<E>, TILE = THREADS * SIDE;
    __shared__ u64 storage[Limbs::STORAGE];
    __shared__ u16 in_doubt[TILE];
    __shared__ u32 found;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    const u64 ends = u64(in.rows) | u64(in.own) | u64(out) | in.pitch * sizeof(E);
    const bool aligned = ends % 16 == 0;
#pragma unroll 1
    for (u64 base = u64(blockIdx.x) * TILE; base < in.columns; base += u64(gridDim.x) * TILE) {
        const u64 first = base + threadIdx.x * SIDE;
        const bool whole = aligned && first + SIDE <= in.columns;
        bool any = false;
        if (first < in.columns) {
            Some<E> sums = in.read(0, first, whole);
            Column column[SIDE];
#pragma unroll
            for (u32 k = 0; k < SIDE; k++) column[k].begin(f64(widen(sums.element[k])));
#pragma unroll 2
            for (u64 rank = 1; rank < in.ranks; rank++) {
                const Some<E> x = in.read(rank, first, whole);
#pragma unroll
                for (u32 k = 0; k < SIDE; k++) column[k].add(f64(widen(x.element[k])));
            }
            u32 certain = 0;
#pragma unroll
            for (u32 k = 0; k < SIDE; k++) certain |= u32(column[k].is_certain(sums.element[k])) << k;
            any = certain != (1u << SIDE) - 1;
            if (whole && !any) {
                sums.store(out + first);
            } else {
#pragma unroll
                for (u32 k = 0; k < SIDE; k++) {
                    if (first + k >= in.columns) continue;
                    if (certain >> k & 1) out[first + k] = sums.element[k];
                    else in_doubt[atomicAdd(&found, 1u)] = u16(threadIdx.x * SIDE + k);
                }
            }
        }
        if (!__syncthreads_or(any)) continue;
        if (threadIdx.x < 32) {
#pragma unroll 1
            for (u32 k = threadIdx.x; k < found; k += 32) sum_exactly(in, base + in_doubt[k], storage, out);
            __syncwarp();
            if (threadIdx.x == 0) found = 0;
        }
        __syncthreads();
    }
}

#define RANK_SUMS(E) \
    extern "C" __global__ void __launch_bounds__(THREADS, 3) \
        rank_sums_##E(const E* rows, u64 pitch, u64 ranks, u64 columns, const E* own, u64 own_rank, E* out) { \
        sum_rows(Rows<E>{rows, own, own_rank, ranks, pitch, columns}, out); \
    }
RANK_SUMS(f16)
RANK_SUMS(bf16)
RANK_SUMS(f32)
RANK_SUMS(f64)
