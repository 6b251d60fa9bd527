// What segments.cu folds, by two kernels: of segments of any length, and of those that are long enough on the average
// for lanes of their own (`entry_suffix` of the plan). out: as segments.cu.
#include "op/part_exact.cuh"
#include "op/part_spread.cuh"
#include "op/part_squares.cuh"
#include "walk/segment_lanes.cuh"
#include "walk/segments.cuh"

SEGMENT_KERNEL(ENTRY, fold_segments, (FOLD<ELEMENT>::BLOCKS), FOLD<ELEMENT>)
SEGMENT_KERNEL(NAME(ENTRY, _lanes), fold_segments, (FOLD<ELEMENT>::BLOCKS), FOLD<ELEMENT>, SegmentLanes<FOLD<ELEMENT>>)
