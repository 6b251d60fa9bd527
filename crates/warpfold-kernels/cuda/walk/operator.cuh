// Operators of one's own along the canonical tree (crates/warpfold-exact/src/tree): an element becomes a state, states
// of neighbours merge, by code that is not here but is put in where it is known, by who launches the kernel.
//
// A thread has one state, in registers of which this code knows nothing. A template works on it by pseudo-instructions,
// each of which PTX that can be run replaces:
//
//   warpfold.load_run i;              starts to load the first elements of a run, from element i on
//   warpfold.group k;                 how many elements are loaded at once: a power of two up to 16
//   warpfold.fold first, i, next;     takes in the elements that were loaded, whose indices begin at i, and loads those
//                                     from `next` on; the first one begins a state where `first` is not 0
//   warpfold.leaf first, i, at;       the same for one element, which lies at `at`, that is not loaded
//   warpfold.put_shared at, field;    leaves the state in shared memory, a field every `field` bytes from an address on
//   warpfold.get_shared at, field;    takes a state from there
//   warpfold.left_shared at, field;   merges the state that lies there, as the left one, and the thread's own
//   warpfold.right_shared at, field;  the thread's own and, as the right one, the state that lies there
//   warpfold.put, get, right at;      the same in global memory, a field every 8 bytes
//
// Each stands as often as its function is called below: `cargo xtask kernels` looks. An operation of integers that has
// no value sets the word at `faults`.
#pragma once
#include "num/elements.cuh"

constexpr u32 RUN = 32, BLOCK_LEAVES = 1024, OPERATOR_WARPS = 2;
// Words of a state in global memory.
constexpr u32 STATE_WORDS = 8;

__device__ __forceinline__ void load_run(u64 i) { asm volatile("warpfold.load_run %0;" ::"l"(i)); }
__device__ __forceinline__ u32 group_of_run() {
    u32 group;
    asm volatile("warpfold.group %0;" : "=r"(group));
    return group;
}
__device__ __forceinline__ void fold_group(bool first, u64 i, u64 next) {
    asm volatile("warpfold.fold %0, %1, %2;" ::"r"(u32(first)), "l"(i), "l"(next));
}
__device__ __forceinline__ void fold_leaf(bool first, u64 i, u64 at) {
    asm volatile("warpfold.leaf %0, %1, %2;" ::"r"(u32(first)), "l"(i), "l"(at));
}
// States of a warp in shared memory, 8 bytes of each field, from the address of the first field of the first one on.
struct States {
    u32 first, field;

    __device__ __forceinline__ States from(u32 state) const { return {first + state * 8, field}; }
    __device__ __forceinline__ void put() const {
        asm volatile("warpfold.put_shared %0, %1;" ::"r"(first), "r"(field) : "memory");
    }
    __device__ __forceinline__ void get() const {
        asm volatile("warpfold.get_shared %0, %1;" ::"r"(first), "r"(field) : "memory");
    }
    __device__ __forceinline__ void left() const {
        asm volatile("warpfold.left_shared %0, %1;" ::"r"(first), "r"(field) : "memory");
    }
    __device__ __forceinline__ void right() const {
        asm volatile("warpfold.right_shared %0, %1;" ::"r"(first), "r"(field) : "memory");
    }
};

__device__ __forceinline__ void put(u64* at) { asm volatile("warpfold.put %0;" ::"l"(at) : "memory"); }
__device__ __forceinline__ void get(const u64* at) { asm volatile("warpfold.get %0;" ::"l"(at) : "memory"); }
__device__ __forceinline__ void right(const u64* at) { asm volatile("warpfold.right %0;" ::"l"(at) : "memory"); }

// A run of an output from `at` on: 32 elements, or those before its end. Its leaf 0 lies at `origin`. The first
// elements of a whole run are loaded before; while its last ones are folded those from `after` on are loaded.
__device__ __forceinline__ void fold_run(u64 at, u64 end, u64 origin, u64 after) {
    if (at + RUN > end) {
#pragma unroll 1
        for (u64 i = at; i < end; i++) fold_leaf(i == at, i - origin, i);
        return;
    }
    const u32 group = group_of_run();
#pragma unroll 1
    for (u32 k = 0; k < RUN; k += group) {
        const u64 next = k + group < RUN ? at + k + group : after;
        fold_group(k == 0, at + k - origin, next);
    }
}
