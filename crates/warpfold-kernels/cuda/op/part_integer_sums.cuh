// Three sums of integers at once, exact: of the elements, of their magnitudes and of their squares; what stats keep.
//
// States are as narrow as part_squares.cuh has them, with as many elements at most; a word that nothing needs is zero,
// so that a state has no bytes that nothing writes.
#pragma once
#include "op/part_squares.cuh"

// Of up to 16 bits.
struct NarrowSums {
    i64 sum;
    u64 squares, norm1;
    typedef NarrowSquares::Setup Setup;
    static __device__ __forceinline__ NarrowSums zero() { return {0, 0, 0}; }
    __device__ __forceinline__ void add(u32 x, const Setup& setup) {
        const i32 n = setup.of(x);
        sum += n;
        norm1 += magnitude(n);
        squares += u32(n) * u32(n);
    }
    // Of several the sums but those of squares have 32 bits.
    template <class E, u32 N> __device__ __forceinline__ void add_some(const E (&e)[N], const Setup& setup) {
        i32 all = 0;
        u32 sizes = 0;
#pragma unroll
        for (u32 i = 0; i < N; i++) {
            const i32 n = setup.of(e[i]);
            all += n;
            sizes += magnitude(n);
            squares += u32(n) * u32(n);
        }
        sum += all;
        norm1 += sizes;
    }
    __device__ __forceinline__ void add(const NarrowSums& other) {
        sum += other.sum;
        norm1 += other.norm1;
        squares += other.squares;
    }
    __device__ __forceinline__ NarrowSquares moments() const { return {sum, squares}; }
};

// Of 32 bits.
struct HalfSums : HalfSquares {
    u64 norm1, unused;
    static __device__ __forceinline__ HalfSums zero() {
        return {{0, 0, 0}, 0, 0};
    }
    __device__ __forceinline__ void add(u32 x, const Setup& setup) {
        const u32 negative = u32(i32(x) >> 31) & setup.sign;
        HalfSquares::add(x, setup);
        norm1 += (x ^ negative) - negative;
    }
    template <class E, u32 N> __device__ __forceinline__ void add_some(const E (&e)[N], const Setup& setup) {
#pragma unroll
        for (u32 i = 0; i < N; i++) add(e[i], setup);
    }
    __device__ __forceinline__ void add(const HalfSums& other) {
        HalfSquares::add(other);
        norm1 += other.norm1;
    }
    __device__ __forceinline__ HalfSquares moments() const { return *this; }
};

// Of 64 bits.
struct WideSums : WideSquares {
    WideInteger<2> norm1;
    u64 unused;
    static __device__ __forceinline__ WideSums zero() {
        return {WideSquares::zero(), WideInteger<2>::zero(), 0};
    }
    __device__ __forceinline__ void add(u64 x, const Setup& setup) {
        const u64 negative = u64(i64(x) >> 63) & setup.sign;
        WideSquares::add(x, setup);
        norm1.add((x ^ negative) - negative, 0, 0);
    }
    template <class E, u32 N> __device__ __forceinline__ void add_some(const E (&e)[N], const Setup& setup) {
#pragma unroll
        for (u32 i = 0; i < N; i++) add(e[i], setup);
    }
    __device__ __forceinline__ void add(const WideSums& other) {
        WideSquares::add(other);
        norm1.add(other.norm1);
    }
    __device__ __forceinline__ WideSquares moments() const { return *this; }
};

template <class E> struct IntegerSums {
    typedef E Element;
    typedef SquareTotal<E> Squares;
    typedef typename Select<sizeof(E) == 8, WideSums, typename Select<sizeof(E) == 4, HalfSums, NarrowSums>::type>::type
        State;
    static constexpr bool TAKES_SOME = true, TAKES_ZEROS = true;
    typedef typename Squares::Setup Setup;
    static __device__ __forceinline__ State identity() { return State::zero(); }
    static __device__ __forceinline__ void add(State& s, E x, u64, const Setup& setup) { s.add(x, setup); }
    template <u32 N>
    static __device__ __forceinline__ void add_some(State& s, const E (&e)[N], u64, const Setup& setup) {
        s.add_some(e, setup);
    }
    static __device__ __forceinline__ void merge(State& a, const State& b) { a.add(b); }
    // As sums alone have them.
    typedef typename Totals<E>::State Total;
    static __device__ __forceinline__ Total total(const State& s) { return {s.sum}; }
    static __device__ __forceinline__ Total norm1(const State& s) {
        if constexpr (sizeof(E) == 8) return s.norm1;
        else return {i64(s.norm1)};
    }
};
