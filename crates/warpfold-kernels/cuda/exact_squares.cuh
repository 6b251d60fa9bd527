// Sums and sums of squares in one pass: the integers of exact_moments, and most of exact_stats.
//
// One window of exponents serves both: x lies in one, x * x in one twice as wide.
#pragma once
#include "exact_sums.cuh"

// SETS of digits of sums: as many as the element has parts, or more for who sorts them otherwise.
template <class E, int SETS = Parts<E>::COUNT> struct SumsAndSquares {
    typedef typename Parts<E>::Part Wide;
    typedef SumOf<typename Component<E>::type> Sum;
    typedef ProductOf<typename Component<E>::type> Square;
    static constexpr int PARTS = SETS, LANES = sizeof(Wide) == 4 ? 4 : 2, MOST = sizeof(Wide) == 4 ? 640 : 896;
    static constexpr bool PLAIN = Sum::PLAIN && (PARTS == 1 || sizeof(Wide) == 8);
    static constexpr bool COUNTS_NAN = PARTS == 2;  // for stats
    static constexpr int SUM_COUNT = Sum::template Digits<32>::COUNT;
    static constexpr int STORAGE = PARTS * SUM_COUNT + Square::template Digits<32>::COUNT, THREADS = threads_of(STORAGE);
    static constexpr int INTEGERS = PARTS + 1, WORDS = PARTS * Sum::WORDS + Square::WORDS;
    typedef typename Sum::template Digits<THREADS> SumDigits;
    typedef typename Square::template Digits<THREADS> SquareDigits;
    typedef typename Sum::template Window<LANES> SumWindow;
    typedef typename Square::template Window<LANES> SquareWindow;
    static constexpr u32 ADDITIONS = SumWindow::ADDITIONS < SquareWindow::ADDITIONS ? SumWindow::ADDITIONS : SquareWindow::ADDITIONS;

    SumWindow sums;
    SquareWindow squares;
    SumDigits sum_digits[PARTS];
    SquareDigits square_digits;

    __device__ __forceinline__ explicit SumsAndSquares(u64* storage) {
#pragma unroll
        for (int part = 0; part < PARTS; part++) sum_digits[part].open(storage + part * SUM_COUNT * THREADS);
        square_digits.open(storage + PARTS * SUM_COUNT * THREADS);
        align_windows(sums, squares);
    }
    __device__ __forceinline__ bool holds(Number<Wide> term) const { return hold(sums, squares, term.x); }
    __device__ __forceinline__ u32 field(Number<Wide> term) const { return sums.field(term.x); }
    __device__ __forceinline__ void add(int lane, Number<Wide> term) {
        sums.add(lane, term.x);
        add_product(squares, lane, term.x, term.x);
    }
    __device__ __forceinline__ void add_to_digits(int part, Number<Wide> term) {
        sum_digits[part].add(term.x);
        add_product(square_digits, term.x, term.x);
    }
    static __device__ __forceinline__ bool plain(Number<Wide> term) { return SquareDigits::plain(term.x); }
    __device__ __forceinline__ void add_plain_to_digits(int part, Number<Wide> term) {
        sum_digits[part].add_plain(term.x);
        add_plain_product(square_digits, term.x, term.x);
    }
    __device__ __forceinline__ void waits(int terms) { square_digits.waiting += terms; }
    __device__ __forceinline__ bool covers(u32 field) const { return cover(sums, squares, field); }
    __device__ __forceinline__ void move(u32 field) {
        sums.move(field);
        align_windows(sums, squares);
    }
    __device__ __forceinline__ void drain() {
#pragma unroll
        for (int part = 0; part < PARTS; part++) sums.template drain<PARTS>(part, sum_digits[part]);
        squares.template drain<1>(0, square_digits);
    }
    __device__ __forceinline__ void settle() {
        if (square_digits.waiting <= SquareDigits::ADDITIONS) return;
#pragma unroll
        for (int part = 0; part < PARTS; part++) sum_digits[part].settle();
        square_digits.settle();
        square_digits.waiting = 1;
    }
    __device__ __forceinline__ void close_digits() {
#pragma unroll
        for (int part = 0; part < PARTS; part++) sum_digits[part].close();
    }
    __device__ __forceinline__ u32 specials(int k) const {
        return k < PARTS ? sum_digits[k % PARTS].specials : square_digits.specials;
    }
    static __device__ __forceinline__ void add_columns(const u64* storage, u64* word) {
#pragma unroll 1
        for (int part = 0; part < PARTS; part++) {
            ::add_columns<SumDigits, Sum::WORDS>(storage + part * SUM_COUNT * THREADS, word + part * Sum::WORDS);
        }
        ::add_columns<SquareDigits, Square::WORDS>(storage + PARTS * SUM_COUNT * THREADS, word + PARTS * Sum::WORDS);
    }
    static __device__ __forceinline__ void finish(const u64* word, const Seen&, u32*, const Arguments& a) {
        if (!a.record) return;
        u32* to = reinterpret_cast<u32*>(a.record + 2);
#pragma unroll 1
        for (int part = 0; part < PARTS; part++) {
            Integer<Sum::WORDS>(word + part * Sum::WORDS).store(to + part * Sum::WORDS);
        }
        Integer<Square::WORDS>(word + PARTS * Sum::WORDS).store(to + PARTS * Sum::WORDS);
    }
};
