// Segments of mapped values (map_array.cuh), whatever their lengths: the merge path of segments.cuh, whose warps have
// equal shares of elements and ends, so that one long segment among short ones is many warps'. Elements may be listed:
// an input's are then those at the places of a list, which the pseudo-instructions know.
//
// A lane maps two steps of eight elements, one behind the other, which are the ones that it owns of a tile, so that
// nothing goes through shared memory but what ends there. Loads are in flight while a tile is folded.
//
// A template has three pseudo-instructions, for steps of E elements, `at` being the index of the first one:
//
//   warpfold.load_tile V, E, at, to;   starts to load V steps of each input, as far as they begin before element `to`
//   warpfold.map_tile k, E, words, kept, at, from, to, first, last;   maps what was loaded as step k, which begins
//                                      there; in the tile are elements `from` to `to`, of segments `first` to `last`
//   warpfold.next_tile k, E, at, to;   starts to load another step in its place
//
// What is folded are the folds of rows (map_rows.cuh), for which segments want more:
//
//   Tile, Own, own(Own, Tile)   what is mapped at once, and its elements
//   one(State, element)         takes in one of them
//   take_tile(Tile, index)      all lanes: takes in all of them, as lanes of a row do
//   spans(FoldOptions)          whether finishing asks for bounds (parts.cuh)
#pragma once
#include "walk/map_rows.cuh"
#include "walk/segments.cuh"

template <int K, int E>
__device__ __forceinline__ void map_tile(Step& s, u32& kept, u64 at, u64 from, u64 to, u64 first, u64 last) {
    asm volatile("warpfold.map_tile %14, %15, %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13;"
                 : WORDS_OF_STEP(s), "=r"(kept)
                 : "l"(at), "l"(from), "l"(to), "l"(first), "l"(last), "n"(K), "n"(E));
}
template <int K, int E>
__device__ __forceinline__ void map_tile(TwoSteps& s, u32& kept, u64 at, u64 from, u64 to, u64 first, u64 last) {
    asm volatile("warpfold.map_tile %22, %23, %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21;"
                 : WORDS_OF_STEP(s.x), WORDS_OF_STEP(s.y), "=r"(kept)
                 : "l"(at), "l"(from), "l"(to), "l"(first), "l"(last), "n"(K), "n"(E));
}

// A fold of rows, as the merge path knows folds. Its elements are as large as lets a lane own sixteen.
template <class Fold> struct SegmentFold {
    typedef f64 Element;
    typedef typename Fold::State State;
    struct Setup {
        __device__ __forceinline__ explicit Setup(FoldOptions) {}
    };
    static __device__ __forceinline__ bool spans(FoldOptions c) { return Fold::spans(c); }
    static __device__ __forceinline__ State identity() { return Fold::identity(); }
    static __device__ __forceinline__ void merge(State& a, const State& b) { Fold::merge(a, b); }
    static __device__ __forceinline__ void finish(const SegmentArguments& a, FoldOptions c, u64 k, const State& s,
                                                  u64 begin, u64 end) {
        Fold::finish(a, c, k, s, begin, end);
    }
};

template <class Fold> struct MapSegmentWarp : SegmentWarp<SegmentFold<Fold>, true> {
    typedef SegmentWarp<SegmentFold<Fold>, true> Ends;
    typedef typename Fold::State State;
    static constexpr u32 E = 8, V = 2, OWN = Ends::OWN, TILE = Ends::TILE;
    static_assert(V * E == OWN, "a lane owns what it maps");
    using Ends::a, Ends::carry, Ends::carry_out, Ends::e, Ends::e1, Ends::lane, Ends::passed, Ends::s, Ends::s1,
        Ends::segment, Ends::start, Ends::desc;
    Fold fold;
    bool is_apart = false;  // whether lanes hold something of the open segment

    __device__ __forceinline__ MapSegmentWarp(const SegmentArguments& a, typename Ends::Shared& shared,
                                              CarryOut<State>& carry_out)
        : Ends(a, shared, carry_out), fold(desc) {}

    // What lanes hold, to what came before.
    __device__ __forceinline__ void gather() {
        if (!is_apart) return;
        Fold::merge(carry, shuffle_words(fold.flush(32), 0));
        is_apart = false;
    }

    // A tile: where it begins, which of its elements are to be folded, and segments; and where the next one begins.
    struct Tile {
        u32 base, low, high;
        u64 first, last, next;
        bool is_open;  // whether all of it lies within a segment
    };
    // The steps that were loaded, from the k-th on; in their place others are.
    template <u32 K> __device__ __forceinline__ void take_from(typename Ends::OfLane& mine, const Tile& t, u64 to) {
        typename Fold::Tile step;
        u32 kept;
        const u64 at = start + t.base + lane * OWN + K * E;
        map_tile<K, E>(step, kept, at, start + t.low, to, t.first, t.last);
        asm volatile("warpfold.next_tile %0, %1, %2, %3;" ::"n"(K), "n"(E), "l"(t.next + lane * OWN + K * E), "l"(to));
        if (t.is_open) {
            fold.take_tile(step, at);
        } else {
            typename Fold::Own own;
            Fold::own(own, step);
            // Bits of the elements that count.
            const i32 low = i32(t.low - t.base) - i32(lane * OWN + K * E), high = i32(t.high - t.low) + low;
            const u32 before = low <= 0 ? 0 : low >= i32(E) ? ~0u : (1u << low) - 1,
                      until = high <= 0 ? 0 : high >= i32(E) ? ~0u : (1u << high) - 1, counts = until & ~before,
                      ends = mine.ends >> K * E;
            State* result = mine.result + __popc(mine.ends & ((1u << K * E) - 1));
#pragma unroll
            for (u32 k = 0; k < E; k++) {
                if (counts >> k & 1) fold.one(mine.state, own[k]);
                if (ends >> k & 1) {
                    *result++ = mine.state;
                    mine.state = Fold::identity();
                }
            }
        }
        if constexpr (K + 1 < V) take_from<K + 1>(mine, t, to);
    }

    __device__ __forceinline__ void run() {
        bool sound = this->take_share() && this->look(e);
        const u64 to = sound ? start + e1 : 0;
        u32 window = TILE;
        asm volatile("warpfold.load_tile %0, %1, %2, %3;" ::"n"(V), "n"(E), "l"(start + e / OWN * OWN + lane * OWN),
                     "l"(to));
#pragma unroll 1
        while (sound && (s + passed < s1 || e < e1)) {
            // The last element of a segment comes with its end.
            const u32 next = __shfl_sync(0xffffffffu, this->end, passed % 32);
            const u32 stop = passed < 32 && next <= e1 ? next : e1 + 1;
            const u32 base = e / OWN * OWN, limit = base + window < e1 ? base + window : e1;
            const bool is_open = e == base && base + TILE < stop;
            const u32 first = s + passed;
            u32 last = is_open ? base + TILE : limit, ranks = 0;
            typename Ends::OfLane mine{Fold::identity(), 0, nullptr};
            if (!is_open) {
                gather();
                this->clear_flags();
                ranks = this->flag_ends(base, last, first, sound);
                if (!sound || !this->is_sound(first)) {
                    sound = false;
                    break;
                }
                __syncwarp();
                mine = this->begin_lanes(Ends::VECTORS);
            }
            take_from<0>(mine,
                         {base, e, last, segment + first, segment + (is_open ? first : s1),
                          start + last / OWN * OWN, is_open},
                         to);
            if (is_open) {
                is_apart = true;
            } else {
                this->end_lanes(mine);
                this->close_all(ranks, first);
                window = this->next_window(window, base, last, limit, ranks);
            }
            e = last;
        }
        gather();
        if (lane == 0) {
            carry_out.tail = carry;
            carry_out.ended = sound && s + passed > 0;
        }
    }
};

// An entry point: the inputs, and what all are told: segments of `n` elements by their offsets, which are of so many
// bytes.
#define MAP_SEGMENTS_KERNEL(name, ...) \
    MANIFEST(state_, name) = sizeof(CarryOut<__VA_ARGS__::State>); \
    extern "C" __global__ void __launch_bounds__(SEGMENT_THREADS, __VA_ARGS__::BLOCKS) \
        name(const void*, const void*, const void*, const void*, const void*, const void*, const void*, const void*, \
             u64 segments, u64 n, void* out, u64* counts, u64* faults, u64 options, Workspace* workspace, \
             const void* offsets, u64 bytes) { \
        fold_segments<SegmentFold<__VA_ARGS__>, MapSegmentWarp<__VA_ARGS__>>( \
            {nullptr, n, offsets, bytes, 0, segments, out, workspace, faults, options}); \
    }
