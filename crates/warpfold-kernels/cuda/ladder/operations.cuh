// The operations of the ladder: what each makes of two elements, and the element that changes nothing.
//
// Rungs compute in the element type, as the documents do that they come from: a sum of i32 wraps.
#pragma once
#include "num/elements.cuh"

// Integers wrap as unsigned ones do; an overflow of signed ones would be undefined.
inline i32 plus(i32 a, i32 b) { return i32(u32(a) + u32(b)); }
inline i64 plus(i64 a, i64 b) { return i64(u64(a) + u64(b)); }
inline f32 plus(f32 a, f32 b) { return a + b; }
inline f64 plus(f64 a, f64 b) { return a + b; }
inline complex64 plus(complex64 a, complex64 b) { return {a.re + b.re, a.im + b.im}; }
inline complex128 plus(complex128 a, complex128 b) { return {a.re + b.re, a.im + b.im}; }

inline i32 times(i32 a, i32 b) { return i32(u32(a) * u32(b)); }
inline i64 times(i64 a, i64 b) { return i64(u64(a) * u64(b)); }
inline f32 times(f32 a, f32 b) { return a * b; }
inline f64 times(f64 a, f64 b) { return a * b; }
inline complex64 times(complex64 a, complex64 b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
inline complex128 times(complex128 a, complex128 b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

// A whole number as an element, and the elements beyond all others.
template <class T> inline T number(int x) { return T(x); }
template <> inline complex64 number(int x) { return {f32(x), 0}; }
template <> inline complex128 number(int x) { return {f64(x), 0}; }

template <class T> T greatest();
template <> inline i32 greatest() { return 0x7fffffff; }
template <> inline i64 greatest() { return 0x7fffffffffffffffll; }
template <> inline f32 greatest() { return __int_as_float(0x7f800000); }
template <> inline f64 greatest() { return __longlong_as_double(0x7ff0000000000000ll); }

template <class T> T least();
template <> inline i32 least() { return -0x7fffffff - 1; }
template <> inline i64 least() { return -0x7fffffffffffffffll - 1; }
template <> inline f32 least() { return -greatest<f32>(); }
template <> inline f64 least() { return -greatest<f64>(); }

template <class T> struct Sum {
    static T identity() { return number<T>(0); }
    static T of(T a, T b) { return plus(a, b); }
};
template <class T> struct Prod {
    static T identity() { return number<T>(1); }
    static T of(T a, T b) { return times(a, b); }
};
// A NaN, once met, stays.
template <class T> struct Min {
    static T identity() { return greatest<T>(); }
    static T of(T a, T b) { return b < a || b != b ? b : a; }
};
template <class T> struct Max {
    static T identity() { return least<T>(); }
    static T of(T a, T b) { return b > a || b != b ? b : a; }
};

// Shared memory of the size that the launch asks for, one array a block.
template <class T> inline T* shared_array() {
    extern __shared__ __align__(16) unsigned char bytes[];
    return reinterpret_cast<T*>(bytes);
}
