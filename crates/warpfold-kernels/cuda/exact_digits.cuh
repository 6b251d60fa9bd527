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

// f64 numbers of any size: 52 bits a digit, so that a mantissa touches two digits. The last bit of a number of exponent field LOWEST is bit 0, which
// stands for 2^-OFFSET of the type's unit.
//
// A number is cut by additions that round, not by shifts: to an f64 of the upper digit's unit 2^52 is added, so that the bits of the sum count whole units;
// what rounding has left, times 2^52, is the lower digit's part, exact as well. 22 instructions where shifts of 64 bits and signs take 66.
template <int THREADS_, int COUNT_, int LOWEST, int OFFSET_> struct IntegerDigits {
    static constexpr int THREADS = THREADS_, COUNT = COUNT_, BITS = 52, OFFSET = OFFSET_;
    static constexpr u64 MASK = (1ull << BITS) - 1;
    static_assert(BITS == 52, "5042 / 2^18 stands for 1 / 52, right for places below 6603");
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
    static __device__ __forceinline__ bool plain(f64 x) { return is_finite(x); }
    static __device__ __forceinline__ bool plain(f64 x, f64 y) { return is_finite(x) && is_finite(y); }

    // What digits `below` and `below + 1` are to be given.
    struct Placed { u32 below; i64 low, high; };
    struct PlacedProduct { Placed product, error; };

    // x times the power of two whose high word is `scale`, a number below 2^52 in units of the upper digit. What is added to one below zero is 2^53, for the sum
    // to stay where f64 counts by ones.
    static __device__ __forceinline__ Placed cut(f64 x, u32 below, u32 scale) {
        const f64 unit = __hiloint2double(scale, 0), half = 6755399441055744.0;  // 1.5 * 2^52
        const f64 bias = __hiloint2double(0x43300000 + (high_word(x) >> 31 << 20), 0);
        const f64 high = __fma_rn(x, unit, bias), rest = __fma_rn(x, unit, __dsub_rn(bias, high)), low = __fma_rn(rest, 4503599627370496.0, half);
        return {below, __double_as_longlong(low) - __double_as_longlong(half), __double_as_longlong(high) - __double_as_longlong(bias)};
    }
    __device__ __forceinline__ void put(const Placed& part) {
        i64* to = digit + part.below * THREADS;
        const i64 low = to[0], high = to[THREADS];
        to[0] = low + part.low;
        to[THREADS] = high + part.high;
    }
    // Of a product and its error, which lies no higher: all four digits are read before the first is written, where they are two or three as well.
    __device__ __forceinline__ void put(const PlacedProduct& parts) {
        const Placed &product = parts.product, &error = parts.error;
        i64 *to = digit + product.below * THREADS, *further = digit + error.below * THREADS;
        const i64 low = to[0] + product.low, high = to[THREADS] + product.high;
        const i64 error_low = further[0], error_high = further[THREADS];
        to[0] = low;
        to[THREADS] = high;
        const bool same = error.below == product.below, next = error.below + 1 == product.below;
        further[0] = (same ? low : error_low) + error.low;
        further[THREADS] = (same ? high : next ? low : error_high) + error.high;
    }

    // Finite numbers. Below NORMAL there are only zero and, if it is 1, subnormal ones.
    static __device__ __forceinline__ Placed placed(f64 x) {
        constexpr u32 NORMAL = LOWEST > 1 ? LOWEST : 1;
        const u32 field = high_word(x) >> 20 & 0x7ff;
        const u32 at = (field > NORMAL ? field : NORMAL) - LOWEST, below = at * 5042 >> 18;
        return cut(x, below, u32(1023 + 1075 - LOWEST - BITS) * (1u << 20) - below * (u32(BITS) << 20));
    }
    __device__ __forceinline__ void add_plain(f64 x) { put(placed(x)); }
    __device__ __forceinline__ void add(f64 x) {
        if (!plain(x)) specials |= met(x);
        else if constexpr (LOWEST > 0) add_plain(x);
        else add_far(x, 0);
    }
    // x * 2^exponent, finite, by integers, where f64 has no power of two for it: in digits of products.
    __device__ __forceinline__ void add_far(f64 x, i32 exponent) {
        const u64 bits = __double_as_longlong(x);
        const u32 field = u32(bits >> 52) & 0x7ff;
        const u64 mantissa = (bits & 0xfffffffffffffull) | u64(field > 0) << 52;
        const u32 at = i32(field > 0 ? field : 1) - LOWEST + exponent, below = at * 5042 >> 18, shift = at - below * BITS;
        const i64 sign = i64(bits) >> 63, number = (i64(mantissa) ^ sign) - sign;
        put(Placed{below, i64(u64(number) << shift & MASK), number >> (BITS - shift)});
    }

    // The product of two numbers, where bit 0 is the last bit of the least square (LOWEST is -1073). Exponents are taken off before, so that neither the product
    // nor its error overflows or underflows.
    __device__ __forceinline__ void add_product(f64 x, f64 y) {
        if (plain(x, y)) add_plain_product(x, y);
        else specials |= met(x * y);
    }
    __device__ __forceinline__ void add_plain_product(f64 x, f64 y) {
        u32 of_x, of_y;
        const f64 m = mantissa(x, of_x), n = mantissa(y, of_y), product = __dmul_rn(m, n), error = __fma_rn(m, n, -product);
        put(PlacedProduct{placed(product, of_x + of_y), placed(error, of_x + of_y)});
    }
    // x as a number below 2, and the field of the exponent that it has lost.
    static __device__ __forceinline__ f64 mantissa(f64 x, u32& field) {
        const u32 high = high_word(x);
        field = high >> 20 & 0x7ff;
        const f64 m = __hiloint2double((high & 0x800fffff) | 0x3ff00000, __double2loint(x));
        if (field > 0) return m;
        field = 1;
        return __dsub_rn(m, __hiloint2double((high & 0x80000000) | 0x3ff00000, 0));
    }
    // x * 2^(fields - 2046), where x is 0 or has a field above 900.
    static __device__ __forceinline__ Placed placed(f64 x, u32 fields) {
        const i32 field = high_word(x) >> 20 & 0x7ff, from = (field > 900 ? field : 900) + i32(fields) - (2046 + LOWEST);
        const u32 at = from > 0 ? from : 0, below = at * 5042 >> 18;
        return cut(x, below, (fields - LOWEST - below * BITS) << 20);
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
