// map_sum, map_dot, map_moments and map_prod of mapped integers, exactly.
//
// record: as sum, dot, moments and prod.
#include "op/integer_moments.cuh"
#include "op/integer_product.cuh"
#include "walk/map_array.cuh"

template <class E, int LIMBS> struct IntegerFold {
    typedef WideInteger<LIMBS> State;
    static constexpr int VECTORS = 4, ELEMENTS = 2, BLOCKS = 2;
    State total = State::zero();

    __device__ __forceinline__ State state() { return total; }
    static __device__ __forceinline__ State identity() { return State::zero(); }
    static __device__ __forceinline__ void merge(State& a, const State& b) { a.add(b); }
    static __device__ __forceinline__ void finish(const State& s, const Arguments& a) {
#pragma unroll
        for (int k = 0; k < LIMBS; k++) a.record[k] = s.limb[k];
    }
};

template <class E> struct Sum : IntegerFold<E, 2> {
    typedef Vector Loaded;
    __device__ __forceinline__ void take(const Vector& p, u32, u64) {
        const Elements<E> e(p);
        this->total.add(e.element[0]);
        this->total.add(e.element[1]);
    }
};

template <class E> struct Dot : IntegerFold<E, 3> {
    typedef TwoVectors Loaded;
    __device__ __forceinline__ void take(const TwoVectors& p, u32, u64) {
        const Elements<E> x(p.x), y(p.y);
        this->total.add_product(x.element[0], y.element[0]);
        this->total.add_product(x.element[1], y.element[1]);
    }
};

template <class E> struct Moments : IntegerMoments<E> {
    typedef Vector Loaded;
    static constexpr int VECTORS = 2, ELEMENTS = 2, BLOCKS = 2;
    __device__ __forceinline__ Moments() : IntegerMoments<E>(nullptr, 0) {}
    __device__ __forceinline__ void take(const Vector& p, u32, u64 index) { this->vector(p, index); }
};

template <class E> struct Prod : IntegerProduct<E> {
    typedef Vector Loaded;
    static constexpr int VECTORS = 2, ELEMENTS = 2, BLOCKS = 2;
    __device__ __forceinline__ Prod() : IntegerProduct<E>(nullptr, 0) {}
    __device__ __forceinline__ void take(const Vector& p, u32 kept, u64 index) {
        const Elements<E> e(p);
#pragma unroll
        for (int k = 0; k < ELEMENTS; k++) {
            if (kept >> k & 1) this->one(e.element[k], index);
        }
    }
};

PLAIN_MAP_KERNEL(ENTRY, FOLD<ELEMENT>)
