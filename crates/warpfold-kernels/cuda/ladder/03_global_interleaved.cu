// rung:   03_global_interleaved
// idea:   A tree: neighbours are folded, then neighbours of those, all in global memory, with a barrier after each
//         step.
// mends:  The steps of 02_vector_atomic grow as n does; those of a tree as its logarithm.
// grid:   1 element a thread
// memory: 1 element a thread
// finish: recursive
// work:   n - G
// steps:  lg(min(n, B))
// seeds:  lesson V3
// wrong:  The lesson's threads keep their sums to themselves, so that the next step folds elements that were folded
//         before: the result is wrong, and would be a race if they wrote them back, as the lesson says. It reads past
//         the end where n is no multiple of the block, and never folds what its blocks leave.
//
// The array itself stays as it is: blocks work on a copy, each on its own part of it. Which threads work, the guard
// says: every second, then every fourth, … of a warp, while the others of the same warp wait. See 06_interleaved for
// the same tree in shared memory.
#include "ladder/rung.cuh"

template <class Op, class T> void global_interleaved(const T* in, T* out, u64 n, T* work) {
    const u32 t = threadIdx.x;
    const u64 i = u64(blockIdx.x) * blockDim.x + t;
    work[i] = i < n ? in[i] : Op::identity();
    __syncthreads();
    for (u32 s = 1; s < blockDim.x; s *= 2) {
        if (t % (2 * s) == 0 && t + s < blockDim.x) work[i] = Op::of(work[i], work[i + s]);
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = work[i];
}

RUNG(global_interleaved, in, out, n, work)
