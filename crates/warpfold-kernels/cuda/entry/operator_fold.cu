// operator_fold: an array by an operator of one's own, to the states of spans of a power of two of tiles.
//
// A lane folds a run, and loads the elements that follow while it does. The 32 runs of a block merge in order, a chain
// of 31 steps for which one lane is as fast as 32: runs of a tile of blocks wait in shared memory, and then each block is
// a lane's. Neighbouring blocks of a tile merge two by two, and tiles as a counter in binary carries. A warp waits for no
// other.
//
// Floor: the inputs once through the memory, or what an operator takes of an element: lifting it, a merge, and of a
// tile of 8 blocks an eighth of a merge more.
//
// states: STATE_WORDS a span.
#include "walk/operator.cuh"

// Places for the runs of a block, so that no two blocks begin in one bank.
constexpr u32 ROW = RUN + 1;

// The runs of a block, each to its place in shared memory: leaves from `begin` on, before n.
__device__ __forceinline__ void fold_runs(u64 begin, u64 n, const States& runs) {
    const u32 lane = threadIdx.x % 32;
    const u64 at = begin + lane * RUN;
    if (at + RUN <= n) {
        const u32 group = group_of_run();
        // What is loaded while the last elements are folded is the next block's, or nothing new.
        const u64 after = at + BLOCK_LEAVES + RUN <= n ? at + BLOCK_LEAVES : at;
#pragma unroll 1
        for (u32 k = 0; k < RUN; k += group) {
            const u64 next = k + group < RUN ? at + k + group : after;
            fold_group(k == 0, at + k, next);
        }
    } else if (at < n) {
#pragma unroll 1
        for (u64 i = at; i < n; i++) fold_leaf(i == at, i);
    }
    if (at < n) runs.from(lane).put();
}

// The blocks of a tile, whose runs are there: the first lane has the tile's state.
__device__ __forceinline__ void join_blocks(u32 leaves, const States& runs) {
    const u32 lane = threadIdx.x % 32, blocks = (leaves + BLOCK_LEAVES - 1) / BLOCK_LEAVES;
    const States mine = runs.from(lane * ROW);
    if (lane < blocks) {
        const u32 left = (leaves - lane * BLOCK_LEAVES + RUN - 1) / RUN, count = left < RUN ? left : RUN;
        mine.get();
#pragma unroll 1
        for (u32 k = 1; k < count; k++) mine.from(k).right();
    }
#pragma unroll 1
    for (u32 step = 1; step < blocks; step *= 2) {
        if (lane < blocks) mine.put();
        __syncwarp();
        if (lane % (2 * step) == 0 && lane + step < blocks) mine.from(step * ROW).right();
        __syncwarp();
    }
}

// tile: blocks of a tile, a power of two up to 32. span: tiles of a span, a power of two. field: bytes of shared memory
// for a field of a warp's states, of ROW a block and one a level of tiles that wait for their right neighbours; room:
// the same for all fields.
extern "C" __global__ void __launch_bounds__(OPERATOR_WARPS * 32)
    operator_fold(const void*, const void*, const void*, const void*, const void*, const void*, const void*, const void*,
                  u64 n, u64 tile, u64 span, u64 field, u64 room, u64* states, u64* faults) {
    extern __shared__ u64 operator_memory[];
    const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const u64 tile_leaves = tile * BLOCK_LEAVES, number = u64(blockIdx.x) * OPERATOR_WARPS + warp;
    const u64 begin = number * span * tile_leaves;
    if (begin >= n) return;
    const u64 all = (n - begin + tile_leaves - 1) / tile_leaves, tiles = all < span ? all : span;
    const States runs = {u32(__cvta_generic_to_shared(operator_memory)) + warp * u32(room), u32(field)};
    const States waiting = runs.from(u32(tile) * ROW);
    if (begin + lane * RUN + RUN <= n) load_run(begin + lane * RUN);
#pragma unroll 1
    for (u64 k = 0; k < tiles; k++) {
        const u64 first = begin + k * tile_leaves, left = n - first;
        const u32 leaves = left < tile_leaves ? u32(left) : u32(tile_leaves);
#pragma unroll 1
        for (u32 b = 0; b * BLOCK_LEAVES < leaves; b++) fold_runs(first + b * BLOCK_LEAVES, n, runs.from(b * ROW));
        __syncwarp();
        join_blocks(leaves, runs);
        if (lane == 0) {
            u32 level = 0;
#pragma unroll 1
            for (u64 carry = k; carry % 2 == 1; carry /= 2, level++) waiting.from(level).left();
            waiting.from(level).put();
        }
        __syncwarp();
    }
    if (lane > 0) return;
    // What stands to the right of a tile is less than it, and so merges as it is.
    u64 left = tiles;
    waiting.from(__ffsll(left) - 1).get();
#pragma unroll 1
    for (left &= left - 1; left != 0; left &= left - 1) waiting.from(__ffsll(left) - 1).left();
    put(states + number * STATE_WORDS);
}
