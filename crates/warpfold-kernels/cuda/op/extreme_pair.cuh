// Both extremes of an array and where each stands first: what stats keep beside their sums.
//
// record: as in extreme.cuh.
#pragma once
#include "walk/array.cuh"
#include "num/vector_rank.cuh"

template <class E, Nan NAN> struct ExtremePair {
    typedef Rank<E> R;
    struct State {
        i64 max, min;
        u64 max_at, min_at;
    };
    R max = LOWEST<R>, min = LOWEST<R>;
    u64 max_at = 0, min_at = 0;

    // Every thread starts with the first element.
    __device__ __forceinline__ ExtremePair(const E* x, u64 n) {
        if (n == 0) return;
        max = rank<E, Side::Max, NAN>(x[0]);
        min = rank<E, Side::Min, NAN>(x[0]);
    }
    // Vectors come in the order of their indices, so the first of equals stays. SmallInput hold a new extreme: most are
    // asked one question.
    __device__ __forceinline__ void vector(const Vector& p, u64 index) {
        const R high = highest_rank<E, Side::Max, NAN>(p), low = highest_rank<E, Side::Min, NAN>(p);
        if (high > max || low > min) take(high, low, index);
    }
    __device__ __forceinline__ void take(R high, R low, u64 index) {
        if (high > max) max_at = index;
        if (low > min) min_at = index;
        max = larger(max, high);
        min = larger(min, low);
    }
    // Whether one of so many vectors may hold a new maximum (1) or minimum (2). Of f64 the higher words are asked, as
    // f32, whose order is theirs: equal ones may. NaNs are none, nor of f64 what such a word takes for one, from 2^1017
    // on: whoever asks looks at those otherwise.
    template <int VECTORS> __device__ __forceinline__ u32 sees(const Vector (&p)[VECTORS]) const {
        const auto key = [&](int n) {
            const Elements<E> e(p[n / PER_VECTOR<E>]);
            if constexpr (sizeof(E) == 8) return __uint_as_float(e.vector.word[n % 2 * 2 + 1]);
            else return widen(e.element[n % PER_VECTOR<E>]);
        };
        f32 most = key(0), least = most;
#pragma unroll
        for (int n = 1; n < VECTORS * PER_VECTOR<E>; n++) {
            most = extreme<Side::Max, Nan::Ignore>(most, key(n));
            least = extreme<Side::Min, Nan::Ignore>(least, key(n));
        }
        if constexpr (sizeof(E) == 8) {
            return (float_order(__float_as_uint(most)) >= i32(max >> 32) ? 1 : 0) |
                   (~float_order(__float_as_uint(least)) >= i32(min >> 32) ? 2 : 0);
        } else {
            return (rank<E, Side::Max, NAN>(narrow<E>(most)) > max ? 1 : 0) |
                   (rank<E, Side::Min, NAN>(narrow<E>(least)) > min ? 2 : 0);
        }
    }
    // The same of finite f64, of any size: as integers.
    template <int VECTORS> __device__ __forceinline__ u32 sees_finite(const Vector (&p)[VECTORS]) const {
        i32 most = -0x7fffffff - 1, least = 0x7fffffff;
#pragma unroll
        for (int n = 0; n < 2 * VECTORS; n++) {
            const i32 key = float_order(p[n / 2].word[n % 2 * 2 + 1]);
            most = key > most ? key : most;
            least = key < least ? key : least;
        }
        return (most >= i32(max >> 32) ? 1 : 0) | (~least >= i32(min >> 32) ? 2 : 0);
    }
    // All lanes of a warp: the extremes seen in their vectors, which are step elements apart. All keep the warp's, so
    // that soon few tiles hold a new one.
    template <int VECTORS> __device__ __forceinline__ void look(Vector (&p)[VECTORS], u64 index, u64 step, u32 seen) {
        if (__any_sync(0xffffffffu, seen & 1)) look_for<Side::Max>(p, index, step, max, max_at);
        if (__any_sync(0xffffffffu, seen & 2)) look_for<Side::Min>(p, index, step, min, min_at);
    }
    template <Side SIDE, int VECTORS>
    static __device__ __forceinline__ void look_for(Vector (&p)[VECTORS], u64 index, u64 step, R& best, u64& best_at) {
        R r = LOWEST<R>;
        u64 at = index;
        // Vectors go round, so that the code for one stands once.
#pragma unroll 1
        for (int k = 0; k < VECTORS; k++, index += step) {
            const Vector first = p[0];
            const R of_vector = highest_rank<E, SIDE, NAN>(first);
            if (of_vector > r) at = index;
            r = larger(r, of_vector);
#pragma unroll
            for (int j = 1; j < VECTORS; j++) p[j - 1] = p[j];
            p[VECTORS - 1] = first;
        }
        if (!__any_sync(0xffffffffu, r > best)) return;
#pragma unroll 1
        for (u32 lanes = 16; lanes > 0; lanes /= 2) {
            const R other = __shfl_xor_sync(0xffffffffu, r, lanes);
            const u64 other_at = __shfl_xor_sync(0xffffffffu, at, lanes);
            if (other > r || (other == r && other_at < at)) r = other, at = other_at;
        }
        if (r > best) best = r, best_at = at;
    }
    // Elements before the first vector come after the last one.
    __device__ __forceinline__ void one(E x, u64 index) {
        State mine = state();
        const R high = rank<E, Side::Max, NAN>(x), low = rank<E, Side::Min, NAN>(x);
        merge(mine, {high, low, index, index});
        max = R(mine.max), min = R(mine.min);
        max_at = mine.max_at, min_at = mine.min_at;
    }
    __device__ __forceinline__ State state() const { return {max, min, max_at, min_at}; }
    static __device__ __forceinline__ State identity() { return {LOWEST<R>, LOWEST<R>, ~0ull, ~0ull}; }
    static __device__ __forceinline__ void merge(State& a, const State& b) {
        if (b.max > a.max || (b.max == a.max && b.max_at < a.max_at)) a.max = b.max, a.max_at = b.max_at;
        if (b.min > a.min || (b.min == a.min && b.min_at < a.min_at)) a.min = b.min, a.min_at = b.min_at;
    }
    // `at` is the element, or the first of the vector that holds it. It ends at n: for no elements at once.
    template <Side SIDE> static __device__ __forceinline__ u64 index_of(i64 best, u64 at, const Arguments& a) {
        const E* x = static_cast<const E*>(a.x);
        while (at < a.n && rank<E, SIDE, NAN>(x[at]) != best) at++;
        return at;
    }
    static __device__ __forceinline__ void write(const State& s, const Arguments& a, u64* record) {
        const bool none = a.n == 0 || (NAN == Nan::Ignore && s.max == LOWEST<R>);
        record[0] = none ? 0 : 3;
        record[1] = from_rank<E, Side::Max>(R(s.max));
        record[2] = index_of<Side::Max>(s.max, s.max_at, a);
        record[3] = from_rank<E, Side::Min>(R(s.min));
        record[4] = index_of<Side::Min>(s.min, s.min_at, a);
    }
};
