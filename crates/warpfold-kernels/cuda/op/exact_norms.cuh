// Sums of magnitudes of floats: of real numbers the numbers without their signs, of complex ones roots.
//
// The magnitude of a complex number is a root, taken to 52 bits (complex64) or about 100 (complex128) by the operations
// of the CPU, and added exactly.
#pragma once
#include "num/double_double.cuh"
#include "op/exact_sums.cuh"

// complex64: one f64 holds the root; its squares are exact there.
template <class E> struct Norms {
    typedef E Element;
    typedef Vector Loaded;
    typedef OneItems<E> Items;
    typedef Kept<Norms> All;
    static constexpr int COUNT = 1;

    static __device__ __forceinline__ Number<f64> term(E z, int) {
        return {__dsqrt_rn(__fma_rn(f64(z.re), f64(z.re), product(z.im, z.im)))};
    }
};
// Numbers of 53 bits, in the integers of products of f32.
struct RootOfNarrow : ProductOf<f32> {
    static constexpr bool SHARES[] = {false};
    static constexpr int MOST[] = {768};
    template <int LANES> using Window = typename SumOf<f64>::template Window<LANES>;
};

// complex128: a double-double.
struct DoubleNorm {
    complex128 z;
    f64 high, low;
};

template <> struct Norms<complex128> {
    typedef complex128 Element;
    typedef Vector Loaded;
    typedef OneItems<complex128> Items;
    typedef Kept<Norms> All;
    static constexpr int COUNT = 1;

    static __device__ __forceinline__ DoubleNorm term(complex128 z, int) {
        const DoubleDouble root = square_root(add(two_product(z.re, z.re), two_product(z.im, z.im)));
        return {z, root.high, root.low};
    }
};

// High and low parts each have a window; both go to the same limbs, those of products, as the roots of small numbers
// reach far below an f64.
struct WideNorms {
    typedef ProductOf<f64> Kind;
    static constexpr bool PLAIN = false;
    static constexpr int LANES = 2, MOST = 512, THREADS = MOST;
    static constexpr int INTEGERS = 1, WORDS = Kind::WORDS;
    static constexpr bool COUNTS_NAN = false, SMALL_PATH = false;
    typedef Kind::Limbs<THREADS> Limbs;
    static constexpr bool SHARED = true;
    static constexpr int STORAGE = Limbs::STORAGE;
    typedef SumOf<f64>::Window<LANES> Window;
    static constexpr u32 ADDITIONS = Window::ADDITIONS;

    Window high, low;
    Limbs limbs;

    __device__ __forceinline__ explicit WideNorms(u64* storage) {
        limbs.open(storage);
        align();
    }
    // The low parts of the numbers at the upper end of the one window lie at the upper end of the other.
    __device__ __forceinline__ void align() {
        const u32 start = high.low >> 20;
        low.start_at(start > 53 ? start - 53 : 1);
    }
    // Neither the squares nor their errors overflowed or underflowed to any effect; not so of NaN.
    static __device__ __forceinline__ bool is_plain(f64 root) {
        return root >= power_of_two(-450) && root <= power_of_two(500);
    }

    static constexpr u32 REACH = 1;
    __device__ __forceinline__ u32 distance(const DoubleNorm& root) const {
        const bool in_range = is_plain(root.high) && high.distance(root.high) < Window::REACH &&
                              (low.distance(root.low) < Window::REACH || root.low == 0);
        return !in_range;
    }
    __device__ __forceinline__ u32 field(const DoubleNorm& root) const {
        return is_plain(root.high) ? high.field(root.high) : 0;
    }
    __device__ __forceinline__ void add(int lane, const DoubleNorm& root) {
        high.add(lane, root.high);
        low.add(lane, root.low);
    }
    __device__ __forceinline__ void add_to_limbs(int, const DoubleNorm& root) {
        const f64 re = fabs(root.z.re), im = fabs(root.z.im), larger = re > im ? re : im;
        if (!is_finite(re) || !is_finite(im)) {
            limbs.specials |= special_flag(re + im);
        } else if (is_plain(root.high)) {
            limbs.add_plain(root.high, 0);
            limbs.add_plain(root.low, 0);
        } else if (larger > 0) {
            add_scaled(re, im, larger);
        }
    }
    // Brought near 1. The power that scales the very largest numbers would not be normal; subnormal ones come up to
    // 2^-52 at least.
    __device__ __forceinline__ void add_scaled(f64 re, f64 im, f64 larger) {
        const i32 exponent = larger < power_of_two(-1022) ? -1022
                             : exponent_of(larger) > 1022 ? 1022
                                                          : exponent_of(larger);
        const f64 scale = power_of_two(-exponent);
        const DoubleNorm scaled = Norms<complex128>::term({re * scale, im * scale}, 0);
        limbs.add_plain(scaled.high, exponent);
        limbs.add_plain(scaled.low, exponent);
    }
    __device__ __forceinline__ void waits(int terms) { limbs.waiting += 2 * terms; }
    __device__ __forceinline__ bool covers(u32 field) const { return high.covers(field); }
    __device__ __forceinline__ void move(u32 field) {
        high.move(field);
        align();
    }
    __device__ __forceinline__ void drain() {
        high.drain<1>(0, limbs);
        low.drain<1>(0, limbs);
    }
    __device__ __forceinline__ void settle() {
        if (limbs.waiting <= Limbs::ADDITIONS) return;
        limbs.settle();
        limbs.waiting = 1;
    }
    __device__ __forceinline__ void close_limbs() {}
    __device__ __forceinline__ u32 specials(int) const { return limbs.specials; }
    static __device__ __forceinline__ void add_columns(const u64* storage, u64* word) {
        ::add_columns<Limbs, WORDS>(storage, word);
    }
    static __device__ __forceinline__ void finish(const u64* word, const SpecialValues& flags, u32* scratch,
                                                  const Arguments& a) {
        finish_sum<Kind, f64>(word, 0, flags, scratch, a);
    }
};

template <class E> struct L1Of {
    typedef ExactFold<Components<E, Of::Absolutes>, SumsOf<E>, IN_FLIGHT<E>> type;
};
template <> struct L1Of<complex64> {
    typedef ExactFold<Norms<complex64>, Sums<RootOfNarrow, 1, f32>, 4> type;
};
template <> struct L1Of<complex128> {
    typedef ExactFold<Norms<complex128>, WideNorms, 4> type;
};
