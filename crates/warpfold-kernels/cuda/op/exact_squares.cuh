// Sums and sums of squares in one pass: the integers of exact_moments, and most of exact_stats.
//
// One window of exponents serves both: x lies in one, x * x in one twice as wide; those of f64 are one window
// (split_window.cuh).
#pragma once
#include "acc/split_window.cuh"
#include "op/exact_sums.cuh"

// f32, bf16, f16: a window for each.
template <class Sums, class Squares, int LANES_> struct TwoWindows {
    static constexpr int LANES = LANES_;
    static constexpr u32 ADDITIONS = Sums::ADDITIONS < Squares::ADDITIONS ? Sums::ADDITIONS : Squares::ADDITIONS;
    Sums sums;
    Squares squares;

    __device__ __forceinline__ TwoWindows() { align(sums, squares); }
    // f16: any finite number.
    static __device__ __forceinline__ void align(WholeRange<LANES>&, WholeProducts<LANES>&) {}
    // The squares' window begins with the square of what the sums' begins with, and is twice as wide or more.
    template <int M, class Window> static __device__ __forceinline__ void align(PlainWindow<LANES, M>& sums,
                                                                                Window& squares) {
        static_assert(Window::SPAN >= 2 * PlainWindow<LANES, M>::SPAN,
                      "the square of every number of the one window lies in the other");
        squares.start_at(2 * (sums.low >> 23) - 2 * 127 + 1023);
    }
    static constexpr u32 REACH = Sums::REACH;
    __device__ __forceinline__ u32 distance(f32 x) const { return sums.distance(x); }
    static __device__ __forceinline__ u32 field(f32 x) { return Sums::field(x); }
    __device__ __forceinline__ bool covers(u32 field) const { return sums.covers(field); }
    __device__ __forceinline__ void add(int lane, f32 x) {
        sums.add(lane, x);
        squares.add_product(lane, f64(x), f64(x));
    }
    __device__ __forceinline__ void move(u32 field) {
        sums.move(field);
        align(sums, squares);
    }
    template <int PARTS, class SumLimbs, class SquareLimbs>
    __device__ __forceinline__ void drain(SumLimbs (&sum_limbs)[PARTS], SquareLimbs& square_limbs) {
#pragma unroll
        for (int part = 0; part < PARTS; part++) sums.template drain<PARTS>(part, sum_limbs[part]);
        squares.template drain<1>(0, square_limbs);
    }
};

template <class E> struct WindowsOf {
    typedef typename Component<E>::type F;
    typedef TwoWindows<typename SumOf<F>::template Window<4>, typename ProductOf<F>::template Window<4>, 4> type;
};
template <> struct WindowsOf<f64> {
    typedef SplitWindow<1> type;
};
template <> struct WindowsOf<complex128> {
    typedef SplitWindow<2> type;
};

// SETS of limbs of sums: as many as the element has parts, or more for who sorts them otherwise.
template <class E, int SETS = Parts<E>::COUNT, class Windows = typename WindowsOf<E>::type> struct SumsAndSquares {
    typedef typename Parts<E>::Part Wide;
    typedef SumOf<typename Component<E>::type> Sum;
    typedef ProductOf<typename Component<E>::type> Square;
    static constexpr bool SHARED = sizeof(Wide) == 8 || sizeof(E) == 4;
    static constexpr int PARTS = SETS, LANES = Windows::LANES, MOST = SHARED ? 512 : 640;
    static constexpr bool PLAIN = Sum::PLAIN && (PARTS == 1 || sizeof(Wide) == 8);
    static constexpr bool COUNTS_NAN = PARTS == 2;  // for stats
    static constexpr bool SMALL_PATH = false;
    static constexpr int OWN = PARTS * Sum::template Limbs<32>::COUNT + Square::template Limbs<32>::COUNT;
    static constexpr int THREADS = SHARED ? MOST : threads_of(OWN);
    static constexpr int INTEGERS = PARTS + 1, WORDS = PARTS * Sum::WORDS + Square::WORDS;
    typedef typename LimbsOf<Sum, THREADS, SHARED>::type SumLimbs;
    typedef typename LimbsOf<Square, THREADS, SHARED>::type SquareLimbs;
    static constexpr int STORAGE = PARTS * SumLimbs::STORAGE + SquareLimbs::STORAGE;
    static constexpr u32 ADDITIONS = Windows::ADDITIONS;

    Windows windows;
    SumLimbs sum_limbs[PARTS];
    SquareLimbs square_limbs;

    __device__ __forceinline__ explicit SumsAndSquares(u64* storage) {
#pragma unroll
        for (int part = 0; part < PARTS; part++) sum_limbs[part].open(storage + part * SumLimbs::STORAGE);
        square_limbs.open(storage + PARTS * SumLimbs::STORAGE);
    }
    static constexpr u32 REACH = Windows::REACH;
    __device__ __forceinline__ u32 distance(Number<Wide> term) const { return windows.distance(term.x); }
    __device__ __forceinline__ u32 field(Number<Wide> term) const { return windows.field(term.x); }
    __device__ __forceinline__ void add(int lane, Number<Wide> term) { windows.add(lane, term.x); }
    __device__ __forceinline__ void add_to_limbs(int part, Number<Wide> term) {
        sum_limbs[part].add(term.x);
        add_product(square_limbs, term.x, term.x);
    }
    static constexpr bool CHECKS = SquareLimbs::CHECKS;
    __device__ __forceinline__ void add_plain_to_limbs(int part, Number<Wide> term) {
        add_plain_both(sum_limbs[part], square_limbs, term.x);
    }
    __device__ __forceinline__ void waits(int terms) { square_limbs.waiting += terms; }
    __device__ __forceinline__ bool covers(u32 field) const { return windows.covers(field); }
    __device__ __forceinline__ void move(u32 field) { windows.move(field); }
    __device__ __forceinline__ void drain() { windows.drain(sum_limbs, square_limbs); }
    __device__ __forceinline__ void settle() {
        if (square_limbs.waiting <= SquareLimbs::ADDITIONS) return;
#pragma unroll
        for (int part = 0; part < PARTS; part++) sum_limbs[part].settle();
        square_limbs.settle();
        square_limbs.waiting = 1;
    }
    __device__ __forceinline__ void close_limbs() {
#pragma unroll
        for (int part = 0; part < PARTS; part++) sum_limbs[part].close();
    }
    __device__ __forceinline__ u32 specials(int k) const {
        return k < PARTS ? sum_limbs[k % PARTS].specials : square_limbs.specials;
    }
    static __device__ __forceinline__ void add_columns(const u64* storage, u64* word) {
#pragma unroll 1
        for (int part = 0; part < PARTS; part++) {
            ::add_columns<SumLimbs, Sum::WORDS>(storage + part * SumLimbs::STORAGE, word + part * Sum::WORDS);
        }
        ::add_columns<SquareLimbs, Square::WORDS>(storage + PARTS * SumLimbs::STORAGE, word + PARTS * Sum::WORDS);
    }
    static __device__ __forceinline__ void finish(const u64* word, const SpecialValues&, u32*, const Arguments& a) {
        if (!a.record) return;
        u32* to = reinterpret_cast<u32*>(a.record + 2);
#pragma unroll 1
        for (int part = 0; part < PARTS; part++) {
            Integer<Sum::WORDS>(word + part * Sum::WORDS).store(to + part * Sum::WORDS);
        }
        Integer<Square::WORDS>(word + PARTS * Sum::WORDS).store(to + PARTS * Sum::WORDS);
    }
};
