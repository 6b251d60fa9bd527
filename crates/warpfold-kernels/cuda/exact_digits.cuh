// Fixed-point sums of any numbers, private to each thread: digits in shared memory, one column a thread.
//
// Digit k of thread t is word k * THREADS + t: neighbours touch neighbouring banks and no word has two owners, so there are neither
// conflicts nor atomics, and the speed does not depend on the data. Digits are signed and hold far more than their bits, so that carries wait
// (`settle`) until a thousand additions later. Infinities and NaNs are a set beside the digits.
#pragma once
#include "elements.cuh"

__device__ __forceinline__ u32 high_word(f64 x) { return u32(__double2hiint(x)); }
// 2 * (bits - low): how far from `low` on, where the sign is the highest bit and does not count. In one step, which the compiler would make two.
__device__ __forceinline__ u32 distance_from(u32 low, u32 bits) {
    u32 distance;
    asm("mad.lo.u32 %0, %1, 2, %2;" : "=r"(distance) : "r"(bits), "r"(low * u32(-2)));
    return distance;
}
__device__ __forceinline__ bool is_finite(f64 x) { return (high_word(x) & 0x7ff00000u) != 0x7ff00000u; }

// What was met beside finite numbers; the bits of a record.
constexpr u32 MET_NAN = 1, MET_PLUS = 2, MET_MINUS = 4;
__device__ __forceinline__ u32 met(f64 x) { return x != x ? MET_NAN : x > 0 ? MET_PLUS : MET_MINUS; }

// f64 numbers of any size: 53 bits a digit, so that a mantissa touches two digits and a product of two of them three. The last bit of a number of
// exponent field LOWEST is bit 0, which stands for 2^-OFFSET of the type's unit.
template <int THREADS_, int COUNT_, int LOWEST, int OFFSET_> struct IntegerDigits {
    static constexpr int THREADS = THREADS_, COUNT = COUNT_, BITS = 53, OFFSET = OFFSET_;
    static constexpr u64 MASK = (1ull << BITS) - 1;
    static_assert(BITS == 53, "9893 / 2^19 stands for 1 / 53, right for places below 12825");
    static constexpr u32 ADDITIONS = 900;  // a digit has room for 1023 of less than 2^53 each
    i64* digit;
    u32 waiting = 0, specials = 0;

    __device__ __forceinline__ void open(u64* storage) { digit = reinterpret_cast<i64*>(storage) + threadIdx.x; }

    // Between waves, of at most a hundred additions each, whoever counts them in `waiting`.
    __device__ __forceinline__ void settle() {
        i64 carry = 0;
        for (int k = 0; k < COUNT; k++) {
            const i64 sum = digit[k * THREADS] + carry;
            carry = k < COUNT - 1 ? sum >> BITS : 0;
            digit[k * THREADS] = k < COUNT - 1 ? sum & i64(MASK) : sum;
        }
    }
    // x * 2^exponent.
    static __device__ __forceinline__ bool plain(f64 x) { return is_finite(x); }
    static __device__ __forceinline__ bool plain(f64 x, f64 y) { return is_finite(x) && is_finite(y); }

    __device__ __forceinline__ void add(f64 x, i32 exponent = 0) {
        if (plain(x)) add_plain(x, exponent);
        else specials |= met(x);
    }
    __device__ __forceinline__ void add_plain(f64 x, i32 exponent = 0) {
        const u64 bits = __double_as_longlong(x);
        const u32 field = u32(bits >> 52) & 0x7ff;
        // Below NORMAL there are only zero and, if it is 1, subnormal numbers.
        constexpr u32 NORMAL = LOWEST > 1 ? LOWEST : 1;
        const u64 mantissa = (bits & 0xfffffffffffffull) | u64(field >= NORMAL) << 52;
        const u32 at = i32(field >= NORMAL ? field : NORMAL) - LOWEST + exponent, k = at * 9893 >> 19, shift = at - k * BITS;
        // A signed number, cut in two: the lower digit's part is never negative.
        const i64 sign = i64(bits) >> 63, number = (i64(mantissa) ^ sign) - sign;
        i64* to = digit + k * THREADS;
        const i64 was_low = to[0], was_high = to[THREADS];
        to[0] = was_low + i64(u64(number) << shift & MASK);
        to[THREADS] = was_high + (number >> (BITS - shift));
    }
    // The product of two numbers, where bit 0 is the last bit of the least square (LOWEST is -1073): 106 bits at once, whatever underflows in floating point.
    __device__ __forceinline__ void add_product(f64 x, f64 y) {
        if (plain(x, y)) add_plain_product(x, y);
        else specials |= met(x * y);
    }
    __device__ __forceinline__ void add_plain_product(f64 x, f64 y) {
        const u64 a = __double_as_longlong(x), b = __double_as_longlong(y);
        const u32 of_a = u32(a >> 52) & 0x7ff, of_b = u32(b >> 52) & 0x7ff;
        const u64 m = (a & 0xfffffffffffffull) | u64(of_a > 0) << 52;
        const u64 n = (b & 0xfffffffffffffull) | u64(of_b > 0) << 52;
        const u32 at = (of_a ? of_a : 1) + (of_b ? of_b : 1) - 2, k = at * 9893 >> 19, shift = at - k * BITS;
        // A signed product of 128 bits, shifted and cut in three: only the highest digit's part is ever negative.
        const i64 sign = i64(a ^ b) >> 63, signed_m = (i64(m) ^ sign) - sign;
        const u64 low = u64(signed_m) * n;
        const i64 high = __mul64hi(signed_m, i64(n));
        const u64 word0 = low << shift, word1 = u64(high) << shift | low >> 1 >> (63 - shift);
        const i64 word2 = high >> 1 >> (63 - shift);
        i64* to = digit + k * THREADS;
        const i64 was0 = to[0], was1 = to[THREADS], was2 = to[2 * THREADS];
        to[0] = was0 + i64(word0 & MASK);
        to[THREADS] = was1 + i64((word0 >> 53 | word1 << 11) & MASK);
        to[2 * THREADS] = was2 + i64(word1 >> 42 | u64(word2) << 22);
    }
    // Sums of a window, which are f64 numbers like any other.
    __device__ __forceinline__ void add_sum(f64 x) { add(x); }
    __device__ __forceinline__ void close() {}
    static __device__ __forceinline__ i64 integer(u64 word, int) { return i64(word); }
};

// f32 numbers (and bf16 as such): 16 binades a digit, each digit an f64 that the addition cannot round: 24 bits of mantissa, 15 of binades and
// 13 of additions. A number takes one conversion, one load, one addition and one store, where integers need thrice the instructions.
// Infinities and NaNs gather in the digit of their field by themselves.
template <int THREADS_, int OFFSET_> struct BinadeDigits {
    static constexpr int THREADS = THREADS_, COUNT = 17, BITS = 16, OFFSET = OFFSET_;
    static constexpr u32 ADDITIONS = 8000;
    static constexpr int LAST = 15;  // the digit of infinities and NaNs; one more takes its carries
    f64* digit;
    u32 waiting = 0, specials = 0;

    __device__ __forceinline__ void open(u64* storage) { digit = reinterpret_cast<f64*>(storage) + threadIdx.x; }

    // Moves what is a multiple of the next digit's unit there, leaving at most half of one.
    __device__ __forceinline__ void settle() {
        close();
        for (int k = 0; k <= LAST; k++) {
            const f64 sum = digit[k * THREADS];
            const f64 bias = __longlong_as_double(i64(BITS * (k + 1) - 150 + 52 + 1023) << 52 | 1ll << 51);
            const f64 carry = __dsub_rn(__dadd_rn(sum, bias), bias);
            digit[k * THREADS] = __dsub_rn(sum, carry);
            digit[(k + 1) * THREADS] = __dadd_rn(digit[(k + 1) * THREADS], carry);
        }
    }
    // Each number is: what is not finite gathers by itself.
    static __device__ __forceinline__ bool plain(f32) { return true; }
    __device__ __forceinline__ void add_plain(f32 x) { add(x); }
    __device__ __forceinline__ void add(f32 x) {
        f64* to = digit + (__float_as_uint(x) >> 27 & 15) * THREADS;
        *to = __dadd_rn(*to, f64(x));
    }
    // Sums of a window: three pieces of at most 24 bits, each to the digit of its own exponent.
    __device__ __forceinline__ void add_sum(f64 x) {
#pragma unroll
        for (int piece = 0; piece < 3; piece++) {
            const u64 bits = __double_as_longlong(x);
            const f64 head = __longlong_as_double(bits & ~((1ull << 29) - 1));
            const i32 field = i32(u32(bits >> 52) & 0x7ff) - (1023 - 127);
            f64* to = digit + (field < 0 ? 0 : field >> 4) * THREADS;
            *to = __dadd_rn(*to, head);
            x = __dsub_rn(x, head);
        }
    }
    // Takes what is not finite out of its digit.
    __device__ __forceinline__ void close() {
        const f64 last = digit[LAST * THREADS];
        if ((__double_as_longlong(last) >> 52 & 0x7ff) != 0x7ff) return;
        specials |= met(last);
        digit[LAST * THREADS] = 0;
    }
    static __device__ __forceinline__ i64 integer(u64 word, int k) {
        return i64(__longlong_as_double(word) * __longlong_as_double(i64(150 - BITS * k + 1023) << 52));
    }
};
