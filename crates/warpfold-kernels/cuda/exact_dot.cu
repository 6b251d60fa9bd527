// exact_dot: the correctly rounded dot product of floats, whatever the order. Complex numbers are not conjugated.
//
// record: see exact_fold.cuh; one integer a part, its unit the square of the type's. value: f32 or f64, complex as a pair.
//
// As exact_sum, with products in place of numbers: those of narrow types are f64 numbers, those of f64 two.
#include "exact_fold.cuh"
#include "exact_kinds.cuh"
#undef READ
#define READ fold_exact_arrays

template <class E> struct ExactDotFold {
    typedef E Element;
    typedef TwoPacks Loaded;
    typedef typename Component<E>::type Part;
    typedef typename Parts<E>::Part Wide;
    typedef ProductOf<Part> Kind;
    // Terms of an element: products of components; those of part k of the sum are k, k + PARTS, ...
    static constexpr int PARTS = Parts<E>::COUNT, TERMS = PARTS * PARTS, PACKS = 2;
    static constexpr int LANES = sizeof(Wide) == 4 ? 4 : 2;
    static constexpr int STORAGE = PARTS * Kind::template Digits<32>::COUNT;
    static constexpr int THREADS = threads_of(STORAGE), BLOCKS = blocks_of(STORAGE, 1024);
    static constexpr int INTEGERS = PARTS, WORDS = PARTS * Kind::WORDS;
    typedef typename Kind::template Digits<THREADS> Digits;
    typedef typename Kind::template Window<LANES> Window;

    Window window;
    Digits digits[PARTS];
    u32 added = 0, moves = 0, top = 0;
    const bool skip;
    u64 skipped = 0;

    __device__ __forceinline__ ExactDotFold(u64* storage, bool skip) : skip(skip) {
#pragma unroll
        for (int part = 0; part < PARTS; part++) digits[part].open(storage + part * Digits::COUNT * THREADS);
    }
    // Re: a c - b d. Im: a d + b c.
    static __device__ __forceinline__ Wide first(E x, int term) {
        if constexpr (PARTS == 2) return term < 2 ? x.re : term == 2 ? -x.im : x.im;
        else return widen(x);
    }
    static __device__ __forceinline__ Wide second(E y, int term) {
        if constexpr (PARTS == 2) return term == 0 || term == 3 ? y.re : y.im;
        else return widen(y);
    }
    __device__ __forceinline__ bool inside(const TwoPacks& p) {
        constexpr int ALL = TERMS * PER_PACK<E>;
        Elements<E> x(p.x), y(p.y);
        bool inside = true;
#pragma unroll
        for (int k = 0; k < ALL; k++) {
            const Wide a = first(x.element[k / TERMS], k % TERMS), b = second(y.element[k / TERMS], k % TERMS);
            inside = inside && window.holds(product(a, b));
        }
        if (!inside) return false;
#pragma unroll
        for (int k = 0; k < ALL; k++) {
            const Wide a = first(x.element[k / TERMS], k % TERMS), b = second(y.element[k / TERMS], k % TERMS);
            add_product(window, k % LANES, a, b);
        }
        return true;
    }
    __device__ __forceinline__ void outside(const TwoPacks& p) {
        Elements<E> x(p.x), y(p.y);
        if (moves < MOVES) {
#pragma unroll
            for (int k = 0; k < TERMS * PER_PACK<E>; k++) {
                const Wide a = first(x.element[k / TERMS], k % TERMS), b = second(y.element[k / TERMS], k % TERMS);
                const u32 field = window.field(product(a, b));
                top = field > top ? field : top;
            }
        }
        if (skip) {
#pragma unroll
            for (int k = 0; k < PER_PACK<E>; k++) {
                if (is_nan(x.element[k]) || is_nan(y.element[k])) {
                    skipped++;
                    x.element[k] = y.element[k] = E();
                }
            }
        }
#pragma unroll
        for (int k = 0; k < PER_PACK<E>; k++) add(x.element[k], y.element[k]);
    }
    __device__ __forceinline__ void one(E x, E y) {
        if (skip && (is_nan(x) || is_nan(y))) {
            skipped++;
            return;
        }
        add(x, y);
    }
    __device__ __forceinline__ void add(E x, E y) {
#pragma unroll
        for (int k = 0; k < TERMS; k++) {
            const Wide a = first(x, k), b = second(y, k);
            add_product(digits[k % PARTS], a, b);
        }
        digits[0].waiting += PARTS;
    }
    __device__ __forceinline__ void end_wave() {
        constexpr u32 WAVE = PACKS * ((TERMS * PER_PACK<E> + LANES - 1) / LANES);
        added += WAVE;
        const bool move = top > 0 && moves < MOVES && !window.covers(top);
        if (added > window.ADDITIONS - WAVE || move) {
            drain();
            if (move) window.move(top);
            moves += move;
        }
        top = 0;
        if (digits[0].waiting > Digits::ADDITIONS) {
#pragma unroll
            for (int part = 0; part < PARTS; part++) digits[part].settle();
            digits[0].waiting = 1;
        }
    }
    __device__ __forceinline__ void drain() {
#pragma unroll
        for (int part = 0; part < PARTS; part++) window.template drain<PARTS>(part, digits[part]);
        added = 0;
    }
    __device__ __forceinline__ void close() { drain(); }
    __device__ __forceinline__ u32 specials(int part) const { return digits[part].specials; }
    static __device__ __forceinline__ void add_columns(const u64* storage, u64* word) {
#pragma unroll 1
        for (int part = 0; part < PARTS; part++) {
            ::add_columns<Digits, Kind::WORDS>(storage + part * Digits::COUNT * THREADS, word + part * Kind::WORDS);
        }
    }
    static __device__ __forceinline__ void finish(const u64* word, const Seen& seen, u32* scratch, const Arguments& a) {
        finish_sums<Kind, PARTS, Wide>(word, seen, scratch, a);
    }
};

template <class E, Nan> using ExactDot = ExactDotFold<E>;

#include "entries.cuh"
