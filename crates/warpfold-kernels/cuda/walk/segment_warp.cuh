// What one warp does with its share of the merge path (segments.cuh).
//
// Ends: lanes hold the next 32, compared once when they are loaded. Stretches without one are walked by whole tiles
// (`walk`). A tile with ends goes through shared memory (`round`), so that a lane owns neighbours; every end is a flag,
// a bit for the element it follows. A lane folds its elements, leaving a state at every flag, and what spans lanes is
// joined by a scan, of as many steps as the longest such run needs.
#pragma once
#include "walk/segment_share.cuh"
#include "walk/whole_vectors.cuh"

// Of mapped elements (map_segments.cuh) a lane owns those that it has mapped, and there is no tile in shared memory.
template <class Fold, bool IS_MAPPED = false> struct SegmentWarp : SegmentShare<Fold> {
    typedef SegmentShare<Fold> Share;
    typedef typename Fold::Element E;
    typedef typename Fold::State State;
    // Only few elements a vector are worth their code for every vector.
    static constexpr int UNROLL = PER_VECTOR<E> <= 4 && sizeof(State) <= 8 ? 4 : 1;
    // Results wait to be written side by side: those that are no larger than an element in the place of the one they
    // end with, others beside the tile, as many as there is room for.
    static constexpr bool STATES_IN_STAGE = !IS_MAPPED && sizeof(State) <= sizeof(E);
    // Vectors of a lane, and how many of them it has in flight.
    static constexpr u32 PER = PER_VECTOR<E>, FLIGHT = 4, VECTORS = IS_MAPPED || STATES_IN_STAGE ? 8 : FLIGHT,
                         OWN = VECTORS * PER, TILE = 32 * OWN;
    static constexpr u32 STAGE = IS_MAPPED ? 4096 : sizeof(E) == 1 ? 1024 : 2048,
                         FIT = STATES_IN_STAGE ? 512 : STAGE / sizeof(State),
                         CAP = FIT >= TILE ? TILE
                               : FIT >= 32 ? FIT / 32 * 32
                                           : 32;
    // A bit for each element of a lane.
    typedef typename Select<(OWN > 32), u64, u32>::type Flags;
    static_assert(!STATES_IN_STAGE || OWN <= 32, "a word has the flags of elements that results wait in");
    // Vectors that are loaded before a tile's ends are looked at; only folds of little state have registers for them.
    static constexpr u32 EARLY = STATES_IN_STAGE && PER == 4 ? FLIGHT : 0;
    // Ends that are passed over in a round, and how many there may be before the last ones are looked at.
    typedef typename Select<STATES_IN_STAGE, u8, u16>::type Skipped;
    static constexpr u32 MOST_SKIPPED = Skipped(~0u) - 64;
    struct Shared {
        Vector tile[IS_MAPPED ? 1 : 32 * VECTORS];
        u32 flag[TILE / 32];  // a bit an element: whether a segment ends after it
        State stage[STATES_IN_STAGE ? 1 : CAP];
        Skipped
            skipped[CAP];  // how many of the round's ends, beside those before it that wait, come before each that does
        u16 slot[STATES_IN_STAGE ? CAP : 1];  // and where it waits
    };

    // What a lane folds of a tile: from a state on, and a state for each of its flags, left where those are to be.
    struct OfLane {
        State state;
        Flags ends;
        State* result;
    };

    using Share::a, Share::bounds, Share::carry_out, Share::desc, Share::e, Share::e1, Share::end,
        Share::full, Share::lane, Share::look, Share::none, Share::passed, Share::s, Share::s1, Share::segment,
        Share::size, Share::start, Share::vectors;
    Shared& shared;
    const typename Fold::Setup setup;
    State carry, mine;      // the open segment up to e: of the warp, and what lanes hold apart
    bool apart = false;
    WholeVectors<Fold> whole;

    __device__ __forceinline__ SegmentWarp(const SegmentArguments& a, Shared& shared, CarryOut<State>& carry_out)
        : Share(a, carry_out), shared(shared), setup(desc), carry(Fold::identity()), mine(Fold::identity()),
          whole(setup) {}

    // The share of this warp, whose elements mapped lanes count from one that a lane begins with.
    __device__ __forceinline__ bool take_share() { return Share::template take<IS_MAPPED ? OWN : 0>(); }

    // Neighbouring vectors of different lanes, and different vectors of one lane's own, lie in different banks.
    static __device__ __forceinline__ u32 stage_slot(u32 vector) { return vector ^ (vector >> 3 & (VECTORS - 1)); }

    // The state of a segment at its end. What the share's first has before it is not known here.
    __device__ __forceinline__ void close(u32 k, const State& state, bool empty) const {
        if (k == 0) {
            carry_out.head = state;
            return;
        }
        u64 begin = 0, end = !empty;
        if (Fold::spans(desc)) {
            begin = bounds[segment + k];
            end = bounds[segment + k + 1];
        }
        Fold::finish(a, desc, segment + k, state, begin, end);
    }

    // Whole tiles inside the open segment: up to its end, or up to the share's end, if no segment ends in it any more.
    __device__ __forceinline__ void walk() {
        const u32 next = __shfl_sync(0xffffffffu, end, passed % 32);
        // The last element comes with its end, in a round.
        const u32 stop = passed < 32 && next <= e1 ? next : e1 + 1;
        u32 at = e;
        constexpr u32 STEP = 32 * FLIGHT * PER;
        if (at % PER != 0 || at + TILE >= stop) return;
#pragma unroll 1
        for (; at + STEP < stop; at += STEP) {
            Vector p[FLIGHT];
#pragma unroll
            for (u32 k = 0; k < FLIGHT; k++) p[k] = load(vectors + at / PER + k * 32 + lane);
            whole.begin(p[0]);
            whole.settle(mine, FLIGHT);
            whole.template take_all<UNROLL>(mine, p, start + (at + lane * PER), 32 * PER, setup);
        }
        e = at;
        apart = true;
    }

    __device__ __forceinline__ void gather_lanes() {
        if (!apart) return;
        if (whole.flush(mine, 32)) {
#pragma unroll 1
            for (u32 by = 16; by > 0; by /= 2) {
                const State other = shuffle_words(mine, (lane + by) % 32);
                Fold::merge(mine, other);
            }
        }
        Fold::merge(carry, shuffle_words(mine, 0));
        mine = Fold::identity();
        apart = false;
    }

    // Whether all of a tile that begins with element `base` counts, up to `limit`.
    __device__ __forceinline__ bool is_whole(u32 base, u32 limit) const { return base >= none && limit == base + TILE; }
    // So many vectors of a tile, from number `h` on, as far as `limit`; elements that the array does not have are left
    // alone.
    template <u32 COUNT> __device__ __forceinline__ void load_vectors(Vector (&p)[COUNT], u32 h, u32 base,
                                                                      u32 limit) const {
        const Vector* from = vectors + base / PER + h * 32 + lane;
        if (is_whole(base, limit)) {
#pragma unroll
            for (u32 k = 0; k < COUNT; k++) p[k] = load(from + k * 32);
        } else {
#pragma unroll
            for (u32 k = 0; k < COUNT; k++) {
                const u32 at = base + ((h + k) * 32 + lane) * PER;
                p[k] = Vector{};
                if (at < limit && at >= none && at + PER <= size) p[k] = load(from + k * 32);
            }
        }
    }
    template <u32 COUNT> __device__ __forceinline__ void stage_vectors(const Vector (&p)[COUNT], u32 h) {
#pragma unroll
        for (u32 k = 0; k < COUNT; k++) shared.tile[stage_slot((h + k) * 32 + lane)] = p[k];
    }
    // What of the array's first and last vector is not beyond it.
    __device__ __forceinline__ void stage_rest(u32 base, u32 limit) {
        __syncwarp();
        if (is_whole(base, limit) || (base >= none && limit <= size / PER * PER)) return;
        for (u32 k = lane; k < 2 * PER; k += 32) {
            const u32 vector = k < PER ? 0 : size / PER, at = vector * PER + k % PER;
            if ((k >= PER && vector == 0) || vector * PER < base || at < none || at >= limit) continue;
            reinterpret_cast<E*>(shared.tile + stage_slot(vector - base / PER))[k % PER] =
                reinterpret_cast<const E*>(vectors)[at];
        }
        __syncwarp();
    }
    __device__ __forceinline__ void clear_flags() {
#pragma unroll
        for (u32 k = 0; k < TILE / 32; k += 32) {
            if (k + lane < TILE / 32) shared.flag[k + lane] = 0;
        }
        __syncwarp();
    }

    // Flags what ends in a tile that begins with element `base`, up to element `last`, and closes segments that have no
    // elements there. Returns how many flags there are; `last` is nearer where their results would find no room. False
    // in `sound` if the offsets descend.
    __device__ __forceinline__ u32 flag_ends(u32 base, u32& last, u32 first, bool& sound) {
        u32 ranks = 0;
        while (true) {
            const u32 number = s + lane - first;
            const bool in = lane >= passed && end <= last, flagged = in && full && end > e;
            const u32 votes = __ballot_sync(0xffffffffu, flagged), ends = __ballot_sync(0xffffffffu, in);
            if (flagged) {
                const u32 rank = ranks + __popc(votes & ((1u << lane) - 1));
                const u32 at = end - base - 1;
                atomicOr(shared.flag + at / 32, 1u << at % 32);
                shared.skipped[rank] = Skipped(number - rank);
                if constexpr (STATES_IN_STAGE) shared.slot[rank] = u16(stage_slot(at / PER) * PER + at % PER);
            }
            if (ends != votes) {
                // Nothing of these is here: they are empty, or the first, whose elements all came before.
                const bool opened = number == 0 && in && !flagged;
                if (in && !flagged) close(s + lane, opened ? carry : Fold::identity(), true);
                if (__any_sync(0xffffffffu, opened)) carry = Fold::identity();
            }
            ranks += __popc(votes);
            passed += __popc(ends);
            if (passed < 32) return ranks;
            const u32 before = __shfl_sync(0xffffffffu, end, 31);
            sound = look(before);
            if (!sound) return ranks;
            if (ranks + 32 > CAP || s - first - ranks >= MOST_SKIPPED) {
                last = before;
                return ranks;
            }
        }
    }

    // Whether a round that ended at the share's end found what ends there, as it does not if the offsets went up and
    // down again.
    __device__ __forceinline__ bool is_sound(u32 first) const {
        if (s + passed != first || e != e1) return true;
        if (lane == 0) fault(a, OFFSETS, segment + first);
        return false;
    }
    // What was left of so many ends of a tile.
    __device__ __forceinline__ void close_all(u32 ranks, u32 first) const {
        for (u32 r = lane; r < ranks; r += 32)
            close(first + r + shared.skipped[r], STATES_IN_STAGE ? waiting(shared.slot[r]) : shared.stage[r], false);
        __syncwarp();
    }
    // How much of the next tile is looked at: where ends are so dense that a round has no room for a tile's, there is
    // no use in loading all of it.
    __device__ __forceinline__ u32 next_window(u32 window, u32 base, u32 last, u32 limit, u32 ranks) const {
        constexpr u32 LEAST = 32 * PER;
        const u32 used = (last - base + LEAST - 1) / LEAST * LEAST;
        const u32 next = last < limit ? used : ranks * 2 > CAP ? window : window * 2 < TILE ? window * 2 : TILE;
        return next > 0 ? next : LEAST;
    }

    // A tile with what ends in it, as far as `window` elements; false if the offsets descend.
    __device__ __forceinline__ bool round(u32& window) {
        gather_lanes();
        const u32 base = e / PER * PER, first = s + passed, limit = base + window < e1 ? base + window : e1;
        clear_flags();
        Vector early[EARLY > 0 ? EARLY : 1];
        if constexpr (EARLY > 0) load_vectors(early, 0, base, limit);
        u32 last = limit;
        bool sound = true;
        const u32 ranks = flag_ends(base, last, first, sound);
        if (!sound || !is_sound(first)) return false;
        if constexpr (EARLY > 0) stage_vectors(early, 0);
#pragma unroll 1
        for (u32 h = EARLY; h < VECTORS; h += FLIGHT) {
            Vector p[FLIGHT];
            load_vectors(p, h, base, limit);
            stage_vectors(p, h);
        }
        stage_rest(base, limit);
        fold_tile(e - base, last - base, base);
        close_all(ranks, first);
        window = next_window(window, base, last, limit, ranks);
        e = last;
        return true;
    }

    __device__ __forceinline__ State& waiting(u32 slot) const {
        return *reinterpret_cast<State*>(reinterpret_cast<E*>(shared.tile) + slot);
    }

    // Folds the lane's elements, of which those from `low` to `high` count, or all; what ends goes to the results, or
    // in place.
    template <bool ALL, class Wanted> __device__ __forceinline__ void fold_own(OfLane& mine, u32 own, u32 low, u32 high,
                                                                               u32 base, const Wanted& wanted) {
        State& state = mine.state;
        State* result = mine.result;
        Flags ends = mine.ends;
#pragma unroll 1
        for (u32 h = 0; h < own; h += FLIGHT) {
            // Read before anything waits in their place, so that no vector has to.
            Vector vectors[FLIGHT];
            if constexpr (UNROLL > 1) {
#pragma unroll
                for (u32 k = 0; k < FLIGHT; k++) vectors[k] = shared.tile[stage_slot(lane * own + h + k)];
            }
#pragma unroll UNROLL
            for (u32 k = 0; k < FLIGHT; k++) {
                Vector& vector = shared.tile[stage_slot(lane * own + h + k)];
                Elements<E> x(UNROLL > 1 ? vectors[k] : vector);
#pragma unroll
                for (u32 i = 0; i < PER; i++) {
                    const u32 p = (lane * own + h + k) * PER + i;
                    if (ALL || p - low < high - low) Fold::add(state, x.element[i], start + (base + p), wanted);
                    if (ends >> i & 1) {
                        if constexpr (STATES_IN_STAGE)
                            *reinterpret_cast<State*>(reinterpret_cast<E*>(&vector) + i) = state;
                        else *result++ = state;
                        state = Fold::identity();
                    }
                }
                ends >>= PER;
            }
        }
    }

    // Folds elements `low` to `high` of the tile, lane by lane, and leaves a result for every flag. The tile begins
    // with element `base`.
    __device__ __forceinline__ void fold_tile(u32 low, u32 high, u32 base) {
        // Vectors of a lane: of few elements every lane has some.
        const u32 own = STATES_IN_STAGE && high <= TILE / 2 ? VECTORS / 2 : VECTORS;
        OfLane mine = begin_lanes(own);
        if (low == 0 && high == 32 * own * PER && is_plain(setup, 0))
            fold_own<true>(mine, own, low, high, base, plain(setup, 0));
        else fold_own<false>(mine, own, low, high, base, setup);
        end_lanes(mine);
    }

    // All lanes, of which each has so many vectors.
    __device__ __forceinline__ OfLane begin_lanes(u32 own) {
        const u32 first = lane * own * PER;
        Flags ends;
        if constexpr (OWN > 32) ends = u64(shared.flag[2 * lane + 1]) << 32 | shared.flag[2 * lane];
        else ends = shared.flag[first / 32] >> first % 32 & ~0u >> (32 - own * PER);
        State* slot = shared.stage;
        if constexpr (STATES_IN_STAGE) {
            const u32 at = __ffs(u32(ends)) - 1;
            slot = &waiting(stage_slot((first + at) / PER) * PER + at % PER);
        } else {
            const u32 count = OWN > 32 ? __popcll(ends) : __popc(u32(ends));
            u32 at = count;
#pragma unroll
            for (u32 by = 1; by < 32; by *= 2) {
                const u32 below = __shfl_up_sync(0xffffffffu, at, by);
                if (lane >= by) at += below;
            }
            slot += at - count;
        }
        // What came before is the first lane's.
        return {lane == 0 ? carry : Fold::identity(), ends, slot};
    }
    // All lanes: joins what spans them.
    __device__ __forceinline__ void end_lanes(OfLane mine) {
        const u32 enders = __ballot_sync(0xffffffffu, mine.ends != 0);
        scan_lanes<Fold>(mine.state, lanes_behind(enders));
        State before = shuffle_words(mine.state, (lane + 31) % 32);
        if (mine.ends != 0 && lane > 0) {
            Fold::merge(before, *mine.result);
            *mine.result = before;
        }
        carry = shuffle_words(mine.state, 31);
        __syncwarp();
    }

    __device__ __forceinline__ void run() {
        bool sound = take_share() && look(e);
        u32 window = TILE;
#pragma unroll 1
        while (sound && (s + passed < s1 || e < e1)) {
            walk();
            // A share that ends inside a segment may end with a tile.
            if (s + passed == s1 && e == e1) break;
            sound = round(window);
        }
        gather_lanes();
        if (lane == 0) {
            carry_out.tail = carry;
            carry_out.ended = sound && s + passed > 0;
        }
    }
};
