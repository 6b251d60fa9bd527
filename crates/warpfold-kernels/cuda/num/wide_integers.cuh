// Integer totals wide enough that no array overflows them: 128 bits for sums, 192 for sums of products.
#pragma once
#include "num/elements.cuh"

// Two's complement, lowest limb first.
template <int LIMBS> struct WideInteger {
    u64 limb[LIMBS];

    static __device__ __forceinline__ WideInteger zero() {
        WideInteger t;
#pragma unroll
        for (int k = 0; k < LIMBS; k++) t.limb[k] = 0;
        return t;
    }

    // Adds a number of two limbs whose further limbs are all `sign` (0 or ~0).
    __device__ __forceinline__ void add(u64 low, u64 high, u64 sign) {
        WideInteger t;
#pragma unroll
        for (int k = 0; k < LIMBS; k++) t.limb[k] = k == 0 ? low : k == 1 ? high : sign;
        add(t);
    }
    __device__ __forceinline__ void add(i64 x) { add(u64(x), u64(x >> 63), u64(x >> 63)); }
    __device__ __forceinline__ void add(u64 x) { add(x, 0, 0); }

    __device__ __forceinline__ void add(const WideInteger& other) {
        bool carry = false;
#pragma unroll
        for (int k = 0; k < LIMBS; k++) {
            u64 sum = limb[k] + other.limb[k];
            bool out = sum < limb[k];
            limb[k] = sum + carry;
            carry = out || (carry && limb[k] == 0);
        }
    }

    // Adds the product of two elements.
    __device__ __forceinline__ void add_product(i64 a, i64 b) {
        i64 high = __mul64hi(a, b);
        add(u64(a) * u64(b), u64(high), u64(high >> 63));
    }
    __device__ __forceinline__ void add_product(u64 a, u64 b) { add(a * b, __umul64hi(a, b), 0); }

    // Adds x * 2^SHIFT.
    template <int SHIFT> __device__ __forceinline__ void add_shifted(u64 x) {
        WideInteger t = zero();
        t.limb[SHIFT / 64] = x << SHIFT % 64;
        if constexpr (SHIFT % 64 != 0 && SHIFT / 64 + 1 < LIMBS) t.limb[SHIFT / 64 + 1] = x >> (64 - SHIFT % 64);
        add(t);
    }
};

// A sum of up to 2^32 numbers of 64 bits without a carry between its halves: what a thread gathers.
struct Halves {
    u64 low = 0, high = 0;

    __device__ __forceinline__ void add(u64 x) {
        low += u32(x);
        high += x >> 32;
    }
    template <int SHIFT, int LIMBS> __device__ __forceinline__ void add_to(WideInteger<LIMBS>& total) const {
        total.template add_shifted<SHIFT>(low);
        total.template add_shifted<SHIFT + 32>(high);
    }
};
