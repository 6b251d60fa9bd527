// Products of floats of many outputs, each along the canonical tree of its own elements: of segments, rows and views by
// loops. The build defines ELEMENT, a kind of floats, and ENTRY; which narrow type it is, and whether NaNs are skipped,
// is told.
//
// out: f32, or the elements' 16 bits; of f64 that; complex as the element.
#include "op/finish_product.cuh"
#include "op/part_floats.cuh"
#include "walk/tree_parts.cuh"

template <class E> struct Multiply {
    typedef RealSpans Spans;
    typedef RealProduct<E, Nan::Propagate> Op;
    static __device__ __forceinline__ RealNode run(const void* x, const TreeInput& in, u64 first, u32 count,
                                                   FoldOptions c) {
        return run_of<Op>(static_cast<const E*>(x), in, first, count, c.skip());
    }
    static __device__ __forceinline__ bool whole(const void* x, u64 first, u64 blocks, FoldOptions c,
                                                 PartTile<Op>& tile, Carried<Spans>& carried) {
        return fold_blocks<Op>(static_cast<const E*>(x) + first, blocks, c.skip(), tile, carried);
    }
    static __device__ __forceinline__ void write(void* out, u64 k, const RealNode& n, FoldOptions) {
        constexpr bool WIDE = sizeof(E) == 8;
        write_real(WIDE ? Format::F64 : Format::F32, static_cast<char*>(out) + k * (WIDE ? 8 : 4), n);
    }
};
template <> struct Multiply<half> : Multiply<f32> {
    typedef RealProduct<f16, Nan::Propagate> Op;
    static __device__ __forceinline__ RealNode run(const void* x, const TreeInput& in, u64 first, u32 count,
                                                   FoldOptions c) {
        if (c.is_bfloat()) return Multiply<bf16>::run(x, in, first, count, c);
        return Multiply<f16>::run(x, in, first, count, c);
    }
    static __device__ __forceinline__ bool whole(const void* x, u64 first, u64 blocks, FoldOptions c,
                                                 PartTile<Op>& tile, Carried<Spans>& carried) {
        typedef PartTile<Multiply<bf16>::Op> Bfloats;
        static_assert(sizeof(Bfloats) == sizeof(tile), "the same room");
        if (!c.is_bfloat()) return Multiply<f16>::whole(x, first, blocks, c, tile, carried);
        return Multiply<bf16>::whole(x, first, blocks, c, reinterpret_cast<Bfloats&>(tile), carried);
    }
    static __device__ __forceinline__ void write(void* out, u64 k, const RealNode& n, FoldOptions c) {
        if (!c.is_narrow()) return Multiply<f32>::write(out, k, n, c);
        write_real(c.is_bfloat() ? Format::BF16 : Format::F16, static_cast<u16*>(out) + k, n);
    }
};
template <class E> struct MultiplyPairs {
    typedef ComplexSpans Spans;
    typedef ComplexProduct<E, Nan::Propagate> Op;
    static __device__ __forceinline__ ComplexNode run(const void* x, const TreeInput& in, u64 first, u32 count,
                                                      FoldOptions c) {
        return run_of<Op>(static_cast<const E*>(x), in, first, count, c.skip());
    }
    static __device__ __forceinline__ bool whole(const void* x, u64 first, u64 blocks, FoldOptions c,
                                                 PartTile<Op>& tile, Carried<Spans>& carried) {
        return fold_blocks<Op>(static_cast<const E*>(x) + first, blocks, c.skip(), tile, carried);
    }
    static __device__ __forceinline__ void write(void* out, u64 k, const ComplexNode& n, FoldOptions) {
        write_complex(sizeof(E) == 16 ? Format::F64 : Format::F32, static_cast<E*>(out) + k, n);
    }
};
template <> struct Multiply<complex64> : MultiplyPairs<complex64> {};
template <> struct Multiply<complex128> : MultiplyPairs<complex128> {};

#define NAME_(a, b) a##b
#define NAME(a, b) NAME_(a, b)

// Of all outputs, or of their pieces, whose nodes go to `states`.
extern "C" __global__ void __launch_bounds__(32 * PART_WARPS, 4)
    ENTRY(const void* x, u64 n, const void* offsets, u64 bounds, u64 length, u64 segments, void* out, const u64* loops,
          u64* faults, u64 options, u64 kept, u64 folded, u64 first_output, u64 inputs, u64 lanes, u64 pieces, u64 span,
          Multiply<ELEMENT>::Spans::Node* states) {
    typedef Multiply<ELEMENT> P;
    typedef P::Spans::Node Node;
    __shared__ PartTile<P::Op> tiles[PART_WARPS];
    const FoldOptions desc{u32(options)};
    const TreeParts parts = {{x, n, offsets, bounds, length, segments, out, nullptr, faults, options},
                             {loops, kept, folded, first_output},
                             inputs,
                             lanes,
                             pieces,
                             span};
    fold_parts<P::Spans>(
        parts, [&](const TreeInput& in, u64 first, u32 count) { return P::run(x, in, first, count, desc); },
        [&](u64 first, u64 blocks, Carried<P::Spans>& carried) {
            return P::whole(x, first, blocks, desc, tiles[threadIdx.x / 32], carried);
        },
        [&](u64 piece, const Node& n) {
            if (pieces > 1) states[piece] = n;
            else P::write(out, piece, n, desc);
        });
}
extern "C" __global__ void __launch_bounds__(32 * PART_WARPS, 4)
    NAME(ENTRY, _join)(const Multiply<ELEMENT>::Spans::Node* states, u64 outputs, u64 pieces, void* out, u64 options) {
    typedef Multiply<ELEMENT> P;
    join_parts<P::Spans>(states, outputs, pieces, [&](u64 output, const P::Spans::Node& n) {
        P::write(out, output, n, FoldOptions{u32(options)});
    });
}
