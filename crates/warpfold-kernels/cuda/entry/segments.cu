// sum, mean, min, max, argmin, argmax, count, l1, l2 and prod of every segment of an array, for one element type at a
// time: the build defines FOLD, ELEMENT and ENTRY.
//
// out: sum of integers i64 or u64 (the low half where it does not fit, which is a fault), of floats the accumulator's
// type; mean, l1 and l2 of integers f64, of floats as sum; min and max an element; argmin, argmax the index within the
// segment; count u64; prod as sum.
#include "op/part_exact.cuh"
#include "op/part_spread.cuh"
#include "op/part_stats.cuh"
#include "op/part_pair_stats.cuh"
#include "op/part_squares.cuh"
#include "walk/segment_lanes.cuh"
#include "walk/segments.cuh"

// Lanes have segments of their own where states are large and vectors are taken in part.
template <class Fold>
constexpr bool HAVE_OWN = sizeof(typename Fold::State) >= 32 && WholeVectors<Fold>::TAKES_PARTS;
template <class Fold>
using WarpOf = typename Select<HAVE_OWN<Fold>, SegmentLanes<Fold>, SegmentWarp<Fold>>::type;

SEGMENT_KERNEL(ENTRY, fold_segments, (FOLD<ELEMENT>::BLOCKS), FOLD<ELEMENT>, WarpOf<FOLD<ELEMENT>>)
