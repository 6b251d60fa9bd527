// rung:   15_single_pass
// idea:   The block that comes last, as a ticket tells it, folds what all have left: one launch.
// mends:  The second launch of 14_vector_grid takes longer than what it has to do.
// grid:   1024 threads and 32 blocks a multiprocessor, 16 bytes a thread
// memory: 1 element a block
// finish: single pass
// work:   n - 1
// steps:  V * ceil(n / (V * B * G)) + min(1, mod(n, V)) - 1 + lg(min(ceil(n / V), B)) + ceil(G / B) - 1 + lg(min(G, B))
// seeds:  beyond
// wrong:  Nothing: no document goes this far.
//
// The fences are what makes it right: a block's partial result is seen by all before its ticket is, and whoever holds
// the last ticket has seen all others. The ticket wraps to zero by itself, for the next launch.
#include "ladder/blocks_and_vectors.cuh"

constexpr u32 LOADS = 4;

template <class Op, class T> T fold_share(const T* in, u64 n) {
    const Vector* const vectors = reinterpret_cast<const Vector*>(in);
    const u64 count = n / PER_VECTOR<T>, threads = u64(gridDim.x) * blockDim.x;
    const u64 thread = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    T value = Op::identity();
    u64 i = thread;
    for (; i + (LOADS - 1) * threads < count; i += LOADS * threads) {
        Vector x[LOADS];
#pragma unroll
        for (u32 k = 0; k < LOADS; k++) x[k] = load(vectors + i + k * threads);
#pragma unroll
        for (u32 k = 0; k < LOADS; k++) value = fold_vector<Op>(value, x[k]);
    }
    for (; i < count; i += threads) value = fold_vector<Op>(value, load(vectors + i));
    const u64 rest = count * PER_VECTOR<T> + thread;
    return rest < n ? Op::of(value, in[rest]) : value;
}

template <class Op, class T> void single_pass(const T* in, T* out, u64 n, T* partials, u32* ticket) {
    __shared__ bool is_last;
    T value = fold_block<Op>(fold_share<Op>(in, n));
    if (threadIdx.x == 0) {
        partials[blockIdx.x] = value;
        __threadfence();  // first the partial result, then the ticket
        is_last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();  // first the ticket, then the others' partial results
    }
    __syncthreads();
    if (!is_last) return;

    value = Op::identity();
    for (u32 k = threadIdx.x; k < gridDim.x; k += blockDim.x) value = Op::of(value, partials[k]);
    value = fold_block<Op>(value);
    if (threadIdx.x == 0) *out = value;
}

RUNG(single_pass, in, out, n, work, ticket)
