// From the limbs of every thread to one fixed-point integer, and from there to a float: the last steps of every exact
// fold.
//
// Blocks add their words of 32 bits, 64 wide, to those of the stream's workspace by atomic additions of integers, which
// no order can change; the last block reads them, leaves zeros for the next launch, carries, and rounds once.
#pragma once
#include "acc/private_limbs.cuh"
#include "walk/array.cuh"

// The state of a grid in the workspace; as many words as the widest fold has.
struct ExactState {
    u32 specials[4];
    u64 nans;
    // Of small inputs (small_array.cuh): how many words were completed.
    u64 arrived;
    u64 piece[8], complete[8];
    u64 word[272];
};
static_assert(sizeof(ExactState) <= sizeof(Workspace::exact), "the workspace has room for it");

// Less than 33 bits times 2^at, in words.
template <int WORDS> __device__ __forceinline__ void add_chunk(u64* word, int at, i64 chunk) {
    const i64 placed = i64(u64(chunk) << at % 32);
    const int first = at / 32;
    if (first < WORDS && u32(placed) != 0) atomicAdd(word + first, u64(u32(placed)));
    if (first + 1 < WORDS && placed >> 32 != 0) atomicAdd(word + first + 1, u64(placed >> 32));
}

// All threads of the block: the limbs of all columns, summed, into words in shared memory. A warp takes every so
// manieth limb; untouched ones cost a look. A sum has up to 71 bits: three chunks of 32, the last signed, each added to
// two words by a lane of its own. What would lie above the last word is sign.
template <class Limbs, int WORDS> __device__ __forceinline__ void add_own(const u64* storage, u64* word) {
    const u32 lane = threadIdx.x % 32, warps = blockDim.x / 32;
    for (u32 k = threadIdx.x / 32; k < Limbs::COUNT; k += warps) {
        // All loads before the first question: most limbs are zero in every column.
        constexpr int ROWS = Limbs::THREADS / 32;
        u64 raw[ROWS], any = 0;
#pragma unroll
        for (int row = 0; row < ROWS; row++) {
            raw[row] = u32(row) < warps ? storage[k * Limbs::THREADS + row * 32 + lane] : 0;
            any |= raw[row];
        }
        if (!__any_sync(0xffffffffu, any != 0)) continue;
        u64 low = 0;
        i64 high = 0;
#pragma unroll
        for (int row = 0; row < ROWS; row++) {
            const i64 limb = Limbs::integer(raw[row], k);
            low += u32(limb);
            high += limb >> 32;
        }
#pragma unroll 1
        for (u32 lanes = 16; lanes > 0; lanes /= 2) {
            low += __shfl_xor_sync(0xffffffffu, low, lanes);
            high += __shfl_xor_sync(0xffffffffu, high, lanes);
        }
        high += low >> 32;
        // A limb below bit 0 holds zeros there.
        int at = Limbs::BITS * int(k) - Limbs::OFFSET;
        if (at < 0) {
            const int by = -at;
            low = by < 32 ? u32(low) >> by | u32(u64(high) << 1 << (31 - by)) : u32(high >> (by - 32));
            high >>= by;
            at = 0;
        }
        if (lane < 3)
            add_chunk<WORDS>(word, at + 32 * lane, lane == 0 ? i64(u32(low)) : lane == 1 ? i64(u32(high)) : high >> 32);
    }
}

// The same of limbs that a block shares, whole warps of threads: two a word, by four lanes.
template <class Limbs, int WORDS> __device__ __forceinline__ void add_shared(const u32* storage, u64* word) {
    constexpr u32 LANES = 4, EACH = Limbs::COLUMNS / LANES;
    const u32 lane = threadIdx.x % LANES;
#pragma unroll 1
    for (u32 k = threadIdx.x / LANES; k < (WORDS + 7) / 8 * 8; k += blockDim.x / LANES) {
        const u32 limb = 2 * k + Limbs::MARGIN / 16;
        i64 sum = 0;
        if (limb < Limbs::COUNT) {
#pragma unroll
            for (u32 c = 0; c < EACH; c++) {
                const u32* at = storage + limb * Limbs::COLUMNS + lane * EACH + (c + k) % EACH;
                sum += i32(at[0]) + i64(i32(at[Limbs::COLUMNS])) * 65536;
            }
        }
#pragma unroll
        for (u32 lanes = 1; lanes < LANES; lanes *= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
        if (lane == 0 && k < WORDS) word[k] = u64(sum);
    }
}

// The same of those that are a warp's lanes' own, a limb a warp.
template <class Limbs, int WORDS> __device__ __forceinline__ void add_aligned(const u32* storage, u64* word) {
    const u32 lane = threadIdx.x % 32;
    for (u32 k = threadIdx.x / 32; k < Limbs::COUNT; k += blockDim.x / 32) {
        i64 sum = i32(storage[k * 32 + lane]);
        if (!__any_sync(0xffffffffu, sum != 0)) continue;
#pragma unroll 1
        for (u32 lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
        int at = Limbs::SPACING * int(k) - Limbs::OFFSET;
        if (at < 0) {
            sum >>= -at;
            at = 0;
        }
        if (lane < 2) add_chunk<WORDS>(word, at + 32 * lane, lane == 0 ? i64(u32(sum)) : sum >> 32);
    }
}

template <class Limbs, int WORDS> __device__ __forceinline__ void add_columns(const u64* storage, u64* word) {
    const u32* words = reinterpret_cast<const u32*>(storage);
    if constexpr (!Limbs::SHARED) add_own<Limbs, WORDS>(storage, word);
    else if constexpr (Limbs::COLUMNS == 32) add_aligned<Limbs, WORDS>(words, word);
    else add_shared<Limbs, WORDS>(words, word);
}

// One warp: words of 64 signed bits at 32-bit places into one two's-complement integer, CHUNK words of 32 bits a lane,
// lowest first.
template <int WORDS> struct Integer {
    static constexpr int CHUNK = (WORDS + 31) / 32;
    u32 word[CHUNK];

    __device__ __forceinline__ explicit Integer(const u64* sums) {
        const int lane = threadIdx.x % 32;
        i64 carry = 0;
#pragma unroll
        for (int c = 0; c < CHUNK; c++) {
            const int k = lane * CHUNK + c;
            carry += k < WORDS ? i64(sums[k]) : 0;
            word[c] = u32(carry);
            carry >>= 32;
        }
        // Carries of any size go to the next lane; what that gives carries -1, 0 or 1 further.
        carry = __shfl_up_sync(0xffffffffu, carry, 1);
        if (lane == 0) carry = 0;
        i32 small = __shfl_up_sync(0xffffffffu, add(carry), 1);
        if (lane == 0) small = 0;
        if (__any_sync(0xffffffffu, small != 0)) add(small + ripple(small));
        // Above the last word there is nothing.
#pragma unroll
        for (int c = 0; c < CHUNK; c++) {
            if (lane * CHUNK + c >= WORDS) word[c] = 0;
        }
    }
    // Adds to this lane's words and returns the carry.
    __device__ __forceinline__ i32 add(i64 carry) {
#pragma unroll
        for (int c = 0; c < CHUNK; c++) {
            carry += word[c];
            word[c] = u32(carry);
            carry >>= 32;
        }
        return i32(carry);
    }
    // The carry that this lane would send on for a number from -2 to 2 added to it.
    __device__ __forceinline__ i32 carry_of(i32 added) const {
        bool ones = true, zeros = true;
#pragma unroll
        for (int c = 1; c < CHUNK; c++) {
            ones = ones && word[c] == 0xffffffffu;
            zeros = zeros && word[c] == 0;
        }
        if (added > 0) return ones && word[0] > 0xffffffffu - u32(added);
        return added < 0 && zeros && word[0] < u32(-added) ? -1 : 0;
    }
    // What arrives from the lanes below beside the carry that waits here already. Each lane is a function from what
    // arrives to what it sends on, -1, 0 or 1; a scan composes them, two bits for each of the three values.
    __device__ __forceinline__ i32 ripple(i32 waiting) const {
        const u32 lane = threadIdx.x % 32;
        u32 sends = 0;
#pragma unroll
        for (int x = -1; x <= 1; x++) sends |= u32(carry_of(waiting + x) + 1) << 2 * (x + 1);
#pragma unroll 1
        for (u32 lanes = 1; lanes < 32; lanes *= 2) {
            const u32 below = __shfl_up_sync(0xffffffffu, sends, lanes);
            u32 both = 0;
#pragma unroll
            for (int x = 0; x < 3; x++) both |= (sends >> 2 * (below >> 2 * x & 3) & 3) << 2 * x;
            if (lane >= lanes) sends = both;
        }
        const u32 arrives = __shfl_up_sync(0xffffffffu, sends, 1);
        return lane == 0 ? 0 : i32(arrives >> 2 & 3) - 1;
    }
    // Whether the number is below zero.
    __device__ __forceinline__ bool negative() const {
        return __shfl_sync(0xffffffffu, word[(WORDS - 1) % CHUNK], (WORDS - 1) / CHUNK) >> 31;
    }
    // Writes the words to memory, two to each of 64 bits.
    __device__ __forceinline__ void store(u32* to) const {
#pragma unroll
        for (int c = 0; c < CHUNK; c++) {
            const int k = threadIdx.x % 32 * CHUNK + c;
            if (k < WORDS) to[k] = word[c];
        }
    }
    // Becomes its own absolute value.
    __device__ __forceinline__ void negate() {
        const int lane = threadIdx.x % 32;
        u32 any = 0;
#pragma unroll
        for (int c = 0; c < CHUNK; c++) any |= word[c];
        const int lowest = __ffs(__ballot_sync(0xffffffffu, any != 0)) - 1;
        u64 carry = lane == lowest;
#pragma unroll
        for (int c = 0; c < CHUNK; c++) {
            if (lane < lowest || lane * CHUNK + c >= WORDS) continue;
            carry += ~word[c];
            word[c] = u32(carry);
            carry >>= 32;
        }
    }
};

// A sum of whole numbers.
struct WideSum {
    u64 low;   // as many bits as it needs
    i64 high;  // from bit 32 on

    __device__ __forceinline__ WideSum() {}
    __device__ __forceinline__ explicit WideSum(i64 x) : low(u32(x)), high(x >> 32) {}
    // Adds another one times 2^bits.
    __device__ __forceinline__ void add(const WideSum& other, int bits) {
        low += u64(u32(other.low)) << bits;
        high += (other.high + i64(other.low >> 32)) * (1ll << bits);
    }
    // Of one that has 64 bits.
    __device__ __forceinline__ i64 number() const { return i64(u64(high) << 32 | low); }
    // Bits 32 k to 32 k + 31 of the number times 2^place.
    __device__ __forceinline__ u32 word(int k, int exponent) const {
        const i64 upper = high + i64(low >> 32);
        const int at = k - exponent / 32;
        u32 of = at > 2 ? u32(upper >> 63) : 0, below = at > 3 ? u32(upper >> 63) : 0;
#pragma unroll
        for (int c = 0; c < 3; c++) {
            const u32 chunk = c == 0 ? u32(low) : c == 1 ? u32(upper) : u32(upper >> 32);
            if (at == c) of = chunk;
            if (at == c + 1) below = chunk;
        }
        return __funnelshift_l(below, of, exponent);
    }
};

// The formats that results are rounded to.
struct Binary32 {
    typedef f32 Float;
    static constexpr int PRECISION = 24, BIAS = 127, FIELD = 255;
};
struct Binary64 {
    typedef f64 Float;
    static constexpr int PRECISION = 53, BIAS = 1023, FIELD = 2047;
};
struct Binary16 {
    static constexpr int PRECISION = 11, BIAS = 15, FIELD = 31;
};
struct Brain16 {
    static constexpr int PRECISION = 8, BIAS = 127, FIELD = 255;
};
template <class F> struct FormatOf {
    typedef Binary32 type;
};
template <> struct FormatOf<f64> {
    typedef Binary64 type;
};

// head * 2^(exponent - 63), to nearest, ties to even; the last bit of head stands for everything below it. Returns the
// bits.
template <class Format> __device__ __forceinline__ u64 round_head(u64 head, int exponent) {
    constexpr int LEAST = 1 - Format::BIAS;
    constexpr u64 INFINITE = u64(Format::FIELD) << (Format::PRECISION - 1);
    if (exponent > Format::BIAS) return INFINITE;
    int drop = 64 - Format::PRECISION;
    if (exponent < LEAST) drop += LEAST - exponent;
    if (drop > 64) return 0;
    const u64 kept = drop == 64 ? 0 : head >> drop;
    const u64 rest = head << (64 - drop), half = 1ull << 63;
    const u64 rounded = kept + (rest > half || (rest == half && kept % 2 == 1));
    // The leading bit of a normal number adds one to its field.
    return exponent < LEAST ? rounded : (u64(exponent + Format::BIAS - 1) << (Format::PRECISION - 1)) + rounded;
}

__device__ __forceinline__ void set_bits(f32* to, u64 bits) { *to = __uint_as_float(u32(bits)); }
__device__ __forceinline__ void set_bits(f64* to, u64 bits) { *to = __longlong_as_double(bits); }

// One warp: the float nearest to integer * 2^unit, by the specials that were met. `scratch` holds WORDS words.
template <class Format, int WORDS>
__device__ __forceinline__ u64 round_integer(Integer<WORDS> integer, int unit, u32 specials, u32* scratch) {
    constexpr int CHUNK = Integer<WORDS>::CHUNK;
    constexpr u64 INFINITE = u64(Format::FIELD) << (Format::PRECISION - 1);
    constexpr u64 SIGN = 1ull << (Format::PRECISION == 53 ? 63 : 31);
    if (specials == FLAG_PLUS) return INFINITE;
    if (specials == FLAG_MINUS) return SIGN | INFINITE;
    if (specials != 0) return INFINITE | 1ull << (Format::PRECISION - 2);
    const int lane = threadIdx.x % 32;
    const bool negative = integer.negative();
    if (negative) integer.negate();
    int mine = -1;
#pragma unroll
    for (int c = 0; c < CHUNK; c++) {
        if (integer.word[c] != 0) mine = lane * CHUNK + c;
    }
    const u32 nonzero = __ballot_sync(0xffffffffu, mine >= 0);
    if (nonzero == 0) return 0;
    const int top = __shfl_sync(0xffffffffu, mine, 31 - __clz(nonzero));
    integer.store(scratch);
    bool below = false;
#pragma unroll
    for (int c = 0; c < CHUNK; c++) {
        if (lane * CHUNK + c < top - 2) below = below || integer.word[c] != 0;
    }
    below = __any_sync(0xffffffffu, below);
    __syncwarp();
    const u32 first = scratch[top], second = top > 0 ? scratch[top - 1] : 0, third = top > 1 ? scratch[top - 2] : 0;
    __syncwarp();
    const int zeros = __clz(first);
    const u64 words = u64(first) << 32 | second;
    u64 head = words << zeros | u64(third) >> (32 - zeros);
    if (below || u32(u64(third) << zeros) != 0) head |= 1;
    return round_head<Format>(head, unit + 32 * top + 31 - zeros) | (negative ? SIGN : 0);
}

// One thread: the float nearest to number * 2^unit.
template <class Format> __device__ __forceinline__ u64 round_wide_sum(const WideSum& number, int unit) {
    i64 upper = number.high + i64(number.low >> 32);
    u32 lower = u32(number.low);
    const bool negative = upper < 0;
    if (negative) {
        lower = 0 - lower;
        upper = ~upper + (lower == 0);
    }
    // The upper 64 bits of 128, and the lower ones.
    u64 head = upper, rest = u64(lower) << 32;
    unit += 32;
    if (head == 0) {
        head = rest;
        rest = 0;
        unit -= 64;
    }
    if (head == 0) return 0;
    const int zeros = __clzll(head);
    head = head << zeros | rest >> 1 >> (63 - zeros);
    if (rest << zeros != 0) head |= 1;
    return round_head<Format>(head, unit + 63 - zeros) | (negative ? 1ull << (Format::PRECISION == 53 ? 63 : 31) : 0);
}
