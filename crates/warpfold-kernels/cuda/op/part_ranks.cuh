// Ranks of elements by their bits: integers of one width are one element type, f16 and bf16 another, and which they are
// is part of the choice.
#pragma once
#include "num/order.cuh"
#include "walk/parts.cuh"

// What extremes may be asked for.
enum Side_ { MIN, MAX, LINF, ANY, ALL };

// The bits of elements, and their width in registers.
template <class E> using Bits = typename Select<sizeof(E) == 8, u64, u32>::type;
__device__ __forceinline__ u32 bits_of(u8 x) { return x; }
__device__ __forceinline__ u32 bits_of(u16 x) { return x; }
__device__ __forceinline__ u32 bits_of(u32 x) { return x; }
__device__ __forceinline__ u64 bits_of(u64 x) { return x; }

// Of a float of that width, what its largest exponent has.
template <class E> __device__ __forceinline__ Bits<E> infinity(FoldOptions c) {
    if constexpr (sizeof(E) == 1) return 0;
    else if constexpr (sizeof(E) == 2) return c.is_bfloat() ? 0x7f80 : 0x7c00;
    else if constexpr (sizeof(E) == 4) return 0x7f800000u;
    else return 0x7ff0000000000000ull;
}

// Ranks as order.cuh has them, of any type of a width: of numbers, or, where folds may ask for those, of their
// magnitudes: linf, any and all do.
template <class E, bool MAY_BE_ABSOLUTE = false> struct Ranks {
    typedef Bits<E> B;
    typedef typename Select<sizeof(E) == 8, i64, i32>::type R;
    static constexpr u32 UP = 8 * (sizeof(B) - sizeof(E));  // narrow numbers stand at the top of their word
    // Of negative numbers bits are turned; of magnitudes of integers one is added then.
    B sign, turned, negated, unsigned_, most, flip;
    R of_nan;
    __device__ __forceinline__ explicit Ranks(FoldOptions c)
        : sign(mask_if<B>(!c.is_float() && (!c.is_signed() || is_absolute(c)), LOWEST<R>)),
          turned(mask_if<B>(c.is_float() || (c.is_signed() && is_absolute(c)),
                            c.is_float() ? is_absolute(c) ? LOWEST<R> : HIGHEST<R> : R(-1))),
          negated(mask_if<B>(c.is_signed() && is_absolute(c))), unsigned_(~mask_if<B>(c.is_float(), LOWEST<R>)),
          most(~mask_if<B>(c.is_float(), ~(infinity<E>(c) << UP))), flip(mask_if<B>(of_least(c))),
          of_nan(R(mask_if<B>(true, c.skip() || (is_absolute(c) && c.fold() == ALL) ? LOWEST<R> : HIGHEST<R>))) {}
    static __device__ __forceinline__ bool is_absolute(FoldOptions c) { return MAY_BE_ABSOLUTE && c.fold() >= LINF; }
    static __device__ __forceinline__ bool of_least(FoldOptions c) {
        return c.fold() == MIN || (MAY_BE_ABSOLUTE && c.fold() == ALL);
    }
    // The rank of the magnitude of zero.
    static __device__ __forceinline__ R of_zero(FoldOptions c) {
        return (c.is_float() ? 0 : LOWEST<R>)^(of_least(c) ? R(-1) : R(0));
    }
    __device__ __forceinline__ bool is_nan(E x) const { return (bits_of(x) << UP & unsigned_) > most; }
    __device__ __forceinline__ R of(E x) const {
        const B b = bits_of(x) << UP, negative = B(R(b) >> (8 * sizeof(R) - 1));
        const B size = (b ^ (negative & turned)) - (MAY_BE_ABSOLUTE ? negative & negated : 0);
        const R r = R(size ^ sign ^ flip);
        return is_nan(x) ? of_nan : r;
    }
    // The highest of several.
    template <u32 N> __device__ __forceinline__ R highest(const E (&e)[N]) const {
        R best = of(e[0]);
#pragma unroll
        for (u32 i = 1; i < N; i++) best = larger(best, of(e[i]));
        return best;
    }
};
// Ranks whose highest is found at once, where a type has a way.
template <class E, bool MAY_BE_ABSOLUTE = false> struct VectorRanks : Ranks<E, MAY_BE_ABSOLUTE> {
    using Ranks<E, MAY_BE_ABSOLUTE>::Ranks;
};
// Of 16 bits the largest of the bits are asked, as signed numbers and as unsigned ones, and one rank at the end: those
// of floats above zero have the order of the numbers, and NaNs of either sign are beyond the infinities. Of four
// operations an element half are as many a clock as others; a rank has ten such.
template <bool MAY_BE_ABSOLUTE> struct VectorRanks<u16, MAY_BE_ABSOLUTE> : Ranks<u16, MAY_BE_ABSOLUTE> {
    typedef Ranks<u16, MAY_BE_ABSOLUTE> All;
    using typename All::R;
    // Bits that count and that are turned, and the last bits above zero that are no NaN's.
    u32 kept, reversed, last;
    __device__ __forceinline__ explicit VectorRanks(FoldOptions c) : All(c) {
        const bool is_magnitude = All::is_absolute(c), of_float = c.is_float(), of_least = All::of_least(c),
                   has_nans = of_float && !(is_magnitude && of_least),
                   has_negatives = !is_magnitude && (of_float || c.is_signed());
        kept = 0xffff0000 & ~mask_if<u32>(of_float && is_magnitude, 0x80000000);
        // The least of floats is the largest with all signs turned, of others that with all bits turned.
        reversed = mask_if<u32>(of_least && (!of_float || is_magnitude), 0xffffffff) ^
                   mask_if<u32>(of_least && of_float && !is_magnitude, 0x80000000) ^
                   mask_if<u32>(!of_float && !has_negatives, 0x80000000);
        last = ~mask_if<u32>(has_nans, ~(infinity<u16>(c) << 16 | 0xffff));
        // Magnitudes of signed integers are no bits of theirs.
        if (MAY_BE_ABSOLUTE && !of_float && c.is_signed() && c.fold() == LINF) kept = 0;
    }
    __device__ __forceinline__ u32 turned(u16 x) const { return (u32(x) << 16 & kept) ^ reversed; }

    // The largest bits of several, of which below(i) is added to the i-th.
    struct Largest {
        R as_signed;
        u32 as_unsigned;
    };
    template <u32 N, class Below>
    __device__ __forceinline__ Largest largest(const u16 (&e)[N], const Below& below) const {
        Largest most = {LOWEST<R>, 0};
#pragma unroll
        for (u32 i = 0; i < N; i++) {
            const u32 bits = turned(e[i]) + below(i);
            most.as_signed = larger(most.as_signed, R(bits));
            most.as_unsigned = bits > most.as_unsigned ? bits : most.as_unsigned;
        }
        return most;
    }
    template <u32 N, class Below>
    __device__ __forceinline__ u32 least(const u16 (&e)[N], const Below& below) const {
        u32 least = ~0u;
#pragma unroll
        for (u32 i = 0; i < N; i++) {
            const u32 bits = turned(e[i]) + below(i);
            least = bits < least ? bits : least;
        }
        return least;
    }
    // Where there is no NaN: whether one is not below zero, so that the largest is the highest, and whether all are, so
    // that the least is.
    __device__ __forceinline__ bool is_highest(const Largest& most) const {
        return most.as_unsigned <= (last | 0x80000000) && u32(most.as_signed) <= last;
    }
    __device__ __forceinline__ bool are_negative(const Largest& most) const {
        return most.as_unsigned <= (last | 0x80000000) && most.as_signed < 0;
    }

    template <u32 N> __device__ __forceinline__ R highest(const u16 (&e)[N]) const {
        if (MAY_BE_ABSOLUTE && kept == 0) return largest_magnitude(e);
        const auto nothing = [](u32) { return 0u; };
        const Largest most = largest(e, nothing);
        if constexpr (N < PER_VECTOR<u16>) {
            // Few are often all below zero, so that it is a choice and no branch.
            const R of_negative = R(least(e, nothing) ^ u32(HIGHEST<R>));
            const bool is_plain = is_highest(most);
            if (is_plain || are_negative(most)) return is_plain ? most.as_signed : of_negative;
        } else {
            if (is_highest(most)) return most.as_signed;
            if (are_negative(most)) return R(least(e, nothing) ^ u32(HIGHEST<R>));
        }
        return All::highest(e);
    }
    template <u32 N> __device__ __forceinline__ R largest_magnitude(const u16 (&e)[N]) const {
        u32 largest = 0;
#pragma unroll
        for (u32 i = 0; i < N; i++) {
            const u32 bits = u32(e[i]) << 16, negative = u32(i32(bits) >> 31), size = (bits ^ negative) - negative;
            largest = size > largest ? size : largest;
        }
        return R(largest ^ u32(LOWEST<R>));
    }
    // The same, and where it is first: of equal ones the first has the most, or the least, beside its bits.
    template <u32 N> __device__ __forceinline__ R highest(const u16 (&e)[N], u32& at) const {
        // What ranks have below their bits leaves room for numbers up to this, or down from it.
        const u32 room = reversed & 1 ? 0 : N - 1;
        const Largest most = largest(e, [room](u32 i) { return room - i; });
        if (is_highest(most)) {
            at = (reversed & 0xffff) + room - (u32(most.as_signed) & 0xffff);
            return R(u32(most.as_signed) - room + at);
        }
        if (are_negative(most)) {
            const u32 bits = least(e, [](u32 i) { return i; });
            at = bits & 0xffff;
            return R((bits - at) ^ u32(HIGHEST<R>));
        }
        const R best = All::highest(e);
        at = 0;
#pragma unroll
        for (u32 i = N; i-- > 0;) at = this->of(e[i]) == best ? i : at;
        return best;
    }
};
template <class E> __device__ __forceinline__ E of_rank(typename Ranks<E>::R rank, FoldOptions c) {
    typedef Ranks<E> All;
    typedef typename All::B B;
    typedef typename All::R R;
    // The quiet NaN: an infinity, and the bit below its own.
    if (c.is_float() && rank == HIGHEST<R>) return E(infinity<E>(c) | infinity<E>(c) >> 1);
    B b = B(c.fold() == MIN ? ~rank : rank);
    if (c.is_float()) b ^= B(R(b) >> (8 * sizeof(R) - 1)) & B(HIGHEST<R>);
    else if (!c.is_signed()) b ^= B(LOWEST<R>);
    return E(b >> All::UP);
}
