// What segments.cu folds, where segments are many short ones of one length: the build defines FOLD, ELEMENT and ENTRY.
// out: as segments.cu.
#include "walk/rows.cuh"
#include "op/part_exact.cuh"
#include "op/part_spread.cuh"
#include "op/part_squares.cuh"
#include "op/part_stats.cuh"

SEGMENT_KERNEL(ENTRY, fold_rows, (ROW_BLOCKS<FOLD<ELEMENT>>), FOLD<ELEMENT>)
