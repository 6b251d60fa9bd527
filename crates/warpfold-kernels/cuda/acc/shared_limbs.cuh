// Fixed-point sums of f64 numbers and their products in shared memory, which all warps of a block share: limbs of 16
// bits in words of 32.
//
// A number is cut in pieces of 16 bits, which are added by atomic additions of 32 bits. Their order changes nothing,
// nobody waits for what they return, and the hardware does 32 of different banks in 1.2 cycles: so the speed does not
// depend on the data, and memory does not limit the number of warps, as limbs of a thread's own do (private_limbs.cuh).
// Words are signed and have room for thousands of pieces; carries wait until then (`settle`).
//
// A limb has sixteen words, its columns; lanes l and l + 16 share one. The former begin numbers at even limbs, the
// latter at odd ones, up to 31 bits below: so the lanes of a warp are at 32 banks whatever limbs they are at.
//
// What bounds it is the unit for logic and shifts, of half the rate of all instructions: halves are taken from words by
// multiplications, and signs by such too.
#pragma once
#include "acc/private_limbs.cuh"

// A word without its high half, by a multiplication, which the compiler would make a logic operation of.
__device__ __forceinline__ u32 low_half(u32 word, u32 high) {
    u32 low;
    asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(low) : "r"(high), "r"(0xffff0000u), "r"(word));
    return low;
}

// Words of 32 bits of a number, and 1 or -1.
template <int R> struct Scaled {
    u32 word[R];
    i32 sign;
};

// Carries in a column of limbs, of which each hands on to the NEXT after it; the last ones have room for good. Others
// go on adding meanwhile, and may do the same. Four limbs are asked at once.
template <int COUNT, int COLUMNS, int NEXT> __device__ __forceinline__ void settle_column(u32* to) {
#pragma unroll 1
    for (int k = 0; k < COUNT; k += 4, to += 4 * COLUMNS) {
        i32 sum[4];
#pragma unroll
        for (int j = 0; j < 4; j++) sum[j] = i32(atomicAdd(to + j * COLUMNS, 0u));
#pragma unroll
        for (int j = 0; j < 4; j++) {
            if ((sum[j] < 1 << 28 && sum[j] > -(1 << 28)) || k + j + NEXT >= COUNT) continue;
            const i32 taken = i32(atomicExch(to + j * COLUMNS, 0u));
            atomicAdd(to + j * COLUMNS, u32(taken) & 0xffff);
            atomicAdd(to + (j + NEXT) * COLUMNS, u32(taken >> 16));
        }
    }
}

// Numbers that are multiples of 2^UNIT and below 2^(UNIT + BITS), and sums of thousands of them.
template <int THREADS, int UNIT, int BITS> struct SharedLimbs {
    static constexpr bool SHARED = true, CHECKS = true;
    static constexpr int COLUMNS = 16, MARGIN = 32, COUNT = ((MARGIN + BITS + 12 + 15) / 16 + 5) / 4 * 4,
                         STORAGE = COUNT * COLUMNS / 2;
    // Since any of the lanes that add to a word has last settled it, each of them has added no more than that and a
    // tile: from 2^28 on, less than 2^31 all together. What any lane does itself is enough for that, whatever the
    // others do.
    static constexpr u32 ADDITIONS = 7 * (1 << 12) / (THREADS / 16) - 128;
    u32* first;
    u32 waiting = 0, specials = 0;

    __device__ __forceinline__ void open(u64* storage) { first = reinterpret_cast<u32*>(storage) + threadIdx.x % 32; }
    // To the same so many words of storage further on.
    __device__ __forceinline__ void skip(int words) { first += 2 * words; }
    // Where a lane's first limb is: bits, and words of storage.
    static __device__ __forceinline__ u32 skipped() { return threadIdx.x & 16; }

    // Between tiles, of at most a hundred additions each, whoever counts them in `waiting`. Every limb of the column,
    // at whichever a lane begins its own numbers.
    __device__ __forceinline__ void settle() { settle_column<COUNT, COLUMNS, 1>(first - skipped()); }
    static __device__ __forceinline__ bool plain(f64 x) { return fabs(x) <= 1.7976931348623157e308; }
    static __device__ __forceinline__ bool plain(f64 x, f64 y) { return plain(x) && plain(y); }

    // A number of so many bits, times 2^at in units of the first limb.
    template <int SIGNIFICANT, int R> __device__ __forceinline__ void put(u32 at, const Scaled<R>& number) const {
        constexpr int PIECES = (SIGNIFICANT + 31 + 15) / 16;
        at -= skipped();
        u32* to = first + at / 32 * 32;
#pragma unroll
        for (int k = 0; 2 * k < PIECES; k++) {
            const u32 word = __funnelshift_l(k == 0 ? 0 : number.word[k - 1], k < R ? number.word[k] : 0, at);
            if (2 * k + 1 < PIECES) {
                const u32 high = word >> 16;
                atomicAdd(to + 2 * k * COLUMNS, low_half(word, high) * number.sign);
                atomicAdd(to + (2 * k + 1) * COLUMNS, high * number.sign);
            } else {
                atomicAdd(to + 2 * k * COLUMNS, word * number.sign);
            }
        }
    }
    static __device__ __forceinline__ i32 sign_of(u32 high) { return i32(high) >> 31 | 1; }
    // The mantissa, and the field of the exponent, 1 of subnormal numbers too.
    static __device__ __forceinline__ u32 field(f64 x, u32& high, u32& low) {
        const u32 magnitude = high_word(x) & 0x7fffffff, field = max(magnitude, 0x100000u) >> 20;
        high = magnitude - (field - 1) * 0x100000;
        low = __double2loint(x);
        return field;
    }

    __device__ __forceinline__ void add(f64 x) {
        if (plain(x)) add_plain(x);
        else specials |= special_flag(x);
    }
    // Times 2^exponent.
    __device__ __forceinline__ void add_plain(f64 x, i32 exponent = 0) const {
        u32 high, low;
        const u32 at = field(x, high, low) + (MARGIN - 1075 - UNIT) + exponent;
        put<53>(at, Scaled<2>{{low, high}, sign_of(high_word(x))});
    }
    __device__ __forceinline__ void add_product(f64 x, f64 y) {
        if (plain(x, y)) add_plain_product(x, y);
        else specials |= special_flag(x * y);
    }
    __device__ __forceinline__ void add_plain_product(f64 x, f64 y) const {
        u32 m1, m0, n1, n0;
        const u32 at = field(x, m1, m0) + field(y, n1, n0) + (MARGIN - 2150 - UNIT);
        const u64 lowest = u64(m0) * n0, one = u64(m0) * n1 + (lowest >> 32), other = u64(m1) * n0 + u32(one);
        const u64 highest = u64(m1) * n1 + (one >> 32) + (other >> 32);
        put<106>(at, Scaled<4>{{u32(lowest), u32(other), u32(highest), u32(highest >> 32)},
                               sign_of(high_word(x) ^ high_word(y))});
    }
    __device__ __forceinline__ void add_plain_square(f64 x) const {
        u32 m1, m0;
        const u32 at = 2 * field(x, m1, m0) + (MARGIN - 2150 - UNIT);
        const u64 lowest = u64(m0) * m0, middle = u64(m0) * (2 * m1) + (lowest >> 32),
                  highest = u64(m1) * m1 + (middle >> 32);
        put<106>(at, Scaled<4>{{u32(lowest), u32(middle), u32(highest), u32(highest >> 32)}, 1});
    }
    // Sums of a window, which are f64 numbers like any other; of threads that had nothing they are zero.
    __device__ __forceinline__ void add_sum(f64 x) {
        if (x != 0) add(x);
    }
    __device__ __forceinline__ void close() {}
};
