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

struct Terms {
    typedef ExactTotal<f32> WideInteger;
    typedef WideInteger::State State;
    typedef TwoSteps Loaded;
    static constexpr u32 ELEMENTS = 8, FLIGHT = 4, MOST = 96;
    static constexpr int BLOCKS = 2;

    const u32 span;  // binades of the window
    i32 top = 0;
    u32 low, reach;  // twice the upper word of the least number that is held, and what is above it
    f64 level, rest = 0;
    State state;
    u32 taken = 0, missed = 0;  // terms in the window, and the largest exponent field that it should move for
    bool begun = false;

    __device__ __forceinline__ explicit Terms(FoldOptions c)
        : span(c.fold() & TERMS_OF_ONE ? 57 : 33), reach(span << 21), state(WideInteger::identity()) {
        place(1023);
    }
    __device__ __forceinline__ f64 start() const {
        return __longlong_as_double(i64(1023 + top + 13) << 52 | 1ll << 51);
    }
    // Where it holds an exponent field with two binades to spare; it is empty.
    __device__ __forceinline__ void place(u32 field) {
        top = i32(field) - 1023 + 3;
        low = u32(top - i32(span) + 1023) << 21;
        level = start();
        rest = 0;
    }
    __device__ __forceinline__ static u32 size(f64 x) { return u32(__double2hiint(x)) << 1; }
    template <class Each> __device__ __forceinline__ static void each(const TwoSteps& s, const Each& f) {
#pragma unroll
        for (u32 k = 0; k < ELEMENTS; k++)
            f(k, __dmul_rn(f64(__uint_as_float(s.x.p[k / 4].word[k % 4])),
                           f64(__uint_as_float(s.y.p[k / 4].word[k % 4]))));
    }
    // The largest exponent field of finite terms.
    __device__ __forceinline__ static u32 field(const TwoSteps& s) {
        u32 largest = 0;
        each(s, [&](u32, f64 x) {
            const u32 field = size(x) >> 21;
            if (field != 2047 && field > largest) largest = field;
        });
        return largest;
    }
    // All lanes: puts the window where the first terms are.
    __device__ __forceinline__ void begin(const TwoSteps& s) {
        if (begun) return;
        begun = true;
        const u32 largest = largest_of_lanes(field(s));
        if (largest > 0) place(largest);
    }
    __device__ __forceinline__ void take(const TwoSteps& s, u64) {
        f64 term[ELEMENTS];
        u32 most = 0;
        each(s, [&](u32 k, f64 x) {
            term[k] = x;
            const u32 above = size(x) - low;
            most = above > most ? above : most;
        });
        if (most >= reach) {
            // Once more, without zeros.
            most = 0;
#pragma unroll
            for (u32 k = 0; k < ELEMENTS; k++) {
                const u32 bits = size(term[k]), above = bits == 0 ? 0 : bits - low;
                most = above > most ? above : most;
            }
            if (most >= reach) return outside(term, field(s));
        }
#pragma unroll
        for (u32 k = 0; k < ELEMENTS; k++) {
            const f64 next = __dadd_rn(level, term[k]);
            rest = __dadd_rn(rest, __dsub_rn(term[k], __dsub_rn(next, level)));
            level = next;
        }
        taken += ELEMENTS;
    }
    __device__ __forceinline__ void outside(f64 (&term)[ELEMENTS], u32 field) {
        const i32 exponent = i32(field) - 1023;
        if ((exponent >= top || exponent < top - i32(span)) && field > missed) missed = field;
        // One copy of the code: terms move down to where it looks for them.
#pragma unroll 1
        for (u32 k = 0; k < ELEMENTS; k++) {
            WideInteger::add_f64(state, term[0]);
#pragma unroll
            for (u32 j = 1; j < ELEMENTS; j++) term[j - 1] = term[j];
        }
    }
    __device__ __forceinline__ void some(const TwoSteps& s, u32 kept, u64) {
        each(s, [&](u32 k, f64 x) {
            if (kept >> k & 1) WideInteger::add_f64(state, x);
        });
    }
    __device__ __forceinline__ static void take_in(State& s, f64 upper, f64 lower) {
        WideInteger::add_f64(s, upper);
        WideInteger::add_f64(s, lower);
    }
    __device__ __forceinline__ void settle() {
        const bool moves = __any_sync(0xffffffffu, missed > 0), full = __any_sync(0xffffffffu, taken > MOST);
        if (!moves && !full) return;
        take_in(state, __dsub_rn(level, start()), rest);
        taken = 0;
        level = start();
        rest = 0;
        if (moves) place(largest_of_lanes(missed));
        missed = 0;
    }
    __device__ __forceinline__ State flush(u32 lanes) {
        f64 upper = __dsub_rn(level, start()), lower = rest;
        level = start();
        rest = 0;
        taken = 0;
#pragma unroll 1
        for (u32 by = lanes / 2; by > 0; by /= 2) {
            upper = __dadd_rn(upper, __shfl_down_sync(0xffffffffu, upper, by));
            lower = __dadd_rn(lower, __shfl_down_sync(0xffffffffu, lower, by));
        }
        if (__any_sync(0xffffffffu, !(state.sum == 0 && state.rest == 0))) MapRows<Terms>::join(state, lanes);
        State all = state;
        take_in(all, upper, lower);
        state = WideInteger::identity();
        return all;
    }
    static __device__ __forceinline__ void merge(State& a, const State& b) { WideInteger::merge(a, b); }
    static __device__ __forceinline__ void finish(const SegmentArguments& a, FoldOptions c, u64 k, const State& s,
                                                  u64 begin, u64 end) {
        const FoldOptions requested{c.options & ~(u32(TERMS_OF_ONE) << 8)};
        if (requested.fold() != TERMS_ROOT) return WideInteger::finish(a, requested, k, s, begin, end);
        const DoubleDouble sum = two_sum(s.sum, s.rest);
        WideInteger::write(a, requested, k, round_nearest<f32>(sum, true, requested), sum.high - sum.high == 0);
    }
};
