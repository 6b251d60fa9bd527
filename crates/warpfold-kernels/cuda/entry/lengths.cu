// segment_lengths: how many elements each segment has; whether offsets are some is checked as everywhere.
#include "walk/parts.cuh"

extern "C" __global__ void __launch_bounds__(SEGMENT_THREADS)
    segment_lengths(const void* offsets, u64 bounds, u64 segments, u64 n, u64* out, u64* faults) {
    const SegmentArguments a = {nullptr, n, offsets, bounds, 0, segments, out, nullptr, faults, 0};
    const Bounds at(a);
    const u64 threads = u64(gridDim.x) * blockDim.x;
    for (u64 k = u64(blockIdx.x) * blockDim.x + threadIdx.x; k < segments; k += threads) {
        const u64 begin = at[k], end = at[k + 1];
        if (end < begin || end > n) fault(a, OFFSETS, k);
        out[k] = end - begin;
    }
}
