// exact_sum, exact_l1: the correctly rounded sum of floats, or of their magnitudes, whatever the order.
//
// record: see exact_fold.cuh; one integer a part, its unit that of the type. value: f32 or f64, complex as a pair.
//
// A pack whose numbers all lie in the thread's window is added there; any other goes to the thread's digits. Data without a common scale so runs on the
// digits alone, and costs the same whatever it is.
#include "exact_sum.cuh"

template <class E, Nan> using ExactSum = ExactSumFold<E, Of::Values>;
template <class E, Nan> using ExactL1 = ExactSumFold<E, Of::Magnitudes>;

#include "entries.cuh"
