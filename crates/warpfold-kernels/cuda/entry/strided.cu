// Folds of views by loops, for one kind of element, and the join of what runs have left; the build defines FOLD,
// ELEMENT and ENTRY. out: as segments.cu.
#include "op/part_exact.cuh"
#include "op/part_spread.cuh"
#include "op/part_folds.cuh"
#include "op/part_complex.cuh"
#include "op/part_squares.cuh"
#include "walk/strided.cuh"

extern "C" __global__ void __launch_bounds__(SEGMENT_THREADS, 4)
    NAME(ENTRY, _loops)(const void* x, u64 outputs, u64 inputs, const u64* loops, u64 kept, u64 folded,
                        u64 first_output, u64 lanes, u64 runs, void* states, void* out, u64* faults, u64 options) {
    fold_strided<FOLD<ELEMENT>>(
        {x, outputs, inputs, {loops, kept, folded, first_output}, lanes, runs, states, out, faults, options});
}
extern "C" __global__ void __launch_bounds__(SEGMENT_THREADS, 4) NAME(ENTRY, _join)(COLUMN_PARAMETERS, u64 share) {
    join_columns<FOLD<ELEMENT>, 1>(COLUMN_ARGUMENTS, share);
}
