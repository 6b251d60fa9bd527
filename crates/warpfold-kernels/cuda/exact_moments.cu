// exact_moments: the exact sum and sum of squares of floats, for var, std and l2, whatever the order.
//
// record: see exact_fold.cuh; one integer a part for the sum, one of products for the squares of all parts. value: none.
//
// One window of exponents serves both: x lies in one, x * x in one twice as wide.
#include "exact_fold.cuh"
#include "exact_kinds.cuh"

template <class E> struct ExactMomentsFold {
    typedef E Element;
    typedef Pack Loaded;
    typedef typename Component<E>::type Part;
    typedef typename Parts<E>::Part Wide;
    typedef SumOf<Part> Sum;
    typedef ProductOf<Part> Square;
    static constexpr bool NARROW = sizeof(Wide) == 4;
    static constexpr int PARTS = Parts<E>::COUNT, NUMBERS = PARTS * PER_PACK<E>;
    static constexpr int LANES = NARROW ? 4 : 2, PACKS = NARROW ? 4 : 8;
    static constexpr int SUM_COUNT = Sum::template Digits<32>::COUNT;
    static constexpr int STORAGE = PARTS * SUM_COUNT + Square::template Digits<32>::COUNT;
    static constexpr int THREADS = threads_of(STORAGE), BLOCKS = blocks_of(STORAGE, 896);
    static constexpr int INTEGERS = PARTS + 1, WORDS = PARTS * Sum::WORDS + Square::WORDS;
    typedef typename Sum::template Digits<THREADS> SumDigits;
    typedef typename Square::template Digits<THREADS> SquareDigits;
    typedef typename Sum::template Window<LANES> SumWindow;
    typedef typename Square::template Window<LANES> SquareWindow;

    SumWindow sums;
    SquareWindow squares;
    SumDigits sum_digits[PARTS];
    SquareDigits square_digits;
    u32 added = 0, moves = 0, top = 0;
    const bool skip;
    u64 skipped = 0;

    __device__ __forceinline__ ExactMomentsFold(u64* storage, bool skip) : skip(skip) {
#pragma unroll
        for (int part = 0; part < PARTS; part++) sum_digits[part].open(storage + part * SUM_COUNT * THREADS);
        square_digits.open(storage + PARTS * SUM_COUNT * THREADS);
        align_windows(sums, squares);
    }
    static __device__ __forceinline__ Wide number(E x, int part) {
        if constexpr (PARTS == 2) return part ? x.im : x.re;
        else return widen(x);
    }
    __device__ __forceinline__ bool inside(const Pack& p) {
        Elements<E> e(p);
        Wide x[NUMBERS];
        bool inside = true;
#pragma unroll
        for (int k = 0; k < NUMBERS; k++) {
            x[k] = number(e.element[k / PARTS], k % PARTS);
            inside = inside && hold(sums, squares, x[k]);
        }
        if (!inside) return false;
#pragma unroll
        for (int k = 0; k < NUMBERS; k++) {
            sums.add(k % LANES, x[k]);
            add_product(squares, k % LANES, x[k], x[k]);
        }
        return true;
    }
    __device__ __forceinline__ void outside(const Pack& p) {
        Elements<E> e(p);
        if (moves < MOVES) {
#pragma unroll
            for (int k = 0; k < NUMBERS; k++) {
                const u32 field = sums.field(number(e.element[k / PARTS], k % PARTS));
                top = field > top ? field : top;
            }
        }
        if (skip) {
#pragma unroll
            for (int k = 0; k < PER_PACK<E>; k++) {
                if (is_nan(e.element[k])) {
                    skipped++;
                    e.element[k] = E();
                }
            }
        }
#pragma unroll
        for (int k = 0; k < PER_PACK<E>; k++) add(e.element[k]);
    }
    __device__ __forceinline__ void one(E x) {
        if (skip && is_nan(x)) {
            skipped++;
            return;
        }
        add(x);
    }
    __device__ __forceinline__ void add(E x) {
#pragma unroll
        for (int part = 0; part < PARTS; part++) {
            const Wide part_of_x = number(x, part);
            sum_digits[part].add(part_of_x);
            add_product(square_digits, part_of_x, part_of_x);
        }
        square_digits.waiting += PARTS;
    }
    __device__ __forceinline__ void end_wave() {
        constexpr u32 WAVE = PACKS * ((NUMBERS + LANES - 1) / LANES);
        constexpr u32 MOST = SumWindow::ADDITIONS < SquareWindow::ADDITIONS ? SumWindow::ADDITIONS : SquareWindow::ADDITIONS;
        added += WAVE;
        const bool move = top > 0 && moves < MOVES && !cover(sums, squares, top);
        if (added > MOST - WAVE || move) {
            drain();
            if (move) {
                sums.move(top);
                align_windows(sums, squares);
            }
            moves += move;
        }
        top = 0;
        if (square_digits.waiting > SquareDigits::ADDITIONS) {
#pragma unroll
            for (int part = 0; part < PARTS; part++) sum_digits[part].settle();
            square_digits.settle();
            square_digits.waiting = 1;
        }
    }
    __device__ __forceinline__ void drain() {
#pragma unroll
        for (int part = 0; part < PARTS; part++) sums.template drain<PARTS>(part, sum_digits[part]);
        squares.template drain<1>(0, square_digits);
        added = 0;
    }
    __device__ __forceinline__ void close() {
        drain();
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

template <class E, Nan> using ExactMoments = ExactMomentsFold<E>;

#include "entries.cuh"
