// linf: the largest magnitude.
//
// record: of real numbers see extreme.cuh; of complex ones see complex_magnitude.cuh. value: a float of the element's
// type or u64; none of complex numbers.
#include "op/complex_magnitude.cuh"
#include "op/extreme.cuh"

template <class E, Nan NAN> struct LargestOf {
    typedef Extreme<E, NAN, Side::Magnitude, Want::Value> type;
};
template <Nan NAN> struct LargestOf<complex64, NAN> {
    typedef LargestComplex<complex64, NAN> type;
};
template <Nan NAN> struct LargestOf<complex128, NAN> {
    typedef LargestComplex<complex128, NAN> type;
};

template <class E, Nan NAN> using Linf = typename LargestOf<E, NAN>::type;

#include "entry/entries.cuh"
