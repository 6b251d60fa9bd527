// rung:   14_vector_grid
// idea:   As many threads as the machine holds at once stride over the array, each with four loads of 16 bytes in
//         flight.
// mends:  13_shuffle starts a block for every few thousand elements, and its loads of one element leave the memory
//         waiting.
// grid:   1024 threads and 32 blocks a multiprocessor, 16 bytes a thread
// finish: two launches
// work:   n - G
// steps:  V * ceil(n / (V * B * G)) + min(1, mod(n, V)) - 1 + lg(min(ceil(n / V), B))
// seeds:  beyond
// wrong:  Nothing: no document goes this far.
//
// What the grid leaves are a few hundred elements whatever n is: one block folds them in a second launch.
#include "ladder/blocks_and_vectors.cuh"

constexpr u32 LOADS = 4;

template <class Op, class T> void vector_grid(const T* in, T* out, u64 n) {
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
    if (rest < n) value = Op::of(value, in[rest]);

    value = fold_block<Op>(value);
    if (threadIdx.x == 0) out[blockIdx.x] = value;
}

RUNG(vector_grid, in, out, n)
