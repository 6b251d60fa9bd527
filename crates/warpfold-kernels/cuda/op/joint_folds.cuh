// Exact folds of two arrays side by side: what one pass over pairs of values adds up for several sums.
//
// Their integers stand one after another in the record. A vector goes into the windows if all of them hold it, else
// into the limbs of all.
#pragma once
#include "op/exact_products.cuh"

// The first value of a pair, the square of either.
enum class PartOf { First, FirstSquared, SecondSquared };

template <class E, PartOf OF> struct TermOf {
    typedef E Element;
    typedef TwoVectors Loaded;
    typedef TwoItems<E> Items;
    static constexpr int COUNT = 1;

    static __device__ __forceinline__ auto term(const PairOf<E>& pair, int) {
        if constexpr (OF == PartOf::First) return Number<E>{pair.x};
        else if constexpr (OF == PartOf::FirstSquared) return Product<E>{pair.x, pair.x};
        else return Product<E>{pair.y, pair.y};
    }
    struct All : Items {
        using Items::Items;
        __device__ __forceinline__ auto operator[](int k) const { return term(this->item(k), 0); }
    };
};

// Sums whose limbs lie beside those of products, which the block shares.
template <class F> struct SumBeside : SumOf<F> {
    static constexpr bool SHARES[] = {true};
    static constexpr int MOST[] = {512};
};

template <class First, class Second> struct Joint {
    typedef typename First::Element Element;
    typedef typename First::Loaded Loaded;
    static constexpr int VECTORS = First::VECTORS, THREADS = First::THREADS;
    static constexpr int STEP = VECTORS % 2 == 0 ? 2 : 1;
    static constexpr int STORAGE = First::STORAGE + Second::STORAGE, BLOCKS = 1;
    static constexpr int INTEGERS = First::INTEGERS + Second::INTEGERS, WORDS = First::WORDS + Second::WORDS;
    static constexpr bool SHARED = true, TWO_PHASE = true, SMALL_PATH = false;
    static_assert(First::SHARED && Second::SHARED && THREADS == Second::THREADS && First::WORDS % 2 == 0,
                  "both are shared by the block's threads, and integers are whole words of 64 bits");

    First first;
    Second second;
    static constexpr u64 nans = 0;

    __device__ __forceinline__ Joint(u64* storage, const Arguments& a)
        : first(storage, a), second(storage + First::STORAGE, a) {}

    __device__ __forceinline__ bool holds_all(const Loaded& p) const {
        return first.holds_all(p) && second.holds_all(p);
    }
    __device__ __forceinline__ void add_all(const Loaded& p) {
        first.add_all(p);
        second.add_all(p);
    }
    __device__ __forceinline__ bool inside(const Loaded& p, u64) {
        if (!holds_all(p)) return false;
        add_all(p);
        return true;
    }
    __device__ __forceinline__ void outside(const Loaded& p, u64 index) {
        first.outside(p, index);
        second.outside(p, index);
    }
    __device__ __forceinline__ bool plain(const Loaded& p) const { return first.plain(p) && second.plain(p); }
    __device__ __forceinline__ void outside_plain(const Loaded& p) {
        first.outside_plain(p);
        second.outside_plain(p);
    }
    __device__ __forceinline__ u32 sees(const Loaded (&)[VECTORS]) const { return 0; }
    __device__ __forceinline__ void look(Loaded (&)[VECTORS], u64, u64, u32) {}
    __device__ __forceinline__ void look_plain(Loaded (&)[VECTORS], u64, u64, bool) {}
    __device__ __forceinline__ void end_tile() {
        first.end_tile();
        second.end_tile();
    }
    __device__ __forceinline__ void close() {
        first.close();
        second.close();
    }
    __device__ __forceinline__ u32 specials(int k) const {
        return k < First::INTEGERS ? first.specials(k) : second.specials(k - First::INTEGERS);
    }
    static __device__ __forceinline__ void add_columns(const u64* storage, u64* word) {
        First::add_columns(storage, word);
        Second::add_columns(storage + First::STORAGE, word + First::WORDS);
    }
    static __device__ __forceinline__ void finish(const u64* word, const SpecialValues& flags, u32* scratch,
                                                  const Arguments& a) {
        First::finish(word, flags, scratch, a);
        Arguments rest = a;
        rest.record = a.record + First::WORDS / 2;
        Second::finish(word + First::WORDS, flags, scratch, rest);
    }
};
