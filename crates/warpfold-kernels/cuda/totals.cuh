// Integer totals wide enough that no array overflows them: 128 bits for sums, 192 for sums of products.
#pragma once
#include "elements.cuh"

// Two's complement, lowest limb first.
template <int LIMBS> struct Total {
    u64 limb[LIMBS];

    static __device__ __forceinline__ Total zero() {
        Total t;
#pragma unroll
        for (int k = 0; k < LIMBS; k++) t.limb[k] = 0;
        return t;
    }

    // Adds a number of two limbs whose further limbs are all `sign` (0 or ~0).
    __device__ __forceinline__ void add(u64 low, u64 high, u64 sign) {
        Total t;
#pragma unroll
        for (int k = 0; k < LIMBS; k++) t.limb[k] = k == 0 ? low : k == 1 ? high : sign;
        add(t);
    }
    __device__ __forceinline__ void add(i64 x) { add(u64(x), u64(x >> 63), u64(x >> 63)); }
    __device__ __forceinline__ void add(u64 x) { add(x, 0, 0); }

    __device__ __forceinline__ void add(const Total& other) {
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
};
