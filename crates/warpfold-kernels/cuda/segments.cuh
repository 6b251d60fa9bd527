// Many reductions at once: of the segments of one array, whatever their lengths.
//
// Work is an element or a segment's end, and every warp of the grid takes an equal, contiguous share of it (the merge path of offsets and elements: O. Green,
// R. McColl, D. Bader, GPU merge path, 2012). Where its share begins a warp finds with 32 probes at a time. Then it walks:
//
//   inside a long segment     16-byte packs into a state a lane, nothing else
//   where segments end        a tile of packs, staged through shared memory so that a lane owns neighbours; each end is a flag beside the element it follows. A lane
//                             folds its elements, leaving a result at every flag; a segmented scan over the lanes joins what spans them
//
// so that every lane does the same work wherever the ends lie, loads are whole packs, and results are written side by side. No barrier stands in that loop. A warp
// cannot know what came before its first end and after its last: it leaves these as a piece; blocks join theirs, and the block that takes the last ticket joins all,
// in the order of the array. So the bits depend on the shape of the launch, and on nothing else.
//
// Floor: input, offsets and output once through the memory. Instructions where ends are dense: about 10 an element of 4 bytes, 5 elements a clock and multiprocessor at
// full speed, 1.6 of its 4 issue slots: memory should bind from f32 on, narrow types with short segments less.
//
// A fold, of which a kernel may know several that differ by a choice:
//
//   Element, State            what it reads; plain words
//   BLOCKS                    blocks a multiprocessor
//   spans(Choice)             whether finish wants the segment's true bounds
//   identity()
//   Setup(Choice)             what add needs of the choice: masks rather than conditions, so that no loop is compiled once for each
//   add(State&, Element, index, Setup)   one element
//   merge(State&, State)      the second comes after the first
//   finish(arguments, Choice, segment, State, begin, end)   writes the result; unless it spans, only whether begin < end is told
#pragma once
#include "grid_finish.cuh"

// The parameters of every kernel of segments, 64 bits each.
struct SegmentArguments {
    const void* x;         // n elements, aligned to their size
    u64 n;
    const void* offsets;   // segments + 1, or null
    u64 bounds;            // bytes of an offset, 0 for segments of `length` elements each
    u64 length;
    u64 segments;
    void* out;             // a result a segment
    Workspace* workspace;  // ticket, then a piece a block
    u64* faults;           // all ones before the first launch; the least index of each fault
    u64 options;           // see Choice
};

// What is folded, as far as kernels do not know by themselves.
struct Choice {
    u32 options;
    __device__ __forceinline__ bool skip() const { return options & 1; }  // NaNs are skipped
    __device__ __forceinline__ bool is_signed() const { return options & 2; }
    __device__ __forceinline__ bool is_float() const { return options & 4; }
    __device__ __forceinline__ bool is_bfloat() const { return options & 8; }
    __device__ __forceinline__ u32 fold() const { return options >> 8; }
};

// A mask that the compiler takes for data.
template <class M> __device__ __forceinline__ M mask_if(bool is, M mask = M(~M(0))) {
    M m = is ? mask : M(0);
    if constexpr (sizeof(M) == 8) asm volatile("" : "+l"(m));
    else asm volatile("" : "+r"(m));
    return m;
}

// What may be wrong, each with the first segment (or offset) that is. What an exact kernel missed, another one does again.
enum Fault { OFFSETS, EMPTY, ALL_SKIPPED, TOO_LARGE, MISSED, TOO_FEW, FAULTS };
__device__ __forceinline__ void fault(const SegmentArguments& a, Fault which, u64 at) { atomicMin(a.faults + which, at); }

// Where segments begin: offset 0 to offset `segments`.
struct Bounds {
    const void* offsets;
    u64 bytes, length;
    __device__ __forceinline__ explicit Bounds(const SegmentArguments& a) : offsets(a.offsets), bytes(a.bounds), length(a.length) {}
    __device__ __forceinline__ u64 operator[](u64 k) const {
        // Asked at every use, so that no loop is compiled thrice.
        u32 kind = u32(bytes);
        asm volatile("" : "+r"(kind));
        if (kind == 0) return k * length;
        if (kind == 4) return static_cast<const u32*>(offsets)[k];
        return static_cast<const u64*>(offsets)[k];
    }
};

constexpr int SEGMENT_THREADS = 256, SEGMENT_WARPS = SEGMENT_THREADS / 32;

template <class State> __device__ __forceinline__ State shuffle_words(const State& state, u32 from) {
    union Words {
        State state;
        u32 word[sizeof(State) / 4];
        __device__ __forceinline__ explicit Words(const State& s) : state(s) {}
    } words(state);
#pragma unroll
    for (int k = 0; k < int(sizeof(State) / 4); k++) words.word[k] = __shfl_sync(0xffffffffu, words.word[k], from);
    return words.state;
}

// A result with its true bounds, which do not come cheap.
template <class Fold> __device__ __forceinline__ void finish_spanned(const SegmentArguments& a, Choice c, u64 segment, const typename Fold::State& s) {
    const Bounds bounds(a);
    Fold::finish(a, c, segment, s, bounds[segment], bounds[segment + 1]);
}

// Segmented scan over a warp, in the order of lanes. `state` is what a lane holds after its last end (or all, without one); afterwards what the warp holds up to and with
// the lane. `before` is what precedes a lane since the last end before it, `closed` whether there was one.
template <class Fold, class State>
__device__ __forceinline__ void segmented_scan(State& state, bool& ended, State& before, bool& closed) {
    const u32 lane = threadIdx.x % 32;
#pragma unroll 1
    for (u32 by = 1; by < 32; by *= 2) {
        const u32 from = lane >= by ? lane - by : lane;
        State earlier = shuffle_words(state, from);
        const bool earlier_ended = __shfl_sync(0xffffffffu, ended, from);
        if (lane >= by) {
            if (!ended) {
                Fold::merge(earlier, state);
                state = earlier;
            }
            ended = ended || earlier_ended;
        }
    }
    before = shuffle_words(state, lane > 0 ? lane - 1 : 0);
    closed = __shfl_sync(0xffffffffu, ended, lane > 0 ? lane - 1 : 0);
    if (lane == 0) {
        before = Fold::identity();
        closed = false;
    }
}

// What a stretch of the array leaves open at its two ends.
template <class State> struct alignas(8) Piece {
    State head;  // up to its first end, if it has one
    State tail;  // after its last end
    u64 segment;                // the one that ends first
    u64 ended;                  // whether any does
};

template <class Fold> struct SegmentWarp {
    typedef typename Fold::Element E;
    typedef typename Fold::State State;
    // Only few elements a pack are worth their code for every pack.
    static constexpr int UNROLL = PER_PACK<E> <= 4 && sizeof(State) <= 8 ? 4 : 1;
    static constexpr u32 PER = PER_PACK<E>, PACKS = 4, OWN = PACKS * PER, TILE = 32 * OWN;
    // Ends of one round: results wait in shared memory to be written side by side. A lane looks at AHEAD offsets at once.
    static constexpr u32 STAGE = sizeof(E) == 1 ? 1024 : 2048, FIT = STAGE / sizeof(State), CAP = FIT < 256 ? FIT / 4 * 4 : 256, AHEAD = 4;
    struct Shared {
        Pack tile[32 * PACKS];
        uint2 flag[TILE / 8];  // a byte an element: whether a segment ends after it
        State stage[CAP];
        unsigned short end[CAP];  // which end each staged result belongs to
    };

    const SegmentArguments& a;
    const Bounds bounds;
    Shared& shared;
    Piece<State>& piece;
    const Choice choice;
    const typename Fold::Setup setup;
    const u32 lane, shift;
    const Pack* packs;    // the pack that holds element 0; element i is number i + shift from there on
    u64 s, e, s1, e1;     // the open segment, the next element, and where the share ends; it began with piece.segment
    State carry, mine;    // the open segment up to e: of the warp, and what lanes hold apart
    bool apart = false;

    __device__ __forceinline__ SegmentWarp(const SegmentArguments& a, Shared& shared, Piece<State>& piece)
        : a(a), bounds(a), shared(shared), piece(piece), choice{u32(a.options)}, setup(choice), lane(threadIdx.x % 32), shift(u32(reinterpret_cast<u64>(a.x) % 16 / sizeof(E))),
          packs(reinterpret_cast<const Pack*>(reinterpret_cast<u64>(a.x) & ~15ull)), carry(Fold::identity()), mine(Fold::identity()) {}

    // How many ends come before a place on the path: 32 probes at a time.
    __device__ __forceinline__ u64 ends_before(u64 place, u64 first) const {
        u64 low = 0, high = a.segments;
        while (low < high) {
            const u64 step = (high - low + 31) / 32, probe = low + lane * step;
            const bool before = probe < high && bounds[probe + 1] - first + probe < place;
            const u32 count = __popc(__ballot_sync(0xffffffffu, before));
            if (count == 0) return low;
            low += (count - 1) * step + 1;
            const u64 end = low + step - 1;
            high = end < high ? end : high;
        }
        return low;
    }

    // The share of this warp; false if the offsets are none.
    __device__ __forceinline__ bool take_share() {
        const u64 first = bounds[0], last = bounds[a.segments];
        if (last < first || last > a.n) {
            if (lane == 0) fault(a, OFFSETS, a.segments);
            return false;
        }
        const u64 work = last - first + a.segments, warps = u64(gridDim.x) * SEGMENT_WARPS;
        const u64 warp = u64(blockIdx.x) * SEGMENT_WARPS + threadIdx.x / 32, share = (work + warps - 1) / warps;
        const u64 from = warp * share < work ? warp * share : work, to = from + share < work ? from + share : work;
        s = ends_before(from, first);
        if (lane == 0) piece.segment = s;
        __syncwarp();
        s1 = to == work ? a.segments : ends_before(to, first);
        e = first + from - s;
        e1 = to == work ? last : first + to - s1;
        const bool open = s == a.segments || (bounds[s] <= e && e <= bounds[s + 1]);
        if (s > from || s1 > to || s1 < s || e1 < e || e1 > last || !open) {
            if (lane == 0) fault(a, OFFSETS, s);
            return false;
        }
        return true;
    }

    __device__ __forceinline__ void finish(u64 segment, const State& state, bool empty) const {
        u64 begin = 0, end = !empty;
        if (Fold::spans(choice)) {
            begin = bounds[segment];
            end = bounds[segment + 1];
        }
        Fold::finish(a, choice, segment, state, begin, end);
    }

    // Neighbouring packs of different lanes, and different packs of one lane's own, lie in different banks.
    static __device__ __forceinline__ u32 place(u32 pack) { return pack ^ (pack >> 3 & 3); }

    // Whole tiles inside the open segment, which ends at `next`: up to the share's end, if no segment ends in it any more.
    __device__ __forceinline__ void walk(u64 next) {
        // The last element comes with its end, in a round.
        const u64 stop = (s < s1 && next <= e1 ? next : e1 + 1) + shift;
        u64 at = e + shift;
        if (at % PER != 0 || at < shift || at + TILE >= stop) return;
#pragma unroll 1
        for (; at + TILE < stop; at += TILE) {
            Pack p[PACKS];
#pragma unroll
            for (u32 k = 0; k < PACKS; k++) p[k] = load(packs + at / PER + k * 32 + lane);
#pragma unroll UNROLL
            for (u32 k = 0; k < PACKS; k++) {
                Elements<E> x(p[0]);
                if constexpr (UNROLL > 1) x.pack = p[k];
                const u64 index = at - shift + (k * 32 + lane) * PER;
#pragma unroll
                for (u32 i = 0; i < PER; i++) Fold::add(mine, x.element[i], index + i, setup);
                if constexpr (UNROLL == 1) {
#pragma unroll
                    for (u32 j = 1; j < PACKS; j++) p[j - 1] = p[j];
                }
            }
        }
        e = at - shift;
        apart = true;
    }

    __device__ __forceinline__ void gather_lanes() {
        if (!apart) return;
#pragma unroll 1
        for (u32 by = 16; by > 0; by /= 2) {
            const State other = shuffle_words(mine, (lane + by) % 32);
            Fold::merge(mine, other);
        }
        Fold::merge(carry, shuffle_words(mine, 0));
        mine = Fold::identity();
        apart = false;
    }

    // A tile's packs into shared memory, as far as `limit`; elements that the array does not have are left alone.
    __device__ __forceinline__ void stage_tile(u64 base, u64 limit) {
        const u64 size = a.n + shift;
        Pack p[PACKS];
#pragma unroll
        for (u32 k = 0; k < PACKS; k++) {
            const u64 at = base + (k * 32 + lane) * PER;
            p[k] = Pack{};
            if (at < limit && at >= shift && at + PER <= size) p[k] = load(packs + at / PER);
        }
#pragma unroll
        for (u32 k = 0; k < PACKS; k++) shared.tile[place(k * 32 + lane)] = p[k];
#pragma unroll
        for (u32 k = 0; k < TILE / 256; k++) shared.flag[k * 32 + lane] = make_uint2(0, 0);
        __syncwarp();
        // The first and the last pack of the array may be in part beyond it.
        if (base < shift || limit > size / PER * PER) {
            for (u32 k = lane; k < 2 * PER; k += 32) {
                const u64 pack = k < PER ? 0 : size / PER, at = pack * PER + k % PER;
                if ((k >= PER && pack == 0) || pack * PER < base || at < shift || at >= limit) continue;
                reinterpret_cast<E*>(shared.tile + place(u32(pack - base / PER)))[k % PER] = static_cast<const E*>(a.x)[at - shift];
            }
            __syncwarp();
        }
    }

    // A tile with what ends in it. Sets how many ends there were and where the next one is; false if the offsets descend.
    __device__ __forceinline__ bool round(u32& window, u32& ends, u64& next) {
        gather_lanes();
        const u64 base = (e + shift) / PER * PER;
        u64 limit = base + window < e1 + shift ? base + window : e1 + shift;
        // As many offsets as there were ends the last time, and some more.
        u32 lanes = (ends + 2 * AHEAD) / AHEAD;
        lanes = lanes < 32 ? lanes : 32;
        stage_tile(base, limit);

        u64 last = e;
        u32 ranks = 0;
        const u64 none = ~0ull;
        next = none;
        ends = 0;
        for (bool more = true; more;) {
            lanes = ends + lanes * AHEAD <= CAP ? lanes : (CAP - ends) / AHEAD;
            u64 o[AHEAD];
#pragma unroll
            for (u32 q = 0; q < AHEAD; q++) {
                const u64 at = s + ends + lane * AHEAD + q;
                o[q] = lane < lanes && at < s1 ? bounds[at + 1] : none;
            }
            u64 before = __shfl_up_sync(0xffffffffu, o[AHEAD - 1], 1);
            if (lane == 0) before = last;
            bool wrong = false, full[AHEAD];
            u32 count = 0, rank = ranks, fulls = 0;
            u64 beyond = none, latest = 0;
#pragma unroll
            for (u32 q = 0; q < AHEAD; q++) {
                const u64 previous = q > 0 ? o[q - 1] : before;
                const bool there = o[q] != none;
                wrong = wrong || (there && (o[q] < previous || o[q] > a.n));
                const bool in = there && o[q] + shift <= limit;
                full[q] = in && o[q] > previous;
                if (there && !in && beyond == none) beyond = o[q];
                if (in) latest = o[q];
                count += __popc(__ballot_sync(0xffffffffu, in));
                const u32 votes = __ballot_sync(0xffffffffu, full[q]);
                rank += __popc(votes & ((1u << lane) - 1));
                fulls += __popc(votes);
            }
            if (__any_sync(0xffffffffu, wrong)) {
                if (wrong) fault(a, OFFSETS, s + ends + lane * AHEAD);
                return false;
            }
            const bool first_full = __shfl_sync(0xffffffffu, full[0], 0);
#pragma unroll
            for (u32 q = 0; q < AHEAD; q++) {
                const u32 at = lane * AHEAD + q;
                if (full[q]) {
                    reinterpret_cast<u8*>(shared.flag)[u32(o[q] + shift - base) - 1] = 1;
                    shared.end[rank++] = static_cast<unsigned short>(ends + at);
                } else if (at < count) {
                    // Nothing of it is here: an empty segment, or one whose elements all came before this share.
                    State value = Fold::identity();
                    if (ends + at == 0) value = carry;
                    if (s + ends + at == piece.segment) piece.head = value;
                    else finish(s + ends + at, value, true);
                }
            }
            if (count > 0) {
                if (ends == 0 && !first_full) carry = Fold::identity();
                last = __shfl_sync(0xffffffffu, latest, (count - 1) / AHEAD);
            }
            ranks += fulls;
            ends += count;
            more = count == lanes * AHEAD && ends < CAP && s + ends < s1;
            if (!more && count < lanes * AHEAD) {
                // The nearest end that is not in the tile.
                const u32 none_near = 0x7fffffff;
                u32 near = beyond - e < none_near ? u32(beyond - e) : none_near;
#pragma unroll
                for (u32 by = 16; by > 0; by /= 2) {
                    const u32 other = __shfl_xor_sync(0xffffffffu, near, by);
                    near = other < near ? other : near;
                }
                if (near < none_near) next = e + near;
            }
            lanes = 32;
        }
        if (ends == CAP) limit = last + shift;  // there may be more in the tile
        if (ends == 0 && e == e1) {
            // The share's last end lies beyond it: the offsets went up and down again.
            if (lane == 0) fault(a, OFFSETS, s);
            return false;
        }
        __syncwarp();

        fold_tile(u32(e + shift - base), u32(limit - e - shift), base - shift, ranks);
        for (u32 r = lane; r < ranks; r += 32) {
            const u64 segment = s + shared.end[r];
            if (segment == piece.segment) piece.head = shared.stage[r];
            else finish(segment, shared.stage[r], false);
        }
        __syncwarp();
        // Where ends are so dense that a round has no room for a tile's, there is no use in loading all of it.
        const u32 used = u32(limit - base + 32 * PER - 1) / (32 * PER) * (32 * PER);
        window = ends == CAP ? used : window * 2 < TILE ? window * 2 : TILE;
        window = window > 0 ? window : 32 * PER;
        e = limit - shift;
        s += ends;
        if (next == none && s < s1) next = bounds[s + 1];
        return true;
    }

    // Folds `size` elements of the tile from element `low` on, lane by lane, and stages a result for every flag. `origin` is the index of the tile's first.
    __device__ __forceinline__ void fold_tile(u32 low, u32 size, u64 origin, u32 ranks) {
        const u32 first = lane * OWN;
        u32 flags = 0;
#pragma unroll
        for (u32 k = 0; k < OWN / 8; k++) {
            const uint2 two = shared.flag[first / 8 + k];
            flags += __popc(two.x) + __popc(two.y);
        }
        u32 at = flags;
#pragma unroll
        for (u32 by = 1; by < 32; by *= 2) {
            const u32 below = __shfl_up_sync(0xffffffffu, at, by);
            if (lane >= by) at += below;
        }
        at -= flags;
        const u32 slot = at;
        State state = Fold::identity();
#pragma unroll UNROLL
        for (u32 k = 0; k < PACKS; k++) {
            Elements<E> x(shared.tile[place(lane * PACKS + k)]);
            uint2 end[(PER + 7) / 8];
#pragma unroll
            for (u32 i = 0; i < (PER + 7) / 8; i++) end[i] = shared.flag[(first + k * PER) / 8 + i];
#pragma unroll
            for (u32 i = 0; i < PER; i++) {
                const u32 p = first + k * PER + i;
                const u32 byte = PER < 8 ? k * PER % 8 + i : i, of_four = byte / 4 % 2 ? end[byte / 8].y : end[byte / 8].x;
                if (p - low < size) Fold::add(state, x.element[i], origin + p, setup);
                if (of_four >> byte % 4 * 8 & 1) {
                    shared.stage[at++] = state;
                    state = Fold::identity();
                }
            }
        }
        bool ended = flags > 0, closed;
        State before;
        segmented_scan<Fold>(state, ended, before, closed);
        if (!closed) {
            State all = carry;
            Fold::merge(all, before);
            before = all;
        }
        if (flags > 0) {
            Fold::merge(before, shared.stage[slot]);
            shared.stage[slot] = before;
        }
        state = shuffle_words(state, 31);
        if (__shfl_sync(0xffffffffu, ended, 31)) carry = state;
        else Fold::merge(carry, state);
        __syncwarp();
    }

    __device__ __forceinline__ void run() {
        if (take_share()) {
            u64 next = s < s1 ? bounds[s + 1] : ~0ull;
            u32 window = TILE, ends = 0;
#pragma unroll 1
            while (s < s1 || e < e1) {
                walk(next);
                // A share that ends inside a segment may end with a tile.
                if (s == s1 && e == e1) break;
                if (!round(window, ends, next)) break;
            }
        } else {
            if (lane == 0) piece.segment = 0;
            s = s1 = 0;
            __syncwarp();
        }
        gather_lanes();
        if (lane == 0) {
            piece.tail = carry;
            piece.ended = s > piece.segment;
        }
    }
};

// One thread: the pieces of the block's warps, joined to one. What both begins and ends within is finished.
template <class Fold, class State>
__device__ __forceinline__ Piece<State> join_pieces(const SegmentArguments& a, Choice choice, const Piece<State>* pieces) {
    Piece<State> all = {Fold::identity(), Fold::identity(), 0, 0};
#pragma unroll 1
    for (int w = 0; w < SEGMENT_WARPS; w++) {
        if (!pieces[w].ended) {
            Fold::merge(all.tail, pieces[w].tail);
            continue;
        }
        Fold::merge(all.tail, pieces[w].head);
        if (all.ended) {
            finish_spanned<Fold>(a, choice, pieces[w].segment, all.tail);
        } else {
            all.head = all.tail;
            all.segment = pieces[w].segment;
            all.ended = 1;
        }
        all.tail = pieces[w].tail;
    }
    return all;
}

// The last block: every warp joins an equal run of the blocks' pieces, a piece a lane at a time.
template <class Fold, class State>
__device__ __forceinline__ void join_blocks(const SegmentArguments& a, Choice choice, const Piece<State>* of_block, Piece<State>& piece) {
    const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, each = (gridDim.x + SEGMENT_THREADS - 1) / SEGMENT_THREADS * 32;
    Piece<State> run = {Fold::identity(), Fold::identity(), 0, 0};
#pragma unroll 1
    for (u32 k = 0; k < each; k += 32) {
        const u32 at = warp * each + k + lane;
        Piece<State> mine = {Fold::identity(), Fold::identity(), 0, 0};
        if (at < gridDim.x) mine = load_state(of_block + at);
        State state = mine.tail, before;
        bool ended = mine.ended, closed;
        segmented_scan<Fold>(state, ended, before, closed);
        if (!closed) {
            State all = run.tail;
            Fold::merge(all, before);
            before = all;
        }
        if (mine.ended) {
            Fold::merge(before, mine.head);
            if (closed || run.ended) finish_spanned<Fold>(a, choice, mine.segment, before);
        }
        const u32 enders = __ballot_sync(0xffffffffu, mine.ended != 0);
        if (!run.ended && enders != 0) {
            const u32 first = __ffs(enders) - 1;
            run.head = shuffle_words(before, first);
            run.segment = __shfl_sync(0xffffffffu, mine.segment, first);
        }
        state = shuffle_words(state, 31);
        if (enders != 0) run.tail = state;
        else Fold::merge(run.tail, state);
        run.ended = run.ended || enders != 0;
    }
    if (lane == 0) piece = run;
}

template <class Fold> __device__ __forceinline__ void fold_segments(const SegmentArguments& a) {
    typedef SegmentWarp<Fold> Warp;
    typedef typename Fold::State State;
    const Choice choice{u32(a.options)};
    __shared__ typename Warp::Shared shared[SEGMENT_WARPS];
    __shared__ Piece<State> pieces[SEGMENT_WARPS];
    __shared__ bool is_last;
    const u32 warp = threadIdx.x / 32;
    Warp(a, shared[warp], pieces[warp]).run();
    __syncthreads();

    Piece<State>* of_block = reinterpret_cast<Piece<State>*>(a.workspace + 1);
    if (threadIdx.x == 0) {
        const Piece<State> block = join_pieces<Fold>(a, choice, pieces);
        if (gridDim.x == 1) {
            if (block.ended) finish_spanned<Fold>(a, choice, block.segment, block.head);
            is_last = false;
        } else {
            of_block[blockIdx.x] = block;
            is_last = take_ticket(&a.workspace->ticket, gridDim.x - 1) == gridDim.x - 1;
        }
    }
    __syncthreads();
    if (!is_last) return;
    join_blocks<Fold>(a, choice, of_block, pieces[warp]);
    __syncthreads();
    if (threadIdx.x == 0) {
        const Piece<State> all = join_pieces<Fold>(a, choice, pieces);
        if (all.ended) finish_spanned<Fold>(a, choice, all.segment, all.head);
    }
}

// An entry point of a kernel file for one element type: its name, what it does, and the fold.
#define SEGMENT_KERNEL(name, body, ...)                                                                                \
    extern "C" __global__ void __launch_bounds__(SEGMENT_THREADS, __VA_ARGS__::BLOCKS) name(                            \
        const void* x, u64 n, const void* offsets, u64 bounds, u64 length, u64 segments, void* out, Workspace* workspace, \
        u64* faults, u64 options) {                                                                                    \
        body<__VA_ARGS__>({x, n, offsets, bounds, length, segments, out, workspace, faults, options});                 \
    }
