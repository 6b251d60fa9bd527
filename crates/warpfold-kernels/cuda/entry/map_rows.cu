// Rows of mapped values: what segments.cu folds, and sums of products of two of them.
// out: as segments.cu.
#include "op/map_terms.cuh"
#include "op/part_folds.cuh"

template <class E> using RowTerms = Terms;
template <class E> using RowTotal = RowsOf<ExactTotal<E>>;
template <class E> using RowNorm = RowsOf<ExactNorm<E>>;
template <class E> using RowSpread = RowsOf<ExactSpread<E>>;
template <class E> using RowExtreme = RowsOf<Extreme<Bits<E>>>;

MAP_ROWS_KERNEL(ENTRY, FOLD<ELEMENT>)
