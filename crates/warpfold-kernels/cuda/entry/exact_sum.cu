// exact_sum: the correctly rounded sum of floats, whatever the order.
//
// record: see exact_array.cuh; one integer a part, its unit that of the type. value: f32 or f64, complex as a pair.
//
// A vector whose numbers all lie in the thread's window is added there; any other goes to the thread's limbs. Data
// without a common scale so runs on the limbs alone, and costs the same whatever it is.
#include "op/exact_sums.cuh"

template <class E, Nan> using ExactSum = ExactFold<Components<E>, SumsOf<E>, IN_FLIGHT<E>>;

#include "entry/entries.cuh"
