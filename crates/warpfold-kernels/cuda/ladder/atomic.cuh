// Folding an element into memory that every thread folds into: the hardware's own atomic where it has one, else a loop of
// compare-and-swap that goes round until nobody else was faster. There is none for 16 bytes below compute capability 9.0, so a product of
// complex128 has none here; a sum of complex numbers is two sums.
#pragma once
#include "operations.cuh"

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
    while (true) {
        const auto expected = seen.word;
        seen.word = swapped(words, expected, Bits<T>(Op::of(seen.element, x)).word);
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
