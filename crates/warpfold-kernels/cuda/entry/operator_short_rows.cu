// operator_short_rows: rows of one block at most by an operator of one's own, a lane each. What a row's runs have
// merged to so far waits in shared memory.
//
// Floor: as of operator_rows, but that each run is merged by the lane that folded it.
//
// states: STATE_WORDS a row.
#include "walk/operator.cuh"

constexpr u32 SHORT_ROW_THREADS = 64;

extern "C" __global__ void __launch_bounds__(SHORT_ROW_THREADS)
    operator_short_rows(const void*, const void*, const void*, const void*, const void*, const void*, const void*,
                        const void*, u64 rows, u64 length, u64* states, u64* faults) {
    extern __shared__ u64 operator_memory[];
    const States mine = {u32(__cvta_generic_to_shared(operator_memory)) + threadIdx.x * 8, blockDim.x * 8};
    const u64 threads = u64(gridDim.x) * blockDim.x;
#pragma unroll 1
    for (u64 row = u64(blockIdx.x) * blockDim.x + threadIdx.x; row < rows; row += threads) {
        const u64 begin = row * length, end = begin + length;
        if (length >= RUN) load_run(begin);
#pragma unroll 1
        for (u64 at = begin; at < end; at += RUN) {
            fold_run(at, end, begin, at + 2 * RUN <= end ? at + RUN : at);
            if (at > begin) mine.left();
            if (at + RUN < end) mine.put();
        }
        put(states + row * STATE_WORDS);
    }
}
