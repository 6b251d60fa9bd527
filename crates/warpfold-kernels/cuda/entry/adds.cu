// How many additions a device does in a second: `n` rounds of eight additions a thread, which touch no memory.
//
// Each of the eight numbers is added to by its neighbour, so that no compiler can tell the end from the beginning, and
// eight additions are under way at a time.
#include "num/elements.cuh"

constexpr int LANES = 8;

template <class T> __device__ __forceinline__ void add_all(const T* in, u64 n, T* out) {
    T value[LANES];
#pragma unroll
    for (int k = 0; k < LANES; k++) value[k] = in[k];
#pragma unroll 16
    for (u64 round = 0; round < n; round++) {
#pragma unroll
        for (int k = 0; k < LANES; k++) value[k] += value[(k + 1) % LANES];
    }
    T sum = value[0];
#pragma unroll
    for (int k = 1; k < LANES; k++) sum += value[k];
    // All threads leave the same.
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

#define ADDS(T) \
    extern "C" __global__ void __launch_bounds__(1024) add_##T(const T* in, u64 n, T* out) { add_all<T>(in, n, out); }
// Unsigned, so that overflow is defined.
ADDS(u32)
ADDS(u64)
ADDS(f32)
ADDS(f64)
