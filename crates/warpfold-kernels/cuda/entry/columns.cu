// Folds of columns, for one kind of element: by vectors, by elements, in one line, and the join of what runs of rows
// have left; the build defines FOLD, ELEMENT and ENTRY. out: as segments.cu.
#include "walk/lines.cuh"
#include "op/part_exact.cuh"
#include "op/part_spread.cuh"
#include "op/part_folds.cuh"

#define NAME_(a, b) a##b
#define NAME(a, b) NAME_(a, b)

extern "C" __global__ void __launch_bounds__(SEGMENT_THREADS, FOLD<ELEMENT>::BLOCKS)
    NAME(ENTRY, _vectors)(COLUMN_PARAMETERS) {
    // Large states of eight columns a lane have no room in shared memory: the plan takes such columns by elements
    // (`columns_by_vectors`), and a launch of this would be its mistake.
    constexpr bool FITS = sizeof(FOLD<ELEMENT>::State) * PER_VECTOR<ELEMENT> <= 128;
    if constexpr (FITS) fold_columns<FOLD<ELEMENT>, PER_VECTOR<ELEMENT>>(COLUMN_ARGUMENTS);
    else __trap();
}
extern "C" __global__ void __launch_bounds__(SEGMENT_THREADS, FOLD<ELEMENT>::BLOCKS)
    NAME(ENTRY, _elements)(COLUMN_PARAMETERS) {
    fold_columns<FOLD<ELEMENT>, 1>(COLUMN_ARGUMENTS);
}
extern "C" __global__ void __launch_bounds__(SEGMENT_THREADS, FOLD<ELEMENT>::BLOCKS)
    NAME(ENTRY, _lines)(COLUMN_PARAMETERS) {
    fold_lines<FOLD<ELEMENT>>(COLUMN_ARGUMENTS);
}
extern "C" __global__ void __launch_bounds__(SEGMENT_THREADS, FOLD<ELEMENT>::BLOCKS)
    NAME(ENTRY, _join)(COLUMN_PARAMETERS, u64 share) {
    join_columns<FOLD<ELEMENT>, 4>(COLUMN_ARGUMENTS, share);
}
