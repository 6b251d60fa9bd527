// Correctly rounded sums of the segments, or columns, that an exact kernel has marked: a block a segment, by windows
// and limbs, as exact_sum.cu does a whole array. The build defines ELEMENT and ENTRY. Parameters are those of
// segments.cu; returns at once if nothing was missed.
#include "walk/exact_fallback.cuh"

struct OfColumns {
    u64 rows, row_pitch, batch_pitch, columns;
    __device__ __forceinline__ Pitched operator()(u64 output) const {
        return {output / columns * batch_pitch + output % columns, rows, row_pitch};
    }
};

template <class E> using FallbackFold = ExactFold<Components<E>, SumsOf<E>, IN_FLIGHT<E>>;

template <class E, class Where> __device__ __forceinline__ void fall_back(const SegmentArguments& a,
                                                                          const Where& where) {
    typedef FallbackFold<E> Fold;
    typedef typename Mark<E>::Bits Bits;
    __shared__ u64 storage[Fold::STORAGE];
    __shared__ Block<Fold> block;
    const auto is_marked = [&](u64 output) { return static_cast<const Bits*>(a.out)[output] == Mark<E>::BITS; };
    for_outputs(a, false, block.votes, is_marked, [&](u64 output) {
        Arguments one = {};
        one.options = a.options & SKIP_NAN;
        fold_exactly<Fold>(a.x, where(output), false, one, storage, block);
        one.value = static_cast<E*>(a.out) + output;
        if (threadIdx.x < 32) Fold::finish(block.word, block.flags, block.scratch, one);
        __syncthreads();
    });
}

extern "C" __global__ void __launch_bounds__(FallbackFold<ELEMENT>::THREADS)
    ENTRY(const void* x, u64 n, const void* offsets, u64 bounds, u64 length, u64 segments, void* out,
          Workspace* workspace, u64* faults, u64 options) {
    const SegmentArguments a = {x, n, offsets, bounds, length, segments, out, workspace, faults, options};
    fall_back<ELEMENT>(a, OfSegments{a});
}

// The same of columns: `outputs` of `rows` elements each.
extern "C" __global__ void __launch_bounds__(FallbackFold<ELEMENT>::THREADS)
    NAME(ENTRY, _columns)(const void* x, u64 rows, u64 row_pitch, u64 batch_pitch, u64 columns, u64 outputs, void* out,
                          u64* faults, u64 options) {
    const SegmentArguments a = {x, 0, nullptr, 0, 0, outputs, out, nullptr, faults, options};
    fall_back<ELEMENT>(a, OfColumns{rows, row_pitch, batch_pitch, columns});
}
