// Stats of parts of complex numbers, in one pass: sum, mean, variance, deviation, l1 and l2, correctly rounded or known
// to be missed, and how many elements have a NaN. There are no extremes.
//
// out: the columns of PairStatsColumns, one after another; marks and what does not exist as in part_stats.cuh.
//
// Sums of both parts are pairs, as ExactPair has them, and that of the squares of both together is one, with what it
// lacks (part_spread.cuh). The magnitude of complex64 is a root of 53 bits (exact_norms.cuh), whose sum is a pair, too;
// that of complex128 has 106, which a sum holds but for a bound. So each result has the bits that it has alone.
//
// Floor: of complex64, in a window, two conversions and some 16 operations of f64 an element beside a root of some 12,
// of which an H100 has 42 in the time of 8 bytes; of complex128 some 110, of which it has 83 in the time of 16.
#pragma once
#include "op/part_complex.cuh"
#include "op/part_stats.cuh"

// The columns of results: NaNs of 8 bytes, sums and means of complex numbers, all others of a part.
template <class E> struct PairStatsColumns {
    static __device__ __forceinline__ SegmentArguments of(const SegmentArguments& a, StatsColumn column) {
        const u64 pairs = column > AVERAGE ? 2 : column > TOTAL ? 1 : 0;
        const u64 alone = column > VARIANCE ? column - VARIANCE : 0;
        const u64 bytes = (column > NANS ? 8 : 0) + sizeof(typename Parts<E>::Part) * (2 * pairs + alone);
        SegmentArguments one = a;
        one.out = static_cast<char*>(a.out) + a.segments * bytes;
        return one;
    }
};

// The window of complex64 (part_window.cuh): sums of both parts, one of all squares, and one of roots, which start on a
// grid of their own, as squares do. A root has 53 bits, so that numbers below the normal ones are not let in.
struct PairWindow {
    // Elements of a lane: the squares of both parts have one sum.
    static constexpr u32 MOST = 64;
    static constexpr int COUNT = 6;
    struct Sums {
        f64 number[COUNT];  // of both parts, the two of the squares, the two of the roots
    };
    Binades<f32> binades;
    f64 re, im, level, rest, root_level, root_rest;

    __device__ __forceinline__ explicit PairWindow(const SkipsOnly&) : binades(Floats<f32>(FoldOptions{0}, false)) {
        clear();
    }
    static __device__ __forceinline__ f64 start_at(i32 exponent) {
        return __longlong_as_double(i64(1023 + exponent) << 52 | 1ll << 51);
    }
    __device__ __forceinline__ f64 start() const { return start_at(2 * binades.end + 13); }
    __device__ __forceinline__ f64 root_start() const { return start_at(binades.end + 13); }
    __device__ __forceinline__ void clear() {
        re = im = rest = root_rest = 0;
        level = start();
        root_level = root_start();
    }
    __device__ __forceinline__ void place(u32 field) {
        constexpr u32 LEAST = Binades<f32>::SPAN - 1;
        binades.place(field < LEAST ? LEAST : field);
        clear();
    }
    __device__ __forceinline__ bool covers(u32 field) const {
        const i32 exponent = i32(field) - 127;
        return exponent < binades.end && exponent + i32(Binades<f32>::SPAN) >= binades.end;
    }
    // What of x the level leaves goes to the rest, both exactly.
    __device__ __forceinline__ void square(f64 x) {
        const f64 next = __fma_rn(x, x, level);
        rest = __dadd_rn(rest, __fma_rn(x, x, -__dsub_rn(next, level)));
        level = next;
    }
    template <int N> __device__ __forceinline__ bool add(const Vector (&p)[N]) {
        if (!binades.holds(p)) return false;
#pragma unroll
        for (int k = 0; k < 2 * N; k++) {
            const Elements<complex64> e(p[k / 2]);
            const f64 x = e.element[k % 2].re, y = e.element[k % 2].im;
            re = __dadd_rn(re, x);
            im = __dadd_rn(im, y);
            square(x);
            square(y);
            const f64 root = __dsqrt_rn(__fma_rn(x, x, __dmul_rn(y, y))), next = __dadd_rn(root_level, root);
            root_rest = __dadd_rn(root_rest, __dsub_rn(root, __dsub_rn(next, root_level)));
            root_level = next;
        }
        return true;
    }
    __device__ __forceinline__ Sums take_out() {
        const Sums all = {{re, im, __dsub_rn(level, start()), rest, __dsub_rn(root_level, root_start()), root_rest}};
        clear();
        return all;
    }
};
template <class E> struct PairWindowOf {};
template <> struct PairWindowOf<complex64> {
    typedef PairWindow Window;
};

// The sum of magnitudes. Of complex64 a pair that is exact or missed.
template <class E> struct MagnitudeSum {
    typedef ExactTotal<f64> Total;
    typedef Total::State State;
    // Of the sum of both squares, and what that lacks, which no root of 53 bits sees.
    static __device__ __forceinline__ bool add(State& s, DoubleDouble square, bool) {
        Total::add_f64(s, __dsqrt_rn(square.high));
        return true;
    }
    static __device__ __forceinline__ void merge(State& a, const State& b) { Total::merge(a, b); }
    static __device__ __forceinline__ void finish(const SegmentArguments& a, FoldOptions c, u64 k, const State& s,
                                                  u64 n) {
        ExactTotal<f32>::finish(a, with_fold(c, EXACT_L1), k, {s.sum, s.rest}, 0, n);
    }
};
// Of complex128 within a bound. False where squares left the numbers that have a second part.
template <> struct MagnitudeSum<complex128> {
    typedef LooseSum State;
    static __device__ __forceinline__ bool add(State& s, DoubleDouble square, bool is_zero) {
        const DoubleDouble root = square_root(square);
        s.add_pair(root.high, root.low);
        return is_zero || (root.high >= 0x1p-450 && root.high <= 0x1p500);
    }
    static __device__ __forceinline__ void merge(State& a, const State& b) { a.add_pair(b.sum, b.rest); }
    static __device__ __forceinline__ void finish(const SegmentArguments& a, FoldOptions c, u64 k, const State& s,
                                                  u64 n) {
        ExactNorm<f64>::finish(a, with_fold(c, SQUARES), k, {s}, 0, n);
    }
};

template <class E> struct PairStats : PairWindowOf<E> {
    typedef E Element;
    typedef typename Parts<E>::Part Part;
    typedef ExactTotal<Part> Total;
    typedef ExactSpread<Part> Spread;
    typedef MagnitudeSum<E> Magnitudes;
    static constexpr bool NARROW = sizeof(Part) == 4, TAKES_ZEROS = true;
    static constexpr int BLOCKS = 2;
    struct alignas(16) State {
        typename Total::State re, im;
        typename Magnitudes::State norm1;
        LooseSum squares;
        u64 nans[2];  // the first; a second is zero, so that a state has no bytes that nothing writes
    };
    typedef SkipsOnly Setup;
    static __device__ __forceinline__ bool spans(FoldOptions) { return true; }
    static __device__ __forceinline__ State identity() { return {{0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}}; }

    static __device__ __forceinline__ DoubleDouble square_of(f64 re, f64 im) {
        if constexpr (NARROW) return two_sum(__dmul_rn(re, re), __dmul_rn(im, im));
        else return ::add(two_product(re, re), two_product(im, im));
    }
    static __device__ __forceinline__ void add(State& s, E z, u64, const Setup& setup) {
        const bool nan = is_nan(z), skipped = nan && setup.skip;
        s.nans[0] += nan;
        const f64 re = skipped ? 0 : f64(z.re), im = skipped ? 0 : f64(z.im);
        Total::add_f64(s.re, re);
        Total::add_f64(s.im, im);
        const DoubleDouble square = square_of(re, im);
        if constexpr (NARROW) s.squares.add(square.high, square.low);
        else s.squares.add_pair(square.high, square.low);
        if (!Magnitudes::add(s.norm1, square, re == 0 && im == 0)) s.norm1.sum = s.squares.sum = Total::missed();
    }
    static __device__ __forceinline__ bool holds_something(const State& s) {
        return !(s.norm1.sum == 0 && s.norm1.rest == 0 && s.nans[0] == 0);
    }
    template <class Sums> static __device__ __forceinline__ void take_in(State& s, const Sums& all) {
        Total::add_f64(s.re, all.number[0]);
        Total::add_f64(s.im, all.number[1]);
        s.squares.add(all.number[2]);
        s.squares.add(all.number[3]);
        Magnitudes::Total::add_f64(s.norm1, all.number[4]);
        Magnitudes::Total::add_f64(s.norm1, all.number[5]);
    }
    template <class Sums> static __device__ __forceinline__ State of(const Sums& all) {
        const DoubleDouble roots = two_sum(all.number[4], all.number[5]);
        return {{all.number[0], 0},
                {all.number[1], 0},
                {roots.high, roots.low},
                LooseSum::of(all.number[2], all.number[3]),
                {0, 0}};
    }
    static __device__ __forceinline__ void merge(State& a, const State& b) {
        Total::merge(a.re, b.re);
        Total::merge(a.im, b.im);
        Magnitudes::merge(a.norm1, b.norm1);
        merge_sums(a.squares, b.squares, Part());
        a.nans[0] += b.nans[0];
    }
    static __device__ __forceinline__ void finish(const SegmentArguments& a, FoldOptions c, u64 k, const State& s,
                                                  u64 begin, u64 end) {
        write(Results(a), c, k, s, end - begin);
    }
    // Of so many elements, those included that do not count. Compiled once, wherever results come from.
    static __device__ __noinline__ void write(Results to, FoldOptions c, u64 k, State s, u64 elements) {
        const SegmentArguments a = to.arguments();
        const u64 n = elements - (c.skip() ? s.nans[0] : 0);
        if (c.fold() != 0 && is_gap(a, c, k, elements, n)) return;
        const Part none = canonical(Part(Total::missed()));
        if (wants(c, NANS)) results<u64>(column(a, c, NANS))[k] = s.nans[0];
        const typename ExactPair<E>::State sums = {s.re, s.im};
        if (wants(c, TOTAL)) ExactPair<E>::finish(column(a, c, TOTAL), with_fold(c, EXACT_SUM), k, sums, 0, n);
        if (wants(c, AVERAGE)) {
            const SegmentArguments average = column(a, c, AVERAGE);
            if (n == 0) results<Part>(average)[2 * k] = results<Part>(average)[2 * k + 1] = none;
            else ExactPair<E>::finish(average, with_fold(c, EXACT_MEAN), k, sums, 0, n);
        }
        if (wants(c, ONE_NORM)) Magnitudes::finish(column(a, c, ONE_NORM), c, k, s.norm1, n);
        if (wants(c, TWO_NORM))
            ExactNorm<Part>::finish(column(a, c, TWO_NORM), with_fold(c, ROOT), k, {s.squares}, 0, n);
        if (wants(c, VARIANCE) || wants(c, DEVIATION)) write_spread(a, c, k, s, n, none);
    }
    // Columns are numbered from 1 where one is wanted alone, and else all are, one after another.
    static __device__ __forceinline__ bool wants(FoldOptions c, StatsColumn which) {
        return c.fold() == 0 || c.fold() == which + 1;
    }
    static __device__ __forceinline__ SegmentArguments column(const SegmentArguments& a, FoldOptions c,
                                                              StatsColumn which) {
        if (c.fold() == 0) return PairStatsColumns<E>::of(a, which);
        return a;
    }
    // Whether a column alone has no result, which is a fault, as stats have none.
    static __device__ __forceinline__ bool is_gap(const SegmentArguments& a, FoldOptions c, u64 k, u64 elements,
                                                  u64 n) {
        const bool spread = c.fold() == VARIANCE + 1 || c.fold() == DEVIATION + 1;
        if (n == 0 && (spread || c.fold() == AVERAGE + 1)) {
            fault(a, elements == 0 ? EMPTY : ALL_SKIPPED, k);
        } else if (spread && n <= a.options >> 32) {
            fault(a, TOO_FEW, k);
            // How many there are is left where the result would be.
            results<typename Mark<Part>::Bits>(a)[k] = n;
        } else {
            return false;
        }
        return true;
    }
    // Variance and deviation: of the squares of both sums as of one.
    static __device__ __forceinline__ void write_spread(const SegmentArguments& a, FoldOptions c, u64 k, const State& s,
                                                        u64 n, Part none) {
        const u64 ddof = a.options >> 32;
        const bool exists = n > ddof, finite = s.re.sum - s.re.sum == 0 && s.im.sum - s.im.sum == 0 &&
                                               s.squares.is_finite();
        // Of one element, and of nothing but zeros.
        const bool is_zero = n == 1 || !s.squares.holds_something();
        bool exact = true;
        Interval v = {0, 0, 0};
        if (exists && !is_zero) {
            v = variance(s, f64(n), f64(n - ddof), exact);
        }
        // Of squares of f64 as ExactSpread asks.
        const bool within = NARROW || (is_within(s.squares.sum) && v.high > 0x1p-900 && n < 1ull << 50);
#pragma unroll 1
        for (u32 root = 0; root < 2; root++) {
            const StatsColumn which = root ? DEVIATION : VARIANCE;
            if (!wants(c, which)) continue;
            Rounded<Part> result = {none, true};
            if (exists && is_zero) {
                result = {0, finite};
            } else if (exists) {
                result = round_interval<Part>(v, root, c);
                result.known = (exact || result.known) && within && finite;
            }
            Total::write(column(a, c, which), c, k, result.value, result.known);
        }
    }
    static __device__ __forceinline__ Interval variance(const State& s, f64 n, f64 less, bool& exact) {
        const DoubleDouble re = two_sum(s.re.sum, s.re.rest), im = two_sum(s.im.sum, s.im.rest);
        const DoubleDouble squares = two_sum(s.squares.sum, s.squares.rest), first = two_product(n, squares.high);
        const DoubleDouble x = two_product(re.high, re.high), y = two_product(im.high, im.high);
        const DoubleDouble high = two_sum(x.high, y.high), low = two_sum(x.low, y.low),
                           middle = two_sum(high.low, low.high);
        const f64 left = __dadd_rn(middle.low, low.low);
        const f64 cross = __dadd_rn(__dmul_rn(2 * re.high, re.low), __dmul_rn(2 * im.high, im.low));
        const f64 small = __dsub_rn(__dmul_rn(n, squares.low), __dadd_rn(cross, left));
        const bool whole =
            s.squares.rest == 0 && s.re.rest == 0 && s.im.rest == 0 && middle.low == 0 && low.low == 0;
        return Spread::variance(first, fast_two_sum(high.high, middle.high), small, whole, 2 * n, n, less, exact);
    }
};

template <> struct StatsOf<complex64, false> {
    typedef PairStats<complex64> type;
};
template <> struct StatsOf<complex128, false> {
    typedef PairStats<complex128> type;
};
