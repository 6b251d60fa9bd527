// exact_l1: the sum of magnitudes of floats, whatever the order; of real numbers correctly rounded, of complex ones
// within one ulp.
//
// record: see exact_array.cuh; one integer, its unit that of the type, for complex numbers its square. value: f32 or
// f64.
#include "op/exact_norms.cuh"

template <class E, Nan> using ExactL1 = typename L1Of<E>::type;

#include "entry/entries.cuh"
