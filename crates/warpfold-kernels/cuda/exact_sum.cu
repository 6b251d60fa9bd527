// exact_sum, exact_l1: the correctly rounded sum of floats, or of their magnitudes, whatever the order.
//
// record: see exact_fold.cuh; one integer a part, its unit that of the type. value: f32 or f64, complex as a pair.
//
// A pack whose numbers all lie in the thread's window is added there; any other goes to the thread's digits. Data without a common scale so runs on the
// digits alone, and costs the same whatever it is.
#include "exact_fold.cuh"
#include "exact_kinds.cuh"

enum class Of { Values, Magnitudes };

template <class E, Nan NAN, Of OF> struct ExactSumFold {
    typedef E Element;
    typedef typename Component<E>::type Part;
    typedef typename Parts<E>::Part Wide;
    typedef SumOf<Part> Kind;
    static constexpr int PARTS = Parts<E>::COUNT, NUMBERS = PARTS * PER_PACK<E>;
    static constexpr int LANES = sizeof(Wide) == 4 ? 4 : 2;
    static constexpr int PACKS = 4;
    static constexpr int STORAGE = PARTS * Kind::template Digits<32>::COUNT;
    static constexpr int THREADS = threads_of(STORAGE), BLOCKS = blocks_of(STORAGE, 1024);
    static constexpr int INTEGERS = PARTS, WORDS = PARTS * Kind::WORDS;
    typedef typename Kind::template Digits<THREADS> Digits;
    typedef typename Kind::template Window<LANES> Window;
    // After so many changes of scale a thread's window stays where it is, and the digits take the rest.
    static constexpr u32 MOVES = 8;

    Window window;
    Digits digits[PARTS];
    u32 added = 0, moves = 0, top = 0;
    u64 skipped = 0;

    __device__ __forceinline__ explicit ExactSumFold(u64* storage) {
#pragma unroll
        for (int part = 0; part < PARTS; part++) digits[part].open(storage + part * Digits::COUNT * THREADS);
    }
    __device__ __forceinline__ void numbers(E x, Wide* to) {
        if constexpr (PARTS == 2) {
            const bool skip = NAN == Nan::Ignore && is_nan(x);
            skipped += skip;
            to[0] = skip ? 0 : x.re;
            to[1] = skip ? 0 : x.im;
        } else {
            const bool skip = NAN == Nan::Ignore && is_nan(x);
            skipped += skip;
            to[0] = skip ? 0 : OF == Of::Magnitudes ? fabs(widen(x)) : widen(x);
        }
    }
    __device__ __forceinline__ void pack(const Pack& p, u64) {
        Elements<E> e(p);
        Wide x[NUMBERS];
        bool inside = true;
#pragma unroll
        for (int k = 0; k < PER_PACK<E>; k++) numbers(e.element[k], x + k * PARTS);
#pragma unroll
        for (int k = 0; k < NUMBERS; k++) inside = inside && window.holds(x[k]);
        if (inside) {
#pragma unroll
            for (int k = 0; k < NUMBERS; k++) window.add(k % LANES, x[k]);
        } else {
            if constexpr (!Window::EVERYTHING) to_digits<NUMBERS>(x);
        }
    }
    __device__ __forceinline__ void one(E x, u64) {
        Wide parts[PARTS];
        numbers(x, parts);
        if constexpr (Window::EVERYTHING) {
#pragma unroll
            for (int k = 0; k < PARTS; k++) window.add(k, parts[k]);
        } else {
            to_digits<PARTS>(parts);
        }
    }
    // Numbers that miss the window; it is to follow the largest of them.
    template <int N> __device__ __forceinline__ void to_digits(const Wide* x) {
#pragma unroll
        for (int k = 0; k < N; k++) {
            const u32 field = window.field(x[k]);
            top = field > top ? field : top;
            digits[k % PARTS].add(x[k]);
        }
        digits[0].waiting += N / PARTS;
    }
    // Every number of the wave may have gone to either place.
    __device__ __forceinline__ void end_wave() {
        constexpr u32 WAVE = PACKS * ((NUMBERS + LANES - 1) / LANES);
        added += WAVE;
        bool move = false;
        if constexpr (!Window::EVERYTHING) {
            move = top > 0 && moves < MOVES && !window.covers(top);
        }
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
    __device__ __forceinline__ void close() {
        drain();
#pragma unroll
        for (int part = 0; part < PARTS; part++) digits[part].close();
    }
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

template <class E, Nan NAN> using ExactSum = ExactSumFold<E, NAN, Of::Values>;
template <class E, Nan NAN> using ExactL1 = ExactSumFold<E, NAN, Of::Magnitudes>;

#include "entries.cuh"
