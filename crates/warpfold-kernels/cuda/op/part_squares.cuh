// Variances, deviations, l2 and sums of squares of integers in segments: sums and sums of squares, exact, and one
// rounding, but of what is an integer.
//
// Squares of 64 bits are 128, sums of them 192; of less 128 hold any array's. The choice's options have ddof in their
// upper half.
#pragma once
#include "op/part_folds.cuh"
#include "num/wide_ratio.cuh"

enum Spread_ { L2_OF_INTEGERS, VAR, STD, SUM_OF_SQUARES };

template <class E> struct SquareTotal {
    typedef E Element;
    static constexpr bool WIDE = sizeof(E) == 8;
    struct alignas(WIDE ? 8 : 16) State {
        WideInteger<2> sum;
        WideInteger<WIDE ? 3 : 2> squares;
    };
    static constexpr int BLOCKS = 3;
    struct Setup {
        u64 sign;
        __device__ __forceinline__ explicit Setup(FoldOptions c) : sign(mask_if<u64>(c.is_signed())) {}
    };
    static __device__ __forceinline__ bool spreads(FoldOptions c) { return c.fold() == VAR || c.fold() == STD; }
    static __device__ __forceinline__ bool spans(FoldOptions c) { return spreads(c); }
    static __device__ __forceinline__ State identity() {
        return {WideInteger<2>::zero(), WideInteger < WIDE ? 3 : 2 > ::zero()};
    }
    static __device__ __forceinline__ void add(State& s, E x, u64, const Setup& setup) {
        constexpr int UP = 64 - 8 * sizeof(E);
        const i64 extended = i64(u64(x) << UP) >> UP;
        const u64 negative = u64(extended >> 63) & setup.sign, low = negative ? u64(extended) : u64(x),
                  magnitude = (low ^ negative) - negative;
        s.sum.add(low, negative, negative);
        if constexpr (WIDE) s.squares.add_product(magnitude, magnitude);
        else s.squares.add(magnitude * magnitude);
    }
    static __device__ __forceinline__ void merge(State& a, const State& b) {
        a.sum.add(b.sum);
        a.squares.add(b.squares);
    }
    static __device__ __forceinline__ void finish(const SegmentArguments& a, FoldOptions c, u64 k, const State& s,
                                                  u64 begin, u64 end) {
        const bool spread = spreads(c);
        const u64 n = end - begin, ddof = a.options >> 32;
        u64 third = 0;
        if constexpr (WIDE) third = s.squares.limb[2];
        if (spread && n <= ddof) {
            fault(a, n == 0 ? EMPTY : TOO_FEW, k);
            // How many there are is left where the result would be.
            results<u64>(a)[k] = n;
        } else if (c.fold() == SUM_OF_SQUARES) {
            const u64 low = s.squares.limb[0];
            if (s.squares.limb[1] != 0 || third != 0 || (c.is_signed() && i64(low) < 0)) fault(a, TOO_LARGE, k);
            results<u64>(a)[k] = low;
        } else {
            results<f64>(a)[k] = rounded(s.sum.limb[0], s.sum.limb[1], s.squares.limb[0], s.squares.limb[1], third,
                                         spread ? n : 0, ddof, c.is_signed(), c.fold() != VAR);
        }
    }
    // Of squares alone where n is 0; else n * squares - sum * sum over n * (n - ddof). Compiled once, wherever results
    // come from.
    static __device__ __noinline__ f64 rounded(u64 low, u64 high, u64 first, u64 second, u64 third, u64 n, u64 ddof,
                                               bool is_signed, bool root) {
        Wide320 numerator = Wide320::of(first, second, third), denominator = Wide320::of(1);
        if (n > 0) {
            const u64 negative = is_signed ? u64(i64(high) >> 63) : 0, size = (low ^ negative) - negative,
                      upper = (high ^ negative) + (negative && size == 0);
            numerator = numerator.times(n).minus(Wide320::product(size, upper, size, upper));
            denominator = Wide320::of(n).times(n - ddof);
        }
        return nearest_ratio(numerator, denominator.limb[0], denominator.limb[1], root, 0);
    }
};
