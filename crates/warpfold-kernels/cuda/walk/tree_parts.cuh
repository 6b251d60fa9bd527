// Many outputs, each along the canonical tree of its own elements (tree_array.cuh): segments, rows, and views by loops.
//
// A power of two of lanes share an output, as many as it has runs on the average, so that short outputs lie side by
// side in a warp. A lane multiplies a run by vectors of its elements, which are loaded as such where they lie so; the
// runs of a block go from lane to lane, and blocks are joined as a counter in binary carries. Whole blocks that a warp
// has for itself go by tiles (tree_tile.cuh) where vectors of them are aligned. A long output is cut into
// spans of a power of two of blocks, each folded as an output, whose results are joined by the same lanes in a second
// launch.
//
// Floor: input and output once through the memory; lanes whose runs are a line apart ask for 16 bytes of each at a
// time.
#pragma once
#include "walk/gather.cuh"
#include "walk/tree_tile.cuh"

constexpr u32 PART_WARPS = 4;  // of a thread block

// Beside what all kernels by loops are given.
struct TreeParts {
    SegmentArguments a;
    Loops loops;       // none for segments
    u64 inputs;        // of each output by loops
    u64 lanes;         // of an output: a power of two up to 32
    u64 pieces, span;  // of each output, all but the last of so many elements; one of all where lengths are not known
};

// Where the elements of an output lie, from one on.
struct TreeInput {
    u64 first, count;    // elements; of the array
    u64 stride;          // if it is one loop
    const Loops* loops;  // if they are more

    __device__ __forceinline__ u64 at(u64 i) const { return loops == nullptr ? first + i * stride : looped(i); }
    __device__ __noinline__ u64 looped(u64 i) const {
        const u64 length = loops->inner_length();
        return first + loops->turned(i / length) + i % length * loops->inner_stride();
    }
};

__device__ __forceinline__ TreeInput input_of(const TreeParts& parts, u64 output) {
    if (parts.loops.word != nullptr) {
        u64 same;
        const u64 first = parts.loops.nth(output, same);
        if (parts.loops.folded > 1) return {first, parts.inputs, 0, &parts.loops};
        return {first, parts.inputs, parts.loops.inner_stride(), nullptr};
    }
    const Bounds bounds(parts.a);
    const u64 begin = bounds[output], end = bounds[output + 1];
    if (end < begin || end > parts.a.n) {
        fault(parts.a, OFFSETS, output);
        return {0, 0, 1, nullptr};
    }
    return {begin, end - begin, 1, nullptr};
}

// One in place of a NaN that is skipped.
template <class E> __device__ __forceinline__ Vector kept(const Vector& p, E one) {
    Elements<E> e(p);
#pragma unroll
    for (int k = 0; k < PER_VECTOR<E>; k++) {
        if (is_nan(e.element[k])) e.element[k] = one;
    }
    return e.vector;
}

// A run of up to 32 elements. The last vectors are made whole by ones, which change nothing.
template <class Op>
__device__ __noinline__ typename Op::Node run_of(const typename Op::Element* array, const TreeInput& in, u64 first,
                                                 u32 count, bool skip) {
    typedef typename Op::Element E;
    constexpr u32 PER = PER_VECTOR<E>, GROUP = Op::FACTOR == 2 && PER == 2 ? 2 * PER : PER, FLIGHT = 4;
    const E* const x = array + in.at(first);
    const bool is_row = in.loops == nullptr && in.stride == 1, aligned = is_row && reinterpret_cast<u64>(x) % 16 == 0;
    const u32 vectors = (count + GROUP - 1) / GROUP * (GROUP / PER);
    typename Op::Chain chain;
#pragma unroll 1
    for (u32 base = 0; base < vectors; base += FLIGHT) {
        Vector p[FLIGHT];
        if (aligned && (base + FLIGHT) * PER <= count) {
#pragma unroll
            for (u32 k = 0; k < FLIGHT; k++) p[k] = load(reinterpret_cast<const Vector*>(x) + base + k);
        } else {
#pragma unroll
            for (u32 k = 0; k < FLIGHT; k++) {
                const u32 begin = (base + k) * PER;
                if (aligned && begin + PER <= count) {
                    p[k] = load(reinterpret_cast<const Vector*>(x) + base + k);
                    continue;
                }
                Elements<E> e(Vector{});
#pragma unroll
                for (u32 j = 0; j < PER; j++)
                    e.element[j] = begin + j < count ? array[in.at(first + begin + j)] : Op::unit();
                p[k] = e.vector;
            }
        }
#pragma unroll
        for (u32 k = 0; k < FLIGHT; k++) {
            if (base + k >= vectors) continue;
            chain.vector(skip ? kept(p[k], Op::unit()) : p[k], k);
        }
    }
    if (chain.is_plain()) return chain.node();
    return Op::run(count, [&](u32 k) {
        const E e = array[in.at(first + k)];
        return Op::leaf(skip && is_nan(e) ? Op::unit() : e);
    });
}

// Blocks, or spans of one size, in order: what they join to so far, of fewer than 2^LEVELS.
template <class Spans, u32 LEVELS = 44> struct Carried {
    typedef typename Spans::Node Node;
    Node waiting[LEVELS];
    u64 count = 0;

    // 2^level of them, as many as divide the count.
    __device__ __forceinline__ void push(Node n, u32 level = 0) {
        const u64 more = 1ull << level;
#pragma unroll 1
        for (u64 k = count >> level; k % 2 == 1; k /= 2, level++) n = Spans::join(waiting[level], n);
        waiting[level] = n;
        count += more;
    }
    // What stands to the right of a span is less than it, and so joins it as it is.
    __device__ __forceinline__ Node all() const {
        u64 left = count;
        u32 level = __ffsll(left) - 1;
        Node n = waiting[level];
#pragma unroll 1
        for (left &= left - 1; left != 0; left &= left - 1) n = Spans::join(waiting[__ffsll(left) - 1], n);
        return n;
    }
};

// So many whole blocks, one at least, pushed by the first lane; all lanes of a warp. Tells whether they were: only if
// they are aligned to vectors.
template <class Op> using PartTile = Tile<Op, 8, 2>;
template <class Op, class Spans>
__device__ __noinline__ bool fold_blocks(const typename Op::Element* x, u64 blocks, bool skip, PartTile<Op>& tile,
                                         Carried<Spans>& carried) {
    typedef PartTile<Op> Runs;
    typedef typename Op::Element E;
    typedef typename Op::Node Node;
    if (reinterpret_cast<u64>(x) % 16 != 0) return false;
    constexpr u64 BYTES = BLOCK_LEAVES * sizeof(E);
    const u32 lane = threadIdx.x % 32;
    const char* block = reinterpret_cast<const char*>(x);
    Vector next[Runs::VECTORS];
    Runs::load(next, block, 0);
    u32 count = 0;
#pragma unroll 1
    for (u64 left = blocks; left > 0; left--, block += BYTES) {
        typename Op::Chain chain;
#pragma unroll 1
        for (u32 s = 0; s < Runs::STAGES; s++) {
            tile.put(next);
            __syncwarp();
            if (s + 1 < Runs::STAGES) Runs::load(next, block, s + 1);
            else if (left > 1) Runs::load(next, block + BYTES, 0);
#pragma unroll
            for (u32 v = 0; v < Runs::VECTORS; v++) chain.vector(skip ? kept(tile.at(v), Op::unit()) : tile.at(v), v);
            __syncwarp();
        }
        if (chain.is_plain()) {
            tile.put(count, chain.node());
        } else {
            const E* const run = reinterpret_cast<const E*>(block) + lane * RUN;
            const auto leaf = [&](u32 k) { return Op::leaf(skip && is_nan(run[k]) ? Op::unit() : run[k]); };
            tile.put(count, Op::run(RUN, leaf));
        }
        if (++count < Runs::MOST && left > 1) continue;
        __syncwarp();
        Node n = tile.blocks(count);
        // Neighbours, then the largest spans in order.
        u32 level = 0;
#pragma unroll 1
        for (; 2u << level <= count; level++) {
            const Node right = shuffle_down(n, 1u << level);
            if (lane % (2u << level) == 0 && lane + (2u << level) <= count) n = Op::join(n, right);
        }
        u32 at = 0;
#pragma unroll 1
        for (level++; level-- > 0;) {
            if ((count >> level & 1) == 0) continue;
            const Node span = shuffle_words(n, at);
            if (lane == 0) carried.push(span, level);
            at += 1u << level;
        }
        count = 0;
        __syncwarp();
    }
    return true;
}

// The results of as many outputs as a warp has groups of lanes, in the first lane of each; run(k, count) is an output's
// run that begins with its k-th element, whole(blocks, carried) may push its whole blocks where a warp has one output.
template <class Spans, class Run, class Whole>
__device__ __forceinline__ typename Spans::Node fold_part(u64 count, u32 lanes, const Run& run_at, const Whole& whole) {
    typedef typename Spans::Node Node;
    const u32 lane = threadIdx.x % 32, mine = lane % lanes;
    // Of one run a block is that run.
    if (__all_sync(0xffffffffu, count <= RUN)) return mine == 0 && count > 0 ? run_at(0, u32(count)) : Spans::one();
    Carried<Spans> carried;
    u64 first = 0;
    if (lanes == 32 && count >= BLOCK_LEAVES && whole(count / BLOCK_LEAVES, carried))
        first = count / BLOCK_LEAVES * BLOCK_LEAVES;
#pragma unroll 1
    for (; __any_sync(0xffffffffu, first < count); first += BLOCK_LEAVES) {
        const u64 left = first < count ? count - first : 0;
        const u32 leaves = left < BLOCK_LEAVES ? u32(left) : BLOCK_LEAVES;
        const auto leaves_of = [&](u32 run) {
            const u32 before = run * RUN;
            return leaves > before ? min(leaves - before, RUN) : 0;
        };
        typename Spans::Block block(Spans::one());
#pragma unroll 1
        for (u32 run = 0; __any_sync(0xffffffffu, run * RUN < leaves); run += lanes) {
            const u32 of_mine = leaves_of(run + mine);
            const Node n = of_mine > 0 ? run_at(first + (run + mine) * RUN, of_mine) : Spans::one();
#pragma unroll 1
            for (u32 k = 0; k < lanes; k++) {
                const Node next = lanes == 1 ? n : shuffle_words(n, lane - mine + k);
                if (leaves_of(run + k) == 0) continue;
                if (run + k == 0) block = typename Spans::Block(next);
                else block.multiply(next);
            }
        }
        if (mine > 0 || leaves == 0) continue;
        if (block.is_plain()) {
            carried.push(block.node());
        } else {
            const auto run = [&](u32 k) { return run_at(first + k * RUN, leaves_of(k)); };
            carried.push(multiply_runs<Spans>((leaves + RUN - 1) / RUN, run));
        }
    }
    return mine == 0 && count > 0 ? carried.all() : Spans::one();
}

// All pieces of all outputs; run(input, k, count) and whole(first element, blocks, carried) as above, write(piece,
// node) writes the result.
template <class Spans, class Run, class Whole, class Write>
__device__ __forceinline__ void fold_parts(const TreeParts& parts, const Run& run, const Whole& whole,
                                           const Write& write) {
    const u32 lane = threadIdx.x % 32, lanes = u32(parts.lanes), side_by_side = 32 / lanes;
    const u64 warp = (u64(blockIdx.x) * blockDim.x + threadIdx.x) / 32, warps = u64(gridDim.x) * blockDim.x / 32;
    const u64 all = parts.a.segments * parts.pieces;
#pragma unroll 1
    for (u64 base = warp * side_by_side; base < all; base += warps * side_by_side) {
        const u64 piece = base + lane / lanes, begin = parts.pieces > 1 ? piece % parts.pieces * parts.span : 0;
        TreeInput in = {0, 0, 1, nullptr};
        if (piece < all) in = input_of(parts, parts.pieces > 1 ? piece / parts.pieces : piece);
        const u64 left = in.count > begin ? in.count - begin : 0;
        const u64 count = parts.pieces > 1 ? min(left, parts.span) : left;
        const auto n = fold_part<Spans>(
            count, lanes, [&](u64 k, u32 count) { return run(in, begin + k, count); },
            [&](u64 blocks, Carried<Spans>& carried) {
                return in.loops == nullptr && in.stride == 1 && whole(in.first + begin, blocks, carried);
            });
        if (lane % lanes == 0 && piece < all) write(piece, n);
    }
}

// What so many neighbours of an output's pieces come to, the last of them maybe fewer: a warp each of such groups, a
// lane an aligned part of one. The groups of an output are in order, so that another launch may join them in turn.
template <class Spans, class Write>
__device__ __forceinline__ void join_parts(const typename Spans::Node* states, u64 outputs, u64 pieces, u64 group,
                                           const Write& write) {
    typedef typename Spans::Node Node;
    const u32 lane = threadIdx.x % 32;
    const u64 warp = (u64(blockIdx.x) * blockDim.x + threadIdx.x) / 32, warps = u64(gridDim.x) * blockDim.x / 32;
    const u64 groups = (pieces + group - 1) / group;
    u64 each = 1;
    while (each * 32 < group) each *= 2;
#pragma unroll 1
    for (u64 k = warp; k < outputs * groups; k += warps) {
        const u64 first = k % groups * group, here = min(group, pieces - first);
        const Node* const of_group = states + k / groups * pieces + first;
        Carried<Spans> carried;
#pragma unroll 1
        for (u64 i = lane * each; i < (lane + 1) * each && i < here; i++) carried.push(of_group[i]);
        Node n = carried.count > 0 ? carried.all() : Spans::one();
        // What stands to the right of a span may be less than it.
        const u32 held = u32((here + each - 1) / each);
#pragma unroll 1
        for (u32 step = 1; step < held; step *= 2) {
            const Node right = shuffle_down(n, step);
            if (lane % (2 * step) == 0 && lane + step < held) n = Spans::join(n, right);
        }
        if (lane == 0) write(k, n);
    }
}
