// exact_dot: the correctly rounded dot product of floats, whatever the order. Complex numbers are not conjugated.
//
// record: see exact_array.cuh; one integer a part, its unit the square of the type's. value: f32 or f64, complex as a
// pair.
//
// As exact_sum, with products in place of numbers: those of narrow types are f64 numbers, those of f64 two.
#include "op/exact_products.cuh"
#undef READ
#define READ fold_exact_arrays

// Pairs of vectors in flight.
constexpr int PAIRS_IN_FLIGHT = 4;
template <class E, Nan>
using ExactDot =
    ExactFold<Products<E>, Sums<ProductOf<typename Component<E>::type>, Parts<E>::COUNT, typename Parts<E>::Part>,
              PAIRS_IN_FLIGHT>;

#include "entry/entries.cuh"
