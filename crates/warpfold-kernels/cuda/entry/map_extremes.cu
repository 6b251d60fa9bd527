// map_min and map_max: the least and the greatest mapped value, and where it stands first.
//
// record: as argmin and argmax; ~0 as the index of nothing.
#include "num/order.cuh"
#include "walk/map_array.cuh"

// What a float must not be on the near side of to be better than the best so far; NaN, which nothing is, before there
// is a best. Of a zero that the other one outranks the number next to it, beyond a NaN nothing but NaNs.
template <class E, Side SIDE> __device__ __forceinline__ E edge_of(Rank<E> best) {
    constexpr bool IS_MAX = SIDE == Side::Max;
    const u64 bits = from_rank<E, SIDE>(best);
    if constexpr (sizeof(E) == 4) {
        const f32 value = __uint_as_float(u32(bits));
        if (is_nan(value)) return __uint_as_float(IS_MAX ? 0x7f800000u : 0xff800000u);
        if (value == 0) return __uint_as_float(IS_MAX ? 0x80000001u : 1u);
        return value;
    } else {
        const f64 value = __longlong_as_double(i64(bits));
        if (is_nan(value)) return __longlong_as_double(IS_MAX ? 0x7ff0000000000000ll : 0xfff0000000000000ll);
        if (value == 0) return __longlong_as_double(IS_MAX ? 0x8000000000000001ll : 1ll);
        return value;
    }
}

template <class E, Side SIDE> struct Extreme {
    typedef Vector Loaded;
    typedef Rank<E> R;
    static constexpr int VECTORS = 4, ELEMENTS = PER_VECTOR<E>, BLOCKS = 2;
    static constexpr bool IS_FLOAT = !Traits<E>::integer;
    struct State {
        i64 best;
        u64 at;
    };
    R best = LOWEST<R>;
    u64 at = ~0ull;
    E edge;

    __device__ __forceinline__ Extreme() {
        if constexpr (sizeof(E) == 4) edge = __uint_as_float(0x7fc00000u);
        else if constexpr (IS_FLOAT) edge = __longlong_as_double(0x7ff8000000000000ll);
    }
    __device__ __forceinline__ bool may_be_better(E x) const {
        if constexpr (!IS_FLOAT) return rank<E, SIDE, Nan::Propagate>(x) > best || at == ~0ull;
        else if constexpr (SIDE == Side::Max) return !(x <= edge);
        else return !(x >= edge);
    }
    // Vectors come in the order of their indices, so the first of equals stays.
    __device__ __forceinline__ void take(const Vector& p, u32 kept, u64 index) {
        const Elements<E> e(p);
        bool any = false;
#pragma unroll
        for (int k = 0; k < ELEMENTS; k++) any = any || ((kept >> k & 1) && may_be_better(e.element[k]));
        if (!any) return;
#pragma unroll
        for (int k = 0; k < ELEMENTS; k++) {
            const R r = rank<E, SIDE, Nan::Propagate>(e.element[k]);
            if ((kept >> k & 1) && (r > best || at == ~0ull)) {
                best = r;
                at = index + k;
            }
        }
        if constexpr (IS_FLOAT) edge = edge_of<E, SIDE>(best);
    }
    __device__ __forceinline__ State state() { return {best, at}; }
    static __device__ __forceinline__ State identity() { return {LOWEST<R>, ~0ull}; }
    static __device__ __forceinline__ void merge(State& a, const State& b) {
        if (b.best > a.best || (b.best == a.best && b.at < a.at)) a = b;
    }
    static __device__ __forceinline__ void finish(const State& s, const Arguments& a) {
        const int k = SIDE == Side::Min ? 3 : 1;
        a.record[0] = s.at == ~0ull ? 0 : SIDE == Side::Min ? 2 : 1;
        a.record[k] = from_rank<E, SIDE>(R(s.best));
        a.record[k + 1] = s.at;
    }
};

template <class E> using Min = Extreme<E, Side::Min>;
template <class E> using Max = Extreme<E, Side::Max>;

PLAIN_MAP_KERNEL(ENTRY, FOLD<ELEMENT>)
