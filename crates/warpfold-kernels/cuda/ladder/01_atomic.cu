// rung:   01_atomic
// idea:   Every thread folds its own element into the one result, by an atomic operation of memory.
// mends:  host_serial keeps one core busy and the rest of the machine idle.
// grid:   1 element a thread
// finish: atomic
// work:   n
// steps:  n
// lacks:  prod of complex128, as no atomic is 16 bytes wide
// seeds:  blog baseline
// wrong:  The blog counts in int, which ends at 2^31 elements, and leaves it to the caller to have set the result to
//         zero.
//
// Threads by the thousand, and still one after the other: the atomics meet at one address, which takes them in turn. A
// warp brings 32 of them at once. The parallelism W/S is one.
#include "ladder/atomic.cuh"
#include "ladder/rung.cuh"

template <class Op, class T> void atomic(const T* in, T* out, u64 n) {
    const u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) fold_at(Op(), out, in[i]);
}

RUNG_BUT_PROD_COMPLEX128(atomic, in, out, n)
