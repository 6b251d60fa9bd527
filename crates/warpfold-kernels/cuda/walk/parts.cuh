// What the kernels that fold many outputs are given, and what they share: segments, rows, columns and views of any
// strides.
//
// An operation is a struct; a kernel may know several operations of one struct, told apart by a choice:
//
//   Element        what it reads
//   State          plain words; states of 16 bytes that warps keep are aligned to that
//   BLOCKS         blocks that a multiprocessor holds
//   Setup(FoldOptions)  what add needs of the choice: masks rather than conditions, so that one loop serves all
//   spans(FoldOptions)  whether finish needs the segment's true bounds; else it learns only whether begin < end
//   identity()     the state of nothing
//   add(State&, Element, index, Setup)   one element
//   add_some(State&, Element[], index, Setup)   neighbours of one output, if TAKES_SOME says that it is there
//   add_vector(State&, Element[], index, Setup)   the same of a vector of neighbours, if TAKES_VECTORS says that
//   TAKES_ZEROS    if there, whether zeros beside the elements change nothing
//   merge(State&, State)                 the second state comes after the first
//   finish(arguments, FoldOptions, output, State, begin, end)   writes the result
#pragma once
#include "walk/grid.cuh"

// The parameters of every kernel of segments, 64 bits each.
struct SegmentArguments {
    const void* x;  // n elements, aligned to their size
    u64 n;
    const void* offsets;  // segments + 1, or null
    u64 bounds;  // bytes of an offset, 0 for segments of `length` elements each; of rows (rows.cuh) how many lanes
                 // share one
    u64 length;
    u64 segments;
    void* out;             // a result a segment
    Workspace* workspace;  // ticket, then a piece a block
    u64* faults;           // all ones before the first launch; the least index of each fault
    u64 options;           // see FoldOptions
};

// Where results go, for functions that are not inlined. They are given everything by value: what has an address has a
// place in memory, where every change of it is written.
struct Results {
    void* out;
    u64* faults;
    u64 segments, options;
    __device__ __forceinline__ explicit Results(const SegmentArguments& a)
        : out(a.out), faults(a.faults), segments(a.segments), options(a.options) {}
    __device__ __forceinline__ SegmentArguments arguments() const {
        return {nullptr, 0, nullptr, 0, 0, segments, out, nullptr, faults, options};
    }
};

// What is folded, as far as kernels do not know by themselves.
struct FoldOptions {
    u32 options;
    __device__ __forceinline__ bool skip() const { return options & 1; }  // NaNs are skipped
    __device__ __forceinline__ bool is_signed() const { return options & 2; }
    __device__ __forceinline__ bool is_float() const { return options & 4; }
    __device__ __forceinline__ bool is_bfloat() const { return options & 8; }
    // Results of f16 and bf16 are rounded to these, and not to f32.
    __device__ __forceinline__ bool is_narrow() const { return options & 16; }
    __device__ __forceinline__ u32 fold() const { return options >> 8; }
};

// A mask that the compiler takes for data.
template <class M> __device__ __forceinline__ M mask_if(bool is, M mask = M(~M(0))) {
    M m = is ? mask : M(0);
    if constexpr (sizeof(M) == 8) asm volatile("" : "+l"(m));
    else asm volatile("" : "+r"(m));
    return m;
}

// A setup that may ask for nothing says whether it does, and what add takes then in its place (part_floats.cuh); any
// other is its own.
template <class Setup> __device__ __forceinline__ auto is_plain(const Setup& setup, int) -> decltype(setup.is_plain()) {
    return setup.is_plain();
}
template <class Setup> __device__ __forceinline__ bool is_plain(const Setup&, long) { return true; }
template <class Setup> __device__ __forceinline__ auto plain(const Setup& setup, int) -> decltype(setup.plain()) {
    return setup.plain();
}
template <class Setup> __device__ __forceinline__ const Setup& plain(const Setup& setup, long) { return setup; }

template <class> struct VoidOf {
    typedef void type;
};
template <bool> struct Yes {};
template <class Fold, class = void> constexpr bool TAKES_SOME = false;
template <class Fold> constexpr bool TAKES_SOME<Fold, typename VoidOf<Yes<Fold::TAKES_SOME>>::type> = Fold::TAKES_SOME;
template <class Fold, class = void> constexpr bool TAKES_ZEROS = false;
template <class Fold>
constexpr bool TAKES_ZEROS<Fold, typename VoidOf<Yes<Fold::TAKES_ZEROS>>::type> = Fold::TAKES_ZEROS;

// Elements that follow each other in an output.
template <class Fold, u32 N>
__device__ __forceinline__ void add_all(typename Fold::State& state, const typename Fold::Element (&e)[N], u64 index,
                                        const typename Fold::Setup& setup) {
    if constexpr (TAKES_SOME<Fold>) {
        Fold::add_some(state, e, index, setup);
    } else {
#pragma unroll
        for (u32 i = 0; i < N; i++) Fold::add(state, e[i], index + i, setup);
    }
}

// The same where they are a vector.
template <class Fold, class = void> constexpr bool TAKES_VECTORS = false;
template <class Fold>
constexpr bool TAKES_VECTORS<Fold, typename VoidOf<Yes<Fold::TAKES_VECTORS>>::type> = Fold::TAKES_VECTORS;
template <class Fold>
__device__ __forceinline__ void add_vector(typename Fold::State& state, const Vector& p, u64 index,
                                           const typename Fold::Setup& setup) {
    const Elements<typename Fold::Element> e(p);
    if constexpr (TAKES_VECTORS<Fold>) Fold::add_vector(state, e.element, index, setup);
    else add_all<Fold>(state, e.element, index, setup);
}

// What may be wrong, each with the first segment (or offset) that is. What an exact kernel missed, another one does
// again.
enum Fault { OFFSETS, EMPTY, ALL_SKIPPED, TOO_LARGE, MISSED, TOO_FEW, FAULTS };
__device__ __forceinline__ void fault(const SegmentArguments& a, Fault which, u64 at) {
    atomicMin(a.faults + which, at);
}

// Where segments begin: offset 0 to offset `segments`.
struct Bounds {
    const void* offsets;
    u64 bytes, length;
    __device__ __forceinline__ explicit Bounds(const SegmentArguments& a)
        : offsets(a.offsets), bytes(a.bounds), length(a.length) {}
    __device__ __forceinline__ u64 operator[](u64 k) const {
        // Evaluated at every use, so that no loop is compiled thrice.
        u32 kind = u32(bytes);
        asm volatile("" : "+r"(kind));
        if (kind == 0) return k * length;
        if (kind == 4) return static_cast<const u32*>(offsets)[k];
        return static_cast<const u64*>(offsets)[k];
    }
    // Asks for the sector of memory that offset k, which there is, lies in.
    __device__ __forceinline__ void prefetch(u64 k) const {
        if (offsets != nullptr)
            asm volatile("prefetch.global.L2 [%0];" ::"l"(static_cast<const char*>(offsets) + k * bytes));
    }
};

constexpr int SEGMENT_THREADS = 256, SEGMENT_WARPS = SEGMENT_THREADS / 32;

// The name of an entry point that the build has given the first half of.
#define NAME_(a, b) a##b
#define NAME(a, b) NAME_(a, b)

// An entry point of a kernel file for one element type: its name, what it does, blocks a multiprocessor, and the fold.
#define SEGMENT_KERNEL(name, body, blocks, ...) \
    extern "C" __global__ void __launch_bounds__(SEGMENT_THREADS, blocks) \
        name(const void* x, u64 n, const void* offsets, u64 bounds, u64 length, u64 segments, void* out, \
             Workspace* workspace, u64* faults, u64 options) { \
        body<__VA_ARGS__>({x, n, offsets, bounds, length, segments, out, workspace, faults, options}); \
    }
