// Where an output's elements are for a block that folds it alone: in a segment, or reached by loops.
#pragma once
#include "walk/loops.cuh"
#include "walk/exact_fallback.cuh"

// An output's elements: by loops, or side by side where there are none. Of 16 bits they are f16 or bf16, and widened.
struct Gather {
    const Loops& loops;
    u64 first, count;
    FoldOptions desc;
    bool is_half;
    __device__ __forceinline__ u64 packed() const {
        return !is_half && (loops.word == nullptr || (loops.folded == 1 && loops.inner_stride() == 1)) ? count : 0;
    }
    template <class E> __device__ __forceinline__ E get(const E* x, u64 i) const {
        u64 at = first + i;
        if (loops.word != nullptr) {
            const u64 length = loops.inner_length();
            at = first + loops.turned(i / length) + i % length * loops.inner_stride();
        }
        if constexpr (sizeof(E) == 4) {
            if (is_half) {
                const u16 bits = reinterpret_cast<const u16*>(x)[at];
                return desc.is_bfloat() ? widen(bf16{bits}) : widen(f16{bits});
            }
        }
        return x[at];
    }
};

// What kernels are told of all outputs.
struct OfOutputs {
    const SegmentArguments& a;
    Loops loops;  // none for segments
    u64 inputs;   // of each, by loops
    bool is_half;
    __device__ __forceinline__ Gather operator()(u64 output) const {
        Gather in = {loops, 0, inputs, FoldOptions{u32(a.options)}, is_half};
        if (loops.word != nullptr) {
            u64 same;
            in.first = loops.nth(output, same);
        } else {
            const Pitched segment = OfSegments{a}(output);
            in.first = segment.first;
            in.count = segment.count;
        }
        return in;
    }
};
