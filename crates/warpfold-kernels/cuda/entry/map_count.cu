// map_count: for how many elements a condition holds.
//
// record: [elements for which it does].
#include "walk/map_array.cuh"

struct Count {
    typedef Conditions Loaded;
    static constexpr int VECTORS = 4, ELEMENTS = 4, BLOCKS = 2;
    struct State {
        u64 nonzero;
    };
    State counts = {0};

    __device__ __forceinline__ void take(const Conditions& p, u32, u64) { counts.nonzero += __popc(p.word); }
    __device__ __forceinline__ State state() { return counts; }
    static __device__ __forceinline__ State identity() { return {0}; }
    static __device__ __forceinline__ void merge(State& a, const State& b) { a.nonzero += b.nonzero; }
    static __device__ __forceinline__ void finish(const State& s, const Arguments& a) { a.record[0] = s.nonzero; }
};

PLAIN_MAP_KERNEL(ENTRY, Count)
