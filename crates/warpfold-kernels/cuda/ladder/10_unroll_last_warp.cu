// rung:   10_unroll_last_warp
// idea:   Once a single warp is left, its steps need no barrier of the block, and no loop.
// mends:  In the last steps of 09_add_on_load every warp of the block arrives at barriers though only one works.
// grid:   2 elements a thread
// shared: 1 element a thread
// finish: recursive
// work:   n - G
// steps:  lg(min(n, 2 * B))
// seeds:  blog K6; thesis 3.5; guide V4; Harris 5
// wrong:  They all hold that the lanes of a warp move in step, and leave out synchronisation behind `volatile`. Since
//         Volta they need not move in step: that is a race. It also takes blocks of 64 threads for granted.
//
// `__syncwarp` is what the order of reads and writes within a warp is made of; it costs next to nothing.
#include "ladder/rung.cuh"

// Folds the first `width` elements, 33 to 64 of them or the block's 32; one warp calls it.
template <class Op, class T> T last_warp(T* shared, u32 t, u32 width) {
    T value = shared[t];
    if (t + 32 < width) value = Op::of(value, shared[t + 32]);
#pragma unroll
    for (u32 s = 16; s > 0; s /= 2) {
        shared[t] = value;
        __syncwarp();
        if (t < s) value = Op::of(value, shared[t + s]);
        __syncwarp();
    }
    return value;
}

template <class Op, class T> void unroll_last_warp(const T* in, T* out, u64 n) {
    T* const shared = shared_array<T>();
    const u32 t = threadIdx.x;
    const u64 i = u64(blockIdx.x) * blockDim.x * 2 + t;
    const T first = i < n ? in[i] : Op::identity();
    const T second = i + blockDim.x < n ? in[i + blockDim.x] : Op::identity();
    shared[t] = Op::of(first, second);
    __syncthreads();
    u32 width = blockDim.x;
    for (; width > 64; width = (width + 1) / 2) {
        const u32 half = (width + 1) / 2;
        if (t < width / 2) shared[t] = Op::of(shared[t], shared[t + half]);
        __syncthreads();
    }
    if (t < 32) {
        const T value = last_warp<Op>(shared, t, width);
        if (t == 0) out[blockIdx.x] = value;
    }
}

RUNG(unroll_last_warp, in, out, n)
