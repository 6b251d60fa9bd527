// Blocks of the canonical tree, of 32 runs of 32 leaves (tree_array.cuh).
#pragma once
#include "walk/array.cuh"

constexpr u32 RUN = 32, BLOCK_LEAVES = 1024;

// Runs of a block, of which run(k) is the k-th of so many, one at least. Where they are not plain all are joined one by
// one.
template <class Op, class Run>
__device__ __forceinline__ typename Op::Node multiply_runs(u32 count, const Run& run) {
    typename Op::Block block(run(0));
#pragma unroll 1
    for (u32 k = 1; k < count; k++) block.multiply(run(k));
    if (block.is_plain()) return block.node();
    typename Op::Node all = run(0);
#pragma unroll 1
    for (u32 k = 1; k < count; k++) all = Op::join(all, run(k));
    return all;
}
