// What segments.cu folds, where segments are many short ones of one length: the build defines FOLD, ELEMENT and ENTRY.
// out: as segments.cu.
#include "walk/rows.cuh"
#include "op/part_exact.cuh"
#include "op/part_spread.cuh"
#include "op/part_squares.cuh"
#include "op/part_pair_stats.cuh"

SEGMENT_KERNEL(ENTRY, fold_shared_rows, (ROW_BLOCKS<FOLD<ELEMENT>>), FOLD<ELEMENT>)
SEGMENT_KERNEL(NAME(ENTRY, _own), fold_own_rows, (ROW_BLOCKS<FOLD<ELEMENT>>), FOLD<ELEMENT>)
