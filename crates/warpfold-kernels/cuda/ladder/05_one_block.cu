// rung:   05_one_block
// idea:   The elements are copied to shared memory first, and the tree is folded there, by one block.
// mends:  Every step of 04_global_sequential goes to global memory and back; shared memory is on the chip.
// grid:   one block of a thread an element, 1024 at most
// shared: 1 element a thread
// finish: single pass
// work:   n - 1
// steps:  lg(n)
// seeds:  thesis 2.3.2
// wrong:  The thesis takes one thread for each element without asking whether there is one, and a number of steps that
//         is too small where n is no power of two.
//
// One block is one multiprocessor: all others are idle, and an array is no longer than a block may be.
#include "ladder/rung.cuh"

template <class Op, class T> void one_block(const T* in, T* out, u64 n) {
    T* const shared = shared_array<T>();
    const u32 t = threadIdx.x;
    shared[t] = t < n ? in[t] : Op::identity();
    __syncthreads();
    for (u32 s = 1; s < blockDim.x; s *= 2) {
        if (t % (2 * s) == 0 && t + s < blockDim.x) shared[t] = Op::of(shared[t], shared[t + s]);
        __syncthreads();
    }
    if (t == 0) *out = shared[0];
}

RUNG(one_block, in, out, n)
