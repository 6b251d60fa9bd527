// exact_stats: what one pass tells of real floats: exact sum, sum of magnitudes and of squares, both extremes with their places, NaNs.
//
// record: see exact_fold.cuh; the three integers, then [the index of the first NaN, the extremes of numbers: see extreme.cuh]. value: none.
//
// As exact_moments, but that sums are kept apart by sign, whose sum and difference are the two that are asked for.
#include "exact_squares.cuh"
#include "extreme_pair.cuh"

__device__ __forceinline__ bool below_zero(f32 x) { return i32(__float_as_uint(x)) < 0; }
__device__ __forceinline__ bool below_zero(f64 x) { return __double2hiint(x) < 0; }

// What is above zero, and what is below: both exact, as a sum and that of the magnitudes differ by an even number of units.
template <class Digits> __device__ __forceinline__ void drain_halves(f64 sum, f64 magnitudes, Digits (&digits)[2]) {
    digits[0].add_sum(__dmul_rn(__dadd_rn(magnitudes, sum), 0.5));
    digits[1].add_sum(__dmul_rn(__dsub_rn(sum, magnitudes), 0.5));
}
// Windows of plain lanes.
template <int LANES, class Window, class Digits> __device__ __forceinline__ void drain_both(Window& sums, Window& magnitudes, Digits (&digits)[2]) {
    f64 sum = 0, magnitude = 0;
#pragma unroll
    for (int l = 0; l < LANES; l++) {
        sum = __dadd_rn(sum, sums.lane[l]);
        magnitude = __dadd_rn(magnitude, magnitudes.lane[l]);
        sums.lane[l] = magnitudes.lane[l] = 0;
    }
    drain_halves(sum, magnitude, digits);
}
template <int, int LANES, int M, int LOG, class Digits>
__device__ __forceinline__ void drain_both(BiasedWindow<LANES, M, 1, LOG>& sums, BiasedWindow<LANES, M, 1, LOG>& magnitudes, Digits (&digits)[2]) {
    const f64 bias = sums.bias(0);
#pragma unroll 1
    for (int rest = 0; rest < 2; rest++) {
#pragma unroll
        for (int l = 0; l < LANES; l++) {
            const f64 sum = rest ? sums.rest[l] : __dsub_rn(sums.level[0][l], bias);
            drain_halves(sum, rest ? magnitudes.rest[l] : __dsub_rn(magnitudes.level[0][l], bias), digits);
        }
    }
    sums.clear();
    magnitudes.clear();
}

// Two sets of digits: of numbers from zero on, and of those below.
template <class E> struct SignedSums : SumsAndSquares<E, 2> {
    typedef SumsAndSquares<E, 2> Base;
    typedef typename Base::Wide Wide;
    static constexpr int SUM_WORDS = Base::Sum::WORDS, MOST = 512;
    static constexpr bool PLAIN = false;
    using Base::sums, Base::sum_digits;
    typename Base::SumWindow magnitudes;

    __device__ __forceinline__ explicit SignedSums(u64* storage) : Base(storage) { magnitudes = sums; }
    __device__ __forceinline__ void add(int lane, Number<Wide> term) {
        Base::add(lane, term);
        magnitudes.add(lane, fabs(term.x));
    }
    // Digits are chosen by their address, so that there is one piece of code for both.
    __device__ __forceinline__ void add_to_digits(int, Number<Wide> term) {
        typename Base::SumDigits digits = sum_digits[0];
        digits.digit += below_zero(term.x) ? Base::SUM_COUNT * Base::THREADS : 0;
        digits.add(term.x);
        sum_digits[0].specials = digits.specials;
        add_product(this->square_digits, term.x, term.x);
    }
    __device__ __forceinline__ void move(u32 field) {
        Base::move(field);
        magnitudes = sums;
    }
    __device__ __forceinline__ void drain() {
        drain_both<Base::LANES>(sums, magnitudes, sum_digits);
        this->square_digits.waiting += 2 * Base::LANES;
        this->squares.template drain<1>(0, this->square_digits);
    }
    // Of the sum: all that was met; of the magnitudes: infinities have one sign.
    __device__ __forceinline__ u32 specials(int k) const {
        if (k == 2) return Base::specials(2);
        const u32 all = sum_digits[0].specials | sum_digits[1].specials;
        return k == 0 ? all : (all & MET_NAN) | (all & (MET_PLUS | MET_MINUS) ? MET_PLUS : 0);
    }
    static __device__ __forceinline__ void finish(u64* word, const Seen& seen, u32* scratch, const Arguments& a) {
        for (int k = threadIdx.x; k < SUM_WORDS; k += 32) {
            const u64 above = word[k], below = word[SUM_WORDS + k];
            word[k] = above + below;
            word[SUM_WORDS + k] = above - below;
        }
        __syncwarp();
        Base::finish(word, seen, scratch, a);
    }
};

// The first NaN and the extremes of numbers.
template <class E> struct Places {
    struct State { u64 nan_at; typename ExtremePair<E, Nan::Ignore>::State extremes; };
    static __device__ __forceinline__ State identity() { return {~0ull, ExtremePair<E, Nan::Ignore>::identity()}; }
    static __device__ __forceinline__ void merge(State& a, const State& b) {
        a.nan_at = b.nan_at < a.nan_at ? b.nan_at : a.nan_at;
        ExtremePair<E, Nan::Ignore>::merge(a.extremes, b.extremes);
    }
};

template <class E> struct ExactStatsFold : ExactFold<Components<E>, SignedSums<E>, sizeof(E) == 8 ? 4 : 6> {
    typedef ExactFold<Components<E>, SignedSums<E>, sizeof(E) == 8 ? 4 : 6> Base;
    typedef Places<E> Beside;
    ExtremePair<E, Nan::Ignore> extremes;
    u64 nan_at = ~0ull;

    __device__ __forceinline__ ExactStatsFold(u64* storage, const Arguments& a) : Base(storage, a), extremes(static_cast<const E*>(a.x), a.n) {}
    __device__ __forceinline__ bool inside(const Pack& p, u64 index) {
        if (!Base::inside(p, index)) return false;
        extremes.numbers(Kept<Components<E>>(p), index);
        return true;
    }
    __device__ __forceinline__ void outside(const Pack& p, u64 index) {
        // One by one, so that the code of an element stands once: what there is to do is too much to repeat it.
        Pack left = p;
#pragma unroll 1
        for (int k = 0; k < PER_PACK<E>; k++) {
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

#include "entries.cuh"
