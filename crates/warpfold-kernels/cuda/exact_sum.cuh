// The fold of correctly rounded sums; exact_sum.cu says what it is and what is written.
#pragma once
#include "exact_fold.cuh"
#include "exact_kinds.cuh"

enum class Of { Values, Magnitudes };

template <class E, Of OF> struct ExactSumFold {
    typedef E Element;
    typedef Pack Loaded;
    typedef typename Component<E>::type Part;
    typedef typename Parts<E>::Part Wide;
    typedef SumOf<Part> Kind;
    static constexpr int PARTS = Parts<E>::COUNT, NUMBERS = PARTS * PER_PACK<E>;
    static constexpr int PACKS = sizeof(Wide) == 4 ? 4 : 6;
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

    __device__ __forceinline__ ExactSumFold(u64* storage, bool skip) : skip(skip) {
#pragma unroll
        for (int part = 0; part < PARTS; part++) digits[part].open(storage + part * Digits::COUNT * THREADS);
    }
    static __device__ __forceinline__ Wide number(E x, int part) {
        if constexpr (PARTS == 2) return part ? x.im : x.re;
        else return OF == Of::Magnitudes ? fabs(widen(x)) : widen(x);
    }
    __device__ __forceinline__ bool inside(const Pack& p) {
        Elements<E> e(p);
        Wide x[NUMBERS];
        bool inside = true;
#pragma unroll
        for (int k = 0; k < NUMBERS; k++) {
            x[k] = number(e.element[k / PARTS], k % PARTS);
            inside = inside && window.holds(x[k]);
        }
        if (!inside) return false;
#pragma unroll
        for (int k = 0; k < NUMBERS; k++) window.add(k % LANES, x[k]);
        return true;
    }
    __device__ __forceinline__ void outside(const Pack& p) {
        Elements<E> e(p);
        if (moves < MOVES) {
#pragma unroll
            for (int k = 0; k < NUMBERS; k++) {
                const u32 field = window.field(number(e.element[k / PARTS], k % PARTS));
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
            digits[part].add(number(x, part));
        }
        digits[0].waiting++;
    }
    __device__ __forceinline__ void end_wave() {
        constexpr u32 WAVE = PACKS * NUMBERS / LANES;
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
    __device__ __forceinline__ void close() {
        drain();
#pragma unroll
        for (int part = 0; part < PARTS; part++) digits[part].close();
    }
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
