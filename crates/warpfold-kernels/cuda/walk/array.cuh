// The one loop of every reduction: 16-byte vectors, several in flight a thread, a grid that strides over the array.
//
// A fold is a struct that one thread owns:
//
//   Element, State          what it reads, and what it leaves
//   VECTORS                 vector loads in flight a thread
//   Fold(x, n)              starts empty; x is the array, for folds that need to look at it
//   vector(Vector, index)   takes in a vector whose first element stands at index
//   one(Element, index)     takes in one element (those before the first vector and after the last)
//   state()                 what it has gathered
//   identity(), merge(a, b) of states
//   finish(State, Arguments)   run by one thread of the grid: writes the record and the value
#pragma once
#include "walk/grid.cuh"

// The parameters that all production kernels share, in this order, 64 bits each.
struct Arguments {
    const void* x;         // n elements, aligned to their size
    const void* y;         // n more, for dot; of products of floats the index of the first element; else null
    u64 n;                 // elements
    Workspace* workspace;  // the stream's own
    u64* record;           // the exact state, for the host to read (see each kernel); or null
    void* value;           // the finished value in the result's type, for the device to use; or null
    u64* done;             // where the stamp goes once record and value are visible; or null
    u64 stamp;
    u64 options;  // 1: exact folds skip NaN (others have an entry for it); 2: a tree leaves its root for `finish`
};
constexpr u64 SKIP_NAN = 1;

template <class Fold> __device__ __forceinline__ void finish_grid(Fold& fold, const Arguments& a) {
    typename Fold::State state = fold.state();
    if (!grid_fold<Fold>(state, a.workspace)) return;
    Fold::finish(state, a);
    if (a.done) {
        __threadfence_system();
        *reinterpret_cast<volatile u64*>(a.done) = a.stamp;
    }
}

// The elements that were skipped, in states of folds that skip NaN; nothing in others, so that none is carried along.
template <Nan> struct Skipped {
    u64 skipped;
    __device__ __forceinline__ void skip(u64 more) { skipped += more; }
    __device__ __forceinline__ u64 all_skipped() const { return skipped; }
};
template <> struct Skipped<Nan::Propagate> {
    __device__ __forceinline__ void skip(u64) {}
    __device__ __forceinline__ u64 all_skipped() const { return 0; }
};

// Elements before the first 16-byte boundary, at most n.
template <class E> __device__ __forceinline__ u64 misaligned(const void* x, u64 n) {
    u64 head = (16 - reinterpret_cast<u64>(x) % 16) % 16 / sizeof(E);
    return head < n ? head : n;
}

// Folds with much code for a vector say ROLLED, and have it once for the vectors that are left.
template <class Fold> constexpr decltype(Fold::ROLLED) is_rolled(int) { return true; }
template <class Fold> constexpr bool is_rolled(long) { return false; }

// Whole tiles first: every block reads a tile of VECTORS * blockDim vectors in one piece, which the memory likes best.
// Then what is left, fewer than VECTORS vectors a thread, spread over all threads: small arrays are nothing but this.
// All loads are issued before the first is used. A thread sees its vectors in the order of their indices.
template <class Pair> __device__ __forceinline__ void fold_vectors(const Pair& pair, u64 count) {
    constexpr int VECTORS = Pair::VECTORS;
    typedef typename Pair::Loaded Loaded;
    const u64 threads = u64(gridDim.x) * blockDim.x;
    u64 base = 0;
    for (; base + VECTORS * threads <= count; base += VECTORS * threads) {
        const u64 i = base + u64(blockIdx.x) * blockDim.x * VECTORS + threadIdx.x;
        Loaded p[VECTORS];
#pragma unroll
        for (int k = 0; k < VECTORS; k++) p[k] = pair.load(i + k * blockDim.x);
#pragma unroll
        for (int k = 0; k < VECTORS; k++) pair.fold_loaded(p[k], i + k * blockDim.x);
    }
    const u64 i = base + u64(blockIdx.x) * blockDim.x + threadIdx.x;
    Loaded p[VECTORS];
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        if (i + k * threads < count) p[k] = pair.load(i + k * threads);
    }
    if constexpr (is_rolled<typename Pair::Of>(0)) {
#pragma unroll 1
        for (u64 at = i; at < count; at += threads) {
            pair.fold_loaded(p[0], at);
#pragma unroll
            for (int k = 1; k < VECTORS; k++) p[k - 1] = p[k];
        }
    } else {
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            if (i + k * threads < count) pair.fold_loaded(p[k], i + k * threads);
        }
    }
}

// One array.
template <class Fold> struct OneArray {
    typedef Fold Of;
    typedef Vector Loaded;
    static constexpr int VECTORS = Fold::VECTORS;
    Fold& fold;
    const Vector* vectors;
    u64 head;

    __device__ __forceinline__ Vector load(u64 i) const { return ::load(vectors + i); }
    __device__ __forceinline__ void fold_loaded(const Vector& p, u64 i) const {
        fold.vector(p, head + i * PER_VECTOR<typename Fold::Element>);
    }
};

template <class Fold> __device__ __forceinline__ void fold_array(const Arguments& a) {
    typedef typename Fold::Element E;
    const E* x = static_cast<const E*>(a.x);
    const u64 head = misaligned<E>(x, a.n);
    const u64 count = (a.n - head) / PER_VECTOR<E>;
    const u64 thread = u64(blockIdx.x) * blockDim.x + threadIdx.x;

    Fold fold(x, a.n);
    fold_vectors(OneArray<Fold>{fold, reinterpret_cast<const Vector*>(x + head), head}, count);
    const u64 tail = head + count * PER_VECTOR<E>;
    if (thread < head) fold.one(x[thread], thread);
    if (thread < a.n - tail) fold.one(x[tail + thread], tail + thread);
    finish_grid(fold, a);
}

// Two arrays: x decides where vectors begin; y is read in vectors too where it is aligned alike, else by elements.
template <class Fold, bool ALIKE> struct TwoArrays {
    typedef Fold Of;
    typedef typename Fold::Element E;
    struct Loaded {
        Vector x, y;
    };
    static constexpr int VECTORS = Fold::VECTORS;
    Fold& fold;
    const Vector* x;
    const E* y;

    __device__ __forceinline__ Loaded load(u64 i) const {
        Loaded both;
        both.x = ::load(x + i);
        if constexpr (ALIKE) {
            both.y = ::load(reinterpret_cast<const Vector*>(y) + i);
        } else {
            Elements<E> e(both.x);
#pragma unroll
            for (int k = 0; k < PER_VECTOR<E>; k++) e.element[k] = y[i * PER_VECTOR<E> + k];
            both.y = e.vector;
        }
        return both;
    }
    __device__ __forceinline__ void fold_loaded(const Loaded& both, u64) const { fold.vectors(both.x, both.y); }
};

template <class Fold> __device__ __forceinline__ void fold_two_arrays(const Arguments& a) {
    typedef typename Fold::Element E;
    const E* x = static_cast<const E*>(a.x);
    const E* y = static_cast<const E*>(a.y);
    const u64 head = misaligned<E>(x, a.n);
    const u64 count = (a.n - head) / PER_VECTOR<E>;
    const u64 thread = u64(blockIdx.x) * blockDim.x + threadIdx.x;

    Fold fold;
    const Vector* vectors = reinterpret_cast<const Vector*>(x + head);
    if (reinterpret_cast<u64>(y + head) % 16 == 0) {
        fold_vectors(TwoArrays<Fold, true>{fold, vectors, y + head}, count);
    } else {
        fold_vectors(TwoArrays<Fold, false>{fold, vectors, y + head}, count);
    }
    const u64 tail = head + count * PER_VECTOR<E>;
    if (thread < head) fold.one(x[thread], y[thread]);
    if (thread < a.n - tail) fold.one(x[tail + thread], y[tail + thread]);
    finish_grid(fold, a);
}

// What the manifest says of a kernel (`cargo xtask kernels` takes these constants out of the PTX): bytes of the state
// that a block leaves, and 64-bit words of an exact fold's record up to the end of its integers; else nought.
template <class Fold> constexpr decltype(u32(sizeof(typename Fold::State))) state_bytes(int) {
    return sizeof(typename Fold::State);
}
template <class Fold> constexpr u32 state_bytes(long) { return 0; }
template <class Fold> constexpr decltype(u32(Fold::WORDS)) integer_words(int) { return 2 + Fold::WORDS / 2; }
template <class Fold> constexpr u32 integer_words(long) { return 0; }
#define MANIFEST_CONSTANT(what, name) extern "C" __device__ const u32 manifest_##what##name
#define MANIFEST(what, name) MANIFEST_CONSTANT(what, name)

// An entry point. A block has at most BLOCK threads, and a multiprocessor room for BLOCKS such blocks.
#define BLOCK(...) 512
#define READ fold_array
#define KERNEL(name, ...) \
    MANIFEST(state_, name) = state_bytes<__VA_ARGS__>(0); \
    MANIFEST(record_, name) = integer_words<__VA_ARGS__>(0); \
    extern "C" __global__ void __launch_bounds__(BLOCK(__VA_ARGS__), __VA_ARGS__::BLOCKS) \
        name(const void* x, const void* y, u64 n, Workspace* workspace, u64* record, void* value, u64* done, \
             u64 stamp, u64 options) { \
        READ<__VA_ARGS__>({x, y, n, workspace, record, value, done, stamp, options}); \
    }
