// Folding an element into memory that every thread folds into: the hardware's own atomic where it has one, else a loop
// of compare-and-swap that goes round until nobody else was faster. There is none for 16 bytes below compute capability
// 9.0, so a product of complex128 has none here; a sum of complex numbers is two sums.
//
// Of all the swaps that wait at one address each round lets one succeed, so n threads need some n * n / 2 swaps:
// minutes for a product of 2^20 elements. What would change nothing is not swapped, so that extremes of floats need
// few. Tried on an H200: who fails sleeps, twice as long each time, and then swaps what it saw before it slept, which
// is no longer there: 20 ms for 1025 elements. It would have to look again first; not taken.
#pragma once
#include "ladder/operations.cuh"

inline u32 swapped(u32* at, u32 seen, u32 next) { return atomicCAS(at, seen, next); }
inline u64 swapped(u64* at, u64 seen, u64 next) { return atomicCAS(at, seen, next); }

template <class T> union Bits {
    T element;
    typename Select<sizeof(T) == 4, u32, u64>::type word;
    explicit Bits(T x) : element(x) {}
};

template <class Op, class T> inline void fold_at(Op, T* at, T x) {
    Bits<T> seen(Op::identity());  // a guess; the first swap says what is there
    auto* const words = reinterpret_cast<decltype(seen.word)*>(at);
    for (bool is_guess = true;; is_guess = false) {
        const auto expected = seen.word, next = Bits<T>(Op::of(seen.element, x)).word;
        // It was there, so it was folded into at that moment.
        if (!is_guess && next == expected) return;
        seen.word = swapped(words, expected, next);
        if (seen.word == expected) return;
    }
}

inline void fold_at(Sum<i32>, i32* at, i32 x) { atomicAdd(at, x); }
inline void fold_at(Sum<i64>, i64* at, i64 x) { atomicAdd(reinterpret_cast<u64*>(at), u64(x)); }
inline void fold_at(Sum<f32>, f32* at, f32 x) { atomicAdd(at, x); }
inline void fold_at(Sum<f64>, f64* at, f64 x) { atomicAdd(at, x); }
template <class Complex> inline void fold_at(Sum<Complex>, Complex* at, Complex z) {
    atomicAdd(&at->re, z.re);
    atomicAdd(&at->im, z.im);
}
inline void fold_at(Min<i32>, i32* at, i32 x) { atomicMin(at, x); }
inline void fold_at(Min<i64>, i64* at, i64 x) { atomicMin(at, x); }
inline void fold_at(Max<i32>, i32* at, i32 x) { atomicMax(at, x); }
inline void fold_at(Max<i64>, i64* at, i64 x) { atomicMax(at, x); }
