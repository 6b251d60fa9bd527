// map_sum: the exact sum of mapped floats.
//
// record: as exact_sum.
#include "op/exact_sums.cuh"
#include "walk/map_array.cuh"

template <class E> using Sum = ExactFold<Components<E>, SumsOf<E>, 4>;

EXACT_MAP_KERNEL(ENTRY, FOLD<ELEMENT>)
