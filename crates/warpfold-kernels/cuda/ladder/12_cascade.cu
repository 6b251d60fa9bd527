// rung:   12_cascade
// idea:   A thread folds eight elements one after the other before its block begins with the tree.
// mends:  The trees of 10_unroll_last_warp and 11_unrolled cost more than the two loads that each thread has to do for
//         them.
// grid:   8 elements a thread
// shared: 1 element a thread
// finish: recursive
// work:   n - G
// steps:  min(8, ceil(n / B)) - 1 + lg(min(n, B))
// seeds:  thesis 3.6 (named); guide V6; Harris 7
// wrong:  The guide counts in 32 bits, and its second pass races as that of its V0 does.
//
// Serial where it costs nothing, a tree where threads must meet: S grows by seven, and the number of trees falls to a
// quarter. Brent's bound says why that pays: processors are fewer than elements.
#include "ladder/rung.cuh"

constexpr u32 EACH = 8;

template <class Op, class T> void cascade(const T* in, T* out, u64 n) {
    T* const shared = shared_array<T>();
    const u32 t = threadIdx.x;
    const u64 base = u64(blockIdx.x) * blockDim.x * EACH + t;
    T value = Op::identity();
#pragma unroll
    for (u32 k = 0; k < EACH; k++) {
        const u64 i = base + k * blockDim.x;
        if (i < n) value = Op::of(value, in[i]);
    }
    shared[t] = value;
    __syncthreads();
    u32 width = blockDim.x;
    for (; width > 64; width = (width + 1) / 2) {
        const u32 half = (width + 1) / 2;
        if (t < width / 2) shared[t] = Op::of(shared[t], shared[t + half]);
        __syncthreads();
    }
    if (t < 32) {
        value = shared[t];
        if (t + 32 < width) value = Op::of(value, shared[t + 32]);
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

RUNG(cascade, in, out, n)
