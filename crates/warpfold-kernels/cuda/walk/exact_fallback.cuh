// One output of many, by all threads of a block, by windows and limbs, as exact folds do a whole array: for what the
// pairs of part_exact.cuh cannot hold, or do not know.
//
// Inputs says where an output's elements are: count, packed() (how many lie side by side from `first` on: all, or
// none), and element i by get(array, i).
#pragma once
#include "op/exact_sums.cuh"
#include "op/part_exact.cuh"

// Elements a pitch apart.
struct Pitched {
    u64 first, count, pitch;
    __device__ __forceinline__ u64 packed() const { return pitch == 1 ? count : 0; }
    template <class E> __device__ __forceinline__ E get(const E* x, u64 i) const { return x[first + i * pitch]; }
};

// Where a segment's elements are.
struct OfSegments {
    const SegmentArguments& a;
    __device__ __forceinline__ Pitched operator()(u64 segment) const {
        const Bounds bounds(a);
        const u64 begin = bounds[segment];
        return {begin, bounds[segment + 1] - begin, 1};
    }
};

// What a block has beside its threads' limbs.
template <class Fold> struct Block {
    u64 word[Fold::WORDS];
    u32 scratch[Fold::WORDS];
    SpecialValues flags;
    u32 votes[Fold::THREADS / 32];
};

// Numbers, or their magnitudes, as masks of a vector's words.
template <class E> struct OfNumbers {
    u32 even, odd;
    __device__ __forceinline__ explicit OfNumbers(bool absolute) {
        odd = absolute ? sizeof(E) == 2 ? 0x7fff7fffu : 0x7fffffffu : ~0u;
        even = sizeof(E) == 8 ? ~0u : odd;
    }
    __device__ __forceinline__ Vector of(const Vector& p) const {
        return {{p.word[0] & even, p.word[1] & odd, p.word[2] & even, p.word[3] & odd}};
    }
    __device__ __forceinline__ E of(E x) const {
        Elements<E> e(Vector{});
        e.element[0] = x;
        e.vector = of(e.vector);
        return e.element[0];
    }
};

// Leaves the words of the fold's integers, and what was seen, to the first warp. All threads have left the shared
// memory before.
template <class Fold, class Inputs>
__device__ __forceinline__ void fold_exactly(const void* array, const Inputs& in, bool absolute, const Arguments& one,
                                             u64* storage, Block<Fold>& block) {
    typedef typename Fold::Element E;
    const E* x = static_cast<const E*>(array);
    const E* side_by_side = x + in.first;
    const OfNumbers<E> kept(absolute);
    const u64 packed = in.packed();
    const u64 head = misaligned<E>(side_by_side, packed), count = (packed - head) / PER_VECTOR<E>,
              tail = head + count * PER_VECTOR<E>;
    const Vector* vectors = reinterpret_cast<const Vector*>(side_by_side + head);

    clear_limbs<Fold>(storage);
    for (u32 k = threadIdx.x; k < Fold::WORDS; k += blockDim.x) block.word[k] = 0;
    if (threadIdx.x == 0) block.flags = {};
    __syncthreads();
    Fold fold(storage, one);
#pragma unroll 1
    for (u64 base = 0; base < count; base += u64(Fold::VECTORS) * blockDim.x) {
#pragma unroll 1
        for (u32 k = 0; k < Fold::VECTORS; k++) {
            const u64 i = base + k * blockDim.x + threadIdx.x;
            if (i >= count) continue;
            const Vector p = kept.of(load(vectors + i));
            const u64 index = head + i * PER_VECTOR<E>;
            if (!fold.inside(p, index)) fold.outside(p, index);
        }
        fold.end_tile();
    }
    // What stands before and after vectors, or lies apart.
#pragma unroll 1
    for (u64 i = threadIdx.x; i < head + (in.count - tail); i += blockDim.x) {
        const u64 at = i < head ? i : tail + i - head;
        fold.one(at, kept.of(in.get(x, at)));
        if (packed == 0) fold.end_tile();
    }
    fold.close();
    __syncthreads();
    Fold::add_columns(storage, block.word);
#pragma unroll
    for (int k = 0; k < Fold::INTEGERS; k++) {
        if (fold.specials(k)) atomicOr(&block.flags.specials[k], fold.specials(k));
    }
    if (fold.nans) atomicAdd(&block.flags.nans, fold.nans);
    __syncthreads();
}

// Calls with every output, or with those alone that an exact kernel has marked, block by block.
template <class IsMarked, class Do>
__device__ __forceinline__ void for_outputs(const SegmentArguments& a, bool all, u32* votes, const IsMarked& is_marked,
                                            const Do& fold) {
    if (!all && a.faults[MISSED] == ~0ull) return;
    const u32 chunk = all ? 1 : blockDim.x;
#pragma unroll 1
    for (u64 base = u64(blockIdx.x) * chunk; base < a.segments; base += u64(gridDim.x) * chunk) {
        const u64 mine = base + threadIdx.x;
        const u32 vote =
            __ballot_sync(0xffffffffu, threadIdx.x < chunk && mine < a.segments && (all || is_marked(mine)));
        if (threadIdx.x % 32 == 0) votes[threadIdx.x / 32] = vote;
        __syncthreads();
#pragma unroll 1
        for (u32 w = 0; w < blockDim.x / 32; w++) {
#pragma unroll 1
            for (u32 left = votes[w]; left != 0; left &= left - 1) fold(base + 32 * w + __ffs(left) - 1);
        }
        __syncthreads();
    }
}
