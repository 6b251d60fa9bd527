// Sums, means, norms, sums of squares, variances, deviations of floats and complex numbers, rounded once, of parts by
// loops: a block an output, by windows and limbs, as exact_moments.cu and finish.cu do a whole array. Of every output,
// or of those alone that an exact kernel has marked. The build defines ELEMENT and ENTRY.
#include "op/exact_squares.cuh"
#include "acc/finish_integers.cuh"
#include "walk/gather.cuh"

template <class E> using Moments = ExactFold<Components<E>, SumsAndSquares<E>, IN_FLIGHT<E>>;

// What is asked for beside FoldOptions, as the plan numbers it.
enum class Moment { Sum, L1, Mean, L2, Var, Std, Sumsq };

// Elements of 16 bits are read as f32, and may be what results are rounded to: as an option of finish.cu.
__device__ __forceinline__ u64 narrow_option(FoldOptions desc) {
    return desc.is_narrow() ? u64(desc.is_bfloat() ? 2 : 1) << 30 : 0;
}

// What finish.cu is asked for: all but the step is known here.
template <class E> __device__ __forceinline__ Finish finish_of(Moment moment, FoldOptions desc) {
    typedef SumsAndSquares<E> Integers;
    constexpr u64 LAYOUT = u64(Integers::Sum::WORDS / 2) << 8 | u64(Integers::Square::WORDS / 2) << 16 |
                           Parts<E>::COUNT << 24 | u64(sizeof(typename Parts<E>::Part) == 8) << 26 | 1 << 27 |
                           u64(u32(Integers::Sum::UNIT)) << 32;
    const Step step = moment == Moment::L2      ? Step::L2
                      : moment == Moment::Var   ? Step::Var
                      : moment == Moment::Std   ? Step::Std
                      : moment == Moment::Sumsq ? Step::Sumsq
                      : moment == Moment::Mean  ? Step::Mean
                                                : Step::Sum;
    return Finish(LAYOUT | narrow_option(desc) | u64(desc.skip()) << 29 | (u64(step) & 7));
}

// Numbers of a result: sums and means have one a part.
template <class E> __device__ __forceinline__ u64 numbers_of(Moment moment) {
    return moment == Moment::L2 || moment >= Moment::Var ? 1 : Parts<E>::COUNT;
}

// What the last step needs, in the room of the limbs, which are done with by then.
template <class E> struct Finishing {
    u64 record[2 + Moments<E>::WORDS / 2];
    Scratch s;
};

// The first warp, from the integers in shared memory.
template <class E>
__device__ __forceinline__ void finish_moments(const SegmentArguments& a, Block<Moments<E>>& block,
                                               Finishing<E>& scratch, u64 output, u64 inputs, Moment moment, u64 ddof) {
    typedef Moments<E> Fold;
    typedef typename Parts<E>::Part Wide;
    const bool spread = moment == Moment::Var || moment == Moment::Std;
    const u64 skipped = a.options & SKIP_NAN ? block.flags.nans : 0, counted = inputs - skipped;
    if ((spread || moment == Moment::Mean) && counted == 0) {
        if (threadIdx.x == 0) fault(a, inputs == 0 ? EMPTY : ALL_SKIPPED, output);
        return;
    }
    const FoldOptions desc{u32(a.options)};
    const u64 at = output * numbers_of<E>(moment);
    if (spread && counted <= ddof) {
        // How many there were is left where the result would be.
        if (threadIdx.x == 0) {
            fault(a, TOO_FEW, output);
            write_instead<half>(a, desc, at, typename Mark<Wide>::Bits(counted), u16(counted));
        }
        return;
    }
    Arguments one = {};
    one.record = scratch.record;
    // Hidden from the compiler, which would carry every word of the record through all that follows.
    asm volatile("" : "+l"(one.record));
    Fold::finish(block.word, block.flags, block.scratch, one);
    if (threadIdx.x == 0) {
        one.record[0] = 0;
#pragma unroll
        for (int k = 0; k < Fold::INTEGERS; k++) one.record[0] |= u64(block.flags.specials[k]) << 8 * k;
        one.record[1] = skipped;
    }
    __syncwarp();
    void* out = static_cast<char*>(a.out) + at * (desc.is_narrow() ? 2 : sizeof(Wide));
    finish_integers(finish_of<E>(moment, desc), one.record, inputs, ddof, out, scratch.s);
}

extern "C" __global__ void __launch_bounds__(Moments<ELEMENT>::THREADS)
    ENTRY(const void* x, u64 n, const void* offsets, u64 bounds, u64 length, u64 segments, void* out, const u64* loops,
          u64* faults, u64 options, u64 kept, u64 folded, u64 first_output, u64 inputs, u64 all, u64 moment, u64 ddof,
          u64 size) {
    typedef Moments<ELEMENT> Fold;
    typedef Mark<typename Parts<ELEMENT>::Part> M;
    const SegmentArguments a = {x, n, offsets, bounds, length, segments, out, nullptr, faults, options};
    const OfOutputs outputs = {a, {loops, kept, folded, first_output}, inputs, size == 2};
    __shared__ u64 storage[Fold::STORAGE];
    __shared__ Block<Fold> block;
    static_assert(sizeof(Finishing<ELEMENT>) <= sizeof(storage), "limbs leave room for the last step");
    auto& scratch = *reinterpret_cast<Finishing<ELEMENT>*>(storage);
    Arguments one = {};
    one.options = options & SKIP_NAN;
    const auto wanted = Moment(moment);
    const bool narrow = FoldOptions{u32(options)}.is_narrow();
    const u64 each = numbers_of<ELEMENT>(wanted);
    const auto is_marked = [&](u64 output) {
        if (narrow) return static_cast<const u16*>(out)[output] == MARK_OF_16;
        return static_cast<const typename M::Bits*>(out)[output * each] == M::BITS;
    };
    for_outputs(a, all, block.votes, is_marked, [&](u64 output) {
        const Gather in = outputs(output);
        fold_exactly<Fold>(x, in, wanted == Moment::L1, one, storage, block);
        if (threadIdx.x < 32) finish_moments(a, block, scratch, output, in.count, wanted, ddof);
        __syncthreads();
    });
}
