// rung:   04_global_sequential
// idea:   The tree in global memory folds the upper half of a block's elements into the lower half, then again.
// mends:  In 03_global_interleaved the threads that work are spread over all warps, and so are the elements that they
//         touch.
// grid:   1 element a thread
// memory: 1 element a thread
// finish: recursive
// work:   n - G
// steps:  lg(min(n, B))
// seeds:  lesson V4; slides parallel_reduce
// wrong:  The lesson's version errs as its V3 does. The slides' works in the array itself, which is lost; only sizes
//         that are a power of two come out right, and only as many blocks as a second launch has threads.
//
// Threads that work stand side by side, and so do their elements: a warp touches few sectors of memory. Yet every step
// still goes through global memory.
#include "ladder/rung.cuh"

template <class Op, class T> void global_sequential(const T* in, T* out, u64 n, T* work) {
    const u32 t = threadIdx.x;
    const u64 i = u64(blockIdx.x) * blockDim.x + t;
    work[i] = i < n ? in[i] : Op::identity();
    __syncthreads();
    for (u32 width = blockDim.x; width > 1; width = (width + 1) / 2) {
        const u32 half = (width + 1) / 2;  // rounded up, so that blocks need not be powers of two
        if (t < width / 2) work[i] = Op::of(work[i], work[i + half]);
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = work[i];
}

RUNG(global_sequential, in, out, n, work)
