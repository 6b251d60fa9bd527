// Fixed-point sums of f32 numbers, their squares and products in shared memory, which all warps of a block share:
// shared_limbs.cuh with limbs that numbers need not be moved to.
//
// A mantissa is moved up by the lowest three bits of its exponent, which its conversion to an integer does, so that it
// is a multiple of 2^(8 k) and lies in two limbs; a product of two in four. Limbs begin every 8 binades. Each lane of a
// warp has a column of its own.
//
// Measured on an H200, in % of the read ceiling, 2^28 log-uniform numbers: with limbs of a thread's own; with these,
// but signs, mantissas and shifts by integers, whose unit binds at 40 instructions an element of moments; and so.
// Moments 39, 49 and 65; dots 75, 62 and 95; stats 18, 30 and 51. What it takes beside: to ask a vector by additions
// that leave zero of finite numbers, not by comparisons (dots 62 to 81); number and square from one conversion (moments
// 40 to 52); vectors asked first and then added without a branch (53 to 65; 93 to 96 of uniform numbers); one block of
// 512 threads in place of two of 256 (stats 46 to 51, 75 to 82 of uniform ones). Two vectors' code in a loop, not
// all: 35.
#pragma once
#include "acc/shared_limbs.cuh"

// OFFSET is 1 for numbers, 2 for products: by so many bits the first limb begins below their unit, where all is zero.
template <int THREADS, int OFFSET_, int BITS> struct BinnedLimbs {
    static constexpr bool SHARED = true, CHECKS = true;
    static constexpr int COLUMNS = 32, SPACING = 8, OFFSET = OFFSET_, BASE = -150 * OFFSET,
                         COUNT = (BITS / SPACING + 5) / 4 * 4, STORAGE = COUNT * COLUMNS / 2;
    // Limbs of 16 bits begin every 8 binades, so that every other one takes the carries.
    static constexpr int NEXT = 2 * COLUMNS;
    // As SharedLimbs has it, of which a column is every lane's of its own.
    static constexpr u32 ADDITIONS = 7 * (1 << 12) / (THREADS / 32) - 128;
    u32* first;
    u32 waiting = 0, specials = 0;

    __device__ __forceinline__ void open(u64* storage) { first = reinterpret_cast<u32*>(storage) + threadIdx.x % 32; }
    // To the same so many words of storage further on.
    __device__ __forceinline__ void skip(int words) { first += 2 * words; }

    // As SharedLimbs.
    __device__ __forceinline__ void settle() { settle_column<COUNT, COLUMNS, NEXT / COLUMNS>(first); }
    static __device__ __forceinline__ bool plain(f32 x) { return fabsf(x) <= 3.402823466e38f; }
    static __device__ __forceinline__ bool plain(f32 x, f32 y) { return plain(x) && plain(y); }

    // A number times the power of two that makes it a multiple of 2^(8 k) in units of the first limb, without that
    // factor; and k.
    struct Moved {
        i32 number;
        u32 bin;
    };
    static __device__ __forceinline__ Moved moved(f32 x) {
        const u32 bits = __float_as_uint(x);
        f32 number = __uint_as_float(bits & 0x83ffffff | 144 << 23);
        // A subnormal number has no highest bit, and is twice what its field says.
        const f32 twice_highest = __uint_as_float(bits & 0x80000000 | 145 << 23);
        if ((bits & 0x7f800000) == 0) number = __fmaf_rn(number, 2, -twice_highest);
        return {__float2int_rn(__fmul_rn(number, 64)), bits << 1 >> 27};
    }
    __device__ __forceinline__ void put(Moved x) const {
        const i32 high = x.number >> 16;
        u32* to = first + x.bin * COLUMNS;
        atomicAdd(to, low_half(x.number, high));
        atomicAdd(to + NEXT, u32(high));
    }
    __device__ __forceinline__ void put_product(Moved x, Moved y) const {
        const i64 product = i64(x.number) * y.number;
        u32* to = first + (x.bin + y.bin) * COLUMNS;
        const u32 low = u32(product), higher = low >> 16;
        const i32 high = i32(product >> 32), highest = high >> 16;
        atomicAdd(to, low_half(low, higher));
        atomicAdd(to + NEXT, higher);
        atomicAdd(to + 2 * NEXT, low_half(high, highest));
        atomicAdd(to + 3 * NEXT, u32(highest));
    }
    __device__ __forceinline__ void add_plain(f32 x) const { put(moved(x)); }
    __device__ __forceinline__ void add_plain_product(f32 x, f32 y) const { put_product(moved(x), moved(y)); }
    __device__ __forceinline__ void add(f32 x) {
        if (plain(x)) add_plain(x);
        else specials |= special_flag(x);
    }
    __device__ __forceinline__ void add_product(f32 x, f32 y) {
        if (plain(x, y)) add_plain_product(x, y);
        else specials |= special_flag(f64(x) * y);
    }
    // Sums of a window, which are f64 numbers like any other; of threads that had nothing they are zero.
    __device__ __forceinline__ void add_sum(f64 x) {
        if (x == 0) return;
        const u32 high = high_word(x);
        i32 at = i32(high >> 20 & 0x7ff) - (1075 + BASE);
        u64 bits = u64(high & 0xfffff | 0x100000) << 32 | u32(__double2loint(x));
        if (at < 0) {
            bits >>= -at;
            at = 0;
        }
        const i32 sign = i32(high) >> 31 | 1;
        const u32 by = at % 16, low = u32(bits), middle = u32(bits >> 32);
        const u32 word[3] = {low << by, __funnelshift_l(low, middle, by), __funnelshift_l(middle, 0, by)};
        u32* to = first + at / 16 * NEXT;
#pragma unroll
        for (int k = 0; k < 5; k++) atomicAdd(to + k * NEXT, (word[k / 2] >> k % 2 * 16 & 0xffff) * sign);
    }
    __device__ __forceinline__ void close() {}
};
