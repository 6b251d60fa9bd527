// Stats of parts, in one pass: sum, mean, variance, deviation, l1 and l2, correctly rounded or known to be missed; both
// extremes and where each is first; and of floats how many NaNs there are.
//
// out: the columns of StatsColumns, one after another. What of the sums could not be rounded for certain has a mark in
// its column, and is folded again as that reduction alone would be. A mean, variance or deviation that does not exist
// is NaN; an extreme that does not is a fault, as is a sum of integers that its type does not hold.
//
// The states are those of the reductions alone: of floats a pair for the sum and one for that of magnitudes
// (part_exact.cuh), a sum of squares of which is known what it lacks (part_spread.cuh); of integers three exact sums
// (part_squares.cuh). So each is finished by what finishes it alone.
//
// Floor: of f32 a conversion and 5 operations of f64 an element in a window, at 64 a cycle and multiprocessor, and 8 of
// integers for extremes; of f64 itself some 35 of f64. Of integers of 32 bits 13 of integers for the sums and 9 for the
// extremes, at 64 a cycle, of 16 bits 7 and 7: 2500 and 1900 GB/s of an H100, which reads 3100.
#pragma once
#include "op/part_both.cuh"
#include "op/part_folds.cuh"
#include "op/part_integer_sums.cuh"
#include "op/part_spread.cuh"

// The columns of results, in the order of what they are wide: of 8 bytes, of the sums' type, of the elements'. Integers
// have no column of NaNs.
enum StatsColumn { ARG_LEAST, ARG_MOST, NANS, TOTAL, AVERAGE, VARIANCE, DEVIATION, ONE_NORM, TWO_NORM, LEAST, MOST };
template <class E, bool = FLOAT<E>> struct SumOf {
    typedef Wide<E> type;
};
template <class E> struct SumOf<E, false> {
    typedef i64 type;
};
template <class E> struct StatsColumns {
    typedef typename SumOf<E>::type Sum;
    // The arguments of the kernel that folds one column alone.
    static __device__ __forceinline__ SegmentArguments of(const SegmentArguments& a, StatsColumn column) {
        const u64 wide = column < TOTAL ? column : TOTAL, sums = column < LEAST ? column : LEAST;
        const u64 absent = !FLOAT<E> && column > NANS;
        const u64 bytes = 8 * (wide - absent) + sizeof(Sum) * (sums - wide) + sizeof(E) * (column - sums);
        SegmentArguments one = a;
        one.out = static_cast<char*>(a.out) + a.segments * bytes;
        return one;
    }
};
__device__ __forceinline__ FoldOptions with_fold(FoldOptions c, u32 fold) { return {(c.options & 255) | fold << 8}; }

// The window of sums and of squares, and beside these a sum of magnitudes, which has room where sums have.
template <class E> struct StatsWindow : PartWindow<E, Powers::Both> {
    typedef PartWindow<E, Powers::Both> Base;
    static constexpr int COUNT = Base::COUNT + 1;
    struct Sums {
        f64 number[COUNT];  // those of the other window, then that of magnitudes
    };
    f64 norm1 = 0;

    __device__ __forceinline__ explicit StatsWindow(const Floats<E>& f) : Base(f) {}
    __device__ __forceinline__ void place(u32 field) {
        Base::place(field);
        norm1 = 0;
    }
    template <int N> __device__ __forceinline__ bool add(const Vector (&p)[N]) {
        return Base::add(p, [&](f64 x) { norm1 = __dadd_rn(norm1, fabs(x)); });
    }
    __device__ __forceinline__ Sums take_out() {
        const typename Base::Sums others = Base::take_out();
        Sums all;
#pragma unroll
        for (int k = 0; k < Base::COUNT; k++) all.number[k] = others.number[k];
        all.number[Base::COUNT] = norm1;
        norm1 = 0;
        return all;
    }
};
template <class E> struct StatsWindowOf {
    typedef StatsWindow<E> Window;
};
template <> struct StatsWindowOf<f64> {};

template <class E> struct StatsSums : StatsWindowOf<E> {
    typedef E Element;
    typedef ExactTotal<E> Total;
    typedef ExactSpread<E> Spread;
    typedef Wide<E> W;
    struct alignas(16) State {
        typename Total::State sum, norm1;
        LooseSum squares;
    };
    struct Setup : Floats<E> {
        __device__ __forceinline__ explicit Setup(FoldOptions c) : Floats<E>(c, false) {}
    };
    static __device__ __forceinline__ State identity() { return {{0, 0}, {0, 0}, {0, 0}}; }
    static __device__ __forceinline__ void add(State& s, E x, u64, const Setup& setup) {
        const f64 w = setup.of(x);
        Total::add_f64(s.sum, w);
        Total::add_f64(s.norm1, fabs(w));
        if (!add_square<E>(s.squares, w)) s.squares.sum = Total::missed();
    }
    static __device__ __forceinline__ bool holds_something(const State& s) { return Total::holds_something(s.norm1); }
    template <class Sums> static __device__ __forceinline__ void take_in(State& s, const Sums& all) {
        Total::add_f64(s.sum, all.number[0]);
        s.squares.add(all.number[1]);
        s.squares.add(all.number[2]);
        Total::add_f64(s.norm1, all.number[3]);
    }
    template <class Sums> static __device__ __forceinline__ State of(const Sums& all) {
        return {{all.number[0], 0}, {all.number[3], 0}, LooseSum::of(all.number[1], all.number[2])};
    }
    static __device__ __forceinline__ void merge(State& a, const State& b) {
        Total::merge(a.sum, b.sum);
        Total::merge(a.norm1, b.norm1);
        merge_sums(a.squares, b.squares, W());
    }
    // Of the elements from `begin` to `end`, as many as count.
    static __device__ __forceinline__ void finish(const SegmentArguments& a, FoldOptions c, u64 k, const State& s,
                                                  u64 begin, u64 end) {
        write(Results(a), c, k, s, end - begin);
    }
    // Compiled once, wherever results come from.
    static __device__ __noinline__ void write(Results to, FoldOptions c, u64 k, State s, u64 n) {
        const SegmentArguments a = to.arguments();
        typedef StatsColumns<E> Columns;
        Total::finish(Columns::of(a, TOTAL), with_fold(c, EXACT_SUM), k, s.sum, 0, n);
        Total::finish(Columns::of(a, ONE_NORM), with_fold(c, EXACT_L1), k, s.norm1, 0, n);
        ExactNorm<E>::finish(Columns::of(a, TWO_NORM), with_fold(c, ROOT), k, {s.squares}, 0, n);
        const W none = canonical(W(Total::missed()));
        if (n == 0) results<W>(Columns::of(a, AVERAGE))[k] = none;
        else Total::finish(Columns::of(a, AVERAGE), with_fold(c, EXACT_MEAN), k, s.sum, 0, n);
        const typename Spread::State spread = {{s.sum.sum, s.sum.rest}, s.squares};
        const bool exists = n > a.options >> 32;
        // Both of one quotient, where that is enough.
        typename Spread::Quotient quotient;
        quotient.is_of_few = false;
        if (sizeof(W) == 4 && exists) quotient = Spread::quotient(spread, n, a.options >> 32);
#pragma unroll 1
        for (u32 root = 0; root < 2; root++) {
            const SegmentArguments column = Columns::of(a, root ? DEVIATION : VARIANCE);
            W value = none;
            if (!exists) results<W>(column)[k] = none;
            else if (quotient.round(root, c, value)) Total::write(column, c, k, value, true);
            else Spread::finish(column, with_fold(c, root ? EXACT_STD : EXACT_VAR), k, spread, 0, n);
        }
    }
};

__device__ __forceinline__ u32 rank_bits(half x) { return u32(x.bits) << 16; }
__device__ __forceinline__ u32 rank_bits(f32 x) { return __float_as_uint(x); }
__device__ __forceinline__ u64 rank_bits(f64 x) { return __double_as_longlong(x); }
template <class E> struct BitsOf {
    typedef typename Select<sizeof(E) == 2, u16, typename Select<sizeof(E) == 4, u32, u64>::type>::type type;
};

__device__ __forceinline__ i32 smaller(i32 a, i32 b) { return a < b ? a : b; }

// Ranks of either side, as order.cuh has them, and the state of both extremes: of floats.
template <class E, bool = FLOAT<E>> struct StatsRanks {
    typedef typename BitsOf<E>::type Raw;
    typedef typename Ranks<Raw>::R R;
    struct State {
        R least, most;
        u64 least_at, most_at;
        u64 nans[sizeof(R) / 4];  // the first; a second is zero, so that a state has no bytes that nothing writes
        static __device__ __forceinline__ State none() { return {LOWEST<R>, LOWEST<R>, ~0ull, ~0ull, {0}}; }
        __device__ __forceinline__ void count(u64 more) { nans[0] += more; }
        __device__ __forceinline__ u64 counted() const { return nans[0]; }
    };
    R infinite;
    u32 skip;
    __device__ __forceinline__ explicit StatsRanks(FoldOptions c)
        : infinite(R(Bits<Raw>(infinity<Raw>(c)) << Ranks<Raw>::UP)), skip(mask_if<u32>(c.skip())) {}
    __device__ __forceinline__ R of(E x) const { return float_order(rank_bits(x)); }
    // Numbers have ranks between those of the infinities.
    __device__ __forceinline__ bool is_nan(R rank) const { return rank > infinite || rank < ~infinite; }
    // Of 16 bits: both ranks of a word, without the lower halves that they have by themselves; and those halves, which
    // of a negative number are all ones, in place of what stands there.
    __device__ __forceinline__ u32 of_pair(u32 word) const { return word ^ (word >> 15 & 0x00010001u) * 0x7fffu; }
    static __device__ __forceinline__ R completed(i32 rank) {
        const R ones = rank | 0xffff;
        return rank < 0 ? ones : ones ^ 0xffff;
    }
};
// Of integers, of which none is a NaN.
template <class E> struct StatsRanks<E, false> {
    typedef E Raw;
    typedef typename Ranks<E>::R R;
    struct State {
        R least, most;
        u64 least_at, most_at;
        static __device__ __forceinline__ State none() { return {LOWEST<R>, LOWEST<R>, ~0ull, ~0ull}; }
        __device__ __forceinline__ void count(u64) {}
        __device__ __forceinline__ u64 counted() const { return 0; }
    };
    static constexpr u32 skip = 0;
    Bits<E> sign;
    __device__ __forceinline__ explicit StatsRanks(FoldOptions c)
        : sign(mask_if<Bits<E>>(!c.is_signed(), Bits<E>(LOWEST<R>))) {}
    __device__ __forceinline__ R of(E x) const { return R(bits_of(x) << Ranks<E>::UP ^ sign); }
    __device__ __forceinline__ bool is_nan(R) const { return false; }
    __device__ __forceinline__ u32 of_pair(u32 word) const { return word ^ (u32(sign) | u32(sign) >> 16); }
    static __device__ __forceinline__ R completed(i32 rank) { return rank & i32(0xffff0000); }
};

// Both extremes, where each is first, and the number of NaNs.
template <class E> struct StatsExtremes {
    typedef E Element;
    typedef StatsRanks<E> Setup;
    typedef typename Setup::Raw Raw;
    typedef typename Setup::R R;
    typedef typename Setup::State State;
    static __device__ __forceinline__ State identity() { return State::none(); }
    // Elements come in order, so that only more is better. The least rank is that of an integer, too.
    static __device__ __forceinline__ void offer(R& best, u64& at, R rank, u64 index) {
        if (rank > best || (!FLOAT<E> && at == ~0ull)) best = rank, at = index;
    }
    static __device__ __forceinline__ void add(State& s, E x, u64 index, const Setup& setup) {
        const R rank = setup.of(x);
        const bool nan = setup.is_nan(rank);
        s.count(nan);
        if (nan && setup.skip) return;
        offer(s.least, s.least_at, nan ? HIGHEST<R> : ~rank, index);
        offer(s.most, s.most_at, nan ? HIGHEST<R> : rank, index);
    }
    static __device__ __forceinline__ void merge(R& best, u64& at, R other, u64 other_at) {
        if (other > best || (other == best && other_at < at)) best = other, at = other_at;
    }
    static __device__ __forceinline__ void merge(State& a, const State& b) {
        merge(a.least, a.least_at, b.least, b.least_at);
        merge(a.most, a.most_at, b.most, b.most_at);
        a.count(b.counted());
    }
    static __device__ __forceinline__ void renumber(State& s, u64 folds, u64 index) {
        if (s.most_at == ~0ull) return;
        s.least_at = s.least_at * folds + index;
        s.most_at = s.most_at * folds + index;
    }
    static __device__ __forceinline__ u64 left_out(const State& s, FoldOptions c) { return c.skip() ? s.counted() : 0; }
    static __device__ __forceinline__ void finish(const SegmentArguments& a, FoldOptions c, u64 k, const State& s,
                                                  u64 begin, u64 end) {
        typedef StatsColumns<E> Columns;
        if constexpr (FLOAT<E>) results<u64>(Columns::of(a, NANS))[k] = s.counted();
        if (begin == end) {
            fault(a, EMPTY, k);
        } else if (s.most_at == ~0ull) {
            fault(a, ALL_SKIPPED, k);
        } else {
            results<Raw>(Columns::of(a, LEAST))[k] = of_rank<Raw>(s.least, with_fold(c, MIN));
            results<Raw>(Columns::of(a, MOST))[k] = of_rank<Raw>(s.most, with_fold(c, MAX));
            results<u64>(Columns::of(a, ARG_LEAST))[k] = s.least_at - begin;
            results<u64>(Columns::of(a, ARG_MOST))[k] = s.most_at - begin;
        }
    }
};

// Vectors without a NaN have one extreme each way to offer.
template <class E> struct WholeVectors<StatsExtremes<E>> {
    typedef StatsExtremes<E> Fold;
    typedef typename Fold::State State;
    typedef typename Fold::Setup Setup;
    typedef typename Fold::R R;
    static constexpr u32 PER = PER_VECTOR<E>;
    static constexpr bool TAKES_ZEROS = false;

    __device__ __forceinline__ explicit WholeVectors(const Setup&) {}
    __device__ __forceinline__ void begin(const Vector&) {}
    // Elements `from` to `count` of a part, as far as the vector has them; `from` may lie before its first.
    static __device__ __forceinline__ void take(State& state, const Vector& p, u64 index, u32 from, u32 count,
                                                const Setup& setup) {
        if (!FLOAT<E> && from + (PER - 1) >= count + (PER - 1)) return;
        const Elements<E> e(p);
        R least = LOWEST<R>, most = LOWEST<R>;
        // The least rank is no less than that of nothing.
        u32 least_at = !FLOAT<E> && i32(from) < 0 ? 0 - from : 0, most_at = least_at;
#pragma unroll
        for (u32 i = 0; i < PER; i++) {
            const R rank = setup.of(e.element[i]);
            const bool in = from + i < count;
            if (in && ~rank > least) least = ~rank, least_at = i;
            if (in && rank > most) most = rank, most_at = i;
        }
        if (setup.is_nan(most) || setup.is_nan(R(~least))) {
            // Of no element.
            if (most == LOWEST<R> && least == LOWEST<R>) return;
            Vector left = p;
#pragma unroll 1
            for (u32 i = 0; i < PER; i++) {
                const E x = take_first<E>(left);
                if (from + i < count) Fold::add(state, x, index + i, setup);
            }
            return;
        }
        Fold::offer(state.least, state.least_at, least, index + least_at);
        Fold::offer(state.most, state.most_at, most, index + most_at);
    }
    template <int, int N> __device__ __forceinline__ void take_all(State& state, const Vector (&p)[N], u64 index,
                                                                   u32 apart, const Setup& setup) {
        if constexpr (sizeof(E) == 2) {
            if (take_short(state, p, index, apart, setup)) return;
        }
#pragma unroll
        for (u32 k = 0; k < N; k++) take(state, p[k], index + u64(k) * apart, 0, PER, setup);
    }
    // Elements of 16 bits of several vectors: ranks in the upper halves of words that have the elements' numbers below,
    // so that an operation takes the better one and the first of two that are equal. False if there is a NaN.
    template <int N> __device__ __forceinline__ bool take_short(State& state, const Vector (&p)[N], u64 index,
                                                                u32 apart, const Setup& setup) {
        constexpr u32 LAST = N * PER - 1;
        i32 most = LOWEST<i32>, least = HIGHEST<i32>;
#pragma unroll
        for (u32 k = 0; k < 4 * N; k++) {
            const u32 ranks = setup.of_pair(p[k / 4].word[k % 4]);
            const u32 low = ranks << 16, high = ranks & 0xffff0000u;
            most = larger(most, larger(i32(low | (LAST - 2 * k)), i32(high | (LAST - 2 * k - 1))));
            least = smaller(least, smaller(i32(low | 2 * k), i32(high | (2 * k + 1))));
        }
        const R highest = Setup::completed(most), lowest = Setup::completed(least);
        if (setup.is_nan(highest) || setup.is_nan(lowest)) return false;
        const u32 least_at = u32(least) & 0xffff, most_at = LAST - (u32(most) & 0xffff);
        Fold::offer(state.least, state.least_at, ~lowest, index + (u64(least_at / PER) * apart + least_at % PER));
        Fold::offer(state.most, state.most_at, highest, index + (u64(most_at / PER) * apart + most_at % PER));
        return true;
    }
    template <int N> __device__ __forceinline__ void take_some(State& state, const Vector (&p)[N], u64 index, u32 apart,
                                                               u32 from, u32 count, const Setup& setup) {
#pragma unroll
        for (u32 k = 0; k < N; k++) take(state, p[k], index + u64(k) * apart, from + k * apart, count, setup);
    }
    __device__ __forceinline__ void settle(State&, u32) {}
};

// Of integers what part_integer_sums.cuh has, each finished as it is alone.
template <class E> struct IntegerStatsSums : IntegerSums<E> {
    typedef IntegerSums<E> Base;
    typedef typename Base::State State;
    static __device__ __forceinline__ void finish(const SegmentArguments& a, FoldOptions c, u64 k, const State& s,
                                                  u64 begin, u64 end) {
        write(Results(a), c, k, s, end - begin);
    }
    // Compiled once, wherever results come from.
    static __device__ __noinline__ void write(Results to, FoldOptions c, u64 k, State s, u64 n) {
        const SegmentArguments a = to.arguments();
        typedef StatsColumns<E> Columns;
        typedef typename Base::Squares Squares;
        Totals<E>::finish(Columns::of(a, TOTAL), with_fold(c, SUM), k, Base::total(s), 0, n);
        Totals<E>::finish(Columns::of(a, ONE_NORM), with_fold(c, L1), k, Base::norm1(s), 0, n);
        const f64 none = __longlong_as_double(0x7ff8000000000000ll);
        if (n == 0) results<f64>(Columns::of(a, AVERAGE))[k] = none;
        else Totals<E>::finish(Columns::of(a, AVERAGE), with_fold(c, MEAN), k, Base::total(s), 0, n);
        const typename Squares::State squares = s.moments();
        const bool exists = n > a.options >> 32;
#pragma unroll 1
        for (u32 which = 0; which < 3; which++) {
            const SegmentArguments column = Columns::of(a, which == 0 ? TWO_NORM : which == 1 ? VARIANCE : DEVIATION);
            if (which == 0 || exists) Squares::finish(column, with_fold(c, L2_OF_INTEGERS + which), k, squares, 0, n);
            else results<f64>(column)[k] = none;
        }
    }
};

template <class E, bool = FLOAT<E>> struct StatsOf {
    typedef Both<StatsSums<E>, StatsExtremes<E>> type;
};
template <class E> struct StatsOf<E, false> {
    typedef Both<IntegerStatsSums<E>, StatsExtremes<E>> type;
};
template <class E> using Stats = typename StatsOf<E>::type;
