// Sums of magnitudes of complex numbers, of segments or by loops: a block an output, by windows and limbs, as
// exact_l1.cu does a whole array. Of every output, or of those alone that stats have marked (op/part_pair_stats.cuh).
// The build defines ELEMENT and ENTRY; parameters are those of segment_moments.cu.
#include "op/exact_norms.cuh"
#include "op/part_exact.cuh"
#include "walk/gather.cuh"

typedef L1Of<ELEMENT>::type ExactL1;

extern "C" __global__ void __launch_bounds__(ExactL1::THREADS)
    ENTRY(const void* x, u64 n, const void* offsets, u64 bounds, u64 length, u64 segments, void* out, const u64* loops,
          u64* faults, u64 options, u64 kept, u64 folded, u64 first_output, u64 inputs, u64 all, u64, u64, u64) {
    typedef typename Parts<ELEMENT>::Part Part;
    const SegmentArguments a = {x, n, offsets, bounds, length, segments, out, nullptr, faults, options};
    const OfOutputs outputs = {a, {loops, kept, folded, first_output}, inputs, false};
    __shared__ u64 storage[ExactL1::STORAGE];
    __shared__ Block<ExactL1> block;
    typedef Mark<Part> M;
    const auto is_marked = [&](u64 output) { return static_cast<const M::Bits*>(out)[output] == M::BITS; };
    for_outputs(a, all, block.votes, is_marked, [&](u64 output) {
        Arguments one = {};
        one.options = options & SKIP_NAN;
        fold_exactly<ExactL1>(x, outputs(output), false, one, storage, block);
        one.value = static_cast<Part*>(out) + output;
        if (threadIdx.x < 32) ExactL1::finish(block.word, block.flags, block.scratch, one);
        __syncthreads();
    });
}
