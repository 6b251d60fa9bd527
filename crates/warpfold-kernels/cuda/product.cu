// prod: a product that neither overflows nor underflows on its way.
//
// Integers: the product of the magnitudes modulo 2^64, whether it ever went beyond, whether a zero was met, the sign.
// Floats: a mantissa of two f64 (106 bits) and its exponent apart in 64 bits; which of zero, infinity, NaN was met.
//
// record: integers [low 64 bits of the magnitude, flags]; floats [mantissa high, low as f64; exponent; flags].
// flags: 1 a zero, 2 an infinity (integers: beyond 2^64), 4 a NaN, 8 negative. value: none.
#include "product.cuh"

template <class E, Nan NAN>
using Product = typename Select<Traits<E>::integer, IntegerProduct<E>, FloatProduct<E, NAN>>::type;

#include "entries.cuh"
