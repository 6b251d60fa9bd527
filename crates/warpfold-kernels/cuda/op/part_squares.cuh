// Variances, deviations, l2 and sums of squares of integers in parts: sums and sums of squares, exact, and one
// rounding, but of what is an integer. The choice's options have ddof in their upper half.
//
// States are as narrow as 2^32 elements of up to 32 bits let them be (the plan takes no more of a part): sums in 64
// bits, squares in 64 or in two halves that carry nothing. Of 64 bits squares are 128, and sums of them 192.
//
// Floor: on an H100 18 instructions of integers an element of 32 bits and 9 of 16 pass while it is read. Of 32 bits
// there are 11 (4 for the magnitude, 2 for the sum, 1 for the square and 4 for its halves), of 16 bits 5. A result of a
// row of four, which is 24 bytes, has 220 of any kind.
#pragma once
#include "op/part_folds.cuh"
#include "num/wide_ratio.cuh"

enum Spread_ { L2_OF_INTEGERS, VAR, STD, SUM_OF_SQUARES };

// Of up to 16 bits: a square has 32, so that 2^32 of them fit 64.
struct alignas(16) NarrowSquares {
    i64 sum;
    u64 squares;
    struct Setup {
        u32 sign;
        __device__ __forceinline__ explicit Setup(FoldOptions c, u32 bits)
            : sign(mask_if<u32>(c.is_signed(), 1u << (bits - 1))) {}
        __device__ __forceinline__ i32 of(u32 x) const { return i32(x ^ sign) - i32(sign); }
    };
    static __device__ __forceinline__ NarrowSquares zero() { return {0, 0}; }
    __device__ __forceinline__ void add(u32 x, const Setup& setup) {
        const i32 n = setup.of(x);
        sum += n;
        squares += u32(n) * u32(n);
    }
    // Of several the sum has 32 bits.
    template <class E, u32 N>
    __device__ __forceinline__ void add_some(const E (&e)[N], const Setup& setup) {
        i32 all = 0;
#pragma unroll
        for (u32 i = 0; i < N; i++) {
            const i32 n = setup.of(e[i]);
            all += n;
            squares += u32(n) * u32(n);
        }
        sum += all;
    }
    __device__ __forceinline__ void add(const NarrowSquares& other) {
        sum += other.sum;
        squares += other.squares;
    }
    __device__ __forceinline__ WideInteger<2> total() const { return {{u64(sum), u64(sum >> 63)}}; }
    __device__ __forceinline__ WideInteger<3> total_of_squares() const { return {{squares, 0, 0}}; }
};

// Of 32 bits: the halves of squares, of which no carry is on the way.
struct HalfSquares {
    i64 sum;
    u64 low, high;
    struct Setup {
        u32 sign;
        __device__ __forceinline__ explicit Setup(FoldOptions c, u32) : sign(mask_if<u32>(c.is_signed())) {}
    };
    static __device__ __forceinline__ HalfSquares zero() { return {0, 0, 0}; }
    __device__ __forceinline__ void add(u32 x, const Setup& setup) {
        const u32 negative = u32(i32(x) >> 31) & setup.sign, size = (x ^ negative) - negative;
        sum += i64(u64(negative) << 32 | x);
        const u64 square = u64(size) * size;
        low += u32(square);
        high += square >> 32;
    }
    template <class E, u32 N>
    __device__ __forceinline__ void add_some(const E (&e)[N], const Setup& setup) {
#pragma unroll
        for (u32 i = 0; i < N; i++) add(e[i], setup);
    }
    __device__ __forceinline__ void add(const HalfSquares& other) {
        sum += other.sum;
        low += other.low;
        high += other.high;
    }
    // Unsigned sums have all 64 bits.
    __device__ __forceinline__ WideInteger<2> total() const { return {{u64(sum), u64(sum >> 63)}}; }
    __device__ __forceinline__ WideInteger<3> total_of_squares() const {
        const u64 first = low + (high << 32);
        return {{first, (high >> 32) + (first < low), 0}};
    }
};

// Of 64 bits.
struct WideSquares {
    WideInteger<2> sum;
    WideInteger<3> squares;
    struct Setup {
        u64 sign;
        __device__ __forceinline__ explicit Setup(FoldOptions c, u32) : sign(mask_if<u64>(c.is_signed())) {}
    };
    static __device__ __forceinline__ WideSquares zero() {
        return {WideInteger<2>::zero(), WideInteger<3>::zero()};
    }
    __device__ __forceinline__ void add(u64 x, const Setup& setup) {
        const u64 negative = u64(i64(x) >> 63) & setup.sign, magnitude = (x ^ negative) - negative;
        sum.add(x, negative, negative);
        squares.add_product(magnitude, magnitude);
    }
    template <class E, u32 N>
    __device__ __forceinline__ void add_some(const E (&e)[N], const Setup& setup) {
#pragma unroll
        for (u32 i = 0; i < N; i++) add(e[i], setup);
    }
    __device__ __forceinline__ void add(const WideSquares& other) {
        sum.add(other.sum);
        squares.add(other.squares);
    }
    __device__ __forceinline__ WideInteger<2> total() const { return sum; }
    __device__ __forceinline__ WideInteger<3> total_of_squares() const { return squares; }
};

template <class E> struct SquareTotal {
    typedef E Element;
    static constexpr bool WIDE = sizeof(E) == 8, TAKES_SOME = true, TAKES_ZEROS = true;
    typedef typename Select<WIDE, WideSquares, typename Select<sizeof(E) == 4, HalfSquares, NarrowSquares>::type>::type
        State;
    static constexpr int BLOCKS = 3;
    struct Setup : State::Setup {
        __device__ __forceinline__ explicit Setup(FoldOptions c) : State::Setup(c, 8 * sizeof(E)) {}
    };
    static __device__ __forceinline__ bool spreads(FoldOptions c) { return c.fold() == VAR || c.fold() == STD; }
    static __device__ __forceinline__ bool spans(FoldOptions c) { return spreads(c); }
    static __device__ __forceinline__ State identity() { return State::zero(); }
    static __device__ __forceinline__ void add(State& s, E x, u64, const Setup& setup) { s.add(x, setup); }
    template <u32 N>
    static __device__ __forceinline__ void add_some(State& s, const E (&e)[N], u64, const Setup& setup) {
        s.add_some(e, setup);
    }
    static __device__ __forceinline__ void merge(State& a, const State& b) { a.add(b); }
    static __device__ __forceinline__ void finish(const SegmentArguments& a, FoldOptions c, u64 k, const State& s,
                                                  u64 begin, u64 end) {
        const bool spread = spreads(c);
        const u64 n = end - begin, ddof = a.options >> 32;
        const WideInteger<3> squares = s.total_of_squares();
        const u64 low = squares.limb[0];
        if (spread && n <= ddof) {
            fault(a, n == 0 ? EMPTY : TOO_FEW, k);
            // How many there are is left where the result would be.
            results<u64>(a)[k] = n;
        } else if (c.fold() == SUM_OF_SQUARES) {
            if (squares.limb[1] != 0 || squares.limb[2] != 0 || (c.is_signed() && i64(low) < 0)) fault(a, TOO_LARGE, k);
            results<u64>(a)[k] = low;
        } else {
            // The magnitude of the sum.
            WideInteger<2> sum = s.total();
            const u64 negative = c.is_signed() ? u64(i64(sum.limb[1]) >> 63) : 0;
            sum.limb[0] = (sum.limb[0] ^ negative) - negative;
            sum.limb[1] = WIDE ? (sum.limb[1] ^ negative) + (negative && sum.limb[0] == 0) : 0;
            results<f64>(a)[k] = rounded(sum.limb[0], sum.limb[1], low, squares.limb[1], squares.limb[2],
                                         spread ? n : 0, ddof, c.fold() != VAR);
        }
    }
    // Of squares alone where n is 0; else n * squares - sum * sum over n * (n - ddof). Compiled once, wherever results
    // come from.
    static __device__ __noinline__ f64 rounded(u64 low, u64 high, u64 first, u64 second, u64 third, u64 n, u64 ddof,
                                               bool root) {
        const u64 times = n > 0 ? n : 1, size = n > 0 ? low : 0;
        // 128 bits are enough for n * squares, of narrow elements always.
        const u64 carried = __umul64hi(first, times), upper = second * times + carried;
        const bool holds = !WIDE || ((high | third | __umul64hi(second, times)) == 0 && upper >= carried);
        if (holds && times >> 32 == 0) {
            const u64 all = first * times, square = size * size;
            f64 value;
            if (nearest_quickly(all - square, upper - __umul64hi(size, size) - (all < square),
                                n > 0 ? n * (n - ddof) : 1, root, value))
                return value;
        }
        Wide320 numerator = Wide320::of(first, second, third), denominator = Wide320::of(1);
        if (n > 0) {
            numerator = numerator.times(n).minus(Wide320::product(low, high, low, high));
            denominator = Wide320::of(n).times(n - ddof);
        }
        return nearest_ratio(numerator, denominator.limb[0], denominator.limb[1], root, 0);
    }
};
