// What one warp does with its share of the merge path (segments.cuh).
//
// Ends: lanes hold the next 32, compared once when they are loaded. Stretches without one are walked by whole tiles (`walk`). A tile with ends goes through shared
// memory (`round`), so that a lane owns neighbours; every end is a flag beside the element it follows. A lane folds its elements, leaving a state at every flag, and what
// spans lanes is joined by a scan, of as many steps as the longest such run needs.
#pragma once
#include "segment_runs.cuh"

// The flags of a pack's elements, four to a word, a byte each.
template <u32 PER> struct Flags {
    u32 word[(PER + 3) / 4];
    __device__ __forceinline__ explicit Flags(const u8* at) {
        if constexpr (PER == 1) {
            word[0] = *at;
        } else if constexpr (PER == 2) {
            word[0] = *reinterpret_cast<const u16*>(at);
        } else if constexpr (PER == 4) {
            word[0] = *reinterpret_cast<const u32*>(at);
        } else if constexpr (PER == 8) {
            const uint2 two = *reinterpret_cast<const uint2*>(at);
            word[0] = two.x, word[1] = two.y;
        } else {
            const uint4 four = *reinterpret_cast<const uint4*>(at);
            word[0] = four.x, word[1] = four.y, word[2] = four.z, word[3] = four.w;
        }
    }
    __device__ __forceinline__ bool operator[](u32 i) const { return word[i / 4] >> i % 4 * 8 & 1; }
    __device__ __forceinline__ u32 count() const {
        u32 flags = 0;
#pragma unroll
        for (u32 k = 0; k < (PER + 3) / 4; k++) flags += __popc(word[k]);
        return flags;
    }
};

template <class Fold> struct SegmentWarp {
    typedef typename Fold::Element E;
    typedef typename Fold::State State;
    // Only few elements a pack are worth their code for every pack.
    static constexpr int UNROLL = PER_PACK<E> <= 4 && sizeof(State) <= 8 ? 4 : 1;
    static constexpr u32 PER = PER_PACK<E>, PACKS = 4, OWN = PACKS * PER, TILE = 32 * OWN;
    // Results wait in shared memory to be written side by side: as many as a round has room for.
    static constexpr u32 STAGE = sizeof(E) == 1 ? 1024 : 2048, FIT = STAGE / sizeof(State), CAP = FIT < TILE ? FIT / 32 * 32 : TILE;
    // What an end weighs at least and at most, in elements of a share; all of them an eighth of the elements, where that lies between.
    static constexpr u64 LEAST_WEIGHT = 32, MOST_WEIGHT = 1024;
    static constexpr u64 NONE = ~0ull, NUMBERED = 0xffff - 64;  // ends of a round, whose numbers have 16 bits
    struct Shared {
        Pack tile[32 * PACKS];
        uint4 flag[TILE / 16];  // a byte an element: whether a segment ends after it
        State stage[CAP];
        unsigned short end[CAP];  // which end of the round each staged result belongs to
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
    static __device__ __forceinline__ u32 place(u32 pack) { return pack ^ (pack >> 3 & 3); }

    // Whole tiles inside the open segment: up to its end, or up to the share's end, if no segment ends in it any more.
    __device__ __forceinline__ void walk() {
        const u64 next = __shfl_sync(0xffffffffu, end, passed % 32);
        // The last element comes with its end, in a round.
        const u64 stop = (passed < 32 && next <= e1 ? next : e1 + 1) + shift;
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
        const Pack* from = packs + base / PER + lane;
        Pack p[PACKS];
        const bool whole = base >= shift && limit == base + TILE;
        if (whole) {
#pragma unroll
            for (u32 k = 0; k < PACKS; k++) p[k] = load(from + k * 32);
        } else {
#pragma unroll
            for (u32 k = 0; k < PACKS; k++) {
                const u64 at = base + (k * 32 + lane) * PER;
                p[k] = Pack{};
                if (at < limit && at >= shift && at + PER <= size) p[k] = load(from + k * 32);
            }
        }
#pragma unroll
        for (u32 k = 0; k < PACKS; k++) shared.tile[place(k * 32 + lane)] = p[k];
        if constexpr (OWN < 8) {
            reinterpret_cast<u32*>(shared.flag)[lane] = 0;
        } else {
            uint2* flags = reinterpret_cast<uint2*>(shared.flag);
#pragma unroll
            for (u32 k = 0; k < OWN / 8; k++) flags[k * 32 + lane] = make_uint2(0, 0);
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
        u8* flags = reinterpret_cast<u8*>(shared.flag);
        u32 ranks = 0;
        while (true) {
            const u32 number = u32(s + lane - first);
            const bool in = lane >= passed && end <= last, flagged = in && full && end > e;
            const u32 votes = __ballot_sync(0xffffffffu, flagged), ends = __ballot_sync(0xffffffffu, in);
            if (flagged) {
                const u32 rank = ranks + __popc(votes & ((1u << lane) - 1));
                flags[u32(end - origin) - 1] = 1;
                shared.end[rank] = static_cast<unsigned short>(number);
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
            if (ranks + 32 > CAP || s - first >= NUMBERED) {
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
        for (u32 r = lane; r < ranks; r += 32) close(first + shared.end[r], shared.stage[r], false);
        __syncwarp();
        // Where ends are so dense that a round has no room for a tile's, there is no use in loading all of it.
        const u32 used = u32(last + shift - base + 32 * PER - 1) / (32 * PER) * (32 * PER);
        window = last + shift < limit ? used : window * 2 < TILE ? window * 2 : TILE;
        window = window > 0 ? window : 32 * PER;
        e = last;
        return true;
    }

    // Folds elements `low` to `high` of the tile, lane by lane, and stages a result for every flag. `origin` is the index of the tile's first.
    __device__ __forceinline__ void fold_tile(u32 low, u32 high, u64 origin) {
        const u32 first = lane * OWN;
        const u8* flags = reinterpret_cast<const u8*>(shared.flag) + first;
        u32 count = 0;
#pragma unroll
        for (u32 k = 0; k < PACKS; k++) count += Flags<PER>(flags + k * PER).count();
        u32 at = count;
#pragma unroll
        for (u32 by = 1; by < 32; by *= 2) {
            const u32 below = __shfl_up_sync(0xffffffffu, at, by);
            if (lane >= by) at += below;
        }
        State* const slot = shared.stage + (at - count);
        State* result = slot;
        // What came before is the first lane's.
        State state = lane == 0 ? carry : Fold::identity();
#pragma unroll UNROLL
        for (u32 k = 0; k < PACKS; k++) {
            Elements<E> x(shared.tile[place(lane * PACKS + k)]);
            const Flags<PER> ends(flags + k * PER);
#pragma unroll
            for (u32 i = 0; i < PER; i++) {
                const u32 p = first + k * PER + i;
                if (p - low < high - low) Fold::add(state, x.element[i], origin + p, setup);
                if (ends[i]) {
                    *result++ = state;
                    state = Fold::identity();
                }
            }
        }
        const u32 enders = __ballot_sync(0xffffffffu, count > 0);
        scan_lanes<Fold>(state, lanes_behind(enders));
        State before = shuffle_words(state, (lane + 31) % 32);
        if (count > 0 && lane > 0) {
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
