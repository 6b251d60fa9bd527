// The scatter of the radix sort for pairs where a block has 124 KB of shared memory: the GPUs of data centres from
// Ampere on.
#include "sort/scatter.cuh"

SCATTER(sort_pairs_wide, u32, true, 512, 16, 1)
