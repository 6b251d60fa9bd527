// rung:   11_unrolled
// idea:   The block's size is known when the kernel is compiled, so that no step is a loop's and no guard is asked in
//         vain.
// mends:  10_unroll_last_warp still counts, compares and branches in every step of its loop.
// grid:   2 elements a thread
// blocks: 32 64 128 256 512 1024
// finish: recursive
// work:   n - G
// steps:  lg(min(n, 2 * B))
// seeds:  thesis 3.6 (named); guide V5; Harris 6
// wrong:  The guide's and Harris's last warp is that of 10_unroll_last_warp: `volatile` and no `__syncwarp`.
//
// One entry for each size: the launch chooses. What is gained are instructions; where memory is what everyone waits
// for, that is little.
#include "ladder/rung.cuh"

template <u32 BLOCK, class Op, class T> void unrolled(const T* in, T* out, u64 n) {
    __shared__ T shared[BLOCK];
    const u32 t = threadIdx.x;
    const u64 i = u64(blockIdx.x) * BLOCK * 2 + t;
    const T first = i < n ? in[i] : Op::identity();
    const T second = i + BLOCK < n ? in[i + BLOCK] : Op::identity();
    T value = Op::of(first, second);
    shared[t] = value;
    __syncthreads();
#pragma unroll
    for (u32 half = BLOCK / 2; half > 32; half /= 2) {
        if (t < half) shared[t] = value = Op::of(value, shared[t + half]);
        __syncthreads();
    }
    if (t < 32) {
        if (BLOCK > 32) value = Op::of(value, shared[t + 32]);
#pragma unroll
        for (u32 s = 16; s > 0; s /= 2) {
            shared[t] = value;
            __syncwarp();
            if (t < s) value = Op::of(value, shared[t + s]);
            __syncwarp();
        }
        if (t == 0) out[blockIdx.x] = value;
    }
}

#define UNROLLED(BLOCK)                                                       \
    template <class Op, class T> void unrolled_##BLOCK(const T* in, T* out, u64 n) { \
        unrolled<BLOCK, Op>(in, out, n);                                      \
    }                                                                         \
    RUNG(unrolled_##BLOCK, in, out, n)
UNROLLED(32)
UNROLLED(64)
UNROLLED(128)
UNROLLED(256)
UNROLLED(512)
UNROLLED(1024)
