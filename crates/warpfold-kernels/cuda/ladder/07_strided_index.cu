// rung:   07_strided_index
// idea:   The same tree, folded by the first threads of the block: thread k takes the k-th pair.
// mends:  In 06_interleaved the lanes that work are spread over all warps, so that every warp diverges in every step.
// grid:   1 element a thread
// shared: 1 element a thread
// finish: recursive
// work:   n - G
// steps:  lg(min(n, B))
// seeds:  blog K3; thesis 3.2; guide V1; Harris 2
// wrong:  The blog's and the thesis's loads are not guarded, or their barriers are; see 06_interleaved.
//
// Whole warps work and whole warps wait. But neighbouring threads touch words that lie 2s apart: with s = 16 all of a
// warp's words are in one bank of shared memory, which serves them one after the other.
#include "ladder/rung.cuh"

template <class Op, class T> void strided_index(const T* in, T* out, u64 n) {
    T* const shared = shared_array<T>();
    const u32 t = threadIdx.x;
    const u64 i = u64(blockIdx.x) * blockDim.x + t;
    shared[t] = i < n ? in[i] : Op::identity();
    __syncthreads();
    for (u32 s = 1; s < blockDim.x; s *= 2) {
        const u32 first = 2 * s * t;
        if (first + s < blockDim.x) shared[first] = Op::of(shared[first], shared[first + s]);
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = shared[0];
}

RUNG(strided_index, in, out, n)
