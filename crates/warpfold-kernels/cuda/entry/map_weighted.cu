// map_weighted: the exact sums of mapped weights, and of their products with mapped values.
//
// record: as exact_sum, then the integer of exact_dot.
#include "op/joint_folds.cuh"
#include "walk/map_array.cuh"

template <class E> using Weights = ExactFold<TermOf<E, PartOf::First>, Sums<SumBeside<E>, 1, E>, 4>;
template <class E> using Weighted = Joint<Weights<E>, ExactFold<Products<E>, Sums<ProductOf<E>, 1, E>, 4>>;

EXACT_MAP_KERNEL(ENTRY, FOLD<ELEMENT>)
