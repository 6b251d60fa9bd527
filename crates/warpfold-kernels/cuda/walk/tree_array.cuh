// One array along the canonical tree (crates/warpfold-exact/src/tree), to the interval of its leaves: the results of
// the largest aligned spans that it covers.
//
// Warps take blocks of 32 runs by tiles (tree_tile.cuh), and spans of a power of two of tiles; none waits for another.
// The last warp to arrive of a set of neighbouring spans joins them, and the last one of all the sets. Whoever holds a
// span that lies within the array, while the next larger one about it does not, writes it to the record: so the ends of
// the array need no care, wherever it starts in the whole.
//
// Floor: the array once through the memory. In the time of 4 bytes an H100 issues some 34 instructions a lane, and half
// as many operations of f64.
//
// record: 5 words for the last block of an array from leaf 0 if that is no whole one and ROOT is asked for; then the
// interval's parts in order, each of NODE_WORDS: a leaf, or a span.
//
// y of the arguments is no array but the first leaf. What is folded, a struct:
//
//   Element, Node, NODE_WORDS                 what it reads, and the result of a span
//   PACKED_WORDS, pack(), unpack()       in shared memory
//   WARPS, TILE_LEVEL                    of a thread block; the blocks of its largest tiles, as a power of two
//   Chain                                a run by its vectors: vector(Vector, k), is_plain(), node()
//   Block                                a block by its runs: multiply(Node), is_plain(), node()
//   LANES, block(bool, run)              a whole block of a tile, by so many lanes
//   leaf(Element), run(count, leaf), join(a, b), write_leaf(u64*, leaf)
#pragma once
#include "walk/tree_tile.cuh"

constexpr u64 ROOT = 2;  // an option: the last block, if it is not whole
constexpr u32 ROOT_WORDS = 5;
// Spans of an array, at most: of a warp, and of all.
constexpr u32 ROUNDS = 4, MOST_SPANS = 8192;
// Spans that are joined at once, as a power of two, and the sets of them that an array may touch.
constexpr u32 SET_LEVEL = 7, MOST_SETS = (MOST_SPANS >> SET_LEVEL) + 1;

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
    typedef Tile<Op, 8, Op::TILE_LEVEL> Runs;
    static constexpr u32 NODE_WORDS = Op::NODE_WORDS, STAGES = Runs::STAGES, LEVELS = 44;
    struct OfWarp {
        Runs tile;
        u64 waiting[LEVELS * NODE_WORDS];  // spans that wait for their right neighbours, at most one a level
    };
    struct Shared {
        OfWarp of_warp[Op::WARPS];
    };

    const Arguments& a;
    const Leaves leaves;
    Shared& shared;
    const u32 lane, warp, warps;
    const char* const zero;  // where leaf 0 would lie
    u32 level, tile_level;   // a span is 2^level blocks, a tile of it as many of them as its warp joins at once
    u32 group_level;         // spans that a thread block takes at a time, one a warp
    u64 first_group, last_group;
    Vector next[Runs::VECTORS];

    __device__ __forceinline__ TreeArray(const Arguments& a, Shared& shared)
        : a(a), leaves(reinterpret_cast<u64>(a.y), a.n), shared(shared), lane(threadIdx.x % 32), warp(threadIdx.x / 32),
          warps(blockDim.x / 32), zero(static_cast<const char*>(a.x) - leaves.first * sizeof(E)), level(0) {
        group_level = 31 - __clz(warps);
        const u64 last = leaves.ended - 1, most = min(ROUNDS * gridDim.x, MOST_SPANS >> group_level);
        while ((last >> level >> group_level) - (leaves.begun >> level >> group_level) >= most) level++;
        tile_level = min(level, Op::TILE_LEVEL);
        first_group = leaves.begun >> level >> group_level;
        last_group = last >> level >> group_level;
    }

    __device__ __forceinline__ const E* at(u64 leaf) const { return reinterpret_cast<const E*>(zero) + leaf; }
    __device__ __forceinline__ auto leaf_at(u64 leaf) const { return Op::leaf(*at(leaf)); }
    __device__ __forceinline__ OfWarp& of_mine() const { return shared.of_warp[warp]; }

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
    static __device__ __forceinline__ bool settle(u64* record, const Leaves& leaves, u32 level, u64 number,
                                                  const Node& n) {
        if (leaves.has(level + 1, number / 2)) return true;
        write(record, leaves.first, leaves.end - leaves.first, (number << level) * BLOCK_LEAVES, n);
        return false;
    }
    __device__ __forceinline__ bool settle(u32 level, u64 number, const Node& n) const {
        return settle(a.record, leaves, level, number, n);
    }

    // Runs and leaves of a block that is not whole; all lanes of a warp.
    static __device__ __noinline__ void write_end(const char* zero, u64* record, u64 first, u64 all, u64 from, u64 to,
                                                  u64* scratch, bool root) {
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
            put(scratch + lane * NODE_WORDS, n);
            __syncwarp();
            const auto nth = [&](u32 k) { return get(scratch + k * NODE_WORDS); };
            if (lane == 0) put(record, multiply_runs<Op>(u32(to - from + RUN - 1) / RUN, nth));
            __syncwarp();
        }
        written();
    }

    // The block that this warp comes to as its j-th.
    __device__ __forceinline__ u64 block_of(u64 j) const {
        const u64 group = first_group + blockIdx.x + (j >> level) * gridDim.x;
        return ((group << group_level) + warp) << level | (j & ((1ull << level) - 1));
    }
    __device__ __forceinline__ void load_stage(u64 block, u32 stage) {
        if (!leaves.has(0, block)) return;
        const char* const from = zero + block * (BLOCK_LEAVES * sizeof(E));
        if (reinterpret_cast<u64>(zero) % 16 == 0) Runs::load(next, from, stage);
        else Runs::gather(next, from, stage);
    }

    // The j-th block of so many, as the k-th of a tile.
    __device__ __forceinline__ void multiply_block(u64 j, u64 blocks, u32 k) {
        Runs& tile = of_mine().tile;
        typename Op::Chain chain;
        const u64 block = block_of(j);
#pragma unroll 1
        for (u32 s = 0; s < STAGES; s++) {
            tile.put(next);
            __syncwarp();
            const bool is_last = s + 1 == STAGES;
            if (!is_last || j + 1 < blocks) load_stage(is_last ? block_of(j + 1) : block, is_last ? 0 : s + 1);
#pragma unroll
            for (u32 v = 0; v < Runs::VECTORS; v++) chain.vector(tile.at(v), v);
            __syncwarp();
        }
        if (!leaves.has(0, block)) {
            tile.put(k, Op::one());
        } else if (chain.is_plain()) {
            tile.put(k, chain.node());
        } else {
            const u64 run = block * BLOCK_LEAVES + lane * RUN;
            tile.put(k, Op::run(RUN, [&](u32 k) { return leaf_at(run + k); }));
        }
    }

    // Of the runs of a tile its blocks, a lane each, and of these as much as lies in one span.
    __device__ __forceinline__ void join_tile(u64 first_block) {
        const u32 count = 1u << tile_level;
        u64 number = first_block + lane;
        Node n = of_mine().tile.blocks(count);
#pragma unroll 1
        for (u32 l = 0; l < tile_level; l++, number /= 2) {
            const Node right = shuffle_down(n, 1u << l);
            const bool holds = lane < count && lane % (1u << l) == 0 && leaves.has(l, number);
            if (holds && settle(l, number, n) && lane % (2u << l) == 0) n = Op::join(n, right);
        }
        if (lane > 0) return;
        u32 l = tile_level;
#pragma unroll 1
        while (leaves.has(l, number)) {
            if (l == level) {
                put(spans(a.workspace) + (number - (first_group << group_level)) * NODE_WORDS, n);
                return;
            }
            if (!settle(l, number, n)) return;
            u64* const waiting = of_mine().waiting + (l - tile_level) * NODE_WORDS;
            if (number % 2 == 0) {
                put(waiting, n);
                return;
            }
            n = Op::join(get(waiting), n);
            l++;
            number /= 2;
        }
    }

    // Spans, then what sets of them come to; a ticket for each set, which returns to zero by itself.
    static __device__ __forceinline__ u64* spans(Workspace* workspace) { return reinterpret_cast<u64*>(workspace + 1); }
    static __device__ __forceinline__ u64* sets_of(Workspace* workspace) {
        return spans(workspace) + MOST_SPANS * NODE_WORDS;
    }
    // The spans of a set, of 2^level blocks each: four by a lane, then two by two. The first lane has the whole set's.
    static __device__ __forceinline__ Node join_set(u64* record, const Leaves& leaves, u32 level, u64 set,
                                                    const u64* nodes, u64 first) {
        const u32 lane = threadIdx.x % 32;
        u64 number = set << (SET_LEVEL - 2) | lane;
        const auto node = [&](u64 k) {
            return load_state(reinterpret_cast<const Node*>(nodes + (number * 4 + k - first) * NODE_WORDS));
        };
        Node n = Op::one();
        if (leaves.has(level + 2, number)) {
            const Node n0 = node(0), n1 = node(1), n2 = node(2), n3 = node(3);
            n = Op::join(Op::join(n0, n1), Op::join(n2, n3));
        } else {
            Node left = n;
#pragma unroll 1
            for (u32 k = 0; k < 4; k++) {
                if (!leaves.has(level, number * 4 + k)) continue;
                const Node right = node(k);
                if (!settle(record, leaves, level, number * 4 + k, right)) continue;
                if (k % 2 == 0) left = right;
                else settle(record, leaves, level + 1, number * 2 + k / 2, Op::join(left, right));
            }
        }
        level += 2;
#pragma unroll 1
        for (u32 step = 1; step < 32; step *= 2, level++, number /= 2) {
            const Node right = shuffle_down(n, step);
            const bool holds = lane % step == 0 && leaves.has(level, number);
            if (holds && settle(record, leaves, level, number, n) && lane % (2 * step) == 0) n = Op::join(n, right);
        }
        return n;
    }
    // A thread block has left its groups, at most ROUNDS, and the last one the ends: whoever is the last of a set of
    // spans joins it, and the last one of all the sets.
    static __device__ __noinline__ void arrive(Workspace* workspace, u64* record, u64 first, u64 n, u32 level,
                                               u32 group_level, u64 first_group, u64 last_group, u64* done, u64 stamp) {
        static_assert(MOST_SETS * sizeof(u32) <= sizeof(workspace->exact), "a ticket for each set");
        static_assert(MOST_SETS < 1 << SET_LEVEL, "sets are less than a set of sets");
        __shared__ u32 complete;
        const Leaves leaves(first, n);
        const bool is_some = leaves.begun < leaves.ended;
        const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = 1u << group_level,
                  in_set = SET_LEVEL - group_level;
        const u64 first_set = first_group >> in_set, sets = is_some ? (last_group >> in_set) - first_set + 1 : 0;
        const auto set_of = [&](u32 round) { return (first_group + blockIdx.x + u64(round) * gridDim.x) >> in_set; };
        const u64 group = first_group + blockIdx.x + u64(lane) * gridDim.x;
        const bool is_group = is_some && lane < ROUNDS && group <= last_group;
        __syncthreads();
        if (warp == 0) {
            bool is = false;
            if (is_group) {
                const u64 set = set_of(lane), begin = max(first_group, set << in_set),
                          end = min(last_group, ((set + 1) << in_set) - 1);
                u32* const tickets = reinterpret_cast<u32*>(workspace->exact);
                is = take_ticket(tickets + (set - first_set), u32(end - begin)) == u32(end - begin);
            }
            const u32 all = __ballot_sync(0xffffffffu, is);
            if (lane == 0) complete = all;
        }
        __syncthreads();
        u32 nth = 0;
#pragma unroll 1
        for (u32 round = 0; round < ROUNDS; round++) {
            if ((complete >> round & 1) == 0 || nth++ % warps != warp) continue;
            const u64 set = set_of(round);
            const Node n = join_set(record, leaves, level, set, spans(workspace), first_group << group_level);
            if (lane == 0) put(sets_of(workspace) + (set - first_set) * NODE_WORDS, n);
        }
        __syncthreads();
        if (warp > 0) return;
        // Of the sets, and of the ends.
        bool is = false;
        if ((lane < ROUNDS && (complete >> lane & 1)) || (lane == ROUNDS && blockIdx.x == gridDim.x - 1))
            is = take_ticket(&workspace->ticket, u32(sets)) == sets;
        if (!__any_sync(0xffffffffu, is)) return;
        if (is_some) {
#pragma unroll 1
            for (u64 k = first_set >> SET_LEVEL; k <= (first_set + sets - 1) >> SET_LEVEL; k++)
                join_set(record, leaves, level + SET_LEVEL, k, sets_of(workspace), first_set);
        }
        __syncwarp();
        if (lane == 0 && done) {
            __threadfence_system();
            *reinterpret_cast<volatile u64*>(done) = stamp;
        }
    }

    __device__ __forceinline__ void fold() {
        if (blockIdx.x == gridDim.x - 1 && warp == warps - 1) {
            const bool root = (a.options & ROOT) && leaves.first == 0;
            u64* const scratch = reinterpret_cast<u64*>(of_mine().tile.stage);
            write_end(zero, a.record, leaves.first, a.n, leaves.first, leaves.head_end(), scratch, false);
            write_end(zero, a.record, leaves.first, a.n, leaves.tail_begin(), leaves.end, scratch, root);
        }
        const bool is_some = leaves.begun < leaves.ended;
        const u64 count = is_some ? last_group - first_group + 1 : 0;
        const u64 groups = count > blockIdx.x ? (count - blockIdx.x + gridDim.x - 1) / gridDim.x : 0;
        const u64 blocks = groups << level;
        const u32 tile = 1u << tile_level;
        if (blocks > 0) load_stage(block_of(0), 0);
#pragma unroll 1
        for (u64 j = 0; j < blocks; j++) {
            const u32 k = u32(j) & (tile - 1);
            multiply_block(j, blocks, k);
            if (k + 1 < tile) continue;
            __syncwarp();
            join_tile(block_of(j) - k);
            __syncwarp();
        }
        arrive(a.workspace, a.record, leaves.first, a.n, level, group_level, first_group, last_group, a.done, a.stamp);
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
