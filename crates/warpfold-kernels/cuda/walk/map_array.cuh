// Folds of mapped values: the array is an expression of up to eight inputs, whose code is not here but is put in where
// it is known, by who launches the kernel.
//
// A template has three pseudo-instructions in its place, each of which PTX that can be run replaces:
//
//   warpfold.load V, E, i, stride;           starts to load V steps of E elements of each input, from step i on,
//                                            `stride` steps apart; what is loaded stays in registers of its own
//   warpfold.map k, E, words, kept, i;       maps step k of those that were loaded last, which is step i of all
//   warpfold.end E, words, kept, i, n;       loads and maps one step, whose elements may reach beyond n
//
// `words` are those of one vector of values, of two, or the bits of E conditions in one; `kept` has a bit for each
// element that counts. The values of those that do not are zero. `warpfold.map` stands V times, once for each k, and
// `warpfold.end` once: `cargo xtask kernels` looks.
//
// All inputs are the kernel's first parameters, by which pseudo-instructions know them. `counts` has four words: the
// first element for which an operation has no value, the first weight that is none, both ~0 if there is none; the
// elements that count; flags.
#pragma once
#include "walk/exact_array.cuh"

// What a fold of mapped values is told.
struct MapArguments {
    u64 n;
    Workspace* workspace;
    u64* record;
    u64* counts;

    __device__ __forceinline__ Arguments plain() const {
        return {nullptr, nullptr, n, workspace, record, nullptr, nullptr, 0, 0};
    }
};

// The bits of conditions.
struct Conditions {
    u32 word;
};

template <int K, int E> __device__ __forceinline__ void map_step(Vector& p, u32& kept, u64 i) {
    asm volatile("warpfold.map %6, %7, %0, %1, %2, %3, %4, %5;"
                 : "=r"(p.word[0]), "=r"(p.word[1]), "=r"(p.word[2]), "=r"(p.word[3]), "=r"(kept)
                 : "l"(i), "n"(K), "n"(E));
}
template <int K, int E> __device__ __forceinline__ void map_step(TwoVectors& p, u32& kept, u64 i) {
    asm volatile("warpfold.map %10, %11, %0, %1, %2, %3, %4, %5, %6, %7, %8, %9;"
                 : "=r"(p.x.word[0]), "=r"(p.x.word[1]), "=r"(p.x.word[2]), "=r"(p.x.word[3]), "=r"(p.y.word[0]),
                   "=r"(p.y.word[1]), "=r"(p.y.word[2]), "=r"(p.y.word[3]), "=r"(kept)
                 : "l"(i), "n"(K), "n"(E));
}
template <int K, int E> __device__ __forceinline__ void map_step(Conditions& p, u32& kept, u64 i) {
    asm volatile("warpfold.map %3, %4, %0, %1, %2;" : "=r"(p.word), "=r"(kept) : "l"(i), "n"(K), "n"(E));
}

template <int E> __device__ __forceinline__ void map_end(Vector& p, u32& kept, u64 i, u64 n) {
    asm volatile("warpfold.end %7, %0, %1, %2, %3, %4, %5, %6;"
                 : "=r"(p.word[0]), "=r"(p.word[1]), "=r"(p.word[2]), "=r"(p.word[3]), "=r"(kept)
                 : "l"(i), "l"(n), "n"(E));
}
template <int E> __device__ __forceinline__ void map_end(TwoVectors& p, u32& kept, u64 i, u64 n) {
    asm volatile("warpfold.end %11, %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10;"
                 : "=r"(p.x.word[0]), "=r"(p.x.word[1]), "=r"(p.x.word[2]), "=r"(p.x.word[3]), "=r"(p.y.word[0]),
                   "=r"(p.y.word[1]), "=r"(p.y.word[2]), "=r"(p.y.word[3]), "=r"(kept)
                 : "l"(i), "l"(n), "n"(E));
}
template <int E> __device__ __forceinline__ void map_end(Conditions& p, u32& kept, u64 i, u64 n) {
    asm volatile("warpfold.end %4, %0, %1, %2, %3;" : "=r"(p.word), "=r"(kept) : "l"(i), "l"(n), "n"(E));
}

// Tiles of V steps a thread, and how many of their elements count.
template <class Loaded, int V, int E> struct MappedTiles {
    u64 count = 0;
    u32 kept[V];

    static __device__ __forceinline__ void ask(u64 i) {
        asm volatile("warpfold.load %0, %1, %2, %3;" ::"n"(V), "n"(E), "l"(i), "l"(u64(blockDim.x)));
    }
    template <int K> __device__ __forceinline__ void take_from(Loaded (&p)[V], u64 i) {
        map_step<K, E>(p[K], kept[K], i + K * blockDim.x);
        count += __popc(kept[K]);
        if constexpr (K + 1 < V) take_from<K + 1>(p, i);
    }
    __device__ __forceinline__ void take(Loaded (&p)[V], u64 i) { take_from<0>(p, i); }
    __device__ __forceinline__ void get(Loaded (&p)[V], u64 i) {
        ask(i);
        take(p, i);
    }
    // One step at the end of all; which of its elements count.
    __device__ __forceinline__ u32 end(Loaded& p, u64 i, u64 n) {
        u32 kept_there;
        map_end<E>(p, kept_there, i, n);
        count += __popc(kept_there);
        return kept_there;
    }
};

// All threads: how many elements count.
__device__ __forceinline__ void add_count(u64 count, const MapArguments& a) {
    __shared__ u64 of_block;
    if (threadIdx.x == 0) of_block = 0;
    __syncthreads();
    const i64 of_warp = sum_of_lanes<32>(i64(count));
    if (threadIdx.x % 32 == 0) atomicAdd(&of_block, u64(of_warp));
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(a.counts + 2, of_block);
}

// A fold of exact_array.cuh.
template <class Fold> __device__ __forceinline__ void fold_exact_map(const MapArguments& a) {
    typedef typename Fold::Loaded Loaded;
    constexpr int E = PER_VECTOR<typename Fold::Element>;
    __shared__ u64 storage[Fold::STORAGE];
    const u64 threads = u64(gridDim.x) * blockDim.x, count = a.n / E;
    const Arguments plain = a.plain();

    clear_limbs<Fold>(storage);
    Fold fold(storage, plain);
    MappedTiles<Loaded, Fold::VECTORS, E> tiles;
    Loaded p[Fold::VECTORS];
    const u64 base = fold_whole_tiles(fold, 0, count, count, tiles, p);
    const u32 reach = last_reach(fold, false);
#pragma unroll 1
    for (u64 i = base + u64(blockIdx.x) * blockDim.x + threadIdx.x; i * E < a.n; i += threads) {
        Loaded last;
        tiles.end(last, i, a.n);
        fold_last(fold, false, reach, last, i * E);
    }
    add_count(tiles.count, a);
    finish_exact(fold, storage, false, plain);
}

// Any other fold, which takes what it is given with the bits of what counts: take(Loaded, kept, index).
template <class Fold> __device__ __forceinline__ void walk_map(Fold& fold, const MapArguments& a) {
    typedef typename Fold::Loaded Loaded;
    constexpr int V = Fold::VECTORS, E = Fold::ELEMENTS;
    const u64 threads = u64(gridDim.x) * blockDim.x, count = a.n / E;
    const u64 first = u64(blockIdx.x) * blockDim.x * V + threadIdx.x;

    MappedTiles<Loaded, V, E> tiles;
    u64 base = 0;
#pragma unroll 1
    for (; base + V * threads <= count; base += V * threads) {
        Loaded p[V];
        tiles.get(p, base + first);
#pragma unroll
        for (int k = 0; k < V; k++) fold.take(p[k], tiles.kept[k], (base + first + k * blockDim.x) * E);
    }
#pragma unroll 1
    for (u64 i = base + u64(blockIdx.x) * blockDim.x + threadIdx.x; i * E < a.n; i += threads) {
        Loaded last;
        const u32 kept = tiles.end(last, i, a.n);
        fold.take(last, kept, i * E);
    }
    add_count(tiles.count, a);
}
template <class Fold> __device__ __forceinline__ void fold_map(const MapArguments& a) {
    Fold fold;
    walk_map(fold, a);
    finish_grid(fold, a.plain());
}
// One that leaves what it takes where it goes.
template <class Fold> __device__ __forceinline__ void write_map(const MapArguments& a) {
    Fold fold(a);
    walk_map(fold, a);
}

// An entry point: the inputs, and what all are told.
#define MAP_KERNEL(READ, THREADS, name, ...) \
    MANIFEST(state_, name) = state_bytes<__VA_ARGS__>(0); \
    MANIFEST(record_, name) = integer_words<__VA_ARGS__>(0); \
    extern "C" __global__ void __launch_bounds__(THREADS, __VA_ARGS__::BLOCKS) \
        name(const void*, const void*, const void*, const void*, const void*, const void*, const void*, const void*, \
             u64 n, Workspace* workspace, u64* record, u64* counts) { \
        READ<__VA_ARGS__>({n, workspace, record, counts}); \
    }
#define EXACT_MAP_KERNEL(name, ...) MAP_KERNEL(fold_exact_map, (__VA_ARGS__::THREADS), name, __VA_ARGS__)
#define PLAIN_MAP_KERNEL(name, ...) MAP_KERNEL(fold_map, 512, name, __VA_ARGS__)
