// The scatters of the radix sort for most GPUs: 83 to 91 KB of shared memory a block, two blocks a multiprocessor where
// there is room.
#include "sort/scatter.cuh"

SCATTER(sort_pairs, u32, true, 512, 8, 2)
SCATTER(sort_scatter_32, u32, false, 512, 8, 2)
SCATTER(sort_scatter_64, u64, false, 512, 8, 2)
