// exact_moments: the exact sum and sum of squares of floats, for var, std and l2, whatever the order.
//
// record: see exact_fold.cuh; one integer a part for the sum, one of products for the squares of all parts. value: none.
//
// One window of exponents serves both: x lies in one, x * x in one twice as wide.
#include "exact_fold.cuh"
#include "exact_kinds.cuh"

template <class E, Nan NAN> struct ExactMomentsFold {
    typedef E Element;
    typedef typename Component<E>::type Part;
    typedef typename Parts<E>::Part Wide;
    typedef SumOf<Part> Sum;
    typedef ProductOf<Part> Square;
    static constexpr int PARTS = Parts<E>::COUNT, NUMBERS = PARTS * PER_PACK<E>;
    static constexpr int LANES = sizeof(Wide) == 4 ? 4 : 2;
    static constexpr int PACKS = sizeof(Wide) == 4 ? 4 : 8;
    static constexpr int SUM_COUNT = Sum::template Digits<32>::COUNT;
    static constexpr int STORAGE = PARTS * SUM_COUNT + Square::template Digits<32>::COUNT;
    static constexpr int THREADS = threads_of(STORAGE), BLOCKS = blocks_of(STORAGE, 896);
    static constexpr int INTEGERS = PARTS + 1, WORDS = PARTS * Sum::WORDS + Square::WORDS;
    typedef typename Sum::template Digits<THREADS> SumDigits;
    typedef typename Square::template Digits<THREADS> SquareDigits;
    typedef typename Sum::template Window<LANES> SumWindow;
    typedef typename Square::template Window<LANES> SquareWindow;
    static constexpr bool EVERYTHING = SumWindow::EVERYTHING;
    static constexpr u32 MOVES = 8;

    SumWindow sums;
    SquareWindow squares;
    SumDigits sum_digits[PARTS];
    SquareDigits square_digits;
    u32 added = 0, moves = 0, top = 0;
    u64 skipped = 0;

    __device__ __forceinline__ explicit ExactMomentsFold(u64* storage) {
#pragma unroll
        for (int part = 0; part < PARTS; part++) sum_digits[part].open(storage + part * SUM_COUNT * THREADS);
        square_digits.open(storage + PARTS * SUM_COUNT * THREADS);
        align();
    }
    // The squares' window begins at the square of what the sums' begins with (f64: which spans more, so that its end is the squares').
    __device__ __forceinline__ void align() {
        if constexpr (!EVERYTHING) {
            if constexpr (sizeof(Wide) == 8) {
                const u32 end = (sums.low >> 20) + sums.SPAN, least = 1023 - 484;
                const u32 most = 1023 + 480 - squares.SPAN / 2;
                u32 start = end - squares.SPAN / 2;
                start = start < least ? least : start > most ? most : start;
                sums.start_at(start);
                squares.start_at(2 * start - 1023);
            } else {
                squares.start_at(2 * (sums.low >> 23) - 2 * 127 + 1023);
            }
        }
    }
    __device__ __forceinline__ bool holds(Wide x) const {
        if constexpr (sizeof(Wide) == 8) return (high_word(x) & 0x7fffffffu) - sums.low < squares.SPAN / 2 << 20;
        else return sums.holds(x);
    }
    __device__ __forceinline__ void numbers(E x, Wide* to) {
        const bool skip = NAN == Nan::Ignore && is_nan(x);
        skipped += skip;
        if constexpr (PARTS == 2) {
            to[0] = skip ? 0 : x.re;
            to[1] = skip ? 0 : x.im;
        } else {
            to[0] = skip ? 0 : widen(x);
        }
    }
    __device__ __forceinline__ void add(int lane, Wide x) {
        sums.add(lane, x);
        add_product(squares, lane, x, x);
    }
    __device__ __forceinline__ void pack(const Pack& p, u64) {
        Elements<E> e(p);
        Wide x[NUMBERS];
        bool inside = true;
#pragma unroll
        for (int k = 0; k < PER_PACK<E>; k++) numbers(e.element[k], x + k * PARTS);
#pragma unroll
        for (int k = 0; k < NUMBERS; k++) inside = inside && holds(x[k]);
        if (inside) {
#pragma unroll
            for (int k = 0; k < NUMBERS; k++) add(k % LANES, x[k]);
        } else {
            if constexpr (!EVERYTHING) to_digits<NUMBERS>(x);
        }
    }
    __device__ __forceinline__ void one(E x, u64) {
        Wide parts[PARTS];
        numbers(x, parts);
        if constexpr (EVERYTHING) {
#pragma unroll
            for (int k = 0; k < PARTS; k++) add(k, parts[k]);
        } else {
            to_digits<PARTS>(parts);
        }
    }
    template <int N> __device__ __forceinline__ void to_digits(const Wide* x) {
#pragma unroll
        for (int k = 0; k < N; k++) {
            const u32 field = sums.field(x[k]);
            top = field > top ? field : top;
            sum_digits[k % PARTS].add(x[k]);
            add_product(square_digits, x[k], x[k]);
        }
        square_digits.waiting += N;
    }
    __device__ __forceinline__ bool covers_top() const {
        if constexpr (sizeof(Wide) == 8) return top - (sums.low >> 20) < squares.SPAN / 2;
        else return sums.covers(top);
    }
    __device__ __forceinline__ void end_wave() {
        constexpr u32 WAVE = PACKS * ((NUMBERS + LANES - 1) / LANES);
        constexpr u32 MOST = SumWindow::ADDITIONS < SquareWindow::ADDITIONS ? SumWindow::ADDITIONS : SquareWindow::ADDITIONS;
        added += WAVE;
        bool move = false;
        if constexpr (!EVERYTHING) move = top > 0 && moves < MOVES && !covers_top();
        if (added > MOST - 2 * WAVE || move) {
            drain();
            if constexpr (!EVERYTHING) {
                if (move) {
                    sums.move(top);
                    align();
                }
                moves += move;
            }
        }
        top = 0;
#pragma unroll
        for (int part = 0; part < PARTS; part++) {
            sum_digits[part].waiting = square_digits.waiting;
            sum_digits[part].end_wave();
        }
        square_digits.end_wave();
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
    static __device__ __forceinline__ void add_block(const u64* storage, u64* word) {
#pragma unroll
        for (int part = 0; part < PARTS; part++) {
            ::add_block<SumDigits, Sum::WORDS>(storage + part * SUM_COUNT * THREADS, word + part * Sum::WORDS);
        }
        ::add_block<SquareDigits, Square::WORDS>(storage + PARTS * SUM_COUNT * THREADS, word + PARTS * Sum::WORDS);
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

template <class E, Nan NAN> using ExactMoments = ExactMomentsFold<E, NAN>;

#include "entries.cuh"
