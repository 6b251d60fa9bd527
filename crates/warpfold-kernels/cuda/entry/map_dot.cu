// map_dot: the exact sum of products of two mapped floats.
//
// record: as exact_dot.
#include "op/exact_products.cuh"
#include "walk/map_array.cuh"

template <class E> using ProductSums = Sums<ProductOf<E>, 1, E>;
template <class E> using Dot = ExactFold<Products<E>, ProductSums<E>, 4>;

EXACT_MAP_KERNEL(ENTRY, FOLD<ELEMENT>)
