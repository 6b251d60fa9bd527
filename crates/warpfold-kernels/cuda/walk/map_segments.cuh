// Segments of several lengths, of mapped values: rows (map_rows.cuh) whose bounds are given. Elements may be listed: an
// input's are then those at the places of a list, which the pseudo-instructions know.
//
// Lanes of a warp take steps until the longest of its segments ends, and no segment is divided among blocks: lengths
// that differ much, or few long segments, leave lanes idle.
#pragma once
#include "walk/map_rows.cuh"

struct GivenRows {
    const SegmentArguments& a;
    const Bounds bounds;
    __device__ __forceinline__ explicit GivenRows(const SegmentArguments& a) : a(a), bounds(a) {}
    // In the place of the one length that there is not.
    static __device__ __forceinline__ u32 lanes(const SegmentArguments& a) { return u32(a.length); }
    __device__ __forceinline__ u64 begin(u64 row) const { return row < a.segments ? bounds[row] : 0; }
    __device__ __forceinline__ u64 end(u64 row) const { return bounds[row + 1]; }
    // Nothing where these are no bounds. Segments are shorter than 2^32: who launches the kernel looks.
    __device__ __forceinline__ u32 count(u64 row) const {
        const u64 begin = bounds[row], end = bounds[row + 1];
        if (begin <= end && end <= a.n) return u32(end - begin);
        fault(a, OFFSETS, row);
        return 0;
    }
    struct Steps {
        const u32 each, per_step;
        // All lanes: one at least, as each step asks for those of the next row.
        __device__ __forceinline__ u32 of(u32 count) const {
            const u32 most = largest_of_lanes((count + each - 1) / each);
            return most > 0 ? most : 1;
        }
        __device__ __forceinline__ u32 whole(u32 count) const { return count / per_step * per_step; }
    };
    __device__ __forceinline__ Steps steps(u32 each, u32 per_step) const { return {each, per_step}; }
};

template <class Fold> __device__ __forceinline__ void fold_map_segments(const SegmentArguments& a) {
    typedef typename Fold::State State;
    __shared__ State joined[SEGMENT_WARPS];
    __shared__ State states[SEGMENT_WARPS][32];
    MapRows<Fold, GivenRows>(a).run(joined, states[threadIdx.x / 32]);
}

// An entry point: as MAP_ROWS_KERNEL, of segments of `n` elements by their offsets, which are of so many bytes.
#define MAP_SEGMENTS_KERNEL(name, ...) \
    extern "C" __global__ void __launch_bounds__(SEGMENT_THREADS, __VA_ARGS__::BLOCKS) \
        name(const void*, const void*, const void*, const void*, const void*, const void*, const void*, const void*, \
             u64 segments, u64 n, void* out, u64* counts, u64* faults, u64 options, u64 lanes, const void* offsets, \
             u64 bytes) { \
        fold_map_segments<__VA_ARGS__>({nullptr, n, offsets, bytes, lanes, segments, out, nullptr, faults, options}); \
    }
