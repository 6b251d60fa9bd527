// Products of floats of many outputs, each along the canonical tree of its own elements: of segments, rows, columns and
// views by loops. The build defines ELEMENT, a kind of floats, and ENTRY; which narrow type it is, and whether NaNs are
// skipped, is told.
//
// out: f32, or the elements' 16 bits; of f64 that; complex as the element.
#include "op/finish_product.cuh"
#include "op/part_floats.cuh"
#include "walk/tree_columns.cuh"
#include "walk/tree_segments.cuh"

// What is folded, of one type.
template <class SPANS, class OP> struct MultiplyBy {
    typedef SPANS Spans;
    typedef OP Op;
    typedef typename Op::Element E;
    static __device__ __forceinline__ typename Spans::Node run(const void* x, const TreeInput& in, u64 first, u32 count,
                                                               FoldOptions c) {
        return run_of<Op>(static_cast<const E*>(x), in, first, count, c.skip());
    }
    static __device__ __forceinline__ bool whole(const void* x, u64 first, u64 blocks, FoldOptions c,
                                                 PartTile<Op>& tile, Carried<Spans>& carried) {
        return fold_blocks<Op>(static_cast<const E*>(x) + first, blocks, c.skip(), tile, carried);
    }
    template <bool ARE_RUNS, class Write>
    static __device__ __forceinline__ void columns(const TreeColumns& a, FoldOptions, const Write& write) {
        if constexpr (ARE_RUNS) fold_run_columns<Op>(a, write);
        else fold_tree_columns<Spans, Op>(a, write);
    }
    template <bool ARE_SHORT, class Write>
    static __device__ __forceinline__ void rows(const void* x, u64 rows, u32 length, FoldOptions c,
                                                typename StagedRows<Op, ARE_SHORT>::Stage& stage, const Write& write) {
        fold_staged_rows<Spans, Op, ARE_SHORT>(x, rows, length, c.skip(), stage, write);
    }
    template <class Write>
    static __device__ __forceinline__ void segments(const SegmentArguments& a, FoldOptions c, TreeStage<Op>& stage,
                                                    const Write& write) {
        fold_staged_segments<Spans, Op>(a, c.skip(), stage, write);
    }
};
template <class E> struct Multiply : MultiplyBy<RealSpans, RealProduct<E, Nan::Propagate>> {
    typedef typename Select<sizeof(E) == 8, f64, f32>::type Result;
    static constexpr Format TO = sizeof(E) == 8 ? Format::F64 : Format::F32;
    static __device__ __forceinline__ void write(void* out, u64 k, const RealNode& n, FoldOptions) {
        write_real(TO, static_cast<Result*>(out) + k, n);
    }
    // The same with most results written at once, by kernels that wait for it.
    static __device__ __forceinline__ void write_fast(void* out, u64 k, const RealNode& n, FoldOptions c) {
        if (!write_plain(TO, static_cast<Result*>(out) + k, n)) write(out, k, n, c);
    }
    template <class Chain>
    static __device__ __forceinline__ bool write_at_once(void* out, u64 k, const Chain& chain, FoldOptions) {
        return write_plain_chain<TO>(static_cast<Result*>(out) + k, chain);
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
    template <bool ARE_RUNS, class Write>
    static __device__ __forceinline__ void columns(const TreeColumns& a, FoldOptions c, const Write& write) {
        if (c.is_bfloat()) Multiply<bf16>::columns<ARE_RUNS>(a, c, write);
        else Multiply<f16>::columns<ARE_RUNS>(a, c, write);
    }
    template <bool ARE_SHORT, class Write>
    static __device__ __forceinline__ void rows(const void* x, u64 rows, u32 length, FoldOptions c,
                                                typename StagedRows<Op, ARE_SHORT>::Stage& stage, const Write& write) {
        typedef typename StagedRows<Multiply<bf16>::Op, ARE_SHORT>::Stage Bfloats;
        static_assert(sizeof(Bfloats) == sizeof(stage), "the same room");
        if (!c.is_bfloat()) return Multiply<f16>::rows<ARE_SHORT>(x, rows, length, c, stage, write);
        Multiply<bf16>::rows<ARE_SHORT>(x, rows, length, c, reinterpret_cast<Bfloats&>(stage), write);
    }
    template <class Write>
    static __device__ __forceinline__ void segments(const SegmentArguments& a, FoldOptions c, TreeStage<Op>& stage,
                                                    const Write& write) {
        typedef TreeStage<Multiply<bf16>::Op> Bfloats;
        static_assert(sizeof(Bfloats) == sizeof(stage), "the same room");
        if (!c.is_bfloat()) return Multiply<f16>::segments(a, c, stage, write);
        Multiply<bf16>::segments(a, c, reinterpret_cast<Bfloats&>(stage), write);
    }
    static __device__ __forceinline__ void write(void* out, u64 k, const RealNode& n, FoldOptions c) {
        if (!c.is_narrow()) return Multiply<f32>::write(out, k, n, c);
        write_real(c.is_bfloat() ? Format::BF16 : Format::F16, static_cast<u16*>(out) + k, n);
    }
    static __device__ __forceinline__ void write_fast(void* out, u64 k, const RealNode& n, FoldOptions c) {
        if (!c.is_narrow()) Multiply<f32>::write_fast(out, k, n, c);
        else write(out, k, n, c);
    }
    template <class Chain>
    static __device__ __forceinline__ bool write_at_once(void* out, u64 k, const Chain& chain, FoldOptions c) {
        return !c.is_narrow() && Multiply<f32>::write_at_once(out, k, chain, c);
    }
};
template <class E> struct MultiplyPairs : MultiplyBy<ComplexSpans, ComplexProduct<E, Nan::Propagate>> {
    static __device__ __forceinline__ void write(void* out, u64 k, const ComplexNode& n, FoldOptions) {
        write_complex(sizeof(E) == 16 ? Format::F64 : Format::F32, static_cast<E*>(out) + k, n);
    }
    static __device__ __forceinline__ void write_fast(void* out, u64 k, const ComplexNode& n, FoldOptions c) {
        if (!write_plain(sizeof(E) == 16 ? Format::F64 : Format::F32, static_cast<E*>(out) + k, n)) write(out, k, n, c);
    }
    template <class Chain>
    static __device__ __forceinline__ bool write_at_once(void*, u64, const Chain&, FoldOptions) {
        return false;
    }
};
template <> struct Multiply<complex64> : MultiplyPairs<complex64> {};
template <> struct Multiply<complex128> : MultiplyPairs<complex128> {};

// Where results go, or the nodes of several pieces of each output.
template <class P> struct TreeOutputs {
    typedef typename P::Spans::Node Node;
    void* out;
    FoldOptions desc;
    u64 pieces;
    Node* states;

    __device__ __forceinline__ void operator()(u64 k, const Node& n) const { P::write_fast(out, k, n, desc); }
    // Of a chain of factors that is all of an output; false if its node is needed.
    template <class Chain> __device__ __forceinline__ bool at_once(u64 k, const Chain& chain) const {
        return P::write_at_once(out, k, chain, desc);
    }
    __device__ __forceinline__ void piece(u64 output, u64 piece, const Node& n) const {
        if (pieces > 1) states[output * pieces + piece] = n;
        else (*this)(output, n);
    }
};

// Blocks of columns that a multiprocessor holds, by the registers that a lane needs; of those of up to a run.
template <class E> constexpr int BLOCKS_OF_COLUMNS = 4;
template <> constexpr int BLOCKS_OF_COLUMNS<f32> = 5;
template <> constexpr int BLOCKS_OF_COLUMNS<f64> = 5;
template <class E> constexpr int BLOCKS_OF_SHORT = 10;
template <> constexpr int BLOCKS_OF_SHORT<half> = 8;
template <> constexpr int BLOCKS_OF_SHORT<complex64> = 6;
template <> constexpr int BLOCKS_OF_SHORT<complex128> = 6;

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
// Of columns, or of their pieces; of columns of up to a run, which need few registers.
#define COLUMNS_KERNEL(COLUMNS, BLOCKS, ARE_RUNS) \
    extern "C" __global__ void __launch_bounds__(32 * PART_WARPS, BLOCKS) \
        NAME(ENTRY, COLUMNS)(const void* x, u64 width, u64 rows, u64 batches, u64 row_pitch, u64 batch_pitch, \
                             void* out, u64 options, u64 pieces, u64 span, Multiply<ELEMENT>::Spans::Node* states) { \
        typedef Multiply<ELEMENT> P; \
        const FoldOptions desc{u32(options)}; \
        const TreeColumns columns = {x, width, rows, batches, row_pitch, batch_pitch, pieces, span, desc.skip()}; \
        P::columns<ARE_RUNS>(columns, desc, TreeOutputs<P>{out, desc, pieces, states}); \
    }
COLUMNS_KERNEL(_columns, BLOCKS_OF_COLUMNS<ELEMENT>, false)
COLUMNS_KERNEL(_short_columns, BLOCKS_OF_SHORT<ELEMENT>, true)
// Of rows of up to a block and 4 KiB, one after another, whose elements are aligned to their size; of those of up to
// 256 bytes.
#define ROWS_KERNEL(ROWS, BLOCKS, ARE_SHORT) \
    extern "C" __global__ void __launch_bounds__(32 * PART_WARPS, BLOCKS) \
        NAME(ENTRY, ROWS)(const void* x, u64 rows, u64 length, void* out, u64 options) { \
        typedef Multiply<ELEMENT> P; \
        __shared__ StagedRows<P::Op, ARE_SHORT>::Stage stages[PART_WARPS]; \
        const FoldOptions desc{u32(options)}; \
        P::rows<ARE_SHORT>(x, rows, u32(length), desc, stages[threadIdx.x / 32], \
                           TreeOutputs<P>{out, desc, 1, nullptr}); \
    }
ROWS_KERNEL(_rows, 4, false)
ROWS_KERNEL(_short_rows, 6, true)
// Of segments by offsets, most of them as short; elements are aligned to their size.
extern "C" __global__ void __launch_bounds__(32 * PART_WARPS, 4)
    NAME(ENTRY, _offsets)(const void* x, u64 n, const void* offsets, u64 bounds, u64 length, u64 segments, void* out,
                          u64* faults, u64 options) {
    typedef Multiply<ELEMENT> P;
    __shared__ TreeStage<P::Op> stages[PART_WARPS];
    const FoldOptions desc{u32(options)};
    P::segments({x, n, offsets, bounds, length, segments, out, nullptr, faults, options}, desc,
                stages[threadIdx.x / 32], TreeOutputs<P>{out, desc, 1, nullptr});
}
// Of pieces, groups of so many neighbours; nodes again, if there are several of an output.
extern "C" __global__ void __launch_bounds__(32 * PART_WARPS, 4)
    NAME(ENTRY, _join)(const Multiply<ELEMENT>::Spans::Node* states, u64 outputs, u64 pieces, void* out, u64 options,
                       u64 group) {
    typedef Multiply<ELEMENT> P;
    typedef P::Spans::Node Node;
    join_parts<P::Spans>(states, outputs, pieces, group, [&](u64 k, const Node& n) {
        if (group < pieces) static_cast<Node*>(out)[k] = n;
        else P::write(out, k, n, FoldOptions{u32(options)});
    });
}
