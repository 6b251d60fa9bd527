// operator_rows: rows of an array by an operator of one's own, a warp each, one after another.
//
// tile, field, room: as for operator_fold; a row's tiles wait in as many levels as they have.
//
// states: STATE_WORDS a row.
#include "walk/operator_tiles.cuh"

extern "C" __global__ void __launch_bounds__(OPERATOR_WARPS * 32)
    operator_rows(const void*, const void*, const void*, const void*, const void*, const void*, const void*,
                  const void*, u64 rows, u64 length, u64 tile, u64 field, u64 room, u64* states, u64* faults) {
    extern __shared__ u64 operator_memory[];
    const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const Tiles tiles(u32(__cvta_generic_to_shared(operator_memory)) + warp * u32(room), u32(field), tile);
#pragma unroll 1
    for (u64 row = u64(blockIdx.x) * OPERATOR_WARPS + warp; row < rows; row += u64(gridDim.x) * OPERATOR_WARPS) {
        const u64 begin = row * length;
        tiles.fold(begin, (length + tiles.leaves - 1) / tiles.leaves, begin + length, begin);
        if (lane == 0) put(states + row * STATE_WORDS);
        __syncwarp();
    }
}
