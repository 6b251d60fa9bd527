// One array along the canonical tree (crates/warpfold-exact/src/tree), to the interval of its leaves: the results of
// the largest aligned spans that it covers.
//
// A lane multiplies a run of 32 elements. Loads are coalesced: a warp reads a block of 32 runs in whole lines, into
// shared memory, whose slots are swizzled so that neither writing lines nor reading runs meets a bank twice; the next
// vectors are loaded meanwhile. Eight blocks are a tile, whose runs lie in shared memory until one warp, each time the
// next one, multiplies them, a lane a block, and joins the blocks; the other warps go on with the next tile. Thread
// blocks take spans of a power of two of tiles, so many that there are at most SPANS; the last one to arrive joins
// these. Whoever holds a span that lies within the array, while the next larger one about it does not, writes it to the
// record: so the ends of the array need no care, wherever it starts in the whole.
//
// Floor: the array once through the memory. In the time of 4 bytes an H100 issues some 34 instructions a lane.
//
// record: 5 words for the last block of an array from leaf 0 if that is no whole one and ROOT is asked for; then the
// interval's parts in order, each of NODE_WORDS: a leaf, or a span.
//
// y of the arguments is no array but the first leaf. What is folded, a struct:
//
//   Element, Node, NODE_WORDS                 what it reads, and the result of a span
//   PACKED_WORDS, pack(), unpack()       in shared memory
//   Chain                                a run by its vectors: vector(Vector, k), is_plain(), node()
//   Block                                a block by its runs: multiply(Node), is_plain(), node()
//   leaf(Element), run(count, leaf), join(a, b), write_leaf(u64*, leaf)
#pragma once
#include "walk/tree_block.cuh"

constexpr u64 ROOT = 2;  // an option: the last block, if it is not whole
constexpr u32 TILE_BLOCKS = 8, TILE_LEVEL = 3, SPANS = 2048, ROOT_WORDS = 5;

// The leaves of an array from the first on, and the number of each part of their interval.
struct Leaves {
    u64 first, end;
    u64 begun, ended;  // whole blocks, by their numbers, if there are any
    u64 summit;        // before it spans grow, after it they shrink

    __device__ __forceinline__ Leaves(u64 first, u64 n)
        : first(first), end(first + n), begun((first + BLOCK_LEAVES - 1) / BLOCK_LEAVES), ended(end / BLOCK_LEAVES),
          summit(begun) {
        if (begun < ended) {
            const int level = 63 - __clzll(begun ^ ended);
            summit = ended >> level << level;
        }
    }
    // Whether a span of 2^level blocks lies within.
    __device__ __forceinline__ bool has(u32 level, u64 number) const {
        return number << level >= begun && (number + 1) << level <= ended;
    }
    // The leaves before the first whole block, and after the last.
    __device__ __forceinline__ u64 head_end() const { return min(begun * BLOCK_LEAVES, end); }
    __device__ __forceinline__ u64 tail_begin() const { return begun <= ended ? ended * BLOCK_LEAVES : end; }
    // The parts of leaves of one block before one of them.
    static __device__ __forceinline__ u64 parts(u64 from, u64 to, u64 at) {
        const u64 runs = min((from + RUN - 1) / RUN * RUN, to), leaves = max(to / RUN * RUN, runs);
        if (at < runs) return at - from;
        return runs - from + (min(at, leaves) - runs) / RUN + (at > leaves ? at - leaves : 0);
    }
    __device__ __forceinline__ u64 spans(u64 block) const {
        if (block < summit) return __popcll(block - begun);
        return __popcll(summit - begun) + __popcll(block - summit);
    }
    // The parts before the one that begins with a leaf.
    __device__ __forceinline__ u64 parts_before(u64 leaf) const {
        if (leaf < head_end()) return parts(first, head_end(), leaf);
        const u64 head = parts(first, head_end(), head_end());
        if (begun > ended) return head;
        if (leaf < tail_begin()) return head + spans(leaf / BLOCK_LEAVES);
        return head + spans(ended) + parts(tail_begin(), end, leaf);
    }
};

template <class Op> struct TreeArray {
    typedef typename Op::Element E;
    typedef typename Op::Node Node;
    static constexpr u32 PER = PER_VECTOR<E>, OF_RUN = RUN / PER, VECTORS = OF_RUN < 8 ? OF_RUN : 8,
                         STAGES = OF_RUN / VECTORS, PACKED = Op::PACKED_WORDS, NODE_WORDS = Op::NODE_WORDS;
    // Words of shared memory: vectors of each warp; packed runs of two tiles; spans that wait for their right
    // neighbours, at most one a level. In the end the spans of two levels lie in the place of the first two.
    static constexpr u32 STAGE_WORDS = Op::WARPS * VECTORS * RUN * 2, ROW = RUN + 1,
                         RUN_WORDS = PACKED * TILE_BLOCKS * ROW,
                         LEVELS = 44, TOP = SPANS / 8 + 2, ROOM = STAGE_WORDS + 2 * RUN_WORDS;
    static_assert(2 * TOP * NODE_WORDS <= ROOM, "two levels of spans find room");
    struct alignas(16) Shared {
        u64 room[ROOM];
        u64 waiting[LEVELS * NODE_WORDS];
    };

    const Arguments& a;
    const Leaves leaves;
    Shared& shared;
    const u32 lane, warp, warps;
    const char* const zero;  // where leaf 0 would lie
    u32 shift;               // a span is 2^shift tiles
    u64 first_span, last_span;
    Vector next[VECTORS];

    __device__ __forceinline__ TreeArray(const Arguments& a, Shared& shared)
        : a(a), leaves(reinterpret_cast<u64>(a.y), a.n), shared(shared), lane(threadIdx.x % 32), warp(threadIdx.x / 32),
          warps(blockDim.x / 32), zero(static_cast<const char*>(a.x) - leaves.first * sizeof(E)), shift(0) {
        const u64 first = leaves.begun / TILE_BLOCKS, last = (leaves.ended - 1) / TILE_BLOCKS;
        while ((last >> shift) - (first >> shift) >= SPANS) shift++;
        first_span = first >> shift;
        last_span = last >> shift;
    }

    __device__ __forceinline__ const E* at(u64 leaf) const { return reinterpret_cast<const E*>(zero) + leaf; }
    __device__ __forceinline__ auto leaf_at(u64 leaf) const { return Op::leaf(*at(leaf)); }

    __device__ __forceinline__ static void put(u64* to, const Node& n) {
        const Words<Node, u64> words(n);
#pragma unroll
        for (u32 k = 0; k < NODE_WORDS; k++) to[k] = words.word[k];
    }
    __device__ __forceinline__ static Node get(const u64* from) {
        Words<Node, u64> words;
#pragma unroll
        for (u32 k = 0; k < NODE_WORDS; k++) words.word[k] = from[k];
        return words.state;
    }
    static __device__ __forceinline__ u64* part(u64* record, const Leaves& leaves, u64 leaf) {
        return record + ROOT_WORDS + leaves.parts_before(leaf) * NODE_WORDS;
    }
    // Others may say that the record is complete.
    __device__ __forceinline__ static void written() { __threadfence_system(); }
    // Rare, and apart: no address of what threads keep in registers may be taken.
    static __device__ __noinline__ void write(u64* record, u64 first, u64 n, u64 leaf, Node node) {
        if (record == nullptr) return;
        put(part(record, Leaves(first, n), leaf), node);
        written();
    }
    // A span of 2^level blocks is a part, or will be joined: tells which.
    __device__ __forceinline__ bool settle(u32 level, u64 number, const Node& n) const {
        if (leaves.has(level + 1, number / 2)) return true;
        write(a.record, leaves.first, a.n, (number << level) * BLOCK_LEAVES, n);
        return false;
    }

    // Runs and leaves of a block that is not whole; all lanes of a warp.
    static __device__ __noinline__ void write_end(const char* zero, u64* record, u64 first, u64 all, u64 from, u64 to,
                                                  u64* room, bool root) {
        if (from == to || record == nullptr) return;
        const Leaves leaves(first, all);
        const u32 lane = threadIdx.x % 32;
        const u64 run = from / BLOCK_LEAVES * BLOCK_LEAVES + lane * RUN;
        const u64 begin = max(run, from), end = min(run + RUN, to);
        const u32 count = end > begin ? u32(end - begin) : 0;
        const auto leaf = [&](u32 k) { return Op::leaf(reinterpret_cast<const E*>(zero)[begin + k]); };
        const Node n = Op::run(count, leaf);
        if (count == RUN) {
            put(part(record, leaves, begin), n);
        } else {
#pragma unroll 1
            for (u32 k = 0; k < count; k++) Op::write_leaf(part(record, leaves, begin + k), leaf(k));
        }
        if (root) {
            put(room + lane * NODE_WORDS, n);
            __syncwarp();
            const auto nth = [&](u32 k) { return get(room + k * NODE_WORDS); };
            if (lane == 0) put(record, multiply_runs<Op>(u32(to - from + RUN - 1) / RUN, nth));
            __syncwarp();
        }
        written();
    }

    // The tile that this thread block comes to as its q-th, and the block of it that is this warp's in a round.
    __device__ __forceinline__ u64 tile_of(u64 q) const {
        return (first_span + blockIdx.x + (q >> shift) * gridDim.x) << shift | (q & ((1ull << shift) - 1));
    }
    __device__ __forceinline__ u64 block_of(u64 q, u32 round) const {
        return tile_of(q) * TILE_BLOCKS + round * warps + warp;
    }
    __device__ __forceinline__ void load_stage(u64 q, u32 round, u32 stage) {
        const u64 block = block_of(q, round);
        if (!leaves.has(0, block)) return;
        const E* from = at(block * BLOCK_LEAVES);
        const bool aligned = reinterpret_cast<u64>(from) % 16 == 0;
#pragma unroll
        for (u32 i = 0; i < VECTORS; i++) {
            const u32 slot = i * RUN + lane, vector = slot / VECTORS * OF_RUN + stage * VECTORS + slot % VECTORS;
            if (aligned) {
                next[i] = ::load(reinterpret_cast<const Vector*>(from) + vector);
            } else {
                Elements<E> e(next[i]);
#pragma unroll
                for (u32 k = 0; k < PER; k++) e.element[k] = from[vector * PER + k];
                next[i] = e.vector;
            }
        }
    }
    // Where vector v of a stage's part of a run lies.
    __device__ __forceinline__ static u32 slot_of(u32 run, u32 v) {
        return run * VECTORS + (v ^ (VECTORS == 8 ? run % 8 : run / 2 % VECTORS));
    }
    __device__ __forceinline__ u64* runs_of(u64 q) const { return shared.room + STAGE_WORDS + q % 2 * RUN_WORDS; }

    __device__ __forceinline__ void multiply_block(u64 q, u32 round, u64 tiles) {
        Vector* const stage = reinterpret_cast<Vector*>(shared.room) + warp * VECTORS * RUN;
        typename Op::Chain chain;
#pragma unroll 1
        for (u32 s = 0; s < STAGES; s++) {
#pragma unroll
            for (u32 i = 0; i < VECTORS; i++) {
                const u32 slot = i * RUN + lane;
                stage[slot_of(slot / VECTORS, slot % VECTORS)] = next[i];
            }
            __syncwarp();
            if (s + 1 < STAGES) load_stage(q, round, s + 1);
            else if ((round + 1) * warps < TILE_BLOCKS) load_stage(q, round + 1, 0);
            else if (q + 1 < tiles) load_stage(q + 1, 0, 0);
#pragma unroll
            for (u32 v = 0; v < VECTORS; v++) chain.vector(stage[slot_of(lane, v)], v);
            __syncwarp();
        }
        const u64 block = block_of(q, round);
        if (!leaves.has(0, block)) return;
        Node n;
        if (chain.is_plain()) {
            n = chain.node();
        } else {
            const u64 run = block * BLOCK_LEAVES + lane * RUN;
            n = Op::run(RUN, [&](u32 k) { return leaf_at(run + k); });
        }
        u64 word[PACKED];
        Op::pack(n, word);
#pragma unroll
        for (u32 k = 0; k < PACKED; k++)
            runs_of(q)[(k * TILE_BLOCKS + round * warps + warp) * ROW + lane] = word[k];
    }

    // Of the runs of a tile its blocks, and of these as much as lies in one span; one warp.
    __device__ __forceinline__ void join_tile(u64 q) {
        const u64 tile = tile_of(q);
        u64 number = tile * TILE_BLOCKS + lane;
        Node n = Op::one();
        if (lane < TILE_BLOCKS && leaves.has(0, number)) {
            const u64* const runs = runs_of(q) + lane * ROW;
            n = multiply_runs<Op>(RUN, [&](u32 run) {
                u64 word[PACKED];
#pragma unroll
                for (u32 k = 0; k < PACKED; k++) word[k] = runs[k * TILE_BLOCKS * ROW + run];
                return Op::unpack(word);
            });
        }
#pragma unroll 1
        for (u32 level = 0; level < TILE_LEVEL; level++, number /= 2) {
            const Node right = shuffle_down(n, 1u << level);
            const bool holds = lane < TILE_BLOCKS && lane % (1u << level) == 0 && leaves.has(level, number);
            if (holds && settle(level, number, n) && lane % (2u << level) == 0) n = Op::join(n, right);
        }
        if (lane > 0) return;
        u32 level = TILE_LEVEL;
#pragma unroll 1
        while (leaves.has(level, number)) {
            if (level == TILE_LEVEL + shift) {
                put(spans() + (number - first_span) * NODE_WORDS, n);
                return;
            }
            if (!settle(level, number, n)) return;
            u64* const waiting = shared.waiting + (level - TILE_LEVEL) * NODE_WORDS;
            if (number % 2 == 0) {
                put(waiting, n);
                return;
            }
            n = Op::join(get(waiting), n);
            level++;
            number /= 2;
        }
    }

    __device__ __forceinline__ u64* spans() const { return reinterpret_cast<u64*>(a.workspace + 1); }
    __device__ __forceinline__ Node span(u64 number) const {
        return load_state(reinterpret_cast<const Node*>(spans()) + (number - first_span));
    }

    // The spans of all thread blocks: first eight by a thread, then two.
    __device__ __forceinline__ void join_spans() {
        u32 level = TILE_LEVEL + shift;
        u64 first = first_span / 8, last = last_span / 8;
        u64 *here = shared.room, *there = shared.room + TOP * NODE_WORDS;
#pragma unroll 1
        for (u64 eight = first + threadIdx.x; eight <= last; eight += blockDim.x) {
            // As a counter in binary: what waits for its right neighbour.
            Node one = Op::one(), two = one, four = one, n;
#pragma unroll 1
            for (u32 k = 0; k < 8; k++) {
                const u64 number = eight * 8 + k;
                if (!leaves.has(level, number)) continue;
                n = span(number);
                if (!settle(level, number, n)) continue;
                if (k % 2 == 0) {
                    one = n;
                    continue;
                }
                n = Op::join(one, n);
                if (!settle(level + 1, number / 2, n)) continue;
                if (k % 4 == 1) {
                    two = n;
                    continue;
                }
                n = Op::join(two, n);
                if (!settle(level + 2, number / 4, n)) continue;
                if (k == 3) four = n;
                else put(here + (eight - first) * NODE_WORDS, Op::join(four, n));
            }
        }
        level += 3;
        __syncthreads();
#pragma unroll 1
        while (true) {
#pragma unroll 1
            for (u64 number = first + threadIdx.x; number <= last; number += blockDim.x) {
                if (!leaves.has(level, number)) continue;
                const u64* const mine = here + (number - first) * NODE_WORDS;
                const Node n = get(mine);
                if (settle(level, number, n) && number % 2 == 0)
                    put(there + (number / 2 - first / 2) * NODE_WORDS, Op::join(n, get(mine + NODE_WORDS)));
            }
            if (first == last) return;
            level++;
            first /= 2;
            last /= 2;
            u64* const swap = here;
            here = there;
            there = swap;
            __syncthreads();
        }
    }

    __device__ __forceinline__ void fold() {
        if (blockIdx.x == gridDim.x - 1 && warp == 0) {
            const bool root = (a.options & ROOT) && leaves.first == 0;
            write_end(zero, a.record, leaves.first, a.n, leaves.first, leaves.head_end(), shared.room, false);
            write_end(zero, a.record, leaves.first, a.n, leaves.tail_begin(), leaves.end, shared.room, root);
        }
        const bool is_some = leaves.begun < leaves.ended;
        const u64 count = is_some ? last_span - first_span + 1 : 0;
        const u64 mine = count > blockIdx.x ? (count - blockIdx.x + gridDim.x - 1) / gridDim.x : 0;
        const u64 tiles = mine << shift;
        __syncthreads();
        if (tiles > 0) load_stage(0, 0, 0);
#pragma unroll 1
        for (u64 q = 0; q < tiles; q++) {
#pragma unroll 1
            for (u32 round = 0; round * warps < TILE_BLOCKS; round++) multiply_block(q, round, tiles);
            __syncthreads();
            if (warp == q % warps) join_tile(q);
        }
        __syncthreads();
        if (gridDim.x > 1) {
            __shared__ bool is_last;
            if (threadIdx.x == 0)
                is_last = take_ticket(&a.workspace->ticket, gridDim.x - 1) == gridDim.x - 1;
            __syncthreads();
            if (!is_last) return;
        }
        if (is_some) join_spans();
        __syncthreads();
        if (threadIdx.x == 0 && a.done) {
            __threadfence_system();
            *reinterpret_cast<volatile u64*>(a.done) = a.stamp;
        }
    }
};

template <class Op> __device__ __forceinline__ void fold_tree(const Arguments& a) {
    __shared__ typename TreeArray<Op>::Shared shared;
    TreeArray<Op>(a, shared).fold();
}

// The root of an array from leaf 0 on, from its record with the last block if that is not whole. What stands to the
// right of a span is less than it, and so joins it as it is.
template <class Spans> __device__ __forceinline__ typename Spans::Node root_of_array(const u64* record, u64 n) {
    typedef typename Spans::Node Node;
    const auto read = [&](u64 word) {
        Words<Node, u64> words;
#pragma unroll
        for (u32 k = 0; k < Spans::NODE_WORDS; k++) words.word[k] = record[word + k];
        return words.state;
    };
    bool is_some = n % BLOCK_LEAVES > 0;
    Node right = is_some ? read(0) : Spans::one();
#pragma unroll 1
    for (u32 k = __popcll(n / BLOCK_LEAVES); k-- > 0;) {
        const Node left = read(ROOT_WORDS + k * Spans::NODE_WORDS);
        right = is_some ? Spans::join(left, right) : left;
        is_some = true;
    }
    return right;
}
