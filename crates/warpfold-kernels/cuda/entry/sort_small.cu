// The scatters of the radix sort where a block has at most 64 KB of shared memory (compute capability 7.5).
#include "sort/scatter.cuh"

SCATTER(sort_pairs_small, u32, true, 256, 4, 1)
SCATTER(sort_scatter_32_small, u32, false, 256, 4, 1)
SCATTER(sort_scatter_64_small, u64, false, 256, 4, 1)
