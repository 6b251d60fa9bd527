// rung:   13_shuffle
// idea:   The lanes of a warp hand each other their registers; shared memory only carries one element a warp.
// mends:  Every step of 12_cascade's tree writes shared memory and reads it back.
// grid:   8 elements a thread
// finish: recursive
// work:   n - G
// steps:  min(8, ceil(n / B)) - 1 + lg(min(n, B))
// seeds:  guide V7
// wrong:  The guide's shuffles are sound. Its second pass races as that of its V0 does.
//
// One barrier for the whole block, whatever its size: before the first warp gathers what the warps have left. All lanes
// fold in every step though fewer and fewer are asked for: the work that is counted is more than the formula's, but
// those lanes would only have waited.
#include "walk/block.cuh"
#include "ladder/rung.cuh"

constexpr u32 EACH = 8;

template <class Op, class T> T fold_warp(T value) {
#pragma unroll
    for (u32 lanes = 16; lanes > 0; lanes /= 2) value = Op::of(value, shuffle_down(value, lanes));
    return value;
}

template <class Op, class T> void shuffle(const T* in, T* out, u64 n) {
    __shared__ T of_warp[32];
    const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    const u64 base = u64(blockIdx.x) * blockDim.x * EACH + threadIdx.x;
    T value = Op::identity();
#pragma unroll
    for (u32 k = 0; k < EACH; k++) {
        const u64 i = base + k * blockDim.x;
        if (i < n) value = Op::of(value, in[i]);
    }
    value = fold_warp<Op>(value);
    if (lane == 0) of_warp[warp] = value;
    __syncthreads();
    if (warp == 0) {
        value = fold_warp<Op>(lane < warps ? of_warp[lane] : Op::identity());
        if (lane == 0) out[blockIdx.x] = value;
    }
}

RUNG(shuffle, in, out, n)
