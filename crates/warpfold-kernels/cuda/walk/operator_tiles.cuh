// A part of an output by one warp, which waits for no other (operator.cuh).
//
// A lane folds a run, and loads the elements that follow while it does. The 32 runs of a block merge in order, a chain
// of 31 steps for which one lane is as fast as 32: runs of a tile of blocks wait in shared memory, and then each block
// is a lane's. Neighbouring blocks of a tile merge two by two, and tiles as a counter in binary carries.
//
// Floor: the inputs once through the memory, or what an operator takes of an element: lifting it, a merge, and of a
// tile of 8 blocks an eighth of a merge more.
#pragma once
#include "walk/operator.cuh"

// Places for the runs of a block, so that no two blocks begin in one bank.
constexpr u32 ROW = RUN + 1;

// What a warp has in shared memory: runs of a tile, ROW a block, and behind them tiles that wait for their right
// neighbours, one a level.
struct Tiles {
    States runs, waiting;
    u64 leaves;  // of a tile: a power of two of blocks, up to 32

    __device__ __forceinline__ Tiles(u32 memory, u32 field, u64 blocks)
        : runs{memory, field}, waiting(runs.from(u32(blocks) * ROW)), leaves(blocks * BLOCK_LEAVES) {}

    // The blocks of a tile, whose runs are there: the first lane has the tile's state.
    __device__ __forceinline__ void join(u32 there) const {
        const u32 lane = threadIdx.x % 32, blocks = (there + BLOCK_LEAVES - 1) / BLOCK_LEAVES;
        const States mine = runs.from(lane * ROW);
        if (lane < blocks) {
            const u32 left = (there - lane * BLOCK_LEAVES + RUN - 1) / RUN, count = left < RUN ? left : RUN;
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

    // So many tiles of an output from one on, which begins at `begin`; all lanes. The first one has their state.
    __device__ __forceinline__ void fold(u64 begin, u64 tiles, u64 end, u64 origin) const {
        const u32 lane = threadIdx.x % 32;
        if (begin + lane * RUN + RUN <= end) load_run(begin + lane * RUN);
#pragma unroll 1
        for (u64 k = 0; k < tiles; k++) {
            const u64 first = begin + k * leaves, left = end - first;
            const u32 there = left < leaves ? u32(left) : u32(leaves);
#pragma unroll 1
            for (u32 b = 0; b * BLOCK_LEAVES < there; b++) {
                const u64 at = first + b * BLOCK_LEAVES + lane * RUN;
                if (at >= end) continue;
                // The next block's, or nothing new.
                fold_run(at, end, origin, at + BLOCK_LEAVES + RUN <= end ? at + BLOCK_LEAVES : at);
                runs.from(b * ROW + lane).put();
            }
            __syncwarp();
            join(there);
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
    }
};
