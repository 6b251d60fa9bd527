// Segments of mapped values, of several lengths: what map_rows.cu folds.
// out: as segments.cu.
#include "op/map_terms.cuh"
#include "op/part_folds.cuh"
#include "walk/map_segments.cuh"

template <class E> using SegmentTerms = Terms;
template <class E> using SegmentTotal = RowsOf<ExactTotal<E>>;
template <class E> using SegmentNorm = RowsOf<ExactNorm<E>>;
template <class E> using SegmentSpread = RowsOf<ExactSpread<E>>;
template <class E> using SegmentExtreme = RowsOf<Extreme<Bits<E>>>;

MAP_SEGMENTS_KERNEL(ENTRY, FOLD<ELEMENT>)
