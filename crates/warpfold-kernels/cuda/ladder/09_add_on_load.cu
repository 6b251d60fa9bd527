// rung:   09_add_on_load
// idea:   A thread loads two elements and folds them on the way to shared memory.
// mends:  Half of the threads of 08_sequential load one element and are idle ever after.
// grid:   2 elements a thread
// shared: 1 element a thread
// finish: recursive
// work:   n - G
// steps:  lg(min(n, 2 * B))
// seeds:  blog K5; thesis 3.4; guide V3; Harris 4
// wrong:  The blog and the thesis load the second element without asking whether there is one; the blog does not say
//         that a block's first element is now twice as far on.
//
// Half as many blocks for the same array, so half of all trees, barriers and partial results are gone; and each thread
// has two loads in flight.
#include "ladder/rung.cuh"

template <class Op, class T> void add_on_load(const T* in, T* out, u64 n) {
    T* const shared = shared_array<T>();
    const u32 t = threadIdx.x;
    const u64 i = u64(blockIdx.x) * blockDim.x * 2 + t;
    const T first = i < n ? in[i] : Op::identity();
    const T second = i + blockDim.x < n ? in[i + blockDim.x] : Op::identity();
    shared[t] = Op::of(first, second);
    __syncthreads();
    for (u32 width = blockDim.x; width > 1; width = (width + 1) / 2) {
        const u32 half = (width + 1) / 2;
        if (t < width / 2) shared[t] = Op::of(shared[t], shared[t + half]);
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = shared[0];
}

RUNG(add_on_load, in, out, n)
