// operator_join: states of neighbouring spans of one size, the last of which may be shorter, two by two to one, by one
// block of threads, which leave it at `out`.
#include "walk/operator.cuh"

extern "C" __global__ void __launch_bounds__(256) operator_join(u64 count, u64* states, u64* out, u64* faults) {
#pragma unroll 1
    for (u64 step = 1; step < count; step *= 2) {
#pragma unroll 1
        for (u64 k = threadIdx.x * 2 * step; k + step < count; k += blockDim.x * 2 * step) {
            u64* const mine = states + k * STATE_WORDS;
            get(mine);
            right(mine + step * STATE_WORDS);
            put(mine);
        }
        __syncthreads();
    }
    // The last two were the first thread's.
    if (threadIdx.x == 0) put(out);
}
