// rung:   02_vector_atomic
// idea:   A thread loads four elements at once, folds them in registers, and needs one atomic for them.
// mends:  01_atomic waits once for every element; here it waits once for four.
// grid:   4 elements a thread
// finish: atomic
// work:   n
// steps:  3 + ceil(n / 4)
// lacks:  prod of complex128, as no atomic is 16 bytes wide
// seeds:  blog K1
// wrong:  The blog compares the number of a float4 with the number of floats, so three quarters of its threads read
//         past the end; and what is left over when n is no multiple of four is left out.
//
// Four times fewer atomics, and still a serial algorithm: S grows as n does.
#include "ladder/atomic.cuh"
#include "ladder/rung.cuh"

template <class T> struct alignas(16) Four { T element[4]; };

template <class Op, class T> void vector_atomic(const T* in, T* out, u64 n) {
    const u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    const u64 fours = n / 4;
    if (i < fours) {
        const Four<T> x = reinterpret_cast<const Four<T>*>(in)[i];
        fold_at(Op(), out, Op::of(Op::of(Op::of(x.element[0], x.element[1]), x.element[2]), x.element[3]));
    } else if (i == fours && n % 4 != 0) {
        T value = in[4 * fours];
        for (u64 k = 4 * fours + 1; k < n; k++) value = Op::of(value, in[k]);
        fold_at(Op(), out, value);
    }
}

RUNG_BUT_PROD_COMPLEX128(vector_atomic, in, out, n)
