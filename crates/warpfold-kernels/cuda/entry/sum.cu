// sum: integers exactly, in 128 bits; floats as a tree in the accumulator type (f16 and bf16 in f32).
//
// record: integers the total's two limbs; floats [real part, imaginary part or 0, elements skipped], the parts as f64.
// value: integers the two limbs; floats the sum in f32 or f64, complex as a pair.
#include "walk/array.cuh"
#include "num/packed_dot.cuh"
#include "num/wide_integers.cuh"

// Integers of up to 32 bits: a vector's sum in 32 or 64 bits, a thread's in 64 (2^31 elements a thread), then 128.
// 64-bit integers: 128 bits throughout.
template <class E> struct IntegerSum {
    typedef E Element;
    typedef WideInteger<2> State;
    typedef decltype(widen(E())) Wide;
    static constexpr int VECTORS = 4, BLOCKS = 3;
    State total = State::zero();
    i64 narrow = 0;

    __device__ __forceinline__ IntegerSum(const E*, u64) {}

    __device__ __forceinline__ void vector(const Vector& p, u64) {
        if constexpr (sizeof(E) == 1) {
            Wide sum = 0;
#pragma unroll
            for (int k = 0; k < 4; k++) sum = dp4a(Wide(p.word[k]), Wide(0x01010101), sum);
            narrow += sum;
        } else if constexpr (sizeof(E) == 2) {
            Wide sum = 0;
#pragma unroll
            for (int k = 0; k < 4; k++) sum = dp2a(Wide(p.word[k]), Wide(0x0101), sum);
            narrow += sum;
        } else {
            Elements<E> e(p);
#pragma unroll
            for (int k = 0; k < PER_VECTOR<E>; k++) one(e.element[k], 0);
        }
    }
    __device__ __forceinline__ void one(E x, u64) {
        if constexpr (sizeof(E) == 8) total.add(widen(x));
        else narrow += widen(x);
    }
    __device__ __forceinline__ State state() {
        if constexpr (sizeof(E) < 8) total.add(narrow);
        return total;
    }
    static __device__ __forceinline__ State identity() { return State::zero(); }
    static __device__ __forceinline__ void merge(State& a, const State& b) { a.add(b); }
    static __device__ __forceinline__ void finish(const State& s, const Arguments& a) {
        u64* value = static_cast<u64*>(a.value);
        if (a.record) {
            a.record[0] = s.limb[0];
            a.record[1] = s.limb[1];
        }
        if (value) {
            value[0] = s.limb[0];
            value[1] = s.limb[1];
        }
    }
};

// Floats, real and complex: independent accumulators, so that additions overlap.
template <class E, Nan NAN> struct FloatSum {
    typedef E Element;
    typedef typename Parts<E>::Part Part;
    static constexpr int COMPONENTS = Parts<E>::COUNT;
    static constexpr int LANES = sizeof(Part) == 4 ? 4 : 2;
    static constexpr int VECTORS = 4, BLOCKS = 3;
    // Whole words of 64 bits beside a count.
    static constexpr int KEPT = COMPONENTS == 1 && NAN == Nan::Ignore && sizeof(Part) == 4 ? 2 : COMPONENTS;
    struct State : Skipped<NAN> {
        Part part[KEPT];
    };
    Part lane[LANES];
    u64 skipped = 0;

    __device__ __forceinline__ FloatSum(const E*, u64) {
#pragma unroll
        for (int k = 0; k < LANES; k++) lane[k] = 0;
    }
    __device__ __forceinline__ void add(E x, int at) {
        if constexpr (NAN == Nan::Ignore) {
            if (is_nan(x)) {
                skipped++;
                return;
            }
        }
        if constexpr (COMPONENTS == 2) {
            lane[(2 * at) % LANES] += x.re;
            lane[(2 * at + 1) % LANES] += x.im;
        } else {
            lane[at % LANES] += widen(x);
        }
    }
    __device__ __forceinline__ void vector(const Vector& p, u64) {
        Elements<E> e(p);
#pragma unroll
        for (int k = 0; k < PER_VECTOR<E>; k++) add(e.element[k], k);
    }
    __device__ __forceinline__ void one(E x, u64) { add(x, 0); }
    __device__ __forceinline__ State state() {
        State s = identity();
        s.skip(skipped);
        s.part[0] = lane[0];
        if constexpr (COMPONENTS == 2) {
            s.part[1] = lane[1];
            if constexpr (LANES == 4) {
                s.part[0] += lane[2];
                s.part[1] += lane[3];
            }
        } else {
            if constexpr (LANES == 4) s.part[0] = (lane[0] + lane[1]) + (lane[2] + lane[3]);
            else s.part[0] += lane[1];
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
using Sum = typename Select<Traits<E>::integer, IntegerSum<E>, FloatSum<E, NAN>>::type;

#include "entry/entries.cuh"
