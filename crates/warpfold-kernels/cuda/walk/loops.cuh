// Loops over an array that is no matrix: where an element lies, by the lengths and strides of any number of axes.
//
// They lie in the workspace, outermost first, in elements: of the outputs (length, stride, place among the outputs),
// then of what is folded into each (length, stride); at least one of these. Strides and places may be negative: they
// wrap.
#pragma once
#include "num/elements.cuh"

struct Loops {
    const u64* word;
    u64 kept, folded;  // how many
    u64 first_output;  // the one at the beginning of all kept loops

    // Where the n-th output's elements begin, and which output that is.
    __device__ __forceinline__ u64 nth(u64 n, u64& output) const {
        u64 at = 0;
        output = first_output;
#pragma unroll 1
        for (u64 k = kept; k-- > 0;) {
            const u64 length = word[3 * k], step = n % length;
            n /= length;
            at += step * word[3 * k + 1];
            output += step * word[3 * k + 2];
        }
        return at;
    }
    // The innermost loop of what is folded.
    __device__ __forceinline__ u64 inner_length() const { return word[3 * kept + 2 * folded - 2]; }
    __device__ __forceinline__ u64 inner_stride() const { return word[3 * kept + 2 * folded - 1]; }
    // Where the loops about it stand after so many turns.
    __device__ __forceinline__ u64 turned(u64 turns) const {
        u64 at = 0;
#pragma unroll 1
        for (u64 k = folded - 1; k-- > 0;) {
            const u64* loop = word + 3 * kept + 2 * k;
            at += turns % loop[0] * loop[1];
            turns /= loop[0];
        }
        return at;
    }
};
