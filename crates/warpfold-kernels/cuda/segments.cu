// sum, mean, min, max, argmin, argmax, count, l1, l2 and prod of every segment of an array, for one element type at a time, whatever the segments, and where they are many short
// ones of one length (_rows): the build defines FOLD, ELEMENT and ENTRY.
//
// out: sum of integers i64 or u64 (the low half where it does not fit, which is a fault), of floats the accumulator's type; mean, l1 and l2 of integers f64, of floats as sum;
// min and max an element; argmin, argmax the index within the segment; count u64; prod as sum.
#include "rows.cuh"
#include "segment_exact.cuh"
#include "segment_folds.cuh"

#define NAME_(a, b) a##b
#define NAME(a, b) NAME_(a, b)

SEGMENT_KERNEL(ENTRY, fold_segments, FOLD<ELEMENT>)
SEGMENT_KERNEL(NAME(ENTRY, _rows), fold_rows, FOLD<ELEMENT>)
