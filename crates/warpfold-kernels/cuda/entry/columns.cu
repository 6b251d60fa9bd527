// Folds of columns, for one kind of element: by vectors, by elements, in one line, and the join of what runs of rows
// have left; the build defines FOLD, ELEMENT and ENTRY. out: as segments.cu.
#include "walk/lines.cuh"
#include "walk/window_columns.cuh"
#include "op/part_exact.cuh"
#include "op/part_spread.cuh"
#include "op/part_squares.cuh"
#include "op/part_folds.cuh"

extern "C" __global__ void __launch_bounds__(SEGMENT_THREADS, COLUMN_BLOCKS<FOLD<ELEMENT>>)
    NAME(ENTRY, _vectors)(COLUMN_PARAMETERS) {
    if constexpr (BY_WINDOWS<FOLD<ELEMENT>>) fold_window_columns<FOLD<ELEMENT>>(COLUMN_ARGUMENTS);
    else fold_columns<FOLD<ELEMENT>, COLUMNS_OF_VECTORS<FOLD<ELEMENT>>>(COLUMN_ARGUMENTS);
}
extern "C" __global__ void __launch_bounds__(SEGMENT_THREADS, COLUMN_BLOCKS<FOLD<ELEMENT>>)
    NAME(ENTRY, _elements)(COLUMN_PARAMETERS) {
    fold_columns<FOLD<ELEMENT>, 1>(COLUMN_ARGUMENTS);
}
extern "C" __global__ void __launch_bounds__(SEGMENT_THREADS, COLUMN_BLOCKS<FOLD<ELEMENT>>)
    NAME(ENTRY, _lines)(COLUMN_PARAMETERS) {
    fold_lines<FOLD<ELEMENT>>(COLUMN_ARGUMENTS);
}
extern "C" __global__ void __launch_bounds__(SEGMENT_THREADS, COLUMN_BLOCKS<FOLD<ELEMENT>>)
    NAME(ENTRY, _join)(COLUMN_PARAMETERS, u64 share) {
    join_columns<FOLD<ELEMENT>, 4>(COLUMN_ARGUMENTS, share);
}
