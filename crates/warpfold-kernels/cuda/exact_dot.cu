// exact_dot: the correctly rounded dot product of floats, whatever the order. Complex numbers are not conjugated.
//
// record: see exact_fold.cuh; one integer a part, its unit the square of the type's. value: f32 or f64, complex as a pair.
//
// As exact_sum, with products in place of numbers: those of narrow types are f64 numbers, those of f64 two.
#include "exact_fold.cuh"
#include "exact_kinds.cuh"
#undef READ
#define READ fold_exact_arrays

template <class E, Nan NAN> struct ExactDotFold {
    typedef E Element;
    typedef typename Component<E>::type Part;
    typedef typename Parts<E>::Part Wide;
    typedef ProductOf<Part> Kind;
    // Terms: products of components; those of part k of the sum are k, k + PARTS, ...
    static constexpr int PARTS = Parts<E>::COUNT, TERMS = PARTS * PARTS * PER_PACK<E>;
    static constexpr int LANES = sizeof(Wide) == 4 ? 4 : 2;
    static constexpr int PACKS = 2;
    static constexpr int STORAGE = PARTS * Kind::template Digits<32>::COUNT;
    static constexpr int THREADS = threads_of(STORAGE), BLOCKS = blocks_of(STORAGE, 1024);
    static constexpr int INTEGERS = PARTS, WORDS = PARTS * Kind::WORDS;
    typedef typename Kind::template Digits<THREADS> Digits;
    typedef typename Kind::template Window<LANES> Window;
    static constexpr u32 MOVES = 8;

    Window window;
    Digits digits[PARTS];
    u32 added = 0, moves = 0, top = 0;
    u64 skipped = 0;

    __device__ __forceinline__ explicit ExactDotFold(u64* storage) {
#pragma unroll
        for (int part = 0; part < PARTS; part++) digits[part].open(storage + part * Digits::COUNT * THREADS);
    }
    // The factors of an element's terms.
    __device__ __forceinline__ void factors(E x, E y, Wide* a, Wide* b) {
        const bool skip = NAN == Nan::Ignore && (is_nan(x) || is_nan(y));
        skipped += skip;
        if constexpr (PARTS == 2) {
            a[0] = skip ? 0 : x.re; b[0] = skip ? 0 : y.re;
            a[1] = skip ? 0 : x.re; b[1] = skip ? 0 : y.im;
            a[2] = skip ? 0 : -x.im; b[2] = skip ? 0 : y.im;
            a[3] = skip ? 0 : x.im; b[3] = skip ? 0 : y.re;
        } else {
            a[0] = skip ? 0 : widen(x);
            b[0] = skip ? 0 : widen(y);
        }
    }
    __device__ __forceinline__ void packs(const Pack& p, const Pack& q) {
        Elements<E> x(p), y(q);
        Wide a[TERMS], b[TERMS];
        bool inside = true;
#pragma unroll
        for (int k = 0; k < PER_PACK<E>; k++) {
            factors(x.element[k], y.element[k], a + k * PARTS * PARTS, b + k * PARTS * PARTS);
        }
#pragma unroll
        for (int k = 0; k < TERMS; k++) inside = inside && window.holds(__dmul_rn(a[k], b[k]));
        if (inside) {
#pragma unroll
            for (int k = 0; k < TERMS; k++) add_product(window, k % LANES, a[k], b[k]);
        } else {
            if constexpr (!Window::EVERYTHING) to_digits<TERMS>(a, b);
        }
    }
    __device__ __forceinline__ void one(E x, E y) {
        Wide a[PARTS * PARTS], b[PARTS * PARTS];
        factors(x, y, a, b);
        if constexpr (Window::EVERYTHING) {
#pragma unroll
            for (int k = 0; k < PARTS * PARTS; k++) add_product(window, k % LANES, a[k], b[k]);
        } else {
            to_digits<PARTS * PARTS>(a, b);
        }
    }
    template <int N> __device__ __forceinline__ void to_digits(const Wide* a, const Wide* b) {
#pragma unroll
        for (int k = 0; k < N; k++) {
            const u32 field = window.field(__dmul_rn(a[k], b[k]));
            top = field > top ? field : top;
            add_product(digits[k % PARTS], a[k], b[k]);
        }
        digits[0].waiting += N / PARTS;
    }
    __device__ __forceinline__ void end_wave() {
        constexpr u32 WAVE = PACKS * ((TERMS + LANES - 1) / LANES);
        added += WAVE;
        bool move = false;
        if constexpr (!Window::EVERYTHING) move = top > 0 && moves < MOVES && !window.covers(top);
        if (added > window.ADDITIONS - 2 * WAVE || move) {
            drain();
            if constexpr (!Window::EVERYTHING) {
                if (move) window.move(top);
                moves += move;
            }
        }
        top = 0;
#pragma unroll
        for (int part = 0; part < PARTS; part++) {
            digits[part].waiting = digits[0].waiting;
            digits[part].end_wave();
        }
    }
    __device__ __forceinline__ void drain() {
#pragma unroll
        for (int part = 0; part < PARTS; part++) window.template drain<PARTS>(part, digits[part]);
        added = 0;
    }
    __device__ __forceinline__ void close() { drain(); }
    __device__ __forceinline__ u32 specials(int part) const { return digits[part].specials; }
    static __device__ __forceinline__ void add_block(const u64* storage, u64* word) {
#pragma unroll
        for (int part = 0; part < PARTS; part++) {
            ::add_block<Digits, Kind::WORDS>(storage + part * Digits::COUNT * THREADS, word + part * Kind::WORDS);
        }
    }
    static __device__ __forceinline__ void finish(const u64* word, const Seen& seen, u32* scratch, const Arguments& a) {
        finish_sums<Kind, PARTS, Wide>(word, seen, scratch, a);
    }
};

template <class E, Nan NAN> using ExactDot = ExactDotFold<E, NAN>;

#include "entries.cuh"
