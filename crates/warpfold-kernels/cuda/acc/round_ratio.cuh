// The one rounding of a mean, a variance, a deviation, a norm: an integer of a few thousand bits over one of 128, or
// the root of that, to a float.
//
// One warp. The quotient is taken to 64 bits or more (under a root to 126 or more), and whether anything is left below,
// so that it is rounded once.
#pragma once
#include "acc/carry_and_round.cuh"

// The widest numerator is the variance of complex128: 2^64 times a sum of squares, and squares of sums.
constexpr int WIDE = 140;
typedef Integer<WIDE> WideInteger;

struct U128 {
    u64 high, low;

    __device__ __forceinline__ bool operator>=(const U128& b) const {
        return high > b.high || (high == b.high && low >= b.low);
    }
    __device__ __forceinline__ U128 operator-(const U128& b) const {
        return {high - b.high - (low < b.low), low - b.low};
    }
    __device__ __forceinline__ U128 twice(u32 bit) const { return {high << 1 | low >> 63, low << 1 | bit}; }
    __device__ __forceinline__ u32 bits() const { return high != 0 ? 128 - __clzll(high) : 64 - __clzll(low); }
    __device__ __forceinline__ bool is_zero() const { return (high | low) == 0; }
};
__device__ __forceinline__ U128 product_of(u64 a, u64 b) { return {__umul64hi(a, b), a * b}; }

// So many bits of words from bit `at` on, which may lie below the first; 128 at most.
__device__ __forceinline__ U128 bits_of(const u32* word, i32 at, u32 count) {
    U128 bits = {0, 0};
#pragma unroll 1
    for (i32 k = count - 1; k >= 0; k--) {
        const i32 bit = at + k;
        bits = bits.twice(bit < 0 ? 0 : word[bit / 32] >> bit % 32 & 1);
    }
    return bits;
}

// The formats that results may have, as the library numbers them.
enum class Format { F32 = 0, F64 = 1, F16 = 2, BF16 = 4 };

// The bits of the nearest float's magnitude in a format.
__device__ __forceinline__ u64 round_bits(U128 number, bool inexact, i32 unit, Format to) {
    if (number.is_zero()) return 0;
    const i32 top = i32(number.bits()) - 1;
    u64 head = number.low;
    if (top >= 64) {
        const i32 drop = top - 63;
        head = number.high << (64 - drop) | number.low >> drop;
        inexact = inexact || number.low << (64 - drop) != 0;
    } else {
        head <<= 63 - top;
    }
    head |= inexact;
    unit += top;
    return to == Format::F64    ? round_head<Binary64>(head, unit)
           : to == Format::F32  ? round_head<Binary32>(head, unit)
           : to == Format::BF16 ? round_head<Brain16>(head, unit)
                                : round_head<Binary16>(head, unit);
}

enum class Root { No, Yes };

// A number, and something below it if inexact, in units of a power of two.
struct Cut {
    U128 number;
    bool inexact;
    i32 unit;
};

// numerator / denominator * 2^unit, or its root; neither is negative. `word` holds WIDE words. All lanes get it.
__device__ __forceinline__ Cut divide(const WideInteger& numerator, U128 denominator, i32 unit, Root root, u32* word) {
    i32 mine = -1;
#pragma unroll
    for (int c = 0; c < WideInteger::CHUNK; c++) {
        if (numerator.word[c] != 0) mine = threadIdx.x * WideInteger::CHUNK + c;
    }
    const u32 nonzero = __ballot_sync(0xffffffffu, mine >= 0);
    if (nonzero == 0) return {{0, 0}, false, 0};
    const i32 top = __shfl_sync(0xffffffffu, mine, 31 - __clz(nonzero));
    numerator.store(word);
    __syncwarp();
    // What is divided: the numerator from bit `from` on.
    const i32 width = denominator.bits();
    i32 from = 32 * top + 32 - __clz(word[top]) - width - (root == Root::Yes ? 127 : 64);
    if (root == Root::Yes && ((unit + from) & 1)) from++;
    bool below = false;
#pragma unroll
    for (int c = 0; c < WideInteger::CHUNK; c++) {
        const i32 k = threadIdx.x * WideInteger::CHUNK + c, left = from - 32 * k;
        const u32 lower = left >= 32 ? numerator.word[c] : left > 0 ? numerator.word[c] & ((1u << left) - 1) : 0;
        below = below || lower != 0;
    }
    below = __any_sync(0xffffffffu, below);

    // One bit of the quotient a turn; the bits before the first turn are less than the denominator.
    const i32 turns = 32 * top + 32 - __clz(word[top]) - from - (width - 1);
    U128 rest = bits_of(word, from + turns, width - 1), quotient = {0, 0};
#pragma unroll 1
    for (i32 k = turns - 1; k >= 0; k--) {
        const bool carry = rest.high >> 63;
        const i32 bit = from + k;
        rest = rest.twice(bit < 0 ? 0 : word[bit / 32] >> bit % 32 & 1);
        const bool taken = carry || rest >= denominator;
        if (taken) rest = rest - denominator;
        quotient = quotient.twice(taken);
    }
    const bool inexact = below || !rest.is_zero();
    if (root == Root::No) return {quotient, inexact, unit + from};

    U128 remainder = {0, 0};
    u64 sum = 0;
#pragma unroll 1
    for (i32 k = 126; k >= 0; k -= 2) {
        const u64 two = (k >= 64 ? quotient.high >> (k - 64) : quotient.low >> k) & 3;
        remainder = remainder.twice(0).twice(0);
        remainder.low |= two;
        const U128 trial = {sum >> 62, sum << 2 | 1};
        const bool taken = remainder >= trial;
        if (taken) remainder = remainder - trial;
        sum = sum << 1 | taken;
    }
    return {{0, sum}, inexact || !remainder.is_zero(), (unit + from) / 2};
}
