// map_values: mapped floats as an array, one in the place of what does not count; products of them go along the tree of
// an array's elements (tree_array.cuh).
//
// record: no record but the array, with room for whole vectors.
#include "walk/map_array.cuh"

template <class E> struct Values {
    typedef Vector Loaded;
    static constexpr int VECTORS = 4, ELEMENTS = PER_VECTOR<E>, BLOCKS = 2;
    Vector* const out;

    __device__ __forceinline__ explicit Values(const MapArguments& a) : out(reinterpret_cast<Vector*>(a.record)) {}
    __device__ __forceinline__ void take(const Vector& p, u32 kept, u64 index) {
        Elements<E> e(p);
#pragma unroll
        for (int k = 0; k < ELEMENTS; k++) {
            if (!(kept >> k & 1)) e.element[k] = 1;
        }
        out[index / ELEMENTS] = e.vector;
    }
};

MAP_KERNEL(write_map, 512, ENTRY, FOLD<ELEMENT>)
