// Stats of columns, for one kind of element, and the join of what runs of rows have left; the build defines FOLD,
// ELEMENT and ENTRY. out: as op/part_stats.cuh.
#include "walk/own_columns.cuh"
#include "op/part_pair_stats.cuh"

extern "C" __global__ void __launch_bounds__(SEGMENT_THREADS, FOLD<ELEMENT>::BLOCKS)
    NAME(ENTRY, _own)(COLUMN_PARAMETERS) {
    fold_own_columns<FOLD<ELEMENT>>(COLUMN_ARGUMENTS);
}
extern "C" __global__ void __launch_bounds__(SEGMENT_THREADS, FOLD<ELEMENT>::BLOCKS)
    NAME(ENTRY, _join)(COLUMN_PARAMETERS, u64 share) {
    join_columns<FOLD<ELEMENT>, 1>(COLUMN_ARGUMENTS, share);
}
