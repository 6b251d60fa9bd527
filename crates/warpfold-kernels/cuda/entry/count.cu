// count, any and all: how many elements are not zero. NaN is not zero; a complex number is zero if both parts are.
//
// record: [nonzero elements, elements skipped]. value: the number of nonzero elements, u64.
#include "walk/array.cuh"

__device__ __forceinline__ bool nonzero(f16 x) { return (x.bits & 0x7fffu) != 0; }
__device__ __forceinline__ bool nonzero(bf16 x) { return (x.bits & 0x7fffu) != 0; }
__device__ __forceinline__ bool nonzero(boolean x) { return x.byte != 0; }
__device__ __forceinline__ bool nonzero(complex64 z) { return z.re != 0 || z.im != 0; }
__device__ __forceinline__ bool nonzero(complex128 z) { return z.re != 0 || z.im != 0; }
template <class E> __device__ __forceinline__ bool nonzero(E x) { return x != 0; }

template <class E, Nan NAN> struct Count {
    typedef E Element;
    static constexpr int VECTORS = 4, BLOCKS = 3;
    struct State : Skipped<NAN> {
        u64 nonzero;
    };
    State counts = {};

    __device__ __forceinline__ Count(const E*, u64) {}
    __device__ __forceinline__ void vector(const Vector& p, u64) {
        u32 sum = 0;
        if constexpr (sizeof(E) == 1) {
            // The top bit of each byte says whether any of its bits is set.
#pragma unroll
            for (int k = 0; k < 4; k++) {
                u32 w = p.word[k];
                sum += __popc((((w & 0x7f7f7f7fu) + 0x7f7f7f7fu) | w) & 0x80808080u);
            }
        } else {
            Elements<E> e(p);
            u32 skipped = 0;
#pragma unroll
            for (int k = 0; k < PER_VECTOR<E>; k++) {
                const bool skip = NAN == Nan::Ignore && is_nan(e.element[k]);
                sum += nonzero(e.element[k]) && !skip;
                skipped += skip;
            }
            counts.skip(skipped);
        }
        counts.nonzero += sum;
    }
    __device__ __forceinline__ void one(E x, u64) {
        const bool skip = NAN == Nan::Ignore && is_nan(x);
        counts.nonzero += nonzero(x) && !skip;
        counts.skip(skip);
    }
    __device__ __forceinline__ State state() { return counts; }
    static __device__ __forceinline__ State identity() { return {}; }
    static __device__ __forceinline__ void merge(State& a, const State& b) {
        a.nonzero += b.nonzero;
        a.skip(b.all_skipped());
    }
    static __device__ __forceinline__ void finish(const State& s, const Arguments& a) {
        if (a.record) {
            a.record[0] = s.nonzero;
            a.record[1] = s.all_skipped();
        }
        if (a.value) *static_cast<u64*>(a.value) = s.nonzero;
    }
};

#include "entry/entries.cuh"
