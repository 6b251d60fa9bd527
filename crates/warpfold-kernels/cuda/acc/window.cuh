// Where natural data goes: f64 accumulators in registers that no addition rounds, for numbers of a window of exponents.
//
// A window covers SPAN exponent fields from `low` on. Which ones is each thread's own affair: it follows the data
// (`move`). It holds numbers whose `distance` from the lowest, as a whole number without the sign, is less than REACH:
// of a vector only the largest is asked.
#pragma once
#include "acc/private_limbs.cuh"

// Sums of lanes that f64 holds exactly, into limbs.
template <int STEP, int LANES, class Limbs> __device__ __forceinline__ void drain_lanes(f64* lane, int part,
                                                                                        Limbs& limbs) {
    f64 sum = 0;
#pragma unroll
    for (int l = 0; l < LANES; l += STEP) {
        sum = __dadd_rn(sum, lane[l + part]);
        lane[l + part] = 0;
    }
    limbs.waiting += 3;
    limbs.add_sum(sum);
}

// All finite numbers: for f16, whose 40 bits leave f64 room for the additions.
template <int LANES> struct WholeRange {
    static constexpr u32 ADDITIONS = 1024;
    f64 lane[LANES];

    __device__ __forceinline__ WholeRange() {
#pragma unroll
        for (int l = 0; l < LANES; l++) lane[l] = 0;
    }
    static constexpr u32 REACH = 0xffu << 24;
    __device__ __forceinline__ u32 distance(f32 x) const { return __float_as_uint(x) * 2; }
    __device__ __forceinline__ void add(int l, f64 x) { lane[l] = __dadd_rn(lane[l], x); }
    template <int STEP, class Limbs> __device__ __forceinline__ void drain(int part, Limbs& limbs) {
        drain_lanes<STEP, LANES>(lane, part, limbs);
    }
    static __device__ __forceinline__ u32 field(f32) { return 0; }
    __device__ __forceinline__ bool covers(u32) const { return true; }
    __device__ __forceinline__ void move(u32) {}

    // SmallInput numbers: the same, in units of the type.
    static constexpr bool TWO_PHASE = true;
    static constexpr u32 SMALL_REACH = REACH;
    static constexpr int SMALL_OFFSET = 0, BELOW = 0;
    __device__ __forceinline__ void expect_small() {}
    __device__ __forceinline__ i64 integer(int l) const { return __double2ll_rn(__dmul_rn(lane[l], 16777216.0)); }
};

// f32 numbers of MANTISSA bits by plain addition: MANTISSA + SPAN + 10 bits of additions + 2 of lanes are the 53 of an
// f64.
template <int LANES, int MANTISSA> struct PlainWindow {
    static constexpr u32 SPAN = 53 - 12 - MANTISSA, ADDITIONS = 1024, FIELDS = 255;
    f64 lane[LANES];
    u32 low = (130 - SPAN) << 23;  // the window ends at 8

    __device__ __forceinline__ PlainWindow() {
#pragma unroll
        for (int l = 0; l < LANES; l++) lane[l] = 0;
    }
    static constexpr u32 REACH = SPAN << 24;
    __device__ __forceinline__ u32 distance(f32 x) const { return distance_from(low, __float_as_uint(x)); }
    __device__ __forceinline__ void add(int l, f64 x) { lane[l] = __dadd_rn(lane[l], x); }
    template <int STEP, class Limbs> __device__ __forceinline__ void drain(int part, Limbs& limbs) {
        drain_lanes<STEP, LANES>(lane, part, limbs);
    }
    // The exponent field of a finite number; 0 of others, which no window is moved for.
    static __device__ __forceinline__ u32 field(f32 x) {
        const u32 field = __float_as_uint(x) >> 23 & 255;
        return field == FIELDS ? 0 : field;
    }
    __device__ __forceinline__ bool covers(u32 field) const { return field - (low >> 23) < SPAN; }
    // Moves the window, which is empty, to where it holds the field with three binades to spare.
    __device__ __forceinline__ void move(u32 field) {
        const u32 end = field + 3 < FIELDS ? field + 3 : FIELDS;
        low = (end > SPAN ? end - SPAN : 1) << 23;
    }

    // SmallInput numbers (small_array.cuh), at most 8 of f32 in a lane and 16 of bf16; lanes are not added in f64. So
    // the window is wider, down from 8 as well.
    static constexpr bool TWO_PHASE = true;
    static constexpr u32 SMALL_SPAN = 54 - MANTISSA - (MANTISSA < 12 ? 4 : 3), SMALL_LEAST = 130 - SMALL_SPAN,
                         SMALL_REACH = SMALL_SPAN << 24;
    // The binades of another window below, whose sum is one for all lanes of a part: not more than sixty-two numbers.
    static constexpr int BELOW = 20;
    static_assert(MANTISSA + BELOW + 6 <= 53 && 63 + 12 + BELOW <= 95,
                  "their sum is exact, and a WideSum holds that of 4095 blocks");
    // The unit of their sums, in binades above that of the type; a lane's sum in that unit.
    static constexpr int SMALL_OFFSET = SMALL_LEAST - 1;
    __device__ __forceinline__ void expect_small() { low = SMALL_LEAST << 23; }
    __device__ __forceinline__ i64 integer(int l) const { return integer_of(lane[l], 0); }
    // A sum in a unit so many binades below.
    static __device__ __forceinline__ i64 integer_of(f64 sum, int below) {
        return __double2ll_rn(
            __dmul_rn(sum, __longlong_as_double(i64(1023 + 126 + MANTISSA - SMALL_LEAST + below) << 52)));
    }
};

// f64 numbers of MANTISSA bits by biased accumulators. One starts at 1.5 * 2^M and so lies on the grid 2^(M-52)
// throughout: s = q + z rounds z to that grid, h = s - q is what went in, and z - h, exact as well, goes to the next
// one, at last to a plain sum. With 2^LOG additions of magnitudes below 2^H the first has M = H + LOG + 1, each next M'
// = M - 52 + LOG + 2, and the plain sum is exact while M_last + 2 LOG - 53 <= grid + 53. (S. Rump, T. Ogita, S. Oishi,
// Accurate floating-point summation, 2008.) With more than one level each addition is a product and its error, which
// enters at the second (and doubles what arrives there): no window goes where the error would underflow.
template <int LANES, int MANTISSA, int LEVELS, int LOG> struct BiasedWindow {
    // SmallInput numbers go the way of many.
    static constexpr bool TWO_PHASE = false;
    static constexpr int BELOW = 0;
    static constexpr u32 SMALL_REACH = 0;
    static constexpr u32 SPAN = 106 - MANTISSA - 2 * LOG - (LEVELS - 1) * (LOG - 50) - (LEVELS > 1);
    static constexpr u32 ADDITIONS = 1u << LOG, FIELDS = 2047, BITS = MANTISSA;
    static constexpr u32 LEAST = LEVELS > 1 ? 54 : 1, END = FIELDS - 2 - LOG;
    f64 level[LEVELS][LANES], rest[LANES];
    u32 low;  // the lowest field, as the high word of such a number

    __device__ __forceinline__ BiasedWindow() {
        low = (1023 + 6 - SPAN) << 20;
        clear();
    }
    __device__ __forceinline__ f64 bias(int n) const {
        const i64 field = i64((low >> 20) + SPAN) + LOG + 1 - n * (50 - LOG);
        return __longlong_as_double(field << 52 | 1ll << 51);
    }
    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int l = 0; l < LANES; l++) {
#pragma unroll
            for (int n = 0; n < LEVELS; n++) level[n][l] = bias(n);
            rest[l] = 0;
        }
    }
    static __device__ __forceinline__ u32 field(f64 x) {
        const u32 field = high_word(x) >> 20 & FIELDS;
        return field == FIELDS ? 0 : field;
    }
    __device__ __forceinline__ bool covers(u32 field) const { return field - (low >> 20) < SPAN; }
    __device__ __forceinline__ void move(u32 field) {
        const u32 end = field + 3 < END ? field + 3 : END;
        start_at(end > SPAN + LEAST ? end - SPAN : LEAST);
    }
    // From an exponent field on; the window is empty.
    __device__ __forceinline__ void start_at(u32 field) {
        low = field << 20;
        clear();
    }
    static constexpr u32 REACH = SPAN << 21;
    __device__ __forceinline__ u32 distance(f64 x) const { return distance_from(low, high_word(x)); }
    // From level `first` on.
    __device__ __forceinline__ void add(int l, f64 x, int first = 0) {
#pragma unroll
        for (int n = 0; n < LEVELS; n++) {
            if (n < first) continue;
            const f64 sum = __dadd_rn(level[n][l], x);
            x = __dsub_rn(x, __dsub_rn(sum, level[n][l]));
            level[n][l] = sum;
        }
        rest[l] = __dadd_rn(rest[l], x);
    }
    // A product that f64 holds exactly, without being made: what the level leaves of it is such a number too.
    __device__ __forceinline__ void add_product(int l, f64 x, f64 y) {
        static_assert(LEVELS == 1, "one level, then the plain sum");
        const f64 sum = __fma_rn(x, y, level[0][l]);
        const f64 rest_of_it = __fma_rn(x, y, -__dsub_rn(sum, level[0][l]));
        level[0][l] = sum;
        rest[l] = __dadd_rn(rest[l], rest_of_it);
    }
    template <int STEP, class Limbs> __device__ __forceinline__ void drain(int part, Limbs& limbs) {
        limbs.waiting += LANES / STEP * (LEVELS + 1);
#pragma unroll 1
        for (int n = 0; n <= LEVELS; n++) {
#pragma unroll
            for (int l = 0; l < LANES; l += STEP) {
                f64 value = rest[l + part];
#pragma unroll
                for (int m = 0; m < LEVELS; m++) {
                    if (m == n) value = __dsub_rn(level[m][l + part], bias(m));
                }
                limbs.add_sum(value);
            }
        }
#pragma unroll
        for (int l = 0; l < LANES; l += STEP) {
#pragma unroll
            for (int m = 0; m < LEVELS; m++) level[m][l + part] = bias(m);
            rest[l + part] = 0;
        }
    }
};

// Products of finite f16: multiples of 2^-48 up to 2^32, all on the grid of one window.
template <int LANES> struct WholeProducts : BiasedWindow<LANES, 22, 1, 10> {
    __device__ __forceinline__ WholeProducts() { this->start_at(1023 + 32 - this->SPAN); }
    static constexpr u32 REACH = 0x7ffu << 21;
    __device__ __forceinline__ u32 distance(f64 x) const { return high_word(x) * 2; }
    static __device__ __forceinline__ u32 field(f64) { return 0; }
    __device__ __forceinline__ bool covers(u32) const { return true; }
    __device__ __forceinline__ void move(u32) {}
};
