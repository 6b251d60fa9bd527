// Many reductions at once: of any axes of any view, wherever its elements lie.
//
// An output belongs to a lane, neighbours to neighbours, or to a warp whose lanes share its elements, whichever walks
// memory in longer pieces (`lanes`). Where there are fewer warps' worth of outputs than warps, what is folded is split
// into runs, whose states are left in the workspace, [run][output], and joined by a second kernel in the order of the
// runs: so the bits depend on the shape of the launch alone. Lanes walk the innermost loop; only where that ends they
// work out where the loops about it stand.
//
// Floor: sectors of 32 bytes that the loops touch, once where neighbours use the rest of them soon. A lane has 4
// elements in flight.
#pragma once
#include "walk/columns.cuh"
#include "walk/loops.cuh"

struct StridedArguments {
    const void* x;        // where all loops begin
    u64 outputs, inputs;  // inputs: elements of each
    Loops loops;
    u64 lanes;  // of an output: 1 or 32
    u64 runs;
    void* states;  // one for each run and output, or null where there is one run
    void* out;
    u64* faults;
    u64 options;
};

template <class Fold> __device__ __forceinline__ void fold_strided(const StridedArguments& a) {
    typedef typename Fold::Element E;
    typedef typename Fold::State State;
    const FoldOptions desc{u32(a.options)};
    const typename Fold::Setup setup(desc);
    const SegmentArguments ends = {a.x, 0, nullptr, 0, a.inputs, a.outputs, a.out, nullptr, a.faults, a.options};
    const bool alone = a.lanes == 1;
    const u32 lane = threadIdx.x % 32;
    const u64 warp = (u64(blockIdx.x) * blockDim.x + threadIdx.x) / 32, warps = u64(gridDim.x) * blockDim.x / 32;
    const u64 tiles = alone ? (a.outputs + 31) / 32 : a.outputs, each = (a.inputs + a.runs - 1) / a.runs;
    const u64 length = a.loops.inner_length(), stride = a.loops.inner_stride();
#pragma unroll 1
    for (u64 unit = warp; unit < tiles * a.runs; unit += warps) {
        const u64 run = unit / tiles, n = alone ? unit % tiles * 32 + lane : unit % tiles;
        const u64 last = (run + 1) * each < a.inputs ? (run + 1) * each : a.inputs;
        State state = Fold::identity();
        u64 output = 0;
        if (n < a.outputs) {
            const E* x = static_cast<const E*>(a.x) + a.loops.nth(n, output);
            u64 position = run * each + (alone ? 0 : lane);
#pragma unroll 1
            while (position < last) {
                u64 at = position % length;
                const E* inner = x + a.loops.turned(position / length);
                const u64 end = length < at + (last - position) ? length : at + (last - position);
#pragma unroll 4
                for (; at < end; at += a.lanes, position += a.lanes)
                    Fold::add(state, inner[at * stride], position, setup);
            }
        }
        if (!alone) {
#pragma unroll 1
            for (u32 by = 16; by > 0; by /= 2) {
                const State other = shuffle_words(state, (lane + by) % 32);
                Fold::merge(state, other);
            }
        }
        if (n >= a.outputs || (!alone && lane > 0)) continue;
        if (a.states) static_cast<State*>(a.states)[run * a.outputs + output] = state;
        else Fold::finish(ends, desc, output, state, 0, a.inputs);
    }
}
