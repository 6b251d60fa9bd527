// Many outputs, each along the canonical tree of its own elements (tree_array.cuh): short segments, by offsets.
//
// A warp holds the ends of up to 32 segments, which lie one after another. It reads as many of them as there is room
// for by whole vectors to shared memory, as it does rows (tree_rows.cuh). Of up to 256 bytes each a lane takes a
// segment; else runs go from lane to lane, whichever segments they are of, and wait until a lane a segment multiplies
// them. A segment that is longer than a block, or than the room, is folded by all lanes where it lies.
//
// Floor: input, offsets and output once through the memory. Of segments of random lengths lanes wait for the longest.
#pragma once
#include "walk/tree_rows.cuh"

// The ends of up to 32 segments, a lane each.
struct SegmentEnds {
    u64 begin, end;  // the elements of the lane's segment
    u32 here;        // how many segments there are
    bool sound;      // whether the ends ascend

    __device__ __forceinline__ SegmentEnds(const SegmentArguments& a, u64 first, u32 most) {
        const u32 lane = threadIdx.x % 32;
        const Bounds bounds(a);
        here = u32(min(a.segments - first, u64(most)));
        const u64 mine = first + min(lane, here - 1);
        begin = bounds[mine];
        end = bounds[mine + 1];
        const bool wrong = end < begin || end > a.n;
        if (wrong) fault(a, OFFSETS, mine);
        sound = !__any_sync(0xffffffffu, wrong);
    }
};

// Segments that stand in shared memory, of which a lane has one, or none: where its elements begin there, and how many.
template <class Spans, class Op> struct StagedSegments {
    typedef StagedRows<Op, false> Staged;
    typedef typename Op::Element E;
    typedef typename Op::Node Node;
    // The longest that are staged; what fits.
    static constexpr u32 MOST = BLOCK_LEAVES, FIT = Staged::VECTORS * Staged::PER;

    const Staged& staged;
    u32 begin, count;

    __device__ __forceinline__ Node by_runs() const {
        const u32 lane = threadIdx.x % 32, runs = (count + RUN - 1) / RUN;
        u32 after = runs;
#pragma unroll
        for (u32 by = 1; by < 32; by *= 2) {
            const u32 before = __shfl_up_sync(0xffffffffu, after, by);
            if (lane >= by) after += before;
        }
        const u32 first = after - runs, all = __shfl_sync(0xffffffffu, after, 31);
#pragma unroll 1
        for (u32 base = 0; base < all; base += 32) {
            const u32 k = base + lane;
            // The last segment that begins with no later run has it.
            u32 owner = 0;
#pragma unroll
            for (u32 by = 16; by > 0; by /= 2) {
                if (__shfl_sync(0xffffffffu, first, owner + by) <= k) owner += by;
            }
            const u32 before = (k - __shfl_sync(0xffffffffu, first, owner)) * RUN,
                      from = __shfl_sync(0xffffffffu, begin, owner), many = __shfl_sync(0xffffffffu, count, owner);
            if (k < all) staged.put(k, staged.run(from + before, min(many - before, RUN)));
        }
        __syncwarp();
        if (runs <= 1) return runs == 0 ? Spans::one() : staged.get(first);
        return multiply_runs<Spans>(runs, [&](u32 k) { return staged.get(first + k); });
    }
    // The lane's segment is output k, if it is one.
    template <class Write> __device__ __forceinline__ void fold(u64 k, bool is_one, const Write& write) const {
        const bool is_long = count * u32(sizeof(E)) > SHORT_ROW_BYTES;
        if (__any_sync(0xffffffffu, is_long)) {
            const Node n = by_runs();
            if (is_one) write(k, n);
        } else if (is_one) {
            staged.template write_row<Spans>(k, begin, count, write);
        }
    }
};

// A warp's room: staged segments, or the tile of one that is long.
template <class Op> union TreeStage {
    typename StagedRows<Op, false>::Stage rows;
    PartTile<Op> tile;
};

// write as in tree_rows.cuh.
template <class Spans, class Op, class Write>
__device__ __forceinline__ void fold_staged_segments(const SegmentArguments& a, bool skip, TreeStage<Op>& stage,
                                                     const Write& write) {
    typedef StagedSegments<Spans, Op> Segments;
    typedef typename Op::Element E;
    const u32 lane = threadIdx.x % 32;
    const u64 warp = (u64(blockIdx.x) * blockDim.x + threadIdx.x) / 32, warps = u64(gridDim.x) * blockDim.x / 32;
    // As few at a time as leave no warp without any.
    const u32 each = u32(min((a.segments + warps - 1) / warps, 32ull));
#pragma unroll 1
    for (u64 first = warp * each; first < a.segments; first += warps * each) {
        const SegmentEnds ends(a, first, each);
        if (!ends.sound) continue;
#pragma unroll 1
        for (u32 next = 0; next < ends.here;) {
            const u64 from = __shfl_sync(0xffffffffu, ends.begin, next);
            const bool fits = ends.end - from <= Segments::FIT && ends.end - ends.begin <= Segments::MOST;
            const u32 beyond = ~__ballot_sync(0xffffffffu, fits && lane < ends.here) >> next;
            const u32 many = beyond == 0 ? 32 - next : min(u32(__ffs(beyond)) - 1, 32 - next);
            if (many == 0) {
                const E* const x = static_cast<const E*>(a.x);
                const TreeInput in = {from, __shfl_sync(0xffffffffu, ends.end, next) - from, 1, nullptr};
                const auto n = fold_part<Spans>(
                    in.count, 32, [&](u64 k, u32 count) { return run_of<Op>(x, in, k, count, skip); },
                    [&](u64 blocks, Carried<Spans>& carried) {
                        return fold_blocks<Op>(x + from, blocks, skip, stage.tile, carried);
                    });
                if (lane == 0) write(first + next, n);
                next++;
                continue;
            }
            const bool mine = lane >= next && lane < next + many;
            const u32 all = u32(__shfl_sync(0xffffffffu, ends.end, next + many - 1) - from);
            const E* const x = static_cast<const E*>(a.x) + from;
            const StagedRows<Op, false> staged = {stage.rows, u32(reinterpret_cast<u64>(x) % 16 / sizeof(E)), skip};
            staged.fill(x, all);
            __syncwarp();
            const Segments segments = {staged, staged.before + (mine ? u32(ends.begin - from) : 0),
                                       mine ? u32(ends.end - ends.begin) : 0};
            segments.fold(first + lane, mine, write);
            __syncwarp();
            next += many;
        }
    }
}
