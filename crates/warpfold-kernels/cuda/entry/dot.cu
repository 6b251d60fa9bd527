// dot: integers exactly, in 192 bits; floats by fused multiply-adds in the accumulator type (f16 and bf16 in f32).
//
// record: integers the total's three limbs; floats [real part, imaginary part or 0, pairs skipped], the parts as f64.
// value: integers the three limbs; floats the sum in f32 or f64, complex as a pair. Complex numbers are not conjugated.
#include "walk/array.cuh"
#include "num/packed_dot.cuh"
#include "num/wide_integers.cuh"
#undef READ
#define READ fold_two_arrays

// What a thread gathers of products of integers: 64 bits hold 2^31 products of up to 32 bits.
template <class E> struct Products {
    WideInteger<3> total = WideInteger<3>::zero();
    i64 narrow = 0;

    __device__ __forceinline__ void vectors(const Vector& x, const Vector& y) {
        if constexpr (sizeof(E) == 1) {
            typedef decltype(widen(E())) Wide;
            Wide sum = 0;
#pragma unroll
            for (int k = 0; k < 4; k++) sum = dp4a(Wide(x.word[k]), Wide(y.word[k]), sum);
            narrow += sum;
        } else {
            Elements<E> a(x), b(y);
#pragma unroll
            for (int k = 0; k < PER_VECTOR<E>; k++) one(a.element[k], b.element[k]);
        }
    }
    __device__ __forceinline__ void one(E x, E y) {
        if constexpr (sizeof(E) == 8) total.add_product(widen(x), widen(y));
        else if constexpr (sizeof(E) == 4 && Traits<E>::is_signed) total.add(i64(x) * i64(y));
        else if constexpr (sizeof(E) == 4) total.add(u64(x) * u64(y));
        else narrow += widen(x) * widen(y);
    }
    __device__ __forceinline__ WideInteger<3> sum() {
        WideInteger<3> all = total;
        all.add(narrow);
        return all;
    }
};

template <class E> struct IntegerDot {
    typedef E Element;
    typedef WideInteger<3> State;
    static constexpr int VECTORS = 2, BLOCKS = 3;
    Products<E> products;

    __device__ __forceinline__ void vectors(const Vector& x, const Vector& y) { products.vectors(x, y); }
    __device__ __forceinline__ void one(E x, E y) { products.one(x, y); }
    __device__ __forceinline__ State state() { return products.sum(); }
    static __device__ __forceinline__ State identity() { return State::zero(); }
    static __device__ __forceinline__ void merge(State& a, const State& b) { a.add(b); }
    static __device__ __forceinline__ void finish(const State& s, const Arguments& a) {
        u64* value = static_cast<u64*>(a.value);
#pragma unroll
        for (int k = 0; k < 3; k++) {
            if (a.record) a.record[k] = s.limb[k];
            if (value) value[k] = s.limb[k];
        }
    }
};

template <class E, Nan NAN> struct FloatDot {
    typedef E Element;
    typedef typename Parts<E>::Part Part;
    static constexpr int COMPONENTS = Parts<E>::COUNT;
    static constexpr int LANES = 4 / COMPONENTS;
    static constexpr int VECTORS = 2, BLOCKS = 3;
    // Whole words of 64 bits beside a count.
    static constexpr int KEPT = COMPONENTS == 1 && NAN == Nan::Ignore && sizeof(Part) == 4 ? 2 : COMPONENTS;
    struct State : Skipped<NAN> {
        Part part[KEPT];
    };
    Part re[LANES], im[LANES];
    u64 skipped = 0;

    __device__ __forceinline__ FloatDot() {
#pragma unroll
        for (int k = 0; k < LANES; k++) re[k] = im[k] = 0;
    }
    __device__ __forceinline__ void add(E x, E y, int lane) {
        if constexpr (NAN == Nan::Ignore) {
            if (is_nan(x) || is_nan(y)) {
                skipped++;
                return;
            }
        }
        if constexpr (COMPONENTS == 2) {
            re[lane] = fma(x.re, y.re, re[lane]);
            re[lane] = fma(-x.im, y.im, re[lane]);
            im[lane] = fma(x.re, y.im, im[lane]);
            im[lane] = fma(x.im, y.re, im[lane]);
        } else {
            re[lane] = fma(widen(x), widen(y), re[lane]);
        }
    }
    __device__ __forceinline__ void vectors(const Vector& x, const Vector& y) {
        Elements<E> a(x), b(y);
#pragma unroll
        for (int k = 0; k < PER_VECTOR<E>; k++) add(a.element[k], b.element[k], k % LANES);
    }
    __device__ __forceinline__ void one(E x, E y) { add(x, y, 0); }
    __device__ __forceinline__ State state() {
        State s = identity();
        s.skip(skipped);
#pragma unroll
        for (int k = 0; k < LANES; k++) {
            s.part[0] += re[k];
            if constexpr (COMPONENTS == 2) s.part[1] += im[k];
        }
        return s;
    }
    static __device__ __forceinline__ State identity() { return {}; }
    static __device__ __forceinline__ void merge(State& a, const State& b) {
        a.part[0] += b.part[0];
        if constexpr (COMPONENTS == 2) a.part[1] += b.part[1];
        a.skip(b.all_skipped());
    }
    static __device__ __forceinline__ void finish(const State& s, const Arguments& a) {
        if (a.record) {
            a.record[0] = __double_as_longlong(s.part[0]);
            a.record[1] = COMPONENTS == 2 ? __double_as_longlong(s.part[COMPONENTS - 1]) : 0;
            a.record[2] = s.all_skipped();
        }
        if (Part* value = static_cast<Part*>(a.value)) {
            value[0] = canonical(s.part[0]);
            if constexpr (COMPONENTS == 2) value[1] = canonical(s.part[1]);
        }
    }
};

template <class E, Nan NAN>
using Dot = typename Select<Traits<E>::integer, IntegerDot<E>, FloatDot<E, NAN>>::type;

#include "entry/entries.cuh"
