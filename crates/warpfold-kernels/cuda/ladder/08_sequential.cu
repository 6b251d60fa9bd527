// rung:   08_sequential
// idea:   The upper half is folded into the lower half: neighbouring threads touch neighbouring words.
// mends:  The words that a warp touches in 07_strided_index share banks of shared memory.
// grid:   1 element a thread
// shared: 1 element a thread
// finish: recursive
// work:   n - G
// steps:  lg(min(n, B))
// seeds:  blog K4; lesson V2; slides parallel_reduce_shared; thesis 3.3; guide V2; Harris 3
// wrong:  The slides' kernel adds each element to itself in place of the other half. The thesis writes `stride >= 1`
//         for `stride >>= 1`, which never ends.
//
// No conflicts, and whole warps work or wait until the last 32 elements. But half of the threads do nothing but load.
#include "ladder/rung.cuh"

template <class Op, class T> void sequential(const T* in, T* out, u64 n) {
    T* const shared = shared_array<T>();
    const u32 t = threadIdx.x;
    const u64 i = u64(blockIdx.x) * blockDim.x + t;
    shared[t] = i < n ? in[i] : Op::identity();
    __syncthreads();
    for (u32 width = blockDim.x; width > 1; width = (width + 1) / 2) {
        const u32 half = (width + 1) / 2;  // rounded up, so that blocks need not be powers of two
        if (t < width / 2) shared[t] = Op::of(shared[t], shared[t + half]);
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = shared[0];
}

RUNG(sequential, in, out, n)
