// What the rungs above 13_shuffle build on: its fold of a block, and 16-byte vectors of elements. 13_shuffle explains
// the former.
#pragma once
#include "walk/block.cuh"
#include "ladder/rung.cuh"

template <class Op, class T> inline T fold_warp(T value) {
#pragma unroll
    for (u32 lanes = 16; lanes > 0; lanes /= 2) value = Op::of(value, shuffle_down(value, lanes));
    return value;
}

// Every thread of the block calls it; the result is right in thread 0.
template <class Op, class T> inline T fold_block(T value) {
    __shared__ T of_warp[32];
    const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    value = fold_warp<Op>(value);
    if (lane == 0) of_warp[warp] = value;
    __syncthreads();
    if (warp == 0) value = fold_warp<Op>(lane < warps ? of_warp[lane] : Op::identity());
    return value;
}

template <class Op, class T> inline T fold_vector(T value, const Vector& vector) {
    const Elements<T> x(vector);
#pragma unroll
    for (int k = 0; k < PER_VECTOR<T>; k++) value = Op::of(value, x.element[k]);
    return value;
}
