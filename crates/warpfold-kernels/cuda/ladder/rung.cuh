// The entry points of a rung: one for each operation and element type, such as `interleaved_sum_f32`. All take the same
// parameters, so that one runner launches them: the array, where results go, how many elements there are, memory to
// work in, and a ticket that is zero.
#pragma once
#include "ladder/operations.cuh"

#define ENTRY(rung, Op, op, T, ...)                                                                       \
    extern "C" __global__ void __launch_bounds__(1024)                                                    \
        rung##_##op##_##T(const T* in, T* out, u64 n, T* work, u32* ticket) { rung<Op<T>>(__VA_ARGS__); }
#define REAL(rung, T, ...)                                                                                \
    ENTRY(rung, Sum, sum, T, __VA_ARGS__) ENTRY(rung, Min, min, T, __VA_ARGS__)                           \
    ENTRY(rung, Max, max, T, __VA_ARGS__) ENTRY(rung, Prod, prod, T, __VA_ARGS__)

// All but one, for rungs that need atomics of whole elements.
#define RUNG_BUT_PROD_COMPLEX128(rung, ...)                                                               \
    REAL(rung, i32, __VA_ARGS__) REAL(rung, i64, __VA_ARGS__)                                             \
    REAL(rung, f32, __VA_ARGS__) REAL(rung, f64, __VA_ARGS__)                                             \
    ENTRY(rung, Sum, sum, complex64, __VA_ARGS__) ENTRY(rung, Prod, prod, complex64, __VA_ARGS__)         \
    ENTRY(rung, Sum, sum, complex128, __VA_ARGS__)

// RUNG(name, arguments…) makes the entries of the template `name`, which is called with those of `in, out, n, work,
// ticket` that it takes.
#define RUNG(rung, ...)                                                                                   \
    RUNG_BUT_PROD_COMPLEX128(rung, __VA_ARGS__) ENTRY(rung, Prod, prod, complex128, __VA_ARGS__)
