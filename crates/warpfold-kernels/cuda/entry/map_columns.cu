// Columns of mapped values: what map_rows.cu folds.
// out: as segments.cu.
#include "op/map_column_terms.cuh"
#include "op/part_folds.cuh"

template <class E> using ColumnTerms = TermColumns;
template <class E> using ColumnTotal = ColumnsOf<ExactTotal<E>>;
template <class E> using ColumnNorm = ColumnsOf<ExactNorm<E>>;
template <class E> using ColumnSpread = ColumnsOf<ExactSpread<E>>;
template <class E> using ColumnExtreme = ColumnsOf<Extreme<Bits<E>>>;

MAP_COLUMNS_KERNEL(ENTRY, FOLD<ELEMENT>)
