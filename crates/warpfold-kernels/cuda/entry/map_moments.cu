// map_moments: the exact sum and sum of squares of mapped floats.
//
// record: as exact_moments.
#include "op/exact_squares.cuh"
#include "walk/map_array.cuh"

template <class E> using Moments = ExactFold<Components<E>, SumsAndSquares<E>, 4>;

EXACT_MAP_KERNEL(ENTRY, FOLD<ELEMENT>)
