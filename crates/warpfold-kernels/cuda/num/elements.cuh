// Element types, and the 16-byte vectors in which every kernel reads them.
#pragma once

typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;

// Types of which C++ has no built-in: storage only, arithmetic is done after widening.
struct boolean {
    u8 byte;
};
struct f16 {
    u16 bits;
};
struct bf16 {
    u16 bits;
};
struct complex64 {
    f32 re, im;
};
struct complex128 {
    f64 re, im;
};

// What a thread loads at once.
struct alignas(16) Vector {
    u32 word[4];
};

template <class E> constexpr int PER_VECTOR = 16 / sizeof(E);

// Read once, so the caches are told to forget it first.
__device__ __forceinline__ Vector load(const Vector* at) {
    uint4 v = __ldcs(reinterpret_cast<const uint4*>(at));
    return {v.x, v.y, v.z, v.w};
}

// The elements of a vector; callers index it with compile-time constants only, so that it stays in registers.
template <class E> union Elements {
    Vector vector;
    E element[PER_VECTOR<E>];
    __device__ __forceinline__ explicit Elements(const Vector& p) : vector(p) {}
};

// The first element of a vector, and what follows it moved to the front.
template <class E> __device__ __forceinline__ E take_first(Vector& p) {
    const E first = Elements<E>(p).element[0];
    if constexpr (sizeof(E) < 4) {
#pragma unroll
        for (int k = 0; k < 4; k++) p.word[k] = __funnelshift_r(p.word[k], k < 3 ? p.word[k + 1] : 0, 8 * sizeof(E));
    } else {
        constexpr int WORDS = sizeof(E) / 4;
#pragma unroll
        for (int k = 0; k + WORDS < 4; k++) p.word[k] = p.word[k + WORDS];
    }
    return first;
}

// Classes of element types.
template <class E> struct Traits;
template <> struct Traits<boolean> {
    static constexpr bool integer = true, is_signed = false;
};
template <> struct Traits<i8> {
    static constexpr bool integer = true, is_signed = true;
};
template <> struct Traits<i16> {
    static constexpr bool integer = true, is_signed = true;
};
template <> struct Traits<i32> {
    static constexpr bool integer = true, is_signed = true;
};
template <> struct Traits<i64> {
    static constexpr bool integer = true, is_signed = true;
};
template <> struct Traits<u8> {
    static constexpr bool integer = true, is_signed = false;
};
template <> struct Traits<u16> {
    static constexpr bool integer = true, is_signed = false;
};
template <> struct Traits<u32> {
    static constexpr bool integer = true, is_signed = false;
};
template <> struct Traits<u64> {
    static constexpr bool integer = true, is_signed = false;
};
template <> struct Traits<f16> {
    static constexpr bool integer = false, is_signed = true;
};
template <> struct Traits<bf16> {
    static constexpr bool integer = false, is_signed = true;
};
template <> struct Traits<f32> {
    static constexpr bool integer = false, is_signed = true;
};
template <> struct Traits<f64> {
    static constexpr bool integer = false, is_signed = true;
};
template <> struct Traits<complex64> {
    static constexpr bool integer = false, is_signed = true;
};
template <> struct Traits<complex128> {
    static constexpr bool integer = false, is_signed = true;
};

// Widening without loss: narrow integers to 32 bits, 64-bit ones as they are, narrow floats to f32.
__device__ __forceinline__ u32 widen(boolean x) { return x.byte; }
__device__ __forceinline__ i32 widen(i8 x) { return x; }
__device__ __forceinline__ i32 widen(i16 x) { return x; }
__device__ __forceinline__ i32 widen(i32 x) { return x; }
__device__ __forceinline__ i64 widen(i64 x) { return x; }
__device__ __forceinline__ u32 widen(u8 x) { return x; }
__device__ __forceinline__ u32 widen(u16 x) { return x; }
__device__ __forceinline__ u32 widen(u32 x) { return x; }
__device__ __forceinline__ u64 widen(u64 x) { return x; }
__device__ __forceinline__ f32 widen(f16 x) {
    f32 y;
    asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
    return y;
}
__device__ __forceinline__ f32 widen(bf16 x) { return __uint_as_float(u32(x.bits) << 16); }
__device__ __forceinline__ f32 widen(f32 x) { return x; }
__device__ __forceinline__ f64 widen(f64 x) { return x; }

// Back again.
template <class E, class W> __device__ __forceinline__ E narrow(W x) { return x; }
template <> __device__ __forceinline__ f16 narrow<f16>(f32 x) {
    f16 y;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
    return y;
}
template <> __device__ __forceinline__ bf16 narrow<bf16>(f32 x) { return {u16(__float_as_uint(x) >> 16)}; }

// The raw bits of a real element.
__device__ __forceinline__ u32 bits(f16 x) { return x.bits; }
__device__ __forceinline__ u32 bits(bf16 x) { return x.bits; }
__device__ __forceinline__ u32 bits(f32 x) { return __float_as_uint(x); }
__device__ __forceinline__ u64 bits(f64 x) { return __double_as_longlong(x); }

// Whether an element is a NaN (complex: has one).
__device__ __forceinline__ bool is_nan(f16 x) { return (x.bits & 0x7fffu) > 0x7c00u; }
__device__ __forceinline__ bool is_nan(bf16 x) { return (x.bits & 0x7fffu) > 0x7f80u; }
__device__ __forceinline__ bool is_nan(f32 x) { return x != x; }
__device__ __forceinline__ bool is_nan(f64 x) { return x != x; }
__device__ __forceinline__ bool is_nan(complex64 z) { return is_nan(z.re) || is_nan(z.im); }
__device__ __forceinline__ bool is_nan(complex128 z) { return is_nan(z.re) || is_nan(z.im); }
template <class E> __device__ __forceinline__ bool is_nan(E) { return false; }

// Results carry one NaN only: positive, quiet, payload zero.
__device__ __forceinline__ f32 canonical(f32 x) { return x != x ? __uint_as_float(0x7fc00000u) : x; }
__device__ __forceinline__ f64 canonical(f64 x) { return x != x ? __longlong_as_double(0x7ff8000000000000ll) : x; }

// The components of an element: itself widened, or two for complex numbers.
template <class E> struct Parts {
    typedef decltype(widen(E())) Part;
    static constexpr int COUNT = 1;
};
template <> struct Parts<complex64> {
    typedef f32 Part;
    static constexpr int COUNT = 2;
};
template <> struct Parts<complex128> {
    typedef f64 Part;
    static constexpr int COUNT = 2;
};

// One of two types.
template <bool FIRST, class A, class B> struct Select {
    typedef A type;
};
template <class A, class B> struct Select<false, A, B> {
    typedef B type;
};

// What the policy says of NaN.
enum class Nan { Propagate, Ignore };
