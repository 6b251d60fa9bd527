// A window for f64 numbers and their squares: each number is cut into three pieces, whose products f64 sums hold
// exactly.
//
// Of numbers x below 2^H, a = x rounded to multiples of 2^(H-22), b = the rest rounded to those of 2^(H-45), and c,
// what then is left, a multiple of 2^(H-68). Each of aa, ab, ac, bb, bc and cc is a whole number of 44 bits of its own
// unit, so that 512 of them are added by fused operations that never round. The sums that do the cutting are biased
// accumulators and gather a and b as they go. 13 operations an element; product and error, each through biased
// accumulators of its own, take 23.
#pragma once
#include "acc/private_limbs.cuh"

// LANES: the parts of an element; all squares are gathered together.
template <int LANES_> struct SplitWindow {
    static constexpr int LANES = LANES_, FIRST = 22, SECOND = 45, THIRD = 68;
    static constexpr u32 SPAN = THIRD - 52, ADDITIONS = 512 / LANES, FIELDS = 2047;
    // Where no square of a piece underflows, nor any sum overflows.
    static constexpr u32 LEAST = 1023 - 484, MOST = 1023 + 500 - SPAN;
    static constexpr int SQUARES = 6;
    f64 first[LANES], second[LANES], third[LANES], square[SQUARES];
    u32 low;  // the lowest field, as the high word of such a number

    __device__ __forceinline__ SplitWindow() { start_at(1023 + 3 - SPAN); }
    // The start of an accumulator whose unit is 2^(H - place).
    __device__ __forceinline__ f64 bias(int place) const {
        return __longlong_as_double(i64((low >> 20) + SPAN - place + 52) << 52 | 1ll << 51);
    }
    __device__ __forceinline__ void start_at(u32 field) {
        low = field << 20;
        clear();
    }
    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int l = 0; l < LANES; l++) {
            first[l] = bias(FIRST);
            second[l] = bias(SECOND);
            third[l] = 0;
        }
#pragma unroll
        for (int n = 0; n < SQUARES; n++) square[n] = 0;
    }
    static __device__ __forceinline__ u32 field(f64 x) {
        const u32 field = high_word(x) >> 20 & FIELDS;
        return field == FIELDS ? 0 : field;
    }
    __device__ __forceinline__ bool covers(u32 field) const { return field - (low >> 20) < SPAN; }
    // To where it holds the field with a binade to spare.
    __device__ __forceinline__ void move(u32 field) {
        const u32 start = field + 2 > SPAN ? field + 2 - SPAN : 0;
        start_at(start < LEAST ? LEAST : start > MOST ? MOST : start);
    }
    static constexpr u32 REACH = SPAN << 21;
    __device__ __forceinline__ u32 distance(f64 x) const { return distance_from(low, high_word(x)); }
    // Hands on the first piece, and what it has left.
    __device__ __forceinline__ void add(int l, f64 x, f64& a, f64& rest) {
        const f64 s = __dadd_rn(first[l], x);
        a = __dsub_rn(s, first[l]);
        first[l] = s;
        rest = __dsub_rn(x, a);
        const f64 t = __dadd_rn(second[l], rest);
        const f64 b = __dsub_rn(t, second[l]);
        second[l] = t;
        const f64 c = __dsub_rn(rest, b);
        third[l] = __dadd_rn(third[l], c);
        square[0] = __fma_rn(a, a, square[0]);
        square[1] = __fma_rn(a, b, square[1]);
        square[2] = __fma_rn(a, c, square[2]);
        square[3] = __fma_rn(b, b, square[3]);
        square[4] = __fma_rn(b, c, square[4]);
        square[5] = __fma_rn(c, c, square[5]);
    }
    __device__ __forceinline__ void add(int l, f64 x) {
        f64 a, rest;
        add(l, x, a, rest);
    }
    template <class Limbs> __device__ __forceinline__ void drain_squares(Limbs& limbs) {
        limbs.waiting += SQUARES;
#pragma unroll 1
        for (int n = 0; n < SQUARES; n++) {
            // Those of unlike pieces count twice. The next one moves down to where it is looked for.
            limbs.add_sum(n == 0 || n == 3 || n == 5 ? square[0] : __dmul_rn(square[0], 2.0));
            const f64 done = square[0];
#pragma unroll
            for (int m = 1; m < SQUARES; m++) square[m - 1] = square[m];
            square[SQUARES - 1] = done;
        }
    }
    // Sums of lane l go to limbs l.
    template <class SumLimbs, class SquareLimbs> __device__ __forceinline__ void drain(SumLimbs (&sums)[LANES],
                                                                                       SquareLimbs& squares) {
#pragma unroll
        for (int l = 0; l < LANES; l++) {
            sums[l].waiting += 3;
#pragma unroll 1
            for (int n = 0; n < 3; n++) {
                sums[l].add_sum(n == 0   ? __dsub_rn(first[l], bias(FIRST))
                                : n == 1 ? __dsub_rn(second[l], bias(SECOND))
                                         : third[l]);
            }
        }
        drain_squares(squares);
        clear();
    }
};
