// prod: a product that neither overflows nor underflows on its way; of floats along the canonical tree.
//
// record: see integer_product.cuh, tree_array.cuh. value: none.
#include "op/complex_product.cuh"
#include "op/real_product.cuh"
#include "walk/tree_array.cuh"

template <class E, Nan NAN> struct ProductOf {
    typedef typename Select<Traits<E>::integer, IntegerProduct<E>, RealProduct<E, NAN>>::type type;
};
template <Nan NAN> struct ProductOf<complex64, NAN> {
    typedef ComplexProduct<complex64, NAN> type;
};
template <Nan NAN> struct ProductOf<complex128, NAN> {
    typedef ComplexProduct<complex128, NAN> type;
};

template <class E, Nan NAN> using Product = typename ProductOf<E, NAN>::type;

template <class Op> __device__ __forceinline__ void multiply_array(const Arguments& a) {
    if constexpr (Traits<typename Op::Element>::integer) fold_array<Op>(a);
    else fold_tree<Op>(a);
}
template <class Op> constexpr decltype(u32(Op::WARPS)) most_threads(int) { return Op::THREADS; }
template <class Op> constexpr u32 most_threads(long) { return 512; }

#undef READ
#define READ multiply_array
#undef BLOCK
#define BLOCK(...) most_threads<__VA_ARGS__>(0)

#include "entry/entries.cuh"
