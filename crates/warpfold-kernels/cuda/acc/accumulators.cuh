// What exact sums, and exact sums of products, of each type are made of: limbs, window, the words of the integer, its
// unit's exponent; the threads of a multiprocessor, of real and of complex elements; and whether plain terms have code
// of their own, for which narrow types lack registers and need. Limbs are a thread's own, or, where those would be
// many, `Shared` by a block: `SHARES` says whether alone, of real and of complex elements, and exact_squares.cuh
// whether both beside each other.
//
// Threads are as many as are the fastest, not as many as find room: four or a multiple of four warps, for its four
// schedulers to have the same to do; with what their limbs leave of the memory they share with the first cache for
// vectors that are under way; and with registers to have many vectors under way.
#pragma once
#include "acc/binned_limbs.cuh"
#include "acc/window.cuh"

// The type of the components as stored.
template <class E> struct Component {
    typedef E type;
};
template <> struct Component<complex64> {
    typedef f32 type;
};
template <> struct Component<complex128> {
    typedef f64 type;
};

template <class F> struct SumOf;
template <> struct SumOf<f16> {
    static constexpr bool PLAIN = false, SHARES[] = {false};
    static constexpr int MOST[] = {768}, WORDS = 4, UNIT = -24;
    template <int THREADS> using Limbs = IntegerLimbs<THREADS, 3, 1023 - 24, 52>;
    template <int LANES> using Window = WholeRange<LANES>;
};
template <> struct SumOf<bf16> {
    static constexpr bool PLAIN = false, SHARES[] = {false};
    static constexpr int MOST[] = {768}, WORDS = 12, UNIT = -133;
    template <int THREADS> using Limbs = BinadeLimbs<THREADS, 17>;
    template <int LANES> using Window = PlainWindow<LANES, 8>;
};
template <> struct SumOf<f32> {
    static constexpr bool PLAIN = true, SHARES[] = {false, false};
    static constexpr int MOST[] = {1024, 512}, WORDS = 12, UNIT = -149;
    template <int THREADS> using Limbs = BinadeLimbs<THREADS, 1>;
    template <int THREADS> using Shared = BinnedLimbs<THREADS, 1, 328>;
    template <int LANES> using Window = PlainWindow<LANES, 24>;
};
template <> struct SumOf<f64> {
    static constexpr bool PLAIN = true, SHARES[] = {false, true};
    static constexpr int MOST[] = {512, 512}, WORDS = 68, UNIT = -1074;
    template <int THREADS> using Limbs = IntegerLimbs<THREADS, 41, 1, 0>;
    template <int THREADS> using Shared = SharedLimbs<THREADS, UNIT, 2098>;
    template <int LANES> using Window = BiasedWindow<LANES, 53, 1, 9>;
};

template <class F> struct ProductOf;
template <> struct ProductOf<f16> {
    static constexpr bool PLAIN = false, SHARES[] = {false};
    static constexpr int MOST[] = {512}, WORDS = 6, UNIT = -48;
    template <int THREADS> using Limbs = IntegerLimbs<THREADS, 4, 1023 - 48, 52>;
    template <int LANES> using Window = WholeProducts<LANES>;
};
template <> struct ProductOf<bf16> {
    static constexpr bool PLAIN = false, SHARES[] = {false};
    static constexpr int MOST[] = {512}, WORDS = 20, UNIT = -266;
    template <int THREADS> using Limbs = IntegerLimbs<THREADS, 13, 1023 - 266, 52>;
    template <int LANES> using Window = BiasedWindow<LANES, 16, 1, 10>;
};
template <> struct ProductOf<f32> {
    static constexpr bool PLAIN = true, SHARES[] = {true, false};
    static constexpr int MOST[] = {512, 512}, WORDS = 20, UNIT = -298;
    template <int THREADS> using Limbs = IntegerLimbs<THREADS, 13, 1023 - 298, 52>;
    template <int THREADS> using Shared = BinnedLimbs<THREADS, 2, 624>;
    template <int LANES> using Window = BiasedWindow<LANES, 48, 1, 10>;
};
template <> struct ProductOf<f64> {
    static constexpr bool PLAIN = true, SHARES[] = {true, true};
    static constexpr int MOST[] = {512, 384}, WORDS = 134, UNIT = -2148;
    template <int THREADS> using Limbs = SharedLimbs<THREADS, UNIT, 4196>;
    template <int THREADS> using Shared = Limbs<THREADS>;
    template <int LANES> using Window = BiasedWindow<LANES, 106, 3, 9>;
};

// A thread's own, or shared.
template <class Kind, int THREADS, bool SHARED> struct LimbsOf {
    typedef typename Kind::template Limbs<THREADS> type;
};
template <class Kind, int THREADS> struct LimbsOf<Kind, THREADS, true> {
    typedef typename Kind::template Shared<THREADS> type;
};

// A product of narrow numbers exactly, of f64 rounded.
template <class F> __device__ __forceinline__ f64 product(F x, F y) { return __dmul_rn(f64(x), f64(y)); }

// Products that f64 holds go where sums go; others as product and error into a window, or whole into the limbs.
// Of f16 and bf16, vectors of eight, the products are kept as they were made for the window's test: made anew within
// the addition they take registers that there are none of (exact_dot of f16 spills 184 bytes a thread then, of bf16
// 256: 2023 GB/s where it was 4075).
template <class Window> __device__ __forceinline__ void add_product(Window& window, int lane, f32 x, f32 y) {
    if constexpr (Window::BITS > 32) window.add_product(lane, f64(x), f64(y));
    else window.add(lane, product(x, y));
}
template <class Window> __device__ __forceinline__ void add_product(Window& window, int lane, f64 x, f64 y) {
    const f64 rounded = product(x, y);
    window.add(lane, rounded);
    window.add(lane, __fma_rn(x, y, -rounded), 1);
}
template <class Limbs> __device__ __forceinline__ void add_product(Limbs& limbs, f32 x, f32 y) {
    if constexpr (Limbs::SHARED) limbs.add_product(x, y);
    else limbs.add(product(x, y));
}
template <class Limbs> __device__ __forceinline__ void add_product(Limbs& limbs, f64 x, f64 y) {
    limbs.add_product(x, y);
}
template <class Limbs> __device__ __forceinline__ void add_plain_product(Limbs& limbs, f32 x, f32 y) {
    if constexpr (Limbs::SHARED) limbs.add_plain_product(x, y);
    else limbs.add_plain(product(x, y));
}
template <class Limbs> __device__ __forceinline__ void add_plain_product(Limbs& limbs, f64 x, f64 y) {
    limbs.add_plain_product(x, y);
}
// A plain number and its square.
template <class Sums, class Squares> __device__ __forceinline__ void add_plain_both(const Sums& sums,
                                                                                    const Squares& squares, f32 x) {
    const auto moved = Sums::moved(x);
    sums.put(moved);
    squares.put_product({moved.number, moved.bin}, {moved.number, moved.bin});
}
template <class Sums, class Squares> __device__ __forceinline__ void add_plain_both(const Sums& sums,
                                                                                    const Squares& squares, f64 x) {
    sums.add_plain(x);
    squares.add_plain_square(x);
}
