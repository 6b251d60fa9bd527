// The ratio of an integer of 256 bits to one of 128, or its root, rounded once to f64 by one thread.
//
// A guess in f64 is off by a few units at most. Which float is nearest, exact products tell: of the number halfway
// between two neighbours with the denominator, compared with the numerator. So nearly all results take two such
// comparisons.
#pragma once
#include "num/double_double.cuh"

// Lowest limb first; room for a product that is compared with 256 bits.
struct Wide320 {
    u64 limb[5];

    static __device__ __forceinline__ Wide320 of(u64 a, u64 b = 0, u64 c = 0) { return {{a, b, c, 0, 0}}; }
    __device__ __forceinline__ bool is_zero() const { return (limb[0] | limb[1] | limb[2] | limb[3] | limb[4]) == 0; }
    __device__ __forceinline__ Wide320 times(u64 factor) const {
        Wide320 all;
        u64 carry = 0;
#pragma unroll
        for (int k = 0; k < 5; k++) {
            const u64 low = limb[k] * factor;
            all.limb[k] = low + carry;
            carry = __umul64hi(limb[k], factor) + (all.limb[k] < low);
        }
        return all;
    }
    __device__ __forceinline__ Wide320 plus(const Wide320& other, bool carry = false) const {
        Wide320 all;
#pragma unroll
        for (int k = 0; k < 5; k++) {
            const u64 sum = limb[k] + other.limb[k];
            all.limb[k] = sum + carry;
            carry = sum < limb[k] || all.limb[k] < sum;
        }
        return all;
    }
    __device__ __forceinline__ Wide320 minus(const Wide320& other) const {
        Wide320 turned;
#pragma unroll
        for (int k = 0; k < 5; k++) turned.limb[k] = ~other.limb[k];
        return plus(turned, true);
    }
    __device__ __forceinline__ Wide320 shifted(u32 by) const {
        Wide320 all = *this;
#pragma unroll
        for (int limbs = 4; limbs > 0; limbs /= 2) {
            const bool far = by & 64 * limbs;
#pragma unroll
            for (int k = 4; k >= 0; k--)
                all.limb[k] = far ? k >= limbs ? all.limb[k >= limbs ? k - limbs : 0] : 0 : all.limb[k];
        }
        const u32 bits = by % 64;
#pragma unroll
        for (int k = 4; k >= 0; k--)
            all.limb[k] = all.limb[k] << bits | (bits && k > 0 ? all.limb[k > 0 ? k - 1 : 0] >> (64 - bits) : 0);
        return all;
    }
    // The product of two of 128 bits.
    static __device__ __forceinline__ Wide320 product(u64 low, u64 high, u64 other_low, u64 other_high) {
        return of(low, high).times(other_low).plus(of(low, high).times(other_high).shifted(64));
    }
    // -1, 0 or 1.
    __device__ __forceinline__ int compare(const Wide320& other) const {
        int sign = 0;
#pragma unroll
        for (int k = 0; k < 5; k++) sign = limb[k] < other.limb[k] ? -1 : limb[k] > other.limb[k] ? 1 : sign;
        return sign;
    }
    __device__ __forceinline__ f64 nearly() const {
        f64 x = 0;
#pragma unroll
        for (int k = 4; k >= 0; k--) x = fma(x, 0x1p64, __ull2double_rn(limb[k]));
        return x;
    }
};

// x * 2^exponent.
__device__ __forceinline__ f64 scaled_by(f64 x, i32 exponent) {
    const i32 half = exponent / 2, rest = exponent - half;
    return x * __longlong_as_double(i64(1023 + half) << 52) * __longlong_as_double(i64(1023 + rest) << 52);
}

// (numerator / denominator, or its root) * 2^exponent, to the nearest f64, of two the even one.
__device__ __forceinline__ f64 nearest_ratio(const Wide320& numerator, u64 low, u64 high, bool root, i32 exponent) {
    if (numerator.is_zero()) return 0;
    const f64 ratio = numerator.nearly() / fma(__ull2double_rn(high), 0x1p64, __ull2double_rn(low));
    u64 bits = __double_as_longlong(scaled_by(root ? sqrt(ratio) : ratio, exponent));
    bool rose = false, fell = false;
#pragma unroll 1
    while (true) {
        // Whether what is rounded lies nearer to the next float than to this one.
        bool above = false;
        if (bits < 0x7ff0000000000000ull) {
            const u32 field = u32(bits >> 52);
            const u64 mantissa = (bits & 0xfffffffffffffull) | u64(field > 0) << 52, halfway = 2 * mantissa + 1;
            i32 shift = i32(field > 0 ? field : 1) - 1076 - exponent;
            Wide320 product = Wide320::of(low, high).times(halfway), other = numerator;
            if (root) {
                product = product.times(halfway);
                shift *= 2;
            }
            if (shift >= 0) product = product.shifted(u32(shift));
            else other = other.shifted(u32(-shift));
            const int side = other.compare(product);
            above = side > 0 || (side == 0 && mantissa % 2 == 1);
        }
        if (above ? fell : rose) return __longlong_as_double(bits + above);
        bits += above ? 1 : ~0ull;
        rose = above;
        fell = !above;
    }
}

// The same of an integer of 128 bits and one of 64, where two f64 hold the first, one f64 the second, and what they
// leave does not decide how the result is rounded; else false. What the quotient's second part lacks, and that of the
// root, is less than 2^-101 of the result.
__device__ __forceinline__ bool nearest_quickly(u64 low, u64 high, u64 denominator, bool root, f64& value) {
    if (high >> 42 != 0 || denominator >> 53 != 0) return false;
    const DoubleDouble number = two_sum(__ull2double_rn(high << 11 | low >> 53) * 0x1p53,
                                        __ull2double_rn(low & ((1ull << 53) - 1)));
    const f64 divisor = __ull2double_rn(denominator);
    f64 most = number.high, rest = number.low;
    bool exact = true;
    if (denominator > 1) {
        most = __ddiv_rn(number.high, divisor);
        const DoubleDouble left = two_sum(__fma_rn(-most, divisor, number.high), number.low);
        rest = __ddiv_rn(left.high, divisor);
        exact = left.low == 0 && __fma_rn(-rest, divisor, left.high) == 0;
    }
    if (root && most > 0) {
        const f64 r = __dsqrt_rn(most);
        rest = __ddiv_rn(__dadd_rn(__fma_rn(-r, r, most), rest), 2 * r);
        most = r;
        exact = false;
    }
    const f64 gap = __dmul_rn(most, 0x1p-98);
    value = __dadd_rn(most, rest);
    return exact || (__dadd_rn(most, __dadd_rn(rest, gap)) == value && __dadd_rn(most, __dsub_rn(rest, gap)) == value);
}
