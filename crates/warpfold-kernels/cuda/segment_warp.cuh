// What one warp does with its share of the merge path (segments.cuh).
//
// Ends: lanes hold the next 32, compared once when they are loaded. Stretches without one are walked by whole tiles (`walk`). A tile with ends goes through shared
// memory (`round`), so that a lane owns neighbours; every end is a flag, a bit for the element it follows. A lane folds its elements, leaving a state at every flag, and what
// spans lanes is joined by a scan, of as many steps as the longest such run needs.
#pragma once
#include "segment_runs.cuh"

template <class Fold> struct SegmentWarp {
    typedef typename Fold::Element E;
    typedef typename Fold::State State;
    // Only few elements a pack are worth their code for every pack.
    static constexpr int UNROLL = PER_PACK<E> <= 4 && sizeof(State) <= 8 ? 4 : 1;
    // Results wait to be written side by side: those that are no larger than an element in the place of the one they end with, others beside the tile, as many as there is room for.
    static constexpr bool IN_PLACE = sizeof(State) <= sizeof(E);
    // Packs of a lane, and how many of them it has in flight.
    static constexpr u32 PER = PER_PACK<E>, FLIGHT = 4, PACKS = IN_PLACE ? 8 : FLIGHT, OWN = PACKS * PER, TILE = 32 * OWN;
    static constexpr u32 STAGE = sizeof(E) == 1 ? 1024 : 2048, FIT = IN_PLACE ? 512 : STAGE / sizeof(State), CAP = FIT < TILE ? FIT / 32 * 32 : TILE;
    // A bit for each element of a lane.
    typedef typename Select<(OWN > 32), u64, u32>::type Flags; static_assert(!IN_PLACE || OWN <= 32, "a word has the flags of elements that results wait in");
    // What an end weighs at least and at most, in elements of a share; all of them an eighth of the elements, where that lies between.
    static constexpr u64 LEAST_WEIGHT = 32, MOST_WEIGHT = 1024;
    static constexpr u64 NONE = ~0ull;
    // Ends that are passed over in a round, and how many there may be before the last ones are looked at.
    typedef typename Select<IN_PLACE, u8, u16>::type Skipped;
    static constexpr u64 MOST_SKIPPED = Skipped(~0u) - 64;
    struct Shared {
        Pack tile[32 * PACKS];
        u32 flag[TILE / 32];    // a bit an element: whether a segment ends after it
        State stage[IN_PLACE ? 1 : CAP];
        Skipped skipped[CAP];   // how many of the round's ends, beside those before it that wait, come before each that does
        u16 slot[IN_PLACE ? CAP : 1];  // and where it waits
    };

    const SegmentArguments& a;
    const Bounds bounds;
    Shared& shared;
    Piece<State>& piece;
    const Choice choice;
    const typename Fold::Setup setup;
    const u32 lane, shift;
    const Pack* packs;    // the pack that holds element 0; element i is number i + shift from there on
    u64 s, e, s1, e1;     // the first segment whose end a lane holds, the next element, and where the share ends; it began with piece.segment
    u64 end;              // where segment s + lane ends, or NONE if that is beyond the share
    u32 passed = 0;       // how many of these ends lie before e
    bool full;            // whether segment s + lane has elements
    State carry, mine;    // the open segment up to e: of the warp, and what lanes hold apart
    bool apart = false;

    __device__ __forceinline__ SegmentWarp(const SegmentArguments& a, Shared& shared, Piece<State>& piece)
        : a(a), bounds(a), shared(shared), piece(piece), choice{u32(a.options)}, setup(choice), lane(threadIdx.x % 32), shift(u32(reinterpret_cast<u64>(a.x) % 16 / sizeof(E))),
          packs(reinterpret_cast<const Pack*>(reinterpret_cast<u64>(a.x) & ~15ull)), carry(Fold::identity()), mine(Fold::identity()) {}

    // How many ends come before a place on the path: 32 probes at a time.
    __device__ __forceinline__ u64 ends_before(u64 place, u64 first, u64 weight) const {
        u64 low = 0, high = a.segments;
        while (low < high) {
            const u64 step = (high - low + 31) / 32, probe = low + lane * step;
            const bool before = probe < high && bounds[probe + 1] - first + probe * weight < place;
            const u32 count = __popc(__ballot_sync(0xffffffffu, before));
            if (count == 0) return low;
            low += (count - 1) * step + 1;
            const u64 last = low + step - 1;
            high = last < high ? last : high;
        }
        return low;
    }

    // The element at a place of the path (counted from element 0) that so many ends come before: the last of these may reach beyond it.
    __device__ __forceinline__ u64 element_at(u64 place, u64 ends, u64 weight) const {
        const u64 begun = bounds[ends], passed_at = begun + ends * weight;
        return place < passed_at ? begun : begun + (place - passed_at);
    }

    // The share of this warp; false if the offsets are none.
    __device__ __forceinline__ bool take_share() {
        const u64 first = bounds[0], last = bounds[a.segments];
        if (last < first || last > a.n) {
            if (lane == 0) fault(a, OFFSETS, a.segments);
            return false;
        }
        const u64 eighth = (last - first) / (8 * a.segments + !a.segments);
        const u64 weight = eighth < LEAST_WEIGHT ? LEAST_WEIGHT : eighth < MOST_WEIGHT ? eighth : MOST_WEIGHT;
        const u64 work = last - first + a.segments * weight, warps = u64(gridDim.x) * SEGMENT_WARPS;
        const u64 warp = u64(blockIdx.x) * SEGMENT_WARPS + threadIdx.x / 32, share = (work + warps - 1) / warps;
        const u64 from = warp * share < work ? warp * share : work, to = from + share < work ? from + share : work;
        s = ends_before(from, first, weight);
        if (lane == 0) piece.segment = s;
        __syncwarp();
        s1 = to == work ? a.segments : ends_before(to, first, weight);
        e = element_at(first + from, s, weight);
        e1 = to == work ? last : element_at(first + to, s1, weight);
        const bool open = s == a.segments || e <= bounds[s + 1];
        if (s1 < s || e1 < e || e1 > last || !open) {
            if (lane == 0) fault(a, OFFSETS, s);
            return false;
        }
        return true;
    }

    // The next 32 ends, of which the first comes after `before`; false if they descend.
    __device__ __forceinline__ bool look(u64 before) {
        s += passed;
        passed = 0;
        const bool there = s + lane < s1;
        end = there ? bounds[s + lane + 1] : NONE;
        u64 begin = __shfl_up_sync(0xffffffffu, end, 1);
        if (lane == 0) begin = before;
        full = end > begin;
        const bool wrong = there && (end < begin || end > a.n);
        if (wrong) fault(a, OFFSETS, s + lane);
        return !__any_sync(0xffffffffu, wrong);
    }

    // The state of a segment at its end. What the share's first has before it is not known here.
    __device__ __forceinline__ void close(u64 segment, const State& state, bool empty) const {
        if (segment == piece.segment) {
            piece.head = state;
            return;
        }
        u64 begin = 0, end = !empty;
        if (Fold::spans(choice)) {
            begin = bounds[segment];
            end = bounds[segment + 1];
        }
        Fold::finish(a, choice, segment, state, begin, end);
    }

    // Neighbouring packs of different lanes, and different packs of one lane's own, lie in different banks.
    static __device__ __forceinline__ u32 place(u32 pack) { return pack ^ (pack >> 3 & (PACKS - 1)); }

    // Whole tiles inside the open segment: up to its end, or up to the share's end, if no segment ends in it any more.
    __device__ __forceinline__ void walk() {
        const u64 next = __shfl_sync(0xffffffffu, end, passed % 32);
        // The last element comes with its end, in a round.
        const u64 stop = (passed < 32 && next <= e1 ? next : e1 + 1) + shift;
        u64 at = e + shift;
        constexpr u32 STEP = 32 * FLIGHT * PER;
        if (at % PER != 0 || at < shift || at + TILE >= stop) return;
#pragma unroll 1
        for (; at + STEP < stop; at += STEP) {
            Pack p[FLIGHT];
#pragma unroll
            for (u32 k = 0; k < FLIGHT; k++) p[k] = load(packs + at / PER + k * 32 + lane);
#pragma unroll UNROLL
            for (u32 k = 0; k < FLIGHT; k++) {
                Elements<E> x(p[0]);
                if constexpr (UNROLL > 1) x.pack = p[k];
                const u64 index = at - shift + (k * 32 + lane) * PER;
#pragma unroll
                for (u32 i = 0; i < PER; i++) Fold::add(mine, x.element[i], index + i, setup);
                if constexpr (UNROLL == 1) {
#pragma unroll
                    for (u32 j = 1; j < FLIGHT; j++) p[j - 1] = p[j];
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
        const Pack* from = packs + base / PER + lane;
        const bool whole = base >= shift && limit == base + TILE;
#pragma unroll 1
        for (u32 h = 0; h < PACKS; h += FLIGHT) {
            Pack p[FLIGHT];
            if (whole) {
#pragma unroll
                for (u32 k = 0; k < FLIGHT; k++) p[k] = load(from + (h + k) * 32);
            } else {
#pragma unroll
                for (u32 k = 0; k < FLIGHT; k++) {
                    const u64 at = base + ((h + k) * 32 + lane) * PER;
                    p[k] = Pack{};
                    if (at < limit && at >= shift && at + PER <= size) p[k] = load(from + (h + k) * 32);
                }
            }
#pragma unroll
            for (u32 k = 0; k < FLIGHT; k++) shared.tile[place((h + k) * 32 + lane)] = p[k];
        }
#pragma unroll
        for (u32 k = 0; k < TILE / 32; k += 32) {
            if (k + lane < TILE / 32) shared.flag[k + lane] = 0;
        }
        __syncwarp();
        // The first and the last pack of the array may be in part beyond it.
        if (!whole && (base < shift || limit > size / PER * PER)) {
            for (u32 k = lane; k < 2 * PER; k += 32) {
                const u64 pack = k < PER ? 0 : size / PER, at = pack * PER + k % PER;
                if ((k >= PER && pack == 0) || pack * PER < base || at < shift || at >= limit) continue;
                reinterpret_cast<E*>(shared.tile + place(u32(pack - base / PER)))[k % PER] = static_cast<const E*>(a.x)[at - shift];
            }
            __syncwarp();
        }
    }

    // Flags what ends in a tile that begins with element `origin`, up to element `last`, and closes segments that have no elements there. Returns how many flags there are;
    // `last` is nearer where their results would find no room. False in `sound` if the offsets descend.
    __device__ __forceinline__ u32 flag_ends(u64 origin, u64& last, u64 first, bool& sound) {
        u32 ranks = 0;
        while (true) {
            const u32 number = u32(s + lane - first);
            const bool in = lane >= passed && end <= last, flagged = in && full && end > e;
            const u32 votes = __ballot_sync(0xffffffffu, flagged), ends = __ballot_sync(0xffffffffu, in);
            if (flagged) {
                const u32 rank = ranks + __popc(votes & ((1u << lane) - 1));
                const u32 at = u32(end - origin) - 1;
                atomicOr(shared.flag + at / 32, 1u << at % 32);
                shared.skipped[rank] = Skipped(number - rank);
                if constexpr (IN_PLACE) shared.slot[rank] = u16(place(at / PER) * PER + at % PER);
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
            const u64 before = __shfl_sync(0xffffffffu, end, 31);
            sound = look(before);
            if (!sound) return ranks;
            if (ranks + 32 > CAP || s - first - ranks >= MOST_SKIPPED) {
                last = before;
                return ranks;
            }
        }
    }

    // A tile with what ends in it, as far as `window` elements; false if the offsets descend.
    __device__ __forceinline__ bool round(u32& window) {
        gather_lanes();
        const u64 base = (e + shift) / PER * PER, origin = base - shift, first = s + passed;
        const u64 limit = base + window < e1 + shift ? base + window : e1 + shift;
        stage_tile(base, limit);
        u64 last = limit - shift;
        bool sound = true;
        const u32 ranks = flag_ends(origin, last, first, sound);
        if (!sound) return false;
        if (s + passed == first && e == e1) {
            // The share's last end lies beyond it: the offsets went up and down again.
            if (lane == 0) fault(a, OFFSETS, first);
            return false;
        }
        __syncwarp();
        fold_tile(u32(e - origin), u32(last - origin), origin);
        for (u32 r = lane; r < ranks; r += 32) close(first + r + shared.skipped[r], IN_PLACE ? waiting(shared.slot[r]) : shared.stage[r], false);
        __syncwarp();
        // Where ends are so dense that a round has no room for a tile's, there is no use in loading all of it.
        const u32 used = u32(last + shift - base + 32 * PER - 1) / (32 * PER) * (32 * PER);
        window = last + shift < limit ? used : ranks * 2 > CAP ? window : window * 2 < TILE ? window * 2 : TILE;
        window = window > 0 ? window : 32 * PER;
        e = last;
        return true;
    }

    __device__ __forceinline__ State& waiting(u32 slot) const { return *reinterpret_cast<State*>(reinterpret_cast<E*>(shared.tile) + slot); }

    // Folds the lane's elements, of which those from `low` to `high` count, or all; what ends goes to `result` and its neighbours, or in place.
    template <bool ALL, class Asked> __device__ __forceinline__ void fold_own(State& state, Flags ends, State* result, u32 own, u32 low, u32 high, u64 origin, const Asked& asked) {
#pragma unroll 1
        for (u32 h = 0; h < own; h += FLIGHT) {
            // Read before anything waits in their place, so that no pack has to.
            Pack packs[FLIGHT];
            if constexpr (UNROLL > 1) {
#pragma unroll
                for (u32 k = 0; k < FLIGHT; k++) packs[k] = shared.tile[place(lane * own + h + k)];
            }
#pragma unroll UNROLL
            for (u32 k = 0; k < FLIGHT; k++) {
                Pack& pack = shared.tile[place(lane * own + h + k)];
                Elements<E> x(UNROLL > 1 ? packs[k] : pack);
#pragma unroll
                for (u32 i = 0; i < PER; i++) {
                    const u32 p = (lane * own + h + k) * PER + i;
                    if (ALL || p - low < high - low) Fold::add(state, x.element[i], origin + p, asked);
                    if (ends >> i & 1) {
                        if constexpr (IN_PLACE) *reinterpret_cast<State*>(reinterpret_cast<E*>(&pack) + i) = state;
                        else *result++ = state;
                        state = Fold::identity();
                    }
                }
                ends >>= PER;
            }
        }
    }

    // Folds elements `low` to `high` of the tile, lane by lane, and leaves a result for every flag. `origin` is the index of the tile's first.
    __device__ __forceinline__ void fold_tile(u32 low, u32 high, u64 origin) {
        // Packs of a lane: of few elements every lane has some.
        const u32 own = IN_PLACE && high <= TILE / 2 ? PACKS / 2 : PACKS, first = lane * own * PER;
        Flags ends;
        if constexpr (OWN > 32) ends = u64(shared.flag[2 * lane + 1]) << 32 | shared.flag[2 * lane];
        else ends = shared.flag[first / 32] >> first % 32 & ~0u >> (32 - own * PER);
        State* slot = shared.stage;
        if constexpr (IN_PLACE) {
            const u32 at = __ffs(u32(ends)) - 1;
            slot = &waiting(place((first + at) / PER) * PER + at % PER);
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
        State state = lane == 0 ? carry : Fold::identity();
        if (low == 0 && high == 32 * own * PER && is_plain(setup, 0)) fold_own<true>(state, ends, slot, own, low, high, origin, plain(setup, 0));
        else fold_own<false>(state, ends, slot, own, low, high, origin, setup);
        const u32 enders = __ballot_sync(0xffffffffu, ends != 0);
        scan_lanes<Fold>(state, lanes_behind(enders));
        State before = shuffle_words(state, (lane + 31) % 32);
        if (ends != 0 && lane > 0) {
            Fold::merge(before, *slot);
            *slot = before;
        }
        carry = shuffle_words(state, 31);
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
            piece.tail = carry;
            piece.ended = sound && s + passed > piece.segment;
        }
    }
};
