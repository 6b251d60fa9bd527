// map_pairs: the exact sums of squares of mapped values, of their products with others, and of the others' squares;
// map_square_dot the former two, of f64, three of whose limbs are more than shared memory has.
//
// record: as exact_dot, three integers or two.
#include "op/joint_folds.cuh"
#include "walk/map_array.cuh"

template <class E> using ProductSums = Sums<ProductOf<E>, 1, E>;
template <class Terms> using Summed = ExactFold<Terms, ProductSums<typename Terms::Element>, 2>;
template <class E> using SquareDot = Joint<Summed<TermOf<E, PartOf::FirstSquared>>, Summed<Products<E>>>;
template <class E> using Pairs = Joint<SquareDot<E>, Summed<TermOf<E, PartOf::SecondSquared>>>;

EXACT_MAP_KERNEL(ENTRY, FOLD<ELEMENT>)
