// A warp's share of the merge path (segments.cuh): its elements, the segments that end in it, and their ends, 32 at a
// time, each compared with the one before when they are loaded.
#pragma once
#include "walk/segment_runs.cuh"

template <class Fold> struct SegmentShare {
    typedef typename Fold::Element E;
    typedef typename Fold::State State;
    // What an end weighs at least and at most, in elements of a share; all of them an eighth of the elements, where
    // that lies between.
    static constexpr u64 LEAST_WEIGHT = 32, MOST_WEIGHT = 1024;
    static constexpr u32 NONE = ~0u, MOST = 1u << 31;

    const SegmentArguments& a;
    const Bounds bounds;
    CarryOut<State>& carry_out;
    const FoldOptions desc;
    const u32 lane;
    // Of the share, whose elements and segments, no more than MOST, are counted from there on: element `start`, which
    // begins a vector, and its first segment.
    u64 start, segment;
    const Vector* vectors;  // element `start`; of those before the array's first so many are none
    u32 none, size;         // and how many there are from there on
    u32 s, e, s1, e1;       // the first segment whose end a lane holds, the next element, and where the share ends
    u32 end;                // where segment s + lane ends, or NONE if that is beyond the share
    u32 passed = 0;         // how many of the ends that lanes hold lie before e
    bool full;              // whether segment s + lane has elements

    __device__ __forceinline__ SegmentShare(const SegmentArguments& a, CarryOut<State>& carry_out)
        : a(a), bounds(a), carry_out(carry_out), desc{u32(a.options)}, lane(threadIdx.x % 32) {}

    // How many ends come before a place on the path: 32 probes at a time.
    __device__ __forceinline__ u64 ends_before(u64 position, u64 first, u64 weight) const {
        u64 low = 0, high = a.segments;
        while (low < high) {
            const u64 step = (high - low + 31) / 32, probe = low + lane * step;
            const bool before = probe < high && bounds[probe + 1] - first + probe * weight < position;
            const u32 count = __popc(__ballot_sync(0xffffffffu, before));
            if (count == 0) return low;
            low += (count - 1) * step + 1;
            const u64 last = low + step - 1;
            high = last < high ? last : high;
        }
        return low;
    }

    // The element at a place of the path (counted from element 0) that so many ends come before: the last of these may
    // reach beyond it.
    __device__ __forceinline__ u64 element_at(u64 position, u64 ends, u64 weight) const {
        const u64 begun = bounds[ends], passed_at = begun + ends * weight;
        return position < passed_at ? begun : begun + (position - passed_at);
    }

    // The share of this warp, from an element on whose number is a multiple of UNIT, or with a UNIT of 0 from one that
    // begins a vector of memory; false if the offsets are none.
    template <u32 UNIT> __device__ __forceinline__ bool take() {
        const u64 first = bounds[0], last = bounds[a.segments];
        if (last < first || last > a.n) {
            if (lane == 0) fault(a, OFFSETS, a.segments);
            return false;
        }
        const u64 eighth = (last - first) / (8 * a.segments + !a.segments);
        const u64 weight = eighth < LEAST_WEIGHT ? LEAST_WEIGHT : eighth < MOST_WEIGHT ? eighth : MOST_WEIGHT;
        const u64 work = last - first + a.segments * weight, warps = u64(gridDim.x) * SEGMENT_WARPS;
        const u64 warp = u64(blockIdx.x) * SEGMENT_WARPS + threadIdx.x / 32, share = (work + warps - 1) / warps;
        const u64 from = warp * share < work ? warp * share : work, to = from + share < work ? from + share : work;
        segment = ends_before(from, first, weight);
        if (lane == 0) carry_out.segment = segment;
        __syncwarp();
        const u64 ended = to == work ? a.segments : ends_before(to, first, weight);
        const u64 begin = element_at(first + from, segment, weight),
                  stop = to == work ? last : element_at(first + to, ended, weight);
        const bool open = segment == a.segments || begin <= bounds[segment + 1];
        // Nor are shares of sound offsets longer than that: there are blocks enough.
        const bool is_long = stop - begin > MOST || ended - segment > MOST;
        if (ended < segment || stop < begin || stop > last || !open || is_long) {
            if (lane == 0) fault(a, OFFSETS, segment);
            return false;
        }
        if constexpr (UNIT > 0) {
            e = u32(begin % UNIT);
        } else {
            // What the array's first vector has before it.
            const u64 address = reinterpret_cast<u64>(a.x) + begin * sizeof(E);
            e = u32(address % 16 / sizeof(E));
            vectors = reinterpret_cast<const Vector*>(address & ~15ull);
        }
        start = begin - e;
        none = begin < e ? u32(0 - start) : 0;
        size = a.n - start < NONE ? u32(a.n - start) : NONE;
        e1 = u32(stop - start);
        s = 0;
        s1 = u32(ended - segment);
        return true;
    }

    // The next 32 ends, of which the first comes after element `before`; false if they descend.
    __device__ __forceinline__ bool look(u32 before) {
        s += passed;
        passed = 0;
        const bool there = s + lane < s1;
        const u64 here = there ? bounds[segment + s + lane + 1] : ~0ull;
        // So that the next but one do not come from memory first; of each sector of four, one.
        if (lane % 4 == 0 && s + 64 + lane < s1) bounds.prefetch(segment + s + 64 + lane + 1);
        u64 begin = __shfl_up_sync(0xffffffffu, here, 1);
        if (lane == 0) begin = start + before;
        full = here > begin;
        const bool wrong = there && (here < begin || here > a.n);
        if (wrong) fault(a, OFFSETS, segment + s + lane);
        end = there && here - start <= e1 ? u32(here - start) : NONE;
        return !__any_sync(0xffffffffu, wrong);
    }
};
