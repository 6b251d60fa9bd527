// Blocks of the canonical tree, of 32 runs of 32 leaves (tree_array.cuh).
#pragma once
#include "walk/array.cuh"

constexpr u32 RUN = 32, BLOCK_LEAVES = 1024;

// Runs of a block one by one, where they are not all plain.
template <class Op, class Run> __device__ __forceinline__ typename Op::Node join_runs(u32 count, const Run& run) {
    typename Op::Node all = run(0);
#pragma unroll 1
    for (u32 k = 1; k < count; k++) all = Op::join(all, run(k));
    return all;
}

// Runs of a block, of which run(k) is the k-th of so many, one at least.
template <class Op, class Run>
__device__ __forceinline__ typename Op::Node multiply_runs(u32 count, const Run& run) {
    typename Op::Block block(run(0));
#pragma unroll 1
    for (u32 k = 1; k < count; k++) block.multiply(run(k));
    return block.is_plain() ? block.node() : join_runs<Op>(count, run);
}

// A whole block by one lane: runs are read ahead, while the ones before them are multiplied.
template <class Op, u32 AHEAD, class Run> __device__ __forceinline__ typename Op::Node multiply_block(const Run& run) {
    typename Op::Block block(run(0));
#pragma unroll 1
    for (u32 first = 1; first < RUN; first += AHEAD) {
#pragma unroll
        for (u32 i = 0; i < AHEAD; i++) {
            if (i + 1 == AHEAD && first + i == RUN) continue;
            block.multiply(run(first + i));
        }
    }
    return block.is_plain() ? block.node() : join_runs<Op>(RUN, run);
}
