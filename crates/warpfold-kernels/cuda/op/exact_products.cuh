// The terms of exact sums of products of two arrays.
#pragma once
#include "op/exact_sums.cuh"

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
