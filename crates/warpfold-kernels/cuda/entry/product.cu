// prod: a product that neither overflows nor underflows on its way.
//
// record: see integer_product.cuh, real_product.cuh, complex_product.cuh. value: none.
#include "op/complex_product.cuh"
#include "op/real_product.cuh"

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

#include "entry/entries.cuh"
