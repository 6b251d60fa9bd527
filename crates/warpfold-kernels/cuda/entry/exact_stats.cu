// exact_stats: what one pass tells of real floats: exact sum, sum of magnitudes and of squares, both extremes with
// their places, NaNs.
//
// record: see exact_array.cuh; the three integers, then [the index of the first NaN, the extremes of numbers: see
// extreme.cuh]. value: none.
//
// As exact_moments, but that sums are kept apart by sign, whose sum and difference are the two that are asked for.
#include "op/exact_squares.cuh"
#include "op/extreme_pair.cuh"

__device__ __forceinline__ bool below_zero(f32 x) { return i32(__float_as_uint(x)) < 0; }
__device__ __forceinline__ bool below_zero(f64 x) { return __double2hiint(x) < 0; }

// What is above zero, and what is below: both exact, as a sum and that of the magnitudes differ by an even number of
// units.
template <class Limbs> __device__ __forceinline__ void drain_halves(f64 sum, f64 norm1, Limbs (&limbs)[2]) {
    limbs[0].add_sum(__dmul_rn(__dadd_rn(norm1, sum), 0.5));
    limbs[1].add_sum(__dmul_rn(__dsub_rn(sum, norm1), 0.5));
}

// The windows of sums and squares, with one more for magnitudes.
template <class Windows> struct Signed;

template <class Sums, class Squares, int LANES> struct Signed<TwoWindows<Sums, Squares, LANES>>
    : TwoWindows<Sums, Squares, LANES> {
    typedef TwoWindows<Sums, Squares, LANES> Base;
    f64 magnitude[LANES] = {};

    __device__ __forceinline__ void add(int l, f64 x) {
        this->sums.add(l, x);
        magnitude[l] = __dadd_rn(magnitude[l], fabs(x));
        this->squares.add_product(l, x, x);
    }
    template <class SumLimbs, class SquareLimbs> __device__ __forceinline__ void drain(SumLimbs (&limbs)[2],
                                                                                       SquareLimbs& square_limbs) {
        f64 sum = 0, norm1 = 0;
#pragma unroll
        for (int l = 0; l < LANES; l++) {
            sum = __dadd_rn(sum, this->sums.lane[l]);
            norm1 = __dadd_rn(norm1, magnitude[l]);
            this->sums.lane[l] = magnitude[l] = 0;
        }
        drain_halves(sum, norm1, limbs);
        this->squares.template drain<1>(0, square_limbs);
    }
};

// The magnitudes of the first piece and of the rest, which has 45 bits: 256 of them are added without rounding.
template <> struct Signed<SplitWindow<1>> : SplitWindow<1> {
    static constexpr u32 ADDITIONS = 256;
    f64 magnitude[2] = {};

    __device__ __forceinline__ void add(int l, f64 x) {
        f64 a, rest;
        SplitWindow<1>::add(l, x, a, rest);
        magnitude[0] = __dadd_rn(magnitude[0], fabs(a));
        const i32 signed_rest = __double2hiint(rest) ^ (__double2hiint(x) & i32(0x80000000));
        magnitude[1] = __dadd_rn(magnitude[1], __hiloint2double(signed_rest, __double2loint(rest)));
    }
    template <class SumLimbs, class SquareLimbs> __device__ __forceinline__ void drain(SumLimbs (&limbs)[2],
                                                                                       SquareLimbs& square_limbs) {
#pragma unroll 1
        for (int rest = 0; rest < 2; rest++) {
            const f64 sum =
                rest ? __dadd_rn(__dsub_rn(second[0], bias(SECOND)), third[0]) : __dsub_rn(first[0], bias(FIRST));
            drain_halves(sum, magnitude[0], limbs);
            magnitude[0] = magnitude[1];
        }
        magnitude[0] = magnitude[1] = 0;
        drain_squares(square_limbs);
        clear();
    }
};

// Two sets of limbs: of numbers from zero on, and of those below.
template <class E> struct SignedSums : SumsAndSquares<E, 2, Signed<typename WindowsOf<E>::type>> {
    typedef SumsAndSquares<E, 2, Signed<typename WindowsOf<E>::type>> Base;
    typedef typename Base::Wide Wide;
    static constexpr int SUM_WORDS = Base::Sum::WORDS, MOST = 512;
    static constexpr bool PLAIN = Base::SHARED;
    using Base::sum_limbs;

    __device__ __forceinline__ explicit SignedSums(u64* storage) : Base(storage) {}
    // Limbs are chosen by their address, so that there is one piece of code for both.
    __device__ __forceinline__ typename Base::SumLimbs of_sign(Wide x) const {
        typename Base::SumLimbs limbs = sum_limbs[0];
        limbs.skip(below_zero(x) ? Base::SumLimbs::STORAGE : 0);
        return limbs;
    }
    __device__ __forceinline__ void add_to_limbs(int, Number<Wide> term) {
        typename Base::SumLimbs limbs = of_sign(term.x);
        limbs.add(term.x);
        sum_limbs[0].specials = limbs.specials;
        add_product(this->square_limbs, term.x, term.x);
    }
    __device__ __forceinline__ void add_plain_to_limbs(int, Number<Wide> term) {
        add_plain_both(of_sign(term.x), this->square_limbs, term.x);
    }
    // Of the sum: all that was met; of the magnitudes: infinities have one sign.
    __device__ __forceinline__ u32 specials(int k) const {
        if (k == 2) return Base::specials(2);
        const u32 all = sum_limbs[0].specials | sum_limbs[1].specials;
        return k == 0 ? all : (all & FLAG_NAN) | (all & (FLAG_PLUS | FLAG_MINUS) ? FLAG_PLUS : 0);
    }
    static __device__ __forceinline__ void finish(u64* word, const SpecialValues& flags, u32* scratch,
                                                  const Arguments& a) {
        for (int k = threadIdx.x; k < SUM_WORDS; k += 32) {
            const u64 above = word[k], below = word[SUM_WORDS + k];
            word[k] = above + below;
            word[SUM_WORDS + k] = above - below;
        }
        __syncwarp();
        Base::finish(word, flags, scratch, a);
    }
};

// The first NaN and the extremes of numbers.
template <class E> struct NanAndExtremes {
    struct State {
        u64 nan_at;
        typename ExtremePair<E, Nan::Ignore>::State extremes;
    };
    static __device__ __forceinline__ State identity() { return {~0ull, ExtremePair<E, Nan::Ignore>::identity()}; }
    static __device__ __forceinline__ void merge(State& a, const State& b) {
        a.nan_at = b.nan_at < a.nan_at ? b.nan_at : a.nan_at;
        ExtremePair<E, Nan::Ignore>::merge(a.extremes, b.extremes);
    }
};

template <class E> constexpr int STATS_IN_FLIGHT = sizeof(E) >= 4 ? 5 : 4;

template <class E> struct ExactStatsFold : ExactFold<Components<E>, SignedSums<E>, STATS_IN_FLIGHT<E>> {
    typedef ExactFold<Components<E>, SignedSums<E>, STATS_IN_FLIGHT<E>> Base;
    typedef NanAndExtremes<E> Beside;
    static constexpr bool TWO_PHASE = true;
    using Base::VECTORS;
    ExtremePair<E, Nan::Ignore> extremes;
    u64 nan_at = ~0ull;

    __device__ __forceinline__ ExactStatsFold(u64* storage, const Arguments& a)
        : Base(storage, a), extremes(static_cast<const E*>(a.x), a.n) {}
    __device__ __forceinline__ bool inside(const Vector& p, u64 index) {
        if (!Base::inside(p, index)) return false;
        extremes.vector(p, index);
        return true;
    }
    __device__ __forceinline__ u32 sees(const Vector (&p)[VECTORS]) const { return extremes.sees(p); }
    __device__ __forceinline__ void look(Vector (&p)[VECTORS], u64 index, u64 step, u32 seen) {
        extremes.look(p, index, step, seen);
    }
    __device__ __forceinline__ void look_plain(Vector (&p)[VECTORS], u64 index, u64 step, bool plain) {
        if constexpr (Base::PLAIN) {
            const u32 seen = !plain ? 0 : sizeof(E) == 8 ? extremes.sees_finite(p) : extremes.sees(p);
            if (__any_sync(0xffffffffu, seen != 0)) extremes.look(p, index, step, seen);
        }
    }
    __device__ __forceinline__ void outside(const Vector& p, u64 index) {
        // One by one, so that the code of an element stands once: what there is to do is too much to repeat it.
        Vector left = p;
#pragma unroll 1
        for (int k = 0; k < PER_VECTOR<E>; k++) {
            const E x = take_first<E>(left);
            const u32 field = this->field({widen(x)});
            this->top = field > this->top ? field : this->top;
            one(index + k, x);
        }
    }
    __device__ __forceinline__ void one(u64 index, E x) {
        if (is_nan(x) && index < nan_at) nan_at = index;
        extremes.one(x, index);
        Base::one(index, x);
    }
    __device__ __forceinline__ typename Beside::State beside() const { return {nan_at, extremes.state()}; }
    static __device__ __forceinline__ void finish_beside(const typename Beside::State& s, const Arguments& a) {
        if (!a.record) return;
        u64* to = a.record + 2 + Base::WORDS / 2;
        to[0] = s.nan_at;
        ExtremePair<E, Nan::Ignore>::write(s.extremes, a, to + 1);
    }
};

template <class E, Nan> using ExactStats = ExactStatsFold<E>;

#include "entry/entries.cuh"
