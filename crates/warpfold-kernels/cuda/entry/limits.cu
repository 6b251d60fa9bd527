// What no kernel can be faster than: nothing at all, and reading alone. The benchmark divides by these.
#include "num/elements.cuh"

extern "C" __global__ void empty() {}

// Reads everything with so many 16-byte loads in flight a thread, and keeps what it read alive without writing it.
template <int LOADS> __device__ __forceinline__ void read_all(const Vector* x, u64 n, u32* out) {
    const u64 threads = u64(gridDim.x) * blockDim.x;
    u64 i = u64(blockIdx.x) * blockDim.x * LOADS + threadIdx.x;
    Vector all = {};
    for (; i + (LOADS - 1) * blockDim.x < n; i += LOADS * threads) {
        Vector p[LOADS];
#pragma unroll
        for (int k = 0; k < LOADS; k++) p[k] = load(x + i + k * blockDim.x);
#pragma unroll
        for (int k = 0; k < LOADS; k++) {
            for (int w = 0; w < 4; w++) all.word[w] ^= p[k].word[w];
        }
    }
    // What is left of the last tile.
    for (int k = 0; k < LOADS; k++) {
        if (i + k * blockDim.x < n) {
            const Vector p = load(x + i + k * blockDim.x);
            for (int w = 0; w < 4; w++) all.word[w] ^= p.word[w];
        }
    }
    if ((all.word[0] & all.word[1] & all.word[2] & all.word[3]) == 0x12345678u) *out = all.word[0];
}

#define READ(LOADS) \
    extern "C" __global__ void __launch_bounds__(1024) read_##LOADS(const Vector* x, u64 n, u32* out) { \
        read_all<LOADS>(x, n, out); \
    }
READ(1)
READ(2)
READ(4)
READ(8)
