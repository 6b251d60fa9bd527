// Many outputs, each along the canonical tree of its own elements (tree_array.cuh): columns of matrices.
//
// A lane has a column, or two neighbours of 16 bits, and multiplies it run by run and block by block, so that nothing
// is exchanged; neighbouring lanes have neighbouring columns, so that what a warp loads at once lies together. Long
// columns are cut into pieces, spans of a power of two of blocks, each a lane's, whose results a second launch joins.
// Where columns are fewer than lanes of a warp, it has several pieces of them, whose lines wait in the first cache for
// the next rows.
//
// Floor: input and output once through the memory. In the time of 4 bytes an H100 issues some 34 instructions a lane;
// an element of f32 takes 10.
#pragma once
#include "walk/tree_parts.cuh"

// Matrices, a column an output.
struct TreeColumns {
    const void* x;
    u64 width, rows, batches;
    u64 row_pitch, batch_pitch;  // elements from one to the next; they wrap
    u64 pieces, span;            // of each column, all but the last of so many rows
    bool skip;                   // NaNs are skipped
};

// The columns of a lane, and levels of the spans of its piece.
template <class E> constexpr u32 COLUMNS_OF_LANE = sizeof(E) == 2 ? 2 : 1;
constexpr u32 PIECE_LEVELS = 12;

template <class Op> struct LaneColumns {
    typedef typename Op::Element E;
    typedef typename Op::Node Node;
    typedef typename Op::Chain Chain;
    static constexpr u32 COLUMNS = COLUMNS_OF_LANE<E>;
    // Rows in flight.
    static constexpr u32 GROUP = sizeof(E) <= 4 ? 32 : 16, SHORT_GROUP = Op::LANES == 1 ? 8 : 4;
    // What a lane has of a row: both of 16 bits as one word.
    typedef typename Select<COLUMNS == 2, u32, E>::type Row;

    const E* x;
    u64 pitch;
    u32 second;      // from the first column to the second, if there is one
    bool is_paired;  // both are one word
    bool skip;

    template <u32 N> __device__ __forceinline__ void load(Row (&row)[N], const E* at) const {
        if constexpr (COLUMNS == 1) {
#pragma unroll
            for (u32 k = 0; k < N; k++, at += pitch) row[k] = *at;
        } else if (is_paired) {
#pragma unroll
            for (u32 k = 0; k < N; k++, at += pitch) row[k] = *reinterpret_cast<const u32*>(at);
        } else {
#pragma unroll
            for (u32 k = 0; k < N; k++, at += pitch) row[k] = at[0].bits | u32(at[second].bits) << 16;
        }
    }
    static __device__ __forceinline__ E element(const Row& row, u32 c) {
        E e;
        if constexpr (COLUMNS == 1) e = row;
        else e.bits = u16(row >> 16 * c);
        return e;
    }
    __device__ __forceinline__ E kept(E e) const { return skip && is_nan(e) ? Op::unit() : e; }
    template <u32 N> __device__ __forceinline__ void take(Chain (&chain)[COLUMNS], const Row (&row)[N]) const {
#pragma unroll
        for (u32 k = 0; k < N; k += 4) {
#pragma unroll
            for (u32 c = 0; c < COLUMNS; c++) {
                // A branch, or, of complex numbers, whose registers are all in use, a choice an element.
                if constexpr (Op::LANES > 1) {
                    chain[c].four({kept(element(row[k], c)), kept(element(row[k + 1], c)), kept(element(row[k + 2], c)),
                                   kept(element(row[k + 3], c))});
                } else {
                    E e[4];
#pragma unroll
                    for (u32 i = 0; i < 4; i++) e[i] = element(row[k + i], c);
                    if (__builtin_expect(skip, false)) {
#pragma unroll
                        for (u32 i = 0; i < 4; i++) e[i] = kept(e[i]);
                    }
                    chain[c].four(e);
                }
            }
        }
    }
    // Less than a group. What is beyond the rows that four divides is made four by ones, which change nothing; of
    // elements that are factors alone they are left out, as zeros have signs.
    __device__ __forceinline__ void take_some(Chain (&chain)[COLUMNS], const E* at, u32 count) const {
#pragma unroll 1
        for (; count >= 4; count -= 4, at += 4 * pitch) {
            Row row[4];
            load(row, at);
            take(chain, row);
        }
        if (count == 0) return;
        E four[COLUMNS][4];
#pragma unroll
        for (u32 k = 0; k < 4; k++, at += pitch) {
            Row row[1] = {};
            if (k < count) load(row, at);
#pragma unroll
            for (u32 c = 0; c < COLUMNS; c++) {
                const E e[1] = {kept(element(row[0], c))};
                if constexpr (Op::FACTOR == 1) {
                    if (k < count) chain[c].factor(e);
                }
                four[c][k] = k < count ? e[0] : Op::unit();
            }
        }
        if constexpr (Op::FACTOR > 1) {
#pragma unroll
            for (u32 c = 0; c < COLUMNS; c++) chain[c].four(four[c]);
        }
    }
    // A run of one of them, leaf by leaf.
    static __device__ __noinline__ Node again(const E* x, u64 pitch, u32 count, bool skip) {
        return Op::run(count, [&](u32 k) {
            const E e = x[k * pitch];
            return Op::leaf(skip && is_nan(e) ? Op::unit() : e);
        });
    }
    __device__ __forceinline__ Node again(u32 c, u64 first, u32 count) const {
        return again(x + first * pitch + (c == 0 ? 0 : second), pitch, count, skip);
    }
    // Up to a run from a row on, so many rows at a time.
    template <u32 N> __device__ __forceinline__ void chains(Chain (&chain)[COLUMNS], u64 first, u32 count) const {
        const E* at = x + first * pitch;
        u32 left = count;
#pragma unroll 1
        for (; left >= N; left -= N, at += N * pitch) {
            Row row[N];
            load(row, at);
            take(chain, row);
        }
        if (left > 0) take_some(chain, at, left);
    }
    __device__ __forceinline__ Node node_of(const Chain& chain, u32 c, u64 first, u32 count) const {
        return chain.is_plain() ? chain.node() : again(c, first, count);
    }
    __device__ __forceinline__ void run(Node (&n)[COLUMNS], u64 first, u32 count) const {
        Chain chain[COLUMNS];
        chains<GROUP>(chain, first, count);
#pragma unroll
        for (u32 c = 0; c < COLUMNS; c++) n[c] = node_of(chain[c], c, first, count);
    }
    // Columns of up to a run, the first of which is output k.
    template <class Write> __device__ __forceinline__ void write_run(u64 k, u32 count, const Write& write) const {
        Chain chain[COLUMNS];
        chains<SHORT_GROUP>(chain, 0, count);
#pragma unroll
        for (u32 c = 0; c < COLUMNS; c++) {
            if (c > 0 && second == 0) continue;
            if (!write.at_once(k + c, chain[c])) write(k + c, node_of(chain[c], c, 0, count));
        }
    }
    // Up to 2^(PIECE_LEVELS - 1) blocks from a row on, at least one row.
    template <class Spans> __device__ __forceinline__ void fold(Node (&n)[COLUMNS], u64 begin, u64 count) const {
        Carried<Spans, PIECE_LEVELS> carried[COLUMNS];
        typename Spans::Block first_block(Spans::one()), second_block(Spans::one());
        const auto block = [&](u32 c) -> typename Spans::Block& { return c == 0 ? first_block : second_block; };
#pragma unroll 1
        for (u64 done = 0; done < count;) {
            run(n, begin + done, u32(min(count - done, u64(RUN))));
            const bool is_first = done % BLOCK_LEAVES == 0;
#pragma unroll
            for (u32 c = 0; c < COLUMNS; c++) {
                if (is_first) block(c) = typename Spans::Block(n[c]);
                else block(c).multiply(n[c]);
            }
            done += RUN;
            if (done < count && done % BLOCK_LEAVES > 0) continue;
            const u64 first = (done - RUN) / BLOCK_LEAVES * BLOCK_LEAVES;
            const u32 leaves = u32(min(count - first, u64(BLOCK_LEAVES)));
#pragma unroll
            for (u32 c = 0; c < COLUMNS; c++) {
                const auto nth = [&](u32 k) { return again(c, begin + first + k * RUN, min(leaves - k * RUN, RUN)); };
                // Of one run a block is that run.
                if (leaves > RUN) {
                    n[c] = block(c).is_plain() ? block(c).node() : join_runs<Spans>((leaves + RUN - 1) / RUN, nth);
                }
                carried[c].push(n[c]);
            }
        }
        if (count <= BLOCK_LEAVES) return;
#pragma unroll
        for (u32 c = 0; c < COLUMNS; c++) n[c] = carried[c].all();
    }
};

// Whether both columns of every lane are one word.
template <class E> __device__ __forceinline__ bool are_paired(const TreeColumns& a) {
    return ((a.width | a.row_pitch | a.batch_pitch) * sizeof(E) | reinterpret_cast<u64>(a.x)) % 4 == 0;
}

// Columns of up to a run each: write(output, node) writes the result, or write.at_once(output, chain), if it can.
template <class Op, class Write>
__device__ __forceinline__ void fold_run_columns(const TreeColumns& a, const Write& write) {
    typedef typename Op::Element E;
    constexpr u32 COLUMNS = COLUMNS_OF_LANE<E>;
    const u64 lanes = (a.width + COLUMNS - 1) / COLUMNS, step = u64(gridDim.x) * blockDim.x;
    const bool is_paired = are_paired<E>(a);
    u64 lane = u64(blockIdx.x) * blockDim.x + threadIdx.x, batch = 0, batches = 0;
    if (lane >= lanes) batch = lane / lanes, lane %= lanes;
    u64 further = step;
    if (step >= lanes) batches = step / lanes, further = step % lanes;
#pragma unroll 1
    while (batch < a.batches) {
        const u64 column = lane * COLUMNS;
        const bool is_second = COLUMNS > 1 && column + 1 < a.width;
        const LaneColumns<Op> mine = {static_cast<const E*>(a.x) + batch * a.batch_pitch + column, a.row_pitch,
                                      is_second, is_paired, a.skip};
        mine.write_run(batch * a.width + column, u32(a.rows), write);
        lane += further;
        batch += batches;
        if (lane >= lanes) lane -= lanes, batch++;
    }
}

// All pieces of all columns, whose results write.piece(output, piece, node) writes.
template <class Spans, class Op, class Write>
__device__ __forceinline__ void fold_tree_columns(const TreeColumns& a, const Write& write) {
    typedef typename Op::Element E;
    constexpr u32 COLUMNS = COLUMNS_OF_LANE<E>;
    const u64 lanes = (a.width + COLUMNS - 1) / COLUMNS, of_matrix = lanes * a.pieces, all = of_matrix * a.batches;
    const bool is_paired = are_paired<E>(a);
    const u64 step = u64(gridDim.x) * blockDim.x;
#pragma unroll 1
    for (u64 k = u64(blockIdx.x) * blockDim.x + threadIdx.x; k < all; k += step) {
        u64 lane = k, piece = 0, batch = 0;
        if (all == u32(all)) {
            if (lanes < all) piece = u32(k) / u32(lanes), lane = k - piece * lanes;
            if (a.batches > 1) batch = u32(piece) / u32(a.pieces), piece -= batch * a.pieces;
        } else {
            if (lanes < all) piece = k / lanes, lane = k - piece * lanes;
            if (a.batches > 1) batch = piece / a.pieces, piece -= batch * a.pieces;
        }
        const u64 column = lane * COLUMNS, begin = piece * a.span;
        const bool is_second = COLUMNS > 1 && column + 1 < a.width;
        const LaneColumns<Op> mine = {static_cast<const E*>(a.x) + batch * a.batch_pitch + column, a.row_pitch,
                                      is_second, is_paired, a.skip};
        const u64 output = batch * a.width + column;
        typename Op::Node n[COLUMNS];
        mine.template fold<Spans>(n, begin, a.pieces > 1 ? min(a.rows - begin, a.span) : a.rows);
        write.piece(output, piece, n[0]);
        if (is_second) write.piece(output + 1, piece, n[COLUMNS - 1]);
    }
}
