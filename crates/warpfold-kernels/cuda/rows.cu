// What segments.cu folds, where segments are many short ones of one length: the build defines FOLD, ELEMENT and ENTRY. out: as segments.cu.
#include "rows.cuh"
#include "segment_exact.cuh"
#include "segment_folds.cuh"

SEGMENT_KERNEL(ENTRY, fold_rows, FOLD<ELEMENT>)
