// What is folded in segments: states as small as they can be, each result finished on the device in its own type.
//
// Floats here are fast: trees in the accumulator type. Integers are exact: 64 bits for elements of up to 32 (2^31
// elements a segment), 128 for wider ones; a result that its type cannot hold is a fault. Integers of one width are one
// element type, f16 and bf16 another: which they are is part of the choice.
#pragma once
#include "num/order.cuh"
#include "op/integer_product.cuh"
#include "op/part_floats.cuh"
#include "op/part_ranks.cuh"
#include "num/wide_integers.cuh"

// Integers of up to 32 bits as i64: the sign is moved up by hand.
template <class E> struct Integers {
    u32 sign;
    __device__ __forceinline__ explicit Integers(FoldOptions c)
        : sign(mask_if<u32>(c.is_signed(), 1u << (8 * sizeof(E) - 1))) {}
    __device__ __forceinline__ i64 of(E x) const { return i64(u64(u32(x) ^ sign)) - i64(u64(sign)); }
    // Of fewer than 32 bits.
    __device__ __forceinline__ i32 narrow(E x) const { return i32(u32(x) ^ sign) - i32(sign); }
};

template <class E> constexpr bool FLOAT = false;
template <> constexpr bool FLOAT<half> = true;
template <> constexpr bool FLOAT<f32> = true;
template <> constexpr bool FLOAT<f64> = true;

// The ratio of an unsigned number of 128 bits to one of 64, rounded once.
__device__ __forceinline__ f64 to_f64(u64 high, u64 low, u64 divisor) {
    if (high == 0 && low < 1ull << 53 && divisor < 1ull << 53) return f64(low) / f64(divisor);
    // Long division, until 63 bits of the quotient are there; what is left only tells ties from what lies beside them.
    u64 quotient = 0, rest = 0;
    int bit = 128;
#pragma unroll 1
    while (bit > -128 && quotient >> 62 == 0) {
        bit--;
        const u64 next = bit >= 64 ? high >> (bit - 64) & 1 : bit >= 0 ? low >> bit & 1 : 0;
        rest = rest << 1 | next;
        const bool fits = rest >= divisor;
        rest -= fits ? divisor : 0;
        quotient = quotient << 1 | fits;
    }
    if (bit > 64) rest |= low | (high & ((1ull << (bit - 64)) - 1));
    else if (bit > 0) rest |= bit == 64 ? low : low & ((1ull << bit) - 1);
    return f64(quotient | (rest != 0)) * __longlong_as_double(i64(1023 + bit) << 52);
}

template <class T> __device__ __forceinline__ T* results(const SegmentArguments& a) { return static_cast<T*>(a.out); }

// What totals may be asked for.
enum Total_ { SUM, MEAN, L1, COUNT };

// Whether bits are those of something nonzero; a NaN is, unless it is skipped. Of any type.
template <class E> struct Nonzero {
    typedef Bits<E> B;
    B unsigned_, most;  // the bits that are no sign, and the last value that counts
    __device__ __forceinline__ explicit Nonzero(FoldOptions c)
        : unsigned_(~mask_if<B>(c.is_float(), B(1) << (8 * sizeof(E) - 1))),
          most(~mask_if<B>(c.is_float() && c.skip(), ~infinity<E>(c))) {}
    __device__ __forceinline__ bool of(E x) const { return (bits_of(x) & unsigned_) - 1 < most; }
};

// Sums and means of integers of up to 32 bits and of their magnitudes; and how many elements of any type are nonzero.
template <class E> struct NarrowTotal {
    typedef E Element;
    struct State {
        i64 sum;
    };
    static constexpr int BLOCKS = 4;
    struct Setup {
        Integers<E> integers;
        Nonzero<E> nonzero;
        u64 magnitude, count;
        __device__ __forceinline__ explicit Setup(FoldOptions c)
            : integers(c), nonzero(c), magnitude(mask_if<u64>(c.fold() == L1)), count(mask_if<u64>(c.fold() == COUNT)) {
        }
    };
    static __device__ __forceinline__ bool spans(FoldOptions c) { return c.fold() == MEAN; }
    static __device__ __forceinline__ State identity() { return {0}; }
    static __device__ __forceinline__ void add(State& s, E x, u64, const Setup& setup) {
        const i64 n = setup.integers.of(x), flip = n >> 63 & setup.magnitude;
        s.sum += ((n ^ flip) - flip) & ~setup.count | u64(setup.nonzero.of(x)) & setup.count;
    }
    // A loop for each question, and a word for a few of what it has room for.
    static constexpr bool TAKES_SOME = true;
    template <u32 N>
    static __device__ __forceinline__ void add_some(State& s, const E (&e)[N], u64, const Setup& setup) {
        const u32 sign = setup.integers.sign;
        typename Select<sizeof(E) == 4, i64, i32>::type all = 0;
        if (setup.count != 0) {
            u32 counted = 0;
#pragma unroll
            for (u32 i = 0; i < N; i++) counted += setup.nonzero.of(e[i]);
            all = counted;
        } else if (setup.magnitude != 0) {
            const i32 may_be_less = sizeof(E) < 4 || sign != 0 ? -1 : 0;
#pragma unroll
            for (u32 i = 0; i < N; i++) {
                const i32 n = sizeof(E) < 4 ? setup.integers.narrow(e[i]) : i32(e[i]), flip = n >> 31 & may_be_less;
                all += u32((n ^ flip) - flip);
            }
        } else {
            // As many steps from the least number of the type.
#pragma unroll
            for (u32 i = 0; i < N; i++) all += u32(e[i]) ^ sign;
            all -= i64(N) * sign;
        }
        s.sum += all;
    }
    static __device__ __forceinline__ void merge(State& a, const State& b) { a.sum += b.sum; }
    static __device__ __forceinline__ void finish(const SegmentArguments& a, FoldOptions c, u64 k, const State& s,
                                                  u64 begin, u64 end) {
        if (c.fold() == SUM || c.fold() == COUNT) {
            results<i64>(a)[k] = s.sum;
        } else if (c.fold() == MEAN && begin == end) {
            fault(a, EMPTY, k);
        } else {
            const f64 size = to_f64(0, s.sum < 0 ? -s.sum : s.sum, c.fold() == MEAN ? end - begin : 1);
            results<f64>(a)[k] = s.sum < 0 ? -size : size;
        }
    }
};

// The same of 64 bits.
struct WideTotal {
    typedef u64 Element;
    typedef WideInteger<2> State;
    static constexpr int BLOCKS = 4;
    struct Setup {
        Nonzero<u64> nonzero;
        u64 sign, magnitude, count;
        __device__ __forceinline__ explicit Setup(FoldOptions c)
            : nonzero(c), sign(mask_if<u64>(c.is_signed())), magnitude(mask_if<u64>(c.fold() == L1)),
              count(mask_if<u64>(c.fold() == COUNT)) {}
    };
    static __device__ __forceinline__ bool spans(FoldOptions c) { return c.fold() == MEAN; }
    static __device__ __forceinline__ State identity() { return State::zero(); }
    static __device__ __forceinline__ void add(State& s, u64 x, u64, const Setup& setup) {
        const u64 negative = u64(i64(x) >> 63) & setup.sign & ~setup.count, flip = negative & setup.magnitude;
        const u64 low = ((x ^ flip) - flip) & ~setup.count | u64(setup.nonzero.of(x)) & setup.count,
                  sum = s.limb[0] + low;
        s.limb[1] += (negative & ~flip) + (sum < low);
        s.limb[0] = sum;
    }
    // A loop for each question.
    static constexpr bool TAKES_VECTORS = true;
    template <u32 N>
    static __device__ __forceinline__ void add_vector(State& s, const u64 (&e)[N], u64, const Setup& setup) {
        u64 low = 0, high = 0;
        if (setup.count != 0) {
            u32 counted = 0;
#pragma unroll
            for (u32 i = 0; i < N; i++) counted += setup.nonzero.of(e[i]);
            low = counted;
        } else {
#pragma unroll
            for (u32 i = 0; i < N; i++) {
                const u64 negative = u64(i64(e[i]) >> 63) & setup.sign, flip = negative & setup.magnitude,
                          size = (e[i] ^ flip) - flip;
                low += size;
                high += (negative & ~flip) + (low < size);
            }
        }
        s.add(State{{low, high}});
    }
    static __device__ __forceinline__ void merge(State& a, const State& b) { a.add(b); }
    static __device__ __forceinline__ void finish(const SegmentArguments& a, FoldOptions c, u64 k, State s, u64 begin,
                                                  u64 end) {
        const bool is_signed = c.is_signed() && c.fold() != L1, negative = is_signed && i64(s.limb[1]) < 0;
        if (c.fold() == SUM || c.fold() == COUNT) {
            if (s.limb[1] != (is_signed ? u64(i64(s.limb[0]) >> 63) : 0)) fault(a, TOO_LARGE, k);
            results<u64>(a)[k] = s.limb[0];
        } else if (c.fold() == MEAN && begin == end) {
            fault(a, EMPTY, k);
        } else {
            if (negative) {
                s.limb[0] = 0 - s.limb[0];
                s.limb[1] = ~s.limb[1] + (s.limb[0] == 0);
            }
            const f64 size = to_f64(s.limb[1], s.limb[0], c.fold() == MEAN ? end - begin : 1);
            results<f64>(a)[k] = negative ? -size : size;
        }
    }
};

// Fast sums and means of floats and of their magnitudes.
template <class E> struct FloatTotal {
    typedef E Element;
    typedef Wide<E> W;
    struct State {
        W sum;
    };
    static constexpr int BLOCKS = 4;
    struct Setup : Floats<E> {
        __device__ __forceinline__ explicit Setup(FoldOptions c) : Floats<E>(c, c.fold() == L1) {}
    };
    static __device__ __forceinline__ bool spans(FoldOptions c) { return c.fold() == MEAN; }
    static __device__ __forceinline__ State identity() { return {0}; }
    template <class Finish> static __device__ __forceinline__ void add(State& s, E x, u64, const Finish& requested) {
        s.sum += requested.of(x);
    }
    static __device__ __forceinline__ void merge(State& a, const State& b) { a.sum += b.sum; }
    static __device__ __forceinline__ void finish(const SegmentArguments& a, FoldOptions c, u64 k, const State& s,
                                                  u64 begin, u64 end) {
        const bool mean = c.fold() == MEAN;
        if (mean && begin == end) fault(a, EMPTY, k);
        else write_result<E>(a, c, k, canonical(nearest_result<E>(mean ? s.sum / W(end - begin) : s.sum, c)));
    }
};

// The sum of squares, or its root, in f64, so that only squares of f64 itself can overflow.
template <class E> struct Norm {
    typedef E Element;
    typedef Wide<E> W;
    struct State {
        f64 sum;
    };
    static constexpr int BLOCKS = 4;
    static __device__ __forceinline__ bool spans(FoldOptions) { return false; }
    static __device__ __forceinline__ State identity() { return {0}; }
    struct Setup : Floats<E> {
        __device__ __forceinline__ explicit Setup(FoldOptions c) : Floats<E>(c, false) {}
    };
    template <class Finish> static __device__ __forceinline__ void add(State& s, E x, u64, const Finish& requested) {
        const f64 w = requested.of(x);
        s.sum = fma(w, w, s.sum);
    }
    static __device__ __forceinline__ void merge(State& a, const State& b) { a.sum += b.sum; }
    static __device__ __forceinline__ void finish(const SegmentArguments& a, FoldOptions c, u64 k, const State& s, u64,
                                                  u64) {
        write_result<E>(a, c, k, canonical(nearest_result<E>(c.fold() == ROOT ? sqrt(s.sum) : s.sum, c)));
    }
};

// Extremes. Of no elements, or of NaNs alone when they are skipped, there is none.
template <class E> struct Extreme {
    typedef E Element;
    typedef typename Ranks<E>::R R;
    typedef VectorRanks<E, true> Setup;
    struct State {
        R best;
    };
    static constexpr int BLOCKS = 4;
    static __device__ __forceinline__ bool spans(FoldOptions) { return false; }
    static __device__ __forceinline__ State identity() { return {LOWEST<R>}; }
    static __device__ __forceinline__ void add(State& s, E x, u64, const Setup& ranks) {
        s.best = larger(s.best, ranks.of(x));
    }
    static constexpr bool TAKES_SOME = sizeof(E) == 2;
    template <u32 N>
    static __device__ __forceinline__ void add_some(State& s, const E (&e)[N], u64, const Setup& ranks) {
        s.best = larger(s.best, ranks.highest(e));
    }
    static __device__ __forceinline__ void merge(State& a, const State& b) { a.best = larger(a.best, b.best); }
    static __device__ __forceinline__ void finish(const SegmentArguments& a, FoldOptions c, u64 k, const State& s,
                                                  u64 begin, u64 end) {
        if (c.fold() == ANY) results<bool>(a)[k] = s.best > Setup::of_zero(c);
        else if (c.fold() == ALL) results<bool>(a)[k] = s.best != Setup::of_zero(c);
        else if (c.fold() == LINF) largest(a, c, k, s.best);
        else if (begin == end) fault(a, EMPTY, k);
        else if (c.is_float() && s.best == LOWEST<R>) fault(a, ALL_SKIPPED, k);
        else results<E>(a)[k] = of_rank<E>(s.best, c);
    }
    // A magnitude in the type of its result; of nothing it is 0.
    static __device__ __forceinline__ void largest(const SegmentArguments& a, FoldOptions c, u64 k, R best) {
        typedef typename Setup::B B;
        if (!c.is_float()) {
            results<u64>(a)[k] = (B(best) ^ B(LOWEST<R>)) >> Setup::UP;
            return;
        }
        const E magnitude = of_rank<E>(best == LOWEST<R> ? 0 : best, c);
        if (sizeof(E) == 2 && c.is_narrow()) results<E>(a)[k] = magnitude;
        else if constexpr (sizeof(E) == 2) results<u32>(a)[k] = widened(magnitude, c);
        else if constexpr (sizeof(E) > 2) results<E>(a)[k] = magnitude;
    }
    // The bits of an f32 of those of a half that is not negative.
    static __device__ __forceinline__ u32 widened(E half, FoldOptions c) {
        const u32 bits = bits_of(half);
        return __float_as_uint(canonical(c.is_bfloat() ? widen(bf16{u16(bits)}) : widen(f16{u16(bits)})));
    }
};

// Where an extreme is first, counted from the segment's start.
template <class E> struct ArgExtreme {
    typedef E Element;
    typedef typename Ranks<E>::R R;
    struct alignas(16) State {
        i64 best;
        u64 at;
    };
    static constexpr int BLOCKS = 3;
    struct Setup : VectorRanks<E> {
        u32 skip;
        __device__ __forceinline__ explicit Setup(FoldOptions c) : VectorRanks<E>(c), skip(mask_if<u32>(c.skip())) {}
    };
    static __device__ __forceinline__ bool spans(FoldOptions) { return true; }
    static __device__ __forceinline__ State identity() { return {LOWEST<i64>, ~0ull}; }
    static __device__ __forceinline__ void add(State& s, E x, u64 index, const Setup& setup) {
        // Elements come in order, so that only more is better.
        const i64 r = setup.of(x);
        if ((r > s.best || s.at == ~0ull) && !(setup.skip && setup.is_nan(x))) s = {r, index};
    }
    // The best of a few, as numbers of 32 bits where ranks are such, and one question of the state.
    static constexpr bool TAKES_SOME = true;
    template <u32 N>
    static __device__ __forceinline__ void add_some(State& s, const E (&e)[N], u64 index, const Setup& setup) {
        if constexpr (sizeof(E) == 2 && N >= PER_VECTOR<E>) {
            u32 at;
            const R best = setup.highest(e, at);
            if (is_better(s, best, setup)) s = {best, index + at};
        } else {
            R best = setup.of(e[0]);
            u32 at = 0;
#pragma unroll
            for (u32 i = 1; i < N; i++) {
                const R r = setup.of(e[i]);
                if (r > best) best = r, at = i;
            }
            if (is_better(s, best, setup)) s = {best, index + at};
        }
    }
    // The rank of a NaN that is skipped no other float has.
    static __device__ __forceinline__ bool is_better(const State& s, R best, const Setup& setup) {
        return (best > s.best || s.at == ~0ull) && !(setup.skip && best == LOWEST<R>);
    }
    static __device__ __forceinline__ void merge(State& a, const State& b) {
        if (b.best > a.best || (b.best == a.best && b.at < a.at)) a = b;
    }
    static __device__ __forceinline__ void renumber(State& s, u64 folds, u64 index) {
        if (s.at != ~0ull) s.at = s.at * folds + index;
    }
    static __device__ __forceinline__ void finish(const SegmentArguments& a, FoldOptions, u64 k, const State& s,
                                                  u64 begin, u64 end) {
        if (s.at == ~0ull) fault(a, begin == end ? EMPTY : ALL_SKIPPED, k);
        else results<u64>(a)[k] = s.at - begin;
    }
};

template <class E> struct IntegerProd {
    typedef E Element;
    typedef IntegerProduct<u64> Product;
    typedef typename Product::State State;
    static constexpr int BLOCKS = 4;
    static __device__ __forceinline__ bool spans(FoldOptions) { return false; }
    static __device__ __forceinline__ State identity() { return Product::identity(); }
    struct Setup {
        u64 sign;
        __device__ __forceinline__ explicit Setup(FoldOptions c) : sign(mask_if<u64>(c.is_signed())) {}
    };
    static __device__ __forceinline__ void add(State& s, E x, u64, const Setup& setup) {
        constexpr int UP = 64 - 8 * sizeof(E);
        const i64 extended = i64(u64(x) << UP) >> UP;
        const u64 negative = u64(extended >> 63) & setup.sign;
        Product::multiply(s, negative ? 0 - u64(extended) : u64(x));
        s.flags ^= negative & NEGATIVE;
    }
    static __device__ __forceinline__ void merge(State& a, const State& b) { Product::merge(a, b); }
    static __device__ __forceinline__ void finish(const SegmentArguments& a, FoldOptions c, u64 k, const State& s, u64,
                                                  u64) {
        const bool negative = s.flags & NEGATIVE, zero = s.flags & ZERO;
        const u64 most = c.is_signed() ? (1ull << 63) - !negative : ~0ull;
        if (!zero && ((s.flags & BEYOND) || s.low > most)) fault(a, TOO_LARGE, k);
        results<u64>(a)[k] = zero ? 0 : negative ? 0 - s.low : s.low;
    }
};

template <class E> struct TotalOf {
    typedef typename Select<FLOAT<E>, FloatTotal<E>, NarrowTotal<E>>::type type;
};
template <> struct TotalOf<u64> {
    typedef WideTotal type;
};
template <class E> using Totals = typename TotalOf<E>::type;
template <class E> using Products = IntegerProd<E>;
