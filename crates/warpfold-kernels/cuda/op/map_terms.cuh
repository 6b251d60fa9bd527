// Exact sums of products of two f32 in rows of maps, and, with ones as the second factors, of f32 themselves: f64
// accumulators that no addition rounds, for terms of a window of exponents.
//
// A window holds zeros and terms below 2^top in size. Terms go to an accumulator that starts at 1.5 * 2^M and so lies
// on the grid 2^(M-52) throughout, M = top + 13, which has room for 2^12 terms; and what each leaves below that grid,
// exact as well, to a plain sum, which has room for as many where no term has a bit below 2^(top-80). A product of
// exponent e has its lowest bit at e - 47 or above, an f32 at e - 23: so windows are 33 and 57 binades wide.
//
// Instructions of a term: two conversions and a product, of which a known factor of one takes half away, two to ask
// whether the window holds it, and 4 additions of f64.
#pragma once
#include "op/part_spread.cuh"
#include "walk/map_rows.cuh"

// What terms give: the sum, the mean, the root.
enum Terms_ { TERMS_SUM = EXACT_SUM, TERMS_MEAN = EXACT_MEAN, TERMS_ROOT = 3, TERMS_OF_ONE = 4 };

// What a lane has of terms: a window, and in it the sums of each of some columns beside each other, whose terms come in
// turn.
template <u32 COLUMNS> struct TermWindow {
    static constexpr u32 TERMS = 8;
    typedef f64 Step[TERMS];

    const u32 span;  // binades of the window
    i32 top;
    u32 low, reach;  // twice the upper word of the least number that is held, and what is above it
    f64 level[COLUMNS], rest[COLUMNS];

    __device__ __forceinline__ explicit TermWindow(FoldOptions c)
        : span(c.fold() & TERMS_OF_ONE ? 57 : 33), reach(span << 21) {
        place(1023);
    }
    __device__ __forceinline__ f64 start() const {
        return __longlong_as_double(i64(1023 + top + 13) << 52 | 1ll << 51);
    }
    // Where it holds an exponent field with two binades to spare; it is empty.
    __device__ __forceinline__ void place(u32 field) {
        top = i32(field) - 1023 + 3;
        low = u32(top - i32(span) + 1023) << 21;
        clear();
    }
    __device__ __forceinline__ void clear() {
#pragma unroll
        for (u32 c = 0; c < COLUMNS; c++) level[c] = start(), rest[c] = 0;
    }
    // Whether it is where terms of an exponent field are held.
    __device__ __forceinline__ bool covers(u32 field) const {
        const i32 exponent = i32(field) - 1023;
        return exponent < top && exponent >= top - i32(span);
    }
    __device__ __forceinline__ static u32 size(f64 x) { return u32(__double2hiint(x)) << 1; }
    // The products of a step.
    __device__ __forceinline__ static void terms(Step& term, const TwoSteps& s) {
#pragma unroll
        for (u32 k = 0; k < TERMS; k++)
            term[k] = __dmul_rn(f64(__uint_as_float(s.x.p[k / 4].word[k % 4])),
                                f64(__uint_as_float(s.y.p[k / 4].word[k % 4])));
    }
    // The largest exponent field of finite terms.
    __device__ __forceinline__ static u32 field(const Step& term) {
        u32 largest = 0;
#pragma unroll
        for (u32 k = 0; k < TERMS; k++) {
            const u32 field = size(term[k]) >> 21;
            if (field != 2047 && field > largest) largest = field;
        }
        return largest;
    }
    // Whether it holds all, which then are in it.
    __device__ __forceinline__ bool add(const Step& term) {
        u32 most = 0;
#pragma unroll
        for (u32 k = 0; k < TERMS; k++) {
            const u32 above = size(term[k]) - low;
            most = above > most ? above : most;
        }
        if (most >= reach) {
            // Once more, without zeros.
            most = 0;
#pragma unroll
            for (u32 k = 0; k < TERMS; k++) {
                const u32 bits = size(term[k]), above = bits == 0 ? 0 : bits - low;
                most = above > most ? above : most;
            }
            if (most >= reach) return false;
        }
#pragma unroll
        for (u32 k = 0; k < TERMS; k++) {
            const u32 c = k % COLUMNS;
            const f64 next = __dadd_rn(level[c], term[k]);
            rest[c] = __dadd_rn(rest[c], __dsub_rn(term[k], __dsub_rn(next, level[c])));
            level[c] = next;
        }
        return true;
    }
    // What the first column has above the grid, beside its rest. The others move down, and the last one is empty then.
    __device__ __forceinline__ DoubleDouble take_out() {
        const DoubleDouble all = {__dsub_rn(level[0], start()), rest[0]};
#pragma unroll
        for (u32 c = 1; c < COLUMNS; c++) level[c - 1] = level[c], rest[c - 1] = rest[c];
        level[COLUMNS - 1] = start();
        rest[COLUMNS - 1] = 0;
        return all;
    }
};

// How sums of terms are kept and finished: as totals are.
struct TermSums {
    typedef ExactTotal<f32> WideInteger;
    typedef WideInteger::State State;
    typedef TwoSteps Loaded;
    static constexpr u32 ELEMENTS = 8, FLIGHT = 4;
    static constexpr int BLOCKS = 2;

    static __device__ __forceinline__ FoldOptions requested(FoldOptions c) {
        return {c.options & ~(u32(TERMS_OF_ONE) << 8)};
    }
    static __device__ __forceinline__ bool spans(FoldOptions c) { return WideInteger::spans(requested(c)); }
    static __device__ __forceinline__ State identity() { return WideInteger::identity(); }
    static __device__ __forceinline__ void take_in(State& s, const DoubleDouble& all) {
        WideInteger::add_f64(s, all.high);
        WideInteger::add_f64(s, all.low);
    }
    static __device__ __forceinline__ void merge(State& a, const State& b) { WideInteger::merge(a, b); }
    static __device__ __forceinline__ void finish(const SegmentArguments& a, FoldOptions c, u64 k, const State& s,
                                                  u64 begin, u64 end) {
        const FoldOptions of = requested(c);
        if (of.fold() != TERMS_ROOT) return WideInteger::finish(a, of, k, s, begin, end);
        const DoubleDouble sum = two_sum(s.sum, s.rest);
        WideInteger::write(a, of, k, round_nearest<f32>(sum, true, of), sum.high - sum.high == 0);
    }
};

// Of rows that lanes of a warp share, whose windows lie together.
struct Terms : TermSums {
    typedef TermWindow<1> Window;
    typedef TwoSteps Tile;
    typedef Window::Step Own;
    static constexpr u32 MOST = 96;

    Window window;
    State state;
    u32 taken = 0, missed = 0;  // terms in the window, and the largest exponent field that it should move for
    bool begun = false;

    __device__ __forceinline__ explicit Terms(FoldOptions c) : window(c), state(identity()) {}
    // All lanes: puts the window where the first terms are.
    __device__ __forceinline__ void begin(const TwoSteps& s) {
        if (begun) return;
        begun = true;
        Window::Step term;
        Window::terms(term, s);
        const u32 largest = largest_of_lanes(Window::field(term));
        if (largest > 0) window.place(largest);
    }
    __device__ __forceinline__ void take(const TwoSteps& s, u64) {
        Window::Step term;
        Window::terms(term, s);
        if (window.add(term)) taken += ELEMENTS;
        else outside(term);
    }
    __device__ __forceinline__ void outside(Window::Step& term) {
        const u32 field = Window::field(term);
        if (!window.covers(field) && field > missed) missed = field;
        // One copy of the code: terms move down to where it looks for them.
#pragma unroll 1
        for (u32 k = 0; k < ELEMENTS; k++) {
            WideInteger::add_f64(state, term[0]);
#pragma unroll
            for (u32 j = 1; j < ELEMENTS; j++) term[j - 1] = term[j];
        }
    }
    // Of segments: what a lane has mapped, one by one, or all of it within a segment.
    static __device__ __forceinline__ void own(Own& x, const TwoSteps& s) { Window::terms(x, s); }
    __device__ __forceinline__ void one(State& s, f64 x) const { WideInteger::add_f64(s, x); }
    __device__ __forceinline__ void take_tile(TwoSteps& s, u64 index) {
        begin(s);
        take(s, index);
        settle();
    }
    __device__ __forceinline__ void some(const TwoSteps& s, u32 kept, u64) {
        Window::Step term;
        Window::terms(term, s);
#pragma unroll
        for (u32 k = 0; k < ELEMENTS; k++) {
            if (kept >> k & 1) WideInteger::add_f64(state, term[k]);
        }
    }
    __device__ __forceinline__ void settle() {
        const bool moves = __any_sync(0xffffffffu, missed > 0), full = __any_sync(0xffffffffu, taken > MOST);
        if (!moves && !full) return;
        take_in(state, window.take_out());
        taken = 0;
        if (moves) window.place(largest_of_lanes(missed));
        missed = 0;
    }
    __device__ __forceinline__ State flush(u32 lanes) {
        DoubleDouble sums = window.take_out();
        taken = 0;
#pragma unroll 1
        for (u32 by = lanes / 2; by > 0; by /= 2) {
            sums.high = __dadd_rn(sums.high, __shfl_down_sync(0xffffffffu, sums.high, by));
            sums.low = __dadd_rn(sums.low, __shfl_down_sync(0xffffffffu, sums.low, by));
        }
        if (__any_sync(0xffffffffu, !(state.sum == 0 && state.rest == 0))) MapRows<Terms>::join(state, lanes);
        State all = state;
        take_in(all, sums);
        state = identity();
        return all;
    }
};
