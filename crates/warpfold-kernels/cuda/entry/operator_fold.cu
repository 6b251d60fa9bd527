// operator_fold: an array by an operator of one's own, to the states of spans of a power of two of tiles, a warp each.
//
// tile: blocks of a tile. span: tiles of a span, a power of two. field: bytes of shared memory for a field of a warp's
// states; room: the same for all fields.
//
// states: STATE_WORDS a span.
#include "walk/operator_tiles.cuh"

extern "C" __global__ void __launch_bounds__(OPERATOR_WARPS * 32)
    operator_fold(const void*, const void*, const void*, const void*, const void*, const void*, const void*,
                  const void*, u64 n, u64 tile, u64 span, u64 field, u64 room, u64* states, u64* faults) {
    extern __shared__ u64 operator_memory[];
    const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const u64 number = u64(blockIdx.x) * OPERATOR_WARPS + warp;
    const Tiles tiles(u32(__cvta_generic_to_shared(operator_memory)) + warp * u32(room), u32(field), tile);
    const u64 begin = number * span * tiles.leaves;
    if (begin >= n) return;
    const u64 all = (n - begin + tiles.leaves - 1) / tiles.leaves;
    tiles.fold(begin, all < span ? all : span, n, 0);
    if (lane == 0) put(states + number * STATE_WORDS);
}
