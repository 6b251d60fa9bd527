// rung:   06_interleaved
// idea:   Every block folds its part of the array by a tree in shared memory, and what the blocks leave is folded in
//         the same way.
// mends:  05_one_block uses one multiprocessor and ends at 1024 elements.
// grid:   1 element a thread
// shared: 1 element a thread
// finish: recursive
// work:   n - G
// steps:  lg(min(n, B))
// seeds:  blog K2; lesson V1; slides; thesis 2.3.3; guide V0; Harris 1
// wrong:  The blog's barriers stand under a guard that part of a block fails. The thesis takes the array's bytes for
//         its count, and every block writes what it finds at its own number to the same place. The lesson reads past
//         the end. The guide's second pass writes over partial sums that other blocks have yet to read.
//
// The guard asks for every 2s-th thread: half of each warp waits in the first step, and all but one lane after five,
// while the warp goes through every step all the same. The remainder is not cheap either.
#include "ladder/rung.cuh"

template <class Op, class T> void interleaved(const T* in, T* out, u64 n) {
    T* const shared = shared_array<T>();
    const u32 t = threadIdx.x;
    const u64 i = u64(blockIdx.x) * blockDim.x + t;
    shared[t] = i < n ? in[i] : Op::identity();
    __syncthreads();
    for (u32 s = 1; s < blockDim.x; s *= 2) {
        if (t % (2 * s) == 0 && t + s < blockDim.x) shared[t] = Op::of(shared[t], shared[t + s]);
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = shared[0];
}

RUNG(interleaved, in, out, n)
