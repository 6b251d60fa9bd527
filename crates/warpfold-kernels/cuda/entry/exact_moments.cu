// exact_moments: the exact sum and sum of squares of floats, for var, std and l2, whatever the order.
//
// record: see exact_array.cuh; one integer a part for the sum, one of products for the squares of all parts. value:
// none.
#include "op/exact_squares.cuh"

template <class E> constexpr int MOMENTS_IN_FLIGHT = SumsAndSquares<E>::SHARED ? 6 : 4;
template <class E, Nan> using ExactMoments = ExactFold<Components<E>, SumsAndSquares<E>, MOMENTS_IN_FLIGHT<E>>;

#include "entry/entries.cuh"
