// The frame of every exact fold: threads gather in windows and digits, blocks in words, the grid in the workspace, one warp finishes.
//
// A fold is what `fold.cuh` asks for, and
//   THREADS, STORAGE          threads of the largest block, and the words of digits of each
//   Fold(storage)             starts with digits that are zero
//   close()                   puts what is in registers into the digits
//   specials(k)               what beside finite numbers went into integer k
//   INTEGERS, WORDS           how many integers it makes, and their 32-bit words together
//   add_block(storage, word)  all threads: adds all digits to the words, integer after integer
//   finish(word, seen, ...)   one warp: writes integers and value
//
// record: [specials of integer k at bits 8k: 1 NaN, 2 inf, 4 -inf; elements skipped; the integers one after another, two's complement, 64 bits a word].
#pragma once
#include "exact_total.cuh"

// Shared memory that needs no permission, less what else a block has there; and what a multiprocessor of Hopper has for all.
constexpr int STORAGE_BYTES = 45 << 10, SHARED_BYTES = 228 << 10, OTHER_BYTES = 3 << 10;

constexpr int threads_of(int words) {
    int threads = 256;
    while (threads > 32 && words * 8 * threads > STORAGE_BYTES) threads /= 2;
    return threads;
}
constexpr int blocks_of(int words, int most) {
    const int threads = threads_of(words);
    const int fit = SHARED_BYTES / (words * 8 * threads + OTHER_BYTES);
    return fit * threads > most ? most / threads : fit;
}

// Everything that all blocks have seen.
struct Seen {
    u32 specials[3];
    u64 skipped;
};

template <class Fold> __device__ __forceinline__ void finish_exact(Fold& fold, u64* storage, const Arguments& a) {
    __shared__ u64 word[Fold::WORDS];
    __shared__ u32 scratch[Fold::WORDS];
    __shared__ Seen seen;
    __shared__ bool is_last;
    ExactState* state = reinterpret_cast<ExactState*>(a.workspace->exact);

    for (u32 k = threadIdx.x; k < Fold::WORDS; k += blockDim.x) word[k] = 0;
    if (threadIdx.x == 0) seen = {};
    fold.close();
    __syncthreads();
    Fold::add_block(storage, word);
#pragma unroll
    for (int k = 0; k < Fold::INTEGERS; k++) {
        if (fold.specials(k)) atomicOr(&seen.specials[k], fold.specials(k));
    }
    if (fold.skipped) atomicAdd(&seen.skipped, fold.skipped);
    __syncthreads();

    if (gridDim.x > 1) {
        for (u32 k = threadIdx.x; k < Fold::WORDS; k += blockDim.x) {
            if (word[k] != 0) atomicAdd(&state->word[k], word[k]);
        }
        if (threadIdx.x == 0) {
#pragma unroll
            for (int k = 0; k < Fold::INTEGERS; k++) {
                if (seen.specials[k]) atomicOr(&state->specials[k], seen.specials[k]);
            }
            if (seen.skipped) atomicAdd(&state->skipped, seen.skipped);
        }
        __syncthreads();
        if (threadIdx.x == 0) is_last = take_ticket(&a.workspace->ticket, gridDim.x - 1) == gridDim.x - 1;
        __syncthreads();
        if (!is_last) return;
        for (u32 k = threadIdx.x; k < Fold::WORDS; k += blockDim.x) {
            word[k] = __ldcg(&state->word[k]);
            state->word[k] = 0;
        }
        if (threadIdx.x == 0) {
#pragma unroll
            for (int k = 0; k < Fold::INTEGERS; k++) {
                seen.specials[k] = __ldcg(&state->specials[k]);
                state->specials[k] = 0;
            }
            seen.skipped = __ldcg(&state->skipped);
            state->skipped = 0;
        }
        __syncthreads();
    }
    if (threadIdx.x >= 32) return;
    Fold::finish(word, seen, scratch, a);
    if (a.record && threadIdx.x == 0) {
        u64 specials = 0;
#pragma unroll
        for (int k = 0; k < Fold::INTEGERS; k++) specials |= u64(seen.specials[k]) << 8 * k;
        a.record[0] = specials;
        a.record[1] = seen.skipped;
    }
    if (a.done) {
        __threadfence_system();
        __syncwarp();
        if (threadIdx.x == 0) *reinterpret_cast<volatile u64*>(a.done) = a.stamp;
    }
}

template <class Fold> __device__ __forceinline__ void clear_digits(u64* storage) {
#pragma unroll 8
    for (int k = 0; k < Fold::STORAGE; k++) storage[k * Fold::THREADS + threadIdx.x] = 0;
}

// One warp: one integer a part, for the record and rounded.
template <class Kind, int PARTS, class Wide>
__device__ __forceinline__ void finish_sums(const u64* word, const Seen& seen, u32* scratch, const Arguments& a) {
    typedef typename FormatOf<Wide>::type Format;
#pragma unroll 1
    for (int part = 0; part < PARTS; part++) {
        const Integer<Kind::WORDS> integer(word + part * Kind::WORDS);
        if (a.record) integer.store(reinterpret_cast<u32*>(a.record + 2) + part * Kind::WORDS);
        if (!a.value) continue;
        const u64 bits = round_integer<Format>(integer, Kind::UNIT, seen.specials[part], scratch);
        if (threadIdx.x == 0) set_bits(static_cast<Wide*>(a.value) + part, bits);
    }
}

template <class Fold> __device__ __forceinline__ void fold_exact_array(const Arguments& a) {
    __shared__ u64 storage[Fold::STORAGE * Fold::THREADS];
    clear_digits<Fold>(storage);
    Fold fold(storage);
    take_array(fold, a);
    finish_exact(fold, storage, a);
}
template <class Fold> __device__ __forceinline__ void fold_exact_arrays(const Arguments& a) {
    __shared__ u64 storage[Fold::STORAGE * Fold::THREADS];
    clear_digits<Fold>(storage);
    Fold fold(storage);
    take_two_arrays(fold, a);
    finish_exact(fold, storage, a);
}

#undef READ
#define READ fold_exact_array
#undef BLOCK
#define BLOCK(...) __VA_ARGS__::THREADS
