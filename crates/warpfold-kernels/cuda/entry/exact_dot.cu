// exact_dot: the correctly rounded dot product of floats, whatever the order. Complex numbers are not conjugated.
//
// record: see exact_array.cuh; one integer a part, its unit the square of the type's. value: f32 or f64, complex as a
// pair.
//
// As exact_sum, with products in place of numbers: those of narrow types are f64 numbers, those of f64 two.
#include "op/exact_sums.cuh"
#undef READ
#define READ fold_exact_arrays

// Products of components. Re: a c - b d. Im: a d + b c.
template <class E> struct Products {
    typedef E Element;
    typedef TwoVectors Loaded;
    typedef TwoItems<E> Items;
    typedef typename Parts<E>::Part Wide;
    static constexpr int COUNT = Parts<E>::COUNT * Parts<E>::COUNT;

    static __device__ __forceinline__ Product<Wide> term(const PairOf<E>& pair, int t) {
        const E x = pair.x, y = pair.y;
        if constexpr (COUNT == 4) {
            // Even ones are real, odd ones imaginary.
            return {t < 2 ? x.re : t == 2 ? -x.im : x.im, t == 0 || t == 3 ? y.re : y.im};
        } else {
            return {widen(x), widen(y)};
        }
    }
    // Widened anew each time: what a thread loads takes fewer registers than what it becomes.
    struct All : Items {
        using Items::Items;
        __device__ __forceinline__ Product<Wide> operator[](int k) const {
            return term(this->item(k / COUNT), k % COUNT);
        }
    };
};

// Pairs of vectors in flight.
constexpr int PAIRS_IN_FLIGHT = 4;
template <class E, Nan>
using ExactDot =
    ExactFold<Products<E>, Sums<ProductOf<typename Component<E>::type>, Parts<E>::COUNT, typename Parts<E>::Part>,
              PAIRS_IN_FLIGHT>;

#include "entry/entries.cuh"
