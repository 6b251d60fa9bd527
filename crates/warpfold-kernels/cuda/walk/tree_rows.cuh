// Many outputs, each along the canonical tree of its own elements (tree_array.cuh): rows of up to a block and 4 KiB,
// one after another.
//
// A warp reads some rows as they lie, by whole vectors wherever they begin, to shared memory, where a lane takes a row
// of up to 256 bytes, or a run of longer ones. Runs wait there too, until a lane a row multiplies them: as many rows
// side by side as there is room for, as that is a chain of up to 31 steps. Vectors are swizzled, as runs begin in few
// banks.
//
// Floor: input and output once through the memory. Of rows of four f16 a result takes 112 instructions, of which an
// H100 issues 100 in the time of 12 bytes; of long rows of 16 bits a run takes 250 with its part of the block, of 490.
#pragma once
#include "walk/tree_parts.cuh"

// The longest rows of which a lane takes one, and the longest that there are.
constexpr u32 SHORT_ROW_BYTES = 256, LONGEST_ROW_BYTES = 4096;

template <class Op, bool ARE_SHORT> struct StagedRows {
    typedef typename Op::Element E;
    typedef typename Op::Node Node;
    // Vectors that a lane has in flight, and the fours of a run that are taken side by side.
    static constexpr u32 PER = PER_VECTOR<E>, FLIGHT = ARE_SHORT ? 4 : 8, FOURS = ARE_SHORT || Op::LANES > 1 ? 1 : 4;
    // Vectors of a warp, with some for rows that do not begin at one, bytes that it takes of the shortest rows, and the
    // most runs that wait: those of as many elements, each of 32 outputs with one that is there in part.
    static constexpr u32 VECTORS = 512, ROOM = VECTORS + 8, BYTES = 2048, RUNS = VECTORS * PER / RUN + 32;
    static_assert(32 * SHORT_ROW_BYTES <= 16 * VECTORS && LONGEST_ROW_BYTES <= 16 * VECTORS, "they fit");
    struct alignas(16) Stage {
        Vector vector[ROOM];
        u64 runs[ARE_SHORT ? 2 : Op::PACKED_WORDS * RUNS];
    };

    Stage& stage;
    u32 before;  // elements that stand in the first vector before the first row
    bool skip;

    static __device__ __forceinline__ u32 slot(u32 vector) { return vector ^ (vector / 8 % 8); }
    // So many elements from one on; those before and after them in their vectors are not read.
    __device__ __forceinline__ void fill(const E* x, u32 count) const {
        const u32 lane = threadIdx.x % 32, end = before + count, vectors = (end + PER - 1) / PER;
        const E* const from = x - before;
#pragma unroll 1
        for (u32 base = 0; base < vectors; base += FLIGHT * 32) {
            Vector p[FLIGHT];
            if (base * PER >= before && (base + FLIGHT * 32) * PER <= end) {
#pragma unroll
                for (u32 i = 0; i < FLIGHT; i++)
                    p[i] = load(reinterpret_cast<const Vector*>(from) + base + i * 32 + lane);
            } else {
#pragma unroll
                for (u32 i = 0; i < FLIGHT; i++) {
                    const u32 v = base + i * 32 + lane, first = v * PER;
                    Elements<E> e(Vector{});
                    if (first >= before && first + PER <= end) {
                        e.vector = load(reinterpret_cast<const Vector*>(from) + v);
                    } else {
#pragma unroll
                        for (u32 k = 0; k < PER; k++) {
                            if (first + k >= before && first + k < end) e.element[k] = from[first + k];
                        }
                    }
                    p[i] = e.vector;
                }
            }
#pragma unroll
            for (u32 i = 0; i < FLIGHT; i++) {
                const u32 v = base + i * 32 + lane;
                if (v < vectors) stage.vector[slot(v)] = p[i];
            }
        }
    }
    __device__ __forceinline__ E kept(E e) const { return skip && is_nan(e) ? Op::unit() : e; }
    __device__ __forceinline__ E at(u32 i) const {
        return kept(reinterpret_cast<const E*>(&stage.vector[slot(i / PER)])[i % PER]);
    }
    // Four of which the first has a number that four divides.
    __device__ __forceinline__ void four(E (&e)[4], u32 i) const {
        if constexpr (PER == 8) {
            const E* const half = reinterpret_cast<const E*>(&stage.vector[slot(i / PER)]) + i % PER;
            const uint2 words = *reinterpret_cast<const uint2*>(half);
            const Elements<E> of(Vector{words.x, words.y, 0, 0});
#pragma unroll
            for (u32 j = 0; j < 4; j++) e[j] = of.element[j];
        } else {
#pragma unroll
            for (u32 v = 0; v < 4 / PER; v++) {
                const Elements<E> of(stage.vector[slot(i / PER + v)]);
#pragma unroll
                for (u32 j = 0; j < PER; j++) e[v * PER + j] = of.element[j];
            }
        }
        if (__builtin_expect(!skip, true)) return;
#pragma unroll
        for (u32 j = 0; j < 4; j++) e[j] = kept(e[j]);
    }
    __device__ __forceinline__ typename Op::Chain chain_of(u32 begin, u32 count) const {
        typename Op::Chain chain;
        const bool are_fours = begin % 4 == 0;
        const u32 end = begin + count;
        u32 i = begin;
        if constexpr (FOURS > 1) {
#pragma unroll 1
            for (; are_fours && i + 4 * FOURS <= end; i += 4 * FOURS) {
                E e[FOURS][4];
#pragma unroll
                for (u32 k = 0; k < FOURS; k++) four(e[k], i + 4 * k);
#pragma unroll
                for (u32 k = 0; k < FOURS; k++) chain.four(e[k]);
            }
        }
#pragma unroll 1
        for (; i + 4 <= end; i += 4) {
            E e[4];
            if (are_fours) {
                four(e, i);
            } else {
#pragma unroll
                for (u32 j = 0; j < 4; j++) e[j] = at(i + j);
            }
            chain.four(e);
        }
        if (i < end) {
            // Ones change nothing, but of zeros' signs where an element is a factor.
            if constexpr (Op::FACTOR == 1) {
#pragma unroll 1
                for (; i < end; i++) {
                    const E e = at(i);
                    chain.factor(&e);
                }
            } else {
                E e[4];
#pragma unroll
                for (u32 j = 0; j < 4; j++) e[j] = i + j < end ? at(i + j) : Op::unit();
                chain.four(e);
            }
        }
        return chain;
    }
    __device__ __forceinline__ Node node_of(const typename Op::Chain& chain, u32 begin, u32 count) const {
        if (chain.is_plain()) return chain.node();
        return Op::run(count, [&](u32 k) { return Op::leaf(at(begin + k)); });
    }
    __device__ __forceinline__ Node run(u32 begin, u32 count) const {
        return node_of(chain_of(begin, count), begin, count);
    }
    // Output k, a short row whose first element has a number: a run, or of the narrower types some.
    template <class Spans, class Write>
    __device__ __forceinline__ void write_row(u64 k, u32 first, u32 length, const Write& write) const {
        if (SHORT_ROW_BYTES / sizeof(E) <= RUN || length <= RUN) {
            const typename Op::Chain chain = chain_of(first, length);
            if (!write.at_once(k, chain)) write(k, node_of(chain, first, length));
        } else {
            write(k, row_of_runs<Spans>(first, length));
        }
    }
    template <class Spans> __device__ __forceinline__ Node row_of_runs(u32 first, u32 length) const {
        Node n = Spans::one();
        typename Spans::Block block(n);
#pragma unroll 1
        for (u32 k = 0; k < length; k += RUN) {
            n = run(first + k, min(length - k, RUN));
            if (k == 0) block = typename Spans::Block(n);
            else block.multiply(n);
        }
        if (block.is_plain()) return block.node();
        const auto again = [&](u32 k) {
            return Op::run(min(length - k * RUN, RUN), [&](u32 i) { return Op::leaf(at(first + k * RUN + i)); });
        };
        return join_runs<Spans>((length + RUN - 1) / RUN, again);
    }
    __device__ __forceinline__ void put(u32 k, const Node& n) const {
        u64 word[Op::PACKED_WORDS];
        Op::pack(n, word);
#pragma unroll
        for (u32 w = 0; w < Op::PACKED_WORDS; w++) stage.runs[w * RUNS + k] = word[w];
    }
    __device__ __forceinline__ Node get(u32 k) const {
        u64 word[Op::PACKED_WORDS];
#pragma unroll
        for (u32 w = 0; w < Op::PACKED_WORDS; w++) word[w] = stage.runs[w * RUNS + k];
        return Op::unpack(word);
    }
};

// write(row, node) writes the result of a row, write.at_once(row, chain) that of a row of one run, if it can.
template <class Spans, class Op, bool ARE_SHORT, class Write>
__device__ __forceinline__ void fold_staged_rows(const void* x, u64 rows, u32 length, bool skip,
                                                 typename StagedRows<Op, ARE_SHORT>::Stage& stage, const Write& write) {
    typedef StagedRows<Op, ARE_SHORT> Staged;
    typedef typename Op::Element E;
    const u32 lane = threadIdx.x % 32, bytes = length * u32(sizeof(E)), runs = (length + RUN - 1) / RUN;
    // As many rows as there is room for; of short ones as many for each lane.
    const u32 of_warp =
        ARE_SHORT ? max(Staged::BYTES / 32 / bytes, 1u) * 32 : min(Staged::VECTORS * 16 / bytes, Staged::RUNS / runs);
    const u64 warp = (u64(blockIdx.x) * blockDim.x + threadIdx.x) / 32, warps = u64(gridDim.x) * blockDim.x / 32;
#pragma unroll 1
    for (u64 first = warp * of_warp; first < rows; first += warps * of_warp) {
        const u32 here = u32(min(rows - first, u64(of_warp)));
        const E* const from = static_cast<const E*>(x) + first * length;
        const Staged staged = {stage, u32(reinterpret_cast<u64>(from) % 16 / sizeof(E)), skip};
        staged.fill(from, here * length);
        __syncwarp();
        if constexpr (ARE_SHORT) {
#pragma unroll 1
            for (u32 row = lane; row < here; row += 32)
                staged.template write_row<Spans>(first + row, staged.before + row * length, length, write);
        } else {
#pragma unroll 1
            for (u32 k = lane; k < here * runs; k += 32) {
                const u32 row = k / runs, begin = (k - row * runs) * RUN;
                staged.put(k, staged.run(staged.before + row * length + begin, min(length - begin, RUN)));
            }
            __syncwarp();
#pragma unroll 1
            for (u32 row = lane; row < here; row += 32)
                write(first + row, multiply_runs<Spans>(runs, [&](u32 k) { return staged.get(row * runs + k); }));
        }
        __syncwarp();
    }
}
