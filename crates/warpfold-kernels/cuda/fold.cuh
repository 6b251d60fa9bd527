// The one loop of every reduction: 16-byte packs, several in flight a thread, a grid that strides over the array.
//
// A fold is a struct that one thread owns:
//   Element, State            what it reads, and what it leaves
//   PACKS                     packs in flight a thread
//   Fold(x, n)                starts empty; x is the array, for folds that need to look at it
//   pack(Pack, index)         takes in a pack whose first element stands at index
//   one(Element, index)       takes in one element (the few before and after the packs)
//   state()                   what it has gathered
//   identity(), merge(a, b)   of states
//   finish(State, Arguments)  run by one thread of the grid: writes the record and the value
#pragma once
#include "grid_finish.cuh"

// The parameters that all production kernels share, in this order, 64 bits each.
struct Arguments {
    const void* x;         // n elements, aligned to their size
    const void* y;         // n more, for dot; else null
    u64 n;                 // elements
    Workspace* workspace;  // the stream's own
    u64* record;           // the exact state, for the host to read (see each kernel); or null
    void* value;           // the finished value in the result's type, for the device to use; or null
    u64* done;             // where the stamp goes once record and value are visible; or null
    u64 stamp;
};

template <class Fold> __device__ __forceinline__ void finish_grid(Fold& fold, const Arguments& a) {
    typename Fold::State state = fold.state();
    if (!grid_fold<Fold>(state, a.workspace)) return;
    Fold::finish(state, a);
    if (a.done) {
        __threadfence_system();
        *reinterpret_cast<volatile u64*>(a.done) = a.stamp;
    }
}

// Elements before the first 16-byte boundary, at most n.
template <class E> __device__ __forceinline__ u64 misaligned(const void* x, u64 n) {
    u64 head = (16 - reinterpret_cast<u64>(x) % 16) % 16 / sizeof(E);
    return head < n ? head : n;
}

template <class Fold> __device__ __forceinline__ void fold_array(const Arguments& a) {
    typedef typename Fold::Element E;
    constexpr int PACKS = Fold::PACKS;
    const E* x = static_cast<const E*>(a.x);
    const u64 head = misaligned<E>(x, a.n);
    const Pack* packs = reinterpret_cast<const Pack*>(x + head);
    const u64 count = (a.n - head) / PER_PACK<E>;
    const u64 threads = u64(gridDim.x) * blockDim.x;
    const u64 thread = u64(blockIdx.x) * blockDim.x + threadIdx.x;

    Fold fold(x, a.n);
    u64 i = thread;
    for (; i + (PACKS - 1) * threads < count; i += PACKS * threads) {
        Pack p[PACKS];
#pragma unroll
        for (int k = 0; k < PACKS; k++) p[k] = load(packs + i + k * threads);
#pragma unroll
        for (int k = 0; k < PACKS; k++) fold.pack(p[k], head + (i + k * threads) * PER_PACK<E>);
    }
    // Fewer than PACKS are left for this thread: all loads first here too, for small arrays are nothing but this.
    Pack p[PACKS];
#pragma unroll
    for (int k = 0; k < PACKS; k++) {
        if (i + k * threads < count) p[k] = load(packs + i + k * threads);
    }
#pragma unroll
    for (int k = 0; k < PACKS; k++) {
        if (i + k * threads < count) fold.pack(p[k], head + (i + k * threads) * PER_PACK<E>);
    }
    const u64 tail = head + count * PER_PACK<E>;
    if (thread < head) fold.one(x[thread], thread);
    if (thread < a.n - tail) fold.one(x[tail + thread], tail + thread);
    finish_grid(fold, a);
}

// Threads a block at most; each kernel's registers are held to what that many leave it.
#define KERNEL(name, ...)                                                                              \
    extern "C" __global__ void __launch_bounds__(512, __VA_ARGS__::BLOCKS) name(                        \
        const void* x, const void* y, u64 n, Workspace* workspace, u64* record, void* value,           \
        u64* done, u64 stamp) {                                                                        \
        fold_array<__VA_ARGS__>({x, y, n, workspace, record, value, done, stamp});                     \
    }
