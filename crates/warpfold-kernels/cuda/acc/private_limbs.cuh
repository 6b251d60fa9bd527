// Fixed-point sums of any numbers, private to each thread: limbs in shared memory, one column a thread. Of what takes
// few limbs; else see shared_limbs.cuh.
//
// Limb k of thread t is word k * THREADS + t: neighbours touch neighbouring banks and no word has two owners, so there
// are neither conflicts nor atomics, and the speed does not depend on the data. Limbs are signed and hold far more than
// their bits, so that carries wait
// (`settle`) until a thousand additions later. Infinities and NaNs are a set beside the limbs.
#pragma once
#include "num/elements.cuh"

__device__ __forceinline__ u32 high_word(f64 x) { return u32(__double2hiint(x)); }
// 2 * (bits - low): how far from `low` on, where the sign is the highest bit and does not count. In one step, which the
// compiler would make two.
__device__ __forceinline__ u32 distance_from(u32 low, u32 bits) {
    u32 distance;
    asm("mad.lo.u32 %0, %1, 2, %2;" : "=r"(distance) : "r"(bits), "r"(low * u32(-2)));
    return distance;
}
__device__ __forceinline__ bool is_finite(f64 x) { return (high_word(x) & 0x7ff00000u) != 0x7ff00000u; }

// What was met beside finite numbers; the bits of a record.
constexpr u32 FLAG_NAN = 1, FLAG_PLUS = 2, FLAG_MINUS = 4;
__device__ __forceinline__ u32 special_flag(f64 x) { return x != x ? FLAG_NAN : x > 0 ? FLAG_PLUS : FLAG_MINUS; }

// f64 numbers of any size: 52 bits a limb, so that a mantissa touches two limbs. The last bit of a number of exponent
// field LOWEST is bit 0, which stands for 2^-OFFSET of the type's unit.
//
// A number is cut by additions that round, not by shifts: to an f64 of the upper limb's unit 2^52 is added, so that the
// bits of the sum count whole units; what rounding has left, times 2^52, is the lower limb's part, exact as well. 22
// instructions where shifts of 64 bits and signs take 66.
template <int THREADS_, int COUNT_, int LOWEST, int OFFSET_> struct IntegerLimbs {
    static constexpr bool SHARED = false, CHECKS = true;
    static constexpr int THREADS = THREADS_, COUNT = COUNT_, BITS = 52, OFFSET = OFFSET_, STORAGE = COUNT * THREADS;
    static constexpr u64 MASK = (1ull << BITS) - 1;
    static_assert(BITS == 52, "5042 / 2^18 stands for 1 / 52, right for places below 6603");
    static constexpr u32 ADDITIONS = 900;  // a limb has room for 1023 of less than 2^53 each
    i64* limb;
    u32 waiting = 0, specials = 0;

    __device__ __forceinline__ void open(u64* storage) { limb = reinterpret_cast<i64*>(storage) + threadIdx.x; }
    // To the same so many words of storage further on.
    __device__ __forceinline__ void skip(int words) { limb += words; }

    // Between tiles, of at most a hundred additions each, whoever counts them in `waiting`.
    __device__ __forceinline__ void settle() {
        i64 carry = 0;
        for (int k = 0; k < COUNT; k++) {
            const i64 sum = limb[k * THREADS] + carry;
            carry = k < COUNT - 1 ? sum >> BITS : 0;
            limb[k * THREADS] = k < COUNT - 1 ? sum & i64(MASK) : sum;
        }
    }
    static __device__ __forceinline__ bool plain(f64 x) { return is_finite(x); }

    // What limbs `below` and `below + 1` are to be given.
    struct Placed {
        u32 below;
        i64 low, high;
    };

    // x times the power of two whose high word is `scale`, a number below 2^52 in units of the upper limb. What is
    // added to one below zero is 2^53, for the sum to stay where f64 counts by ones.
    static __device__ __forceinline__ Placed cut(f64 x, u32 below, u32 scale) {
        const f64 unit = __hiloint2double(scale, 0), half = 6755399441055744.0;  // 1.5 * 2^52
        const f64 bias = __hiloint2double(0x43300000 + (high_word(x) >> 31 << 20), 0);
        const f64 high = __fma_rn(x, unit, bias), rest = __fma_rn(x, unit, __dsub_rn(bias, high)),
                  low = __fma_rn(rest, 4503599627370496.0, half);
        return {below, __double_as_longlong(low) - __double_as_longlong(half),
                __double_as_longlong(high) - __double_as_longlong(bias)};
    }
    __device__ __forceinline__ void put(const Placed& part) {
        i64* to = limb + part.below * THREADS;
        const i64 low = to[0], high = to[THREADS];
        to[0] = low + part.low;
        to[THREADS] = high + part.high;
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
        if (plain(x)) add_plain(x);
        else specials |= special_flag(x);
    }
    // Sums of a window, which are f64 numbers like any other.
    __device__ __forceinline__ void add_sum(f64 x) { add(x); }
    __device__ __forceinline__ void close() {}
    static __device__ __forceinline__ i64 integer(u64 word, int) { return i64(word); }
};

// f32 numbers (and bf16 as such): 16 binades a limb, each limb an f64 that the addition cannot round: 24 bits of
// mantissa, 15 of binades and 13 of additions. A number takes one conversion, one load, one addition and one store,
// where integers need thrice the instructions. Infinities and NaNs gather in the limb of their field by themselves.
template <int THREADS_, int OFFSET_> struct BinadeLimbs {
    static constexpr bool SHARED = false, CHECKS = false;
    static constexpr int THREADS = THREADS_, COUNT = 17, BITS = 16, OFFSET = OFFSET_, STORAGE = COUNT * THREADS;
    static constexpr u32 ADDITIONS = 8000;
    static constexpr int LAST = 15;  // the limb of infinities and NaNs; one more takes its carries
    f64* limb;
    u32 waiting = 0, specials = 0;

    __device__ __forceinline__ void open(u64* storage) { limb = reinterpret_cast<f64*>(storage) + threadIdx.x; }
    __device__ __forceinline__ void skip(int words) { limb += words; }

    // Moves what is a multiple of the next limb's unit there, leaving at most half of one.
    __device__ __forceinline__ void settle() {
        close();
        for (int k = 0; k <= LAST; k++) {
            const f64 sum = limb[k * THREADS];
            const f64 bias = __longlong_as_double(i64(BITS * (k + 1) - 150 + 52 + 1023) << 52 | 1ll << 51);
            const f64 carry = __dsub_rn(__dadd_rn(sum, bias), bias);
            limb[k * THREADS] = __dsub_rn(sum, carry);
            limb[(k + 1) * THREADS] = __dadd_rn(limb[(k + 1) * THREADS], carry);
        }
    }
    // What is not finite gathers by itself.
    __device__ __forceinline__ void add_plain(f32 x) { add(x); }
    __device__ __forceinline__ void add(f32 x) {
        f64* to = limb + (__float_as_uint(x) >> 27 & 15) * THREADS;
        *to = __dadd_rn(*to, f64(x));
    }
    // Sums of a window: three pieces of at most 24 bits, each to the limb of its own exponent.
    __device__ __forceinline__ void add_sum(f64 x) {
#pragma unroll
        for (int piece = 0; piece < 3; piece++) {
            const u64 bits = __double_as_longlong(x);
            const f64 head = __longlong_as_double(bits & ~((1ull << 29) - 1));
            const i32 field = i32(u32(bits >> 52) & 0x7ff) - (1023 - 127);
            f64* to = limb + (field < 0 ? 0 : field >> 4) * THREADS;
            *to = __dadd_rn(*to, head);
            x = __dsub_rn(x, head);
        }
    }
    // Takes what is not finite out of its limb.
    __device__ __forceinline__ void close() {
        const f64 last = limb[LAST * THREADS];
        if ((__double_as_longlong(last) >> 52 & 0x7ff) != 0x7ff) return;
        specials |= special_flag(last);
        limb[LAST * THREADS] = 0;
    }
    static __device__ __forceinline__ i64 integer(u64 word, int k) {
        return i64(__longlong_as_double(word) * __longlong_as_double(i64(150 - BITS * k + 1023) << 52));
    }
};
