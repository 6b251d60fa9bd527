// Many reductions at once: of the segments of one array, whatever their lengths.
//
// Work is an element or a segment's end, which weighs as much as some of them, and every warp of the grid takes an
// equal, contiguous share of it (the merge path of offsets and elements: O. Green, R. McColl, D. Bader, GPU merge path,
// 2012). Where its share begins a warp finds with 32 probes at a time. Then it walks (segment_warp.cuh), without a
// barrier, so that every lane does the same work wherever the ends lie, loads are whole vectors, and results are
// written side by side. A warp cannot know what came before its first end and after its last: it leaves these as a
// piece; blocks join theirs, and the block that takes the last ticket joins all, in the order of the array
// (segment_runs.cuh). So the bits depend on the shape of the launch, and on nothing else. Where states are large, or
// segments are long, lanes have segments of their own in place of a tile's elements (segment_lanes.cuh).
//
// Floor: input, offsets and output once through the memory. In the time of 4 bytes an H200 issues some 25 instructions
// a lane, so that they bind where ends are dense.
//
// Counted in the simulator, instructions of PTX an element, sums of f32, fast and exact, segments of 16 and of 256
// elements (tests/simt/costs.rs holds them):
//   every round reads its offsets anew, four a lane, and compares them; a scan of five steps   63, 84 and 61, 88; 34 %
//   of the read ceiling on an H200 ends stay in lanes from round to round, a scan is as long as its longest run, what
//   came before is the first lane's own, a whole tile is loaded without guards                      38, 52 and 37, 58;
//   with what is told below 28, 45 and 22, 51
// Tried there: a tile in which one segment ends added from registers in two goes, before the end and after it: 19 to 24
// and 42 to 44 for segments of 1000, for 26 and 49, but a twentieth more for those of up to 256, a seventh more code,
// and registers spilled.
//
// Measured on an H200, in % of the read ceiling, fast sums of f32, lengths 0 to 64 and 0 to 1000, where half the
// instructions were those of a round, whatever it folds: flags of a byte, elements asked whether they are in the share
// and whether NaNs count, results beside the tile 56 and 65; flags of a bit, whole tiles without questions, results in
// the place of elements 65 and 77; tiles of 1024 in place of 512 elements 75 and 86 (24 instructions an element for
// 30). Exact 35 and 35, then 37 and 38. Tried there: the next tile loaded while one is folded, 45, for registers, and
// 62 with fewer blocks; eight vectors in flight in place of four, 73; the next offsets read ahead, 75.5 and 2 more for
// lengths 0 to 8, 2 less exact. Flags are set by atomics, which lanes of one word wait for: lengths of 1 by offsets 20,
// for 25 with flags of a byte, of 3 41 for 36.
//
// What they wait for then (Nsight Compute): 62 % of the time an instruction is issued; of the waiting 28 % is for a
// tile's elements and 10 % for offsets. Positions of a share in 32 bits in place of 64: 78 and 89. Offsets asked into
// L2 two rounds before: 80 and 89, lengths 0 to 16 from 60 to 65, 0 to 8 from 50 to 54. Half a tile loaded before its
// ends are looked at: 82 and 91. Exact 40 and 40, where states leave no registers to load earlier (33). Tried there:
// the whole tile loaded before, 61 for registers, 82 and 88 with three blocks a multiprocessor, but 61 for lengths 0 to
// 16; offsets in registers a round ahead 77; the next tile asked into L2 77 and 78; two, three and four times as many
// blocks 73, 71 and 69.
//
// An end weighs 32 elements, or more where segments are long: by the same counts a segment of four costs as much as 28
// elements in a row, an exact one as 15, and an end that is alone in its tile as much as 2000 and 1300. Together ends
// weigh no more than an eighth of the elements then, so that no more warps than that are idle if they are less. Tried,
// measured on an H200: an end that weighs as one element, one of nearly 2^28 among a million of four at 46 and 37 % of
// the read ceiling, multiprocessors at work for 45 % of the time; Zipf at 79 and 51.
#pragma once
#include "walk/segment_warp.cuh"

template <class Fold, class Warp = SegmentWarp<Fold>>
__device__ __forceinline__ void fold_segments(const SegmentArguments& a) {
    typedef typename Fold::State State;
    const FoldOptions desc{u32(a.options)};
    __shared__ typename Warp::Shared shared[SEGMENT_WARPS];
    __shared__ CarryOut<State> carry_outs[SEGMENT_WARPS];
    __shared__ bool is_last;
    const u32 warp = threadIdx.x / 32;
    Warp(a, shared[warp], carry_outs[warp]).run();
    __syncthreads();

    CarryOut<State>* of_block = reinterpret_cast<CarryOut<State>*>(a.workspace + 1);
    if (threadIdx.x == 0) {
        const CarryOut<State> block = join_carry_outs<Fold>(a, desc, carry_outs);
        if (gridDim.x == 1) {
            if (block.ended) finish_spanned<Fold>(a, desc, block.segment, block.head);
            is_last = false;
        } else {
            of_block[blockIdx.x] = block;
            is_last = take_ticket(&a.workspace->ticket, gridDim.x - 1) == gridDim.x - 1;
        }
    }
    __syncthreads();
    if (!is_last) return;
    join_blocks<Fold>(a, desc, of_block, carry_outs[warp]);
    __syncthreads();
    if (threadIdx.x == 0) {
        const CarryOut<State> all = join_carry_outs<Fold>(a, desc, carry_outs);
        if (all.ended) finish_spanned<Fold>(a, desc, all.segment, all.head);
    }
}
