// What one warp does with its share of the merge path (segments.cuh) where states are large: lanes take whole vectors
// of segments of their own, as they take rows (rows.cuh), and no state goes through a tile.
//
// Of 32 segments at a time, whose ends lanes hold: those of more than LONG elements one after another, each by the
// whole warp; of all others as many side by side as leave a lane of the longest eight vectors. Their states wait until
// every lane has one to finish. What the share has after its last end is one segment more.
//
// Floor: as of rows, and offsets once: the loads of neighbouring lanes meet in the first cache, whose lines their
// segments share.
#pragma once
#include "walk/segment_share.cuh"
#include "walk/whole_vectors.cuh"

template <class Fold> struct SegmentLanes : SegmentShare<Fold> {
    typedef SegmentShare<Fold> Share;
    typedef typename Fold::Element E;
    typedef typename Fold::State State;
    // How many vectors a lane has in flight, and how many elements at most of a segment that is not long; how many
    // such a segment has.
    static constexpr u32 PER = PER_VECTOR<E>, FLIGHT = 4, OWN = 8 * PER, LONG = 8 * OWN;
    struct Shared {
        State states[32];
    };
    using Share::a, Share::carry_out, Share::e, Share::e1, Share::end, Share::lane, Share::look,
        Share::none, Share::NONE, Share::passed, Share::s, Share::s1, Share::segment, Share::size, Share::start,
        Share::vectors;
    Shared& shared;
    const typename Fold::Setup setup;
    WholeVectors<Fold> whole;

    __device__ __forceinline__ SegmentLanes(const SegmentArguments& a, Shared& shared, CarryOut<State>& carry_out)
        : Share(a, carry_out), shared(shared), setup(Share::desc), whole(setup) {}

    // A vector, of which elements `low` to `high` are a segment's: zeros in place of the others. `at` is its first.
    __device__ __forceinline__ Vector part_of(const Vector& p, u32 at, u32 low, u32 high) const {
        Elements<E> x(p);
        // Of the array's first and last vector there may be no more in memory.
        const bool loaded = is_whole(at);
        const E* from = reinterpret_cast<const E*>(vectors) + at;
#pragma unroll
        for (u32 i = 0; i < PER; i++) {
            const bool in = at + i - low < high - low;
            if (!in) x.element[i] = Elements<E>(Vector{}).element[i];
            else if (!loaded) x.element[i] = from[i];
        }
        return x.vector;
    }
    // Whether the array has all of the vector that begins there.
    __device__ __forceinline__ bool is_whole(u32 at) const { return at >= none && at + PER <= size; }

    // All lanes: elements `low` to `high` by so many neighbours, of which the first has the state then: that of nothing
    // where both are zero.
    __device__ __forceinline__ State fold(u32 low, u32 high, u32 lanes) {
        const u32 sub = lane % lanes, base = low / PER * PER, length = high > low ? high - base : 0,
                  longest = largest_of_lanes(length), each = FLIGHT * lanes * PER;
        State state = Fold::identity();
#pragma unroll 1
        for (u32 first = 0; first < longest; first += each) {
            Vector p[FLIGHT];
            u32 at = base + first + sub * PER;
            const Vector* from = vectors + at / PER;
            const bool all = __all_sync(0xffffffffu, base + first >= low && first + each <= length);
#pragma unroll
            for (u32 k = 0; k < FLIGHT; k++, from += lanes) {
                const u32 of = at + k * lanes * PER;
                p[k] = Vector{};
                if (all || (of < high && of + PER > low && is_whole(of))) p[k] = *from;
            }
            whole.begin(p[0]);
            whole.settle(state, FLIGHT);
            if (all) {
                whole.template take_all<FLIGHT>(state, p, start + at, lanes * PER, setup);
                continue;
            }
#pragma unroll 1
            for (u32 k = 0; k < FLIGHT && first + k * lanes * PER < longest; k++, at += lanes * PER) {
                const bool has_some = at < high && at + PER > low, has_all = at >= low && at + PER <= high;
                Vector one[1] = {p[0]};
                // Where some lanes have all of a vector, and others not, by one code, if that costs no more.
                const bool in_part = __any_sync(0xffffffffu, has_some && !has_all);
                if (has_all && !(WholeVectors<Fold>::ARE_PARTS_CHEAP && in_part)) {
                    whole.template take_all<1>(state, one, start + at, 0, setup);
                } else if (has_some) {
                    if (!has_all) one[0] = part_of(p[0], at, low, high);
                    whole.take_some(state, one, start + at, 0, at - low, high - low, setup);
                }
                move_down(p);
            }
        }
        if (whole.flush(state, lanes)) join_neighbours<Fold>(state, lanes);
        return state;
    }

    // The segments whose ends lanes hold, which begin with element `before`; false if one does not end in the share.
    // What the share has after its last end is one of them.
    __device__ __forceinline__ bool fold_group(u32 before) {
        const bool ends = s + lane < s1, there = s + lane <= s1;
        const u32 beyond = __ballot_sync(0xffffffffu, ends && end == NONE);
        if (beyond != 0) {
            if (lane == 0) fault(a, OFFSETS, segment + s + __ffs(beyond) - 1);
            return false;
        }
        const u32 high = ends ? end : e1;
        u32 low = __shfl_up_sync(0xffffffffu, high, 1);
        if (lane == 0) low = before;
        const u32 count = there ? high - low : 0;
        if (count == 0) low = 0;
        u32 longs = __ballot_sync(0xffffffffu, count > LONG);
        const u32 longest = largest_of_lanes(count > LONG ? 0 : count);
        u32 lanes = 1;
        while (lanes * OWN < longest) lanes *= 2;
#pragma unroll 1
        for (u32 next = 0; longs != 0 || next < 32;) {
            // One that is long, or those that are not, from number `next` on.
            const bool is_long = longs != 0;
            const u32 together = is_long ? 32 : lanes, from = is_long ? __ffs(longs) - 1 : next + lane / lanes;
            if (is_long) longs &= longs - 1;
            else next += 32 / lanes;
            const u32 begin = __shfl_sync(0xffffffffu, low, from), many = __shfl_sync(0xffffffffu, count, from);
            const bool wanted = is_long || many <= LONG;
            const State state = fold(begin, wanted ? begin + many : begin, together);
            if (wanted && lane % together == 0) shared.states[from] = state;
        }
        __syncwarp();
        if (there) {
            // What came before the share's first segment, and comes after its last end, is not known here.
            const State& state = shared.states[lane];
            if (!ends) carry_out.tail = state;
            else if (s + lane == 0) carry_out.head = state;
            else Fold::finish(a, Share::desc, segment + s + lane, state, start + high - count, start + high);
        }
        __syncwarp();
        return true;
    }

    __device__ __forceinline__ void run() {
        bool sound = Share::template take<0>() && look(e);
        if (lane == 0) carry_out.tail = Fold::identity();
        __syncwarp();
        u32 before = e;
#pragma unroll 1
        while (sound && s <= s1) {
            sound = fold_group(before);
            before = __shfl_sync(0xffffffffu, end, 31);
            passed = 32;
            // Where the next 32 are beyond the last end, and the rest with them, nothing is left.
            if (!sound || s + 32 > s1) break;
            sound = look(before);
        }
        if (lane == 0) carry_out.ended = sound && s1 > 0;
    }
};
