// Whole blocks of the canonical tree (tree_array.cuh) by one warp, which waits for no other.
//
// A lane multiplies a run. A run is 64 to 512 bytes: lanes that read their own would ask for 32 lines at a time, so a
// warp reads whole lines, into shared memory, whose slots are swizzled so that neither writing lines nor reading runs
// meets a bank twice; the next vectors are loaded meanwhile. Multiplying the 32 runs of a block in order is a chain of
// 31 steps, which one lane or two do as fast as 32 would: runs of several blocks, a tile, wait in shared memory, and
// then each of these blocks is multiplied by its own lanes.
#pragma once
#include "walk/tree_block.cuh"

// Vectors of each run that are loaded at once, at most, and the blocks of the largest tile as a power of two.
template <class Op, u32 WIDTH, u32 LEVEL> struct alignas(16) Tile {
    typedef typename Op::Element E;
    typedef typename Op::Node Node;
    static constexpr u32 OF_RUN = RUN / PER_VECTOR<E>, VECTORS = OF_RUN < WIDTH ? OF_RUN : WIDTH,
                         STAGES = OF_RUN / VECTORS, PACKED = Op::PACKED_WORDS, MOST = 1 << LEVEL;
    // A row of runs does not begin in the same bank as the next one.
    static constexpr u32 ROW = RUN + 1;

    Vector stage[VECTORS * RUN];
    u64 runs[PACKED * MOST * ROW];

    // A lane's vectors of a stage of a block: of every RUN / VECTORS-th run.
    static __device__ __forceinline__ u32 nth(u32 stage, u32 i) {
        const u32 lane = threadIdx.x % 32;
        return lane / VECTORS * OF_RUN + stage * VECTORS + lane % VECTORS + i * (RUN / VECTORS * OF_RUN);
    }
    static __device__ __forceinline__ void load(Vector (&to)[VECTORS], const char* block, u32 stage) {
#pragma unroll
        for (u32 i = 0; i < VECTORS; i++) to[i] = ::load(reinterpret_cast<const Vector*>(block) + nth(stage, i));
    }
    // The same where elements are not aligned to vectors.
    static __device__ __forceinline__ void gather(Vector (&to)[VECTORS], const char* block, u32 stage) {
#pragma unroll
        for (u32 i = 0; i < VECTORS; i++) {
            Elements<E> e(to[i]);
#pragma unroll
            for (u32 k = 0; k < PER_VECTOR<E>; k++)
                e.element[k] = reinterpret_cast<const E*>(block)[nth(stage, i) * PER_VECTOR<E> + k];
            to[i] = e.vector;
        }
    }
    // Where vector v of a stage's part of a run lies.
    static __device__ __forceinline__ u32 slot_of(u32 run, u32 v) {
        return run * VECTORS + (v ^ (VECTORS == 8 ? run % 8 : run / 2 % VECTORS));
    }
    __device__ __forceinline__ void put(const Vector (&from)[VECTORS]) {
        const u32 lane = threadIdx.x % 32;
#pragma unroll
        for (u32 i = 0; i < VECTORS; i++)
            stage[slot_of(i * (RUN / VECTORS) + lane / VECTORS, lane % VECTORS)] = from[i];
    }
    __device__ __forceinline__ const Vector& at(u32 v) const { return stage[slot_of(threadIdx.x % 32, v)]; }

    // A lane's run of the k-th block.
    __device__ __forceinline__ void put(u32 k, const Node& n) {
        u64 word[PACKED];
        Op::pack(n, word);
#pragma unroll
        for (u32 w = 0; w < PACKED; w++) runs[(w * MOST + k) * ROW + threadIdx.x % 32] = word[w];
    }
    // Blocks by their runs, the k-th in lane k where that is asked for one; all lanes of a warp. Op::LANES share one.
    __device__ __forceinline__ Node blocks(u32 count) const {
        const u32 lane = threadIdx.x % 32, k = lane / Op::LANES;
        const auto run = [&](u32 nth) {
            u64 word[PACKED];
#pragma unroll
            for (u32 w = 0; w < PACKED; w++) word[w] = runs[(w * MOST + k) * ROW + nth];
            return Op::unpack(word);
        };
        const Node n = Op::block(k < count, run);
        return Op::LANES == 1 ? n : shuffle_words(n, lane * Op::LANES % 32);
    }
};
