// The frame of every exact fold: threads gather in windows and digits, blocks in words, the grid in the workspace, one warp finishes.
//
// A fold is a struct that one thread owns:
//   Element, Loaded           what it reads: elements, and the pack (or packs) that a thread loads at once
//   PACKS, STEP               of those in flight; copies of `outside_plain` in the code, a divisor of PACKS
//   THREADS, BLOCKS, STORAGE  threads of the largest block, such blocks a multiprocessor, and words of digits, of 64 bits, in a block
//   SHARED                    whether those are the block's, or each thread's own
//   Fold(storage, Arguments)  starts with digits that are zero
//   inside(Loaded, index)     takes a pack, whose first element stands at index, into its window, if that holds all its numbers
//   WHOLE                     whether a wave is first asked which packs the window holds, and then added without a branch, zeros for the others:
//   holds_all, add_all(Loaded)  the two halves of inside
//   sees(Loaded[])            what, a bit each, a wave may hold beside sums that is to be looked at
//   look(Loaded[], index, step, seen)  all lanes of a warp, if one has seen something: do so; packs are step elements apart
//   look_plain(Loaded[], index, step, plain)  all lanes of a warp: the same of packs that go into digits, where they are plain
//   outside(Loaded, index)    takes any pack into its digits
//   plain, outside_plain      whether a pack may be taken by, and the same faster
//   one(index, Element...)    takes in one element, or pair
//   end_wave()                after every PACKS packs, for what need not be asked at each
//   close()                   puts what is in registers into the digits
//   nans, specials(k)         NaNs counted, and what beside finite numbers went into integer k
//   INTEGERS, WORDS           how many integers it makes, and their 32-bit words together
//   add_columns(storage, word) all threads: leaves the sums of all columns' digits in the words, which are zero, integer after integer
//   finish(word, seen, ...)   one warp: writes integers and value
//   WHOLE_NUMBERS             whether arrays of few numbers are folded as exact_few.cuh says, which then asks for more
// and, if it folds something beside integers, as folds of fold.cuh do:
//   Beside, beside()          the states' type, identity and merge; this thread's state
//   finish_beside(state, ...) one thread: writes that
//
// record: [specials of integer k at bits 8k: 1 NaN, 2 inf, 4 -inf; NaNs, if they are skipped or counted; the integers one after another, two's complement, 64 bits a word].
#pragma once
#include "exact_few.cuh"

// Shared memory that needs no permission, less what else a block has there; and what a multiprocessor of Hopper has for all.
constexpr int STORAGE_BYTES = 45 << 10, SHARED_BYTES = 228 << 10;

constexpr int threads_of(int words) {
    int threads = 256;
    while (threads > 32 && words * 8 * threads > STORAGE_BYTES) threads /= 2;
    return threads;
}
constexpr int blocks_of(int words, int threads, int most) {
    const int other = words > 40 * threads ? 3 << 10 : 3 << 9;
    const int fit = SHARED_BYTES / (words * 8 + other);
    return fit * threads > most ? most / threads : fit;
}

// Nothing beside integers.
struct NothingBeside {
    __device__ __forceinline__ void leave(const Arguments&) {}
    __device__ __forceinline__ void finish(const Arguments&) {}
};
// What is folded beside them: in the first thread the block's, later the grid's.
template <class Fold> struct FoldedBeside {
    typedef typename Fold::Beside Beside;
    typename Beside::State state;

    // Before the ticket.
    __device__ __forceinline__ void leave(const Arguments& a) {
        if (threadIdx.x == 0) reinterpret_cast<typename Beside::State*>(a.workspace + 1)[blockIdx.x] = state;
    }
    // The last block's first warp.
    __device__ __forceinline__ void finish(const Arguments& a) {
        if (gridDim.x > 1) {
            state = share_of_blocks<Beside>(a.workspace, 32);
            warp_fold<Beside>(state);
        }
        if (threadIdx.x == 0) Fold::finish_beside(state, a);
    }
};
template <class Fold> __device__ __forceinline__ NothingBeside folded_beside(const Fold&, long) { return {}; }
template <class Fold, class = typename Fold::Beside> __device__ __forceinline__ FoldedBeside<Fold> folded_beside(const Fold& fold, int) {
    return {block_fold<typename Fold::Beside>(fold.beside())};
}

// All threads come here with their fold. From the block's words on one warp does all, so that it needs no barrier. Words and state are of digits; few numbers,
// while they lie in windows, need neither.
template <class Fold> __device__ __forceinline__ void finish_exact(Fold& fold, u64* storage, bool few, const Arguments& a) {
    __shared__ u64 word[Fold::WORDS];
    __shared__ u32 scratch[Fold::WORDS];
    __shared__ Seen seen;
    ExactState* state = reinterpret_cast<ExactState*>(a.workspace->exact);
    const u32 lane = threadIdx.x;

    Few<Fold> numbers;
    bool in_digits = true;
    if (few) in_digits = numbers.fold_block(fold);
    if (in_digits) {
        for (u32 k = threadIdx.x; k < Fold::WORDS; k += blockDim.x) word[k] = 0;
        if (threadIdx.x == 0) seen = {};
        if (few) numbers.close(fold);
        else fold.close();
        __syncthreads();
        Fold::add_columns(storage, word);
#pragma unroll
        for (int k = 0; k < Fold::INTEGERS; k++) {
            if (fold.specials(k)) atomicOr(&seen.specials[k], fold.specials(k));
        }
        if (fold.nans) atomicAdd(&seen.nans, fold.nans);
    }
    auto beside = folded_beside(fold, 0);
    if (in_digits) __syncthreads();
    if (threadIdx.x >= 32) return;

    if (gridDim.x > 1) {
        beside.leave(a);
        if (in_digits) {
            for (u32 k = lane; k < Fold::WORDS; k += 32) {
                if (word[k] != 0) atomicAdd(&state->word[k], word[k]);
            }
            if (lane < Fold::INTEGERS && seen.specials[lane]) atomicOr(&state->specials[lane], seen.specials[lane]);
            if (lane == 0 && seen.nans) atomicAdd(&state->nans, seen.nans);
            __syncwarp();
        }
        if (few) {
            if (!numbers.meet(state, in_digits)) return;
        } else {
            u32 before = 0;
            if (lane == 0) before = take_ticket(&a.workspace->ticket, gridDim.x - 1);
            if (__shfl_sync(0xffffffffu, before, 0) != gridDim.x - 1) return;
            __syncwarp();  // hands on what lane 0 has acquired
        }
        if (in_digits) {
            for (u32 k = lane; k < Fold::WORDS; k += 32) {
                word[k] = __ldcg(&state->word[k]);
                state->word[k] = 0;
            }
            if (lane < Fold::INTEGERS) {
                seen.specials[lane] = __ldcg(&state->specials[lane]);
                state->specials[lane] = 0;
            }
            if (lane == 0) {
                seen.nans = __ldcg(&state->nans);
                state->nans = 0;
            }
            __syncwarp();
        }
    }
    if (few) numbers.join_windows();
    if (few && !in_digits && !a.record) {
        numbers.finish(a);
    } else {
        if (few) numbers.add_to(word, seen, in_digits);
        Fold::finish(word, seen, scratch, a);
        beside.finish(a);
        if (a.record) {
            u64 specials = lane < Fold::INTEGERS ? u64(seen.specials[lane]) << 8 * lane : 0;
            specials |= __shfl_down_sync(0xffffffffu, specials, 2);
            specials |= __shfl_down_sync(0xffffffffu, specials, 1);
            if (lane == 0) a.record[0] = specials;
            if (lane == 0) a.record[1] = seen.nans;
        }
    }
    if (a.done) {
        __threadfence_system();
        __syncwarp();
        if (lane == 0) *reinterpret_cast<volatile u64*>(a.done) = a.stamp;
    }
}

// Takes the packs of a set, a bit each, into digits. The code is there once, whatever PACKS is: packs move down to where it looks for them. Ten thousand
// instructions, which PACKS copies of it come to, are more than the instruction caches hold.
template <class Fold, class Loaded> __device__ __forceinline__ void fold_outside(Fold& fold, Loaded (&p)[Fold::PACKS], u32 set, u64 index) {
#pragma unroll 1
    for (; set; set >>= 1, index += blockDim.x * PER_PACK<typename Fold::Element>) {
        if (set & 1) fold.outside(p[0], index);
#pragma unroll
        for (int j = 1; j < Fold::PACKS; j++) p[j - 1] = p[j];
    }
}

// The same for waves that go on: what is taken out leaves zeros. Lanes need not agree on which packs they take.
template <class Fold, class Loaded> __device__ __forceinline__ void take_out(Fold& fold, Loaded (&p)[Fold::PACKS], u32 set, u64 index) {
#pragma unroll 1
    for (; set; set &= set - 1) {
        const u32 k = __ffs(set) - 1;
        Loaded taken = p[0];
#pragma unroll
        for (u32 j = 0; j < Fold::PACKS; j++) {
            if (j != k) continue;
            taken = p[j];
            p[j] = Loaded{};
        }
        fold.outside(taken, index + k * blockDim.x * PER_PACK<typename Fold::Element>);
    }
}

// Takes all packs, which are plain, into digits: STEP copies of the code.
template <int STEP, class Fold, class Loaded> __device__ __forceinline__ void fold_plain(Fold& fold, Loaded (&p)[Fold::PACKS]) {
#pragma unroll 1
    for (int done = 0; done < Fold::PACKS; done += STEP) {
#pragma unroll
        for (int k = 0; k < STEP; k++) fold.outside_plain(p[k]);
#pragma unroll
        for (int j = STEP; j < Fold::PACKS; j++) p[j - STEP] = p[j];
    }
}

// Waves in which a warp that found most packs outside of its windows does not try them again.
constexpr u32 DENSE = 15;

// Whole waves of PACKS packs a thread in tiles of a block, then what is left spread over all threads, as in fold.cuh. The last wave, or both of few numbers,
// loads all its packs at once too, but takes them in one by one: its code is small, which is what such arrays wait for.
template <class Fold, class Load> __device__ __forceinline__ void fold_waves(Fold& fold, bool few, u64 head, u64 count, const Load& load) {
    constexpr int PACKS = Fold::PACKS, ELEMENTS = PER_PACK<typename Fold::Element>;
    typedef typename Fold::Loaded Loaded;
    // Few threads do not hide the memory's latency from one another: they load the next wave before they take in this one. So do those of narrow elements, which
    // have more to do with each pack.
    constexpr bool AHEAD = Fold::THREADS * Fold::BLOCKS <= (sizeof(typename Fold::Element) == 2 ? 768 : 640);
    const u64 threads = u64(gridDim.x) * blockDim.x, first = u64(blockIdx.x) * blockDim.x * PACKS + threadIdx.x;
    const auto load_wave = [&](Loaded (&p)[PACKS], u64 i) {
#pragma unroll
        for (int k = 0; k < PACKS; k++) p[k] = load(i + k * blockDim.x);
    };
    const u64 in_waves = few ? 0 : count;
    u64 base = 0;
    u32 dense = 0;
    Loaded p[PACKS], next[PACKS];
    if (AHEAD && PACKS * threads <= count) load_wave(next, first);
#pragma unroll 1
    for (; base + PACKS * threads <= in_waves; base += PACKS * threads) {
        if constexpr (AHEAD) {
#pragma unroll
            for (int k = 0; k < PACKS; k++) p[k] = next[k];
            if (base + 2 * PACKS * threads <= count) load_wave(next, base + PACKS * threads + first);
        } else {
            load_wave(p, base + first);
        }
        const u64 index = head + (base + first) * ELEMENTS;
        bool in_digits = dense > 0;
        if (!in_digits) {
            u32 missed = 0;
#pragma unroll
            for (int k = 0; k < PACKS; k++) {
                const bool held = Fold::WHOLE ? fold.holds_all(p[k]) : fold.inside(p[k], index + k * blockDim.x * ELEMENTS);
                if (!held) missed |= 1u << k;
            }
            const u32 seen = fold.sees(p);
            if (__any_sync(0xffffffffu, (missed | seen) != 0)) {
                fold.look(p, index, blockDim.x * ELEMENTS, seen);
                const u32 lanes = __ballot_sync(0xffffffffu, __popc(missed) * 2 > PACKS);
                if (__popc(lanes) > 16) dense = DENSE;
                if constexpr (!Fold::WHOLE) {
                    fold_outside(fold, p, missed, index);
                } else if (dense > 0) {
                    in_digits = true;
                } else {
                    take_out(fold, p, missed, index);
                }
            }
        }
        if (in_digits) {
            dense--;
            bool plain = true;
#pragma unroll
            for (int k = 0; k < PACKS; k++) plain = plain && fold.plain(p[k]);
            fold.look_plain(p, index, blockDim.x * ELEMENTS, plain);
            if (plain) fold_plain<Fold::STEP>(fold, p);
            else fold_outside(fold, p, (1u << PACKS) - 1, index);
        } else if constexpr (Fold::WHOLE) {
#pragma unroll
            for (int k = 0; k < PACKS; k++) fold.add_all(p[k]);
        }
        fold.end_wave();
    }
    const u32 reach = last_reach(fold, few);
#pragma unroll 1
    for (u64 i = base + u64(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += PACKS * threads) {
#pragma unroll
        for (int k = 0; k < PACKS; k++) {
            if (i + k * threads < count) p[k] = load(i + k * threads);
        }
#pragma unroll 1
        for (int k = 0; k < PACKS && i + k * threads < count; k++) {
            const u64 index = head + (i + k * threads) * ELEMENTS;
            fold_last(fold, few, reach, p[0], index);
#pragma unroll
            for (int j = 1; j < PACKS; j++) p[j - 1] = p[j];
        }
    }
}

// A thread's own, or those of the block.
template <class Fold> __device__ __forceinline__ void clear_digits(u64* storage) {
    if constexpr (Fold::SHARED) {
        for (u32 k = threadIdx.x; k < Fold::STORAGE; k += blockDim.x) storage[k] = 0;
        __syncthreads();
    } else {
#pragma unroll 8
        for (int k = 0; k < Fold::STORAGE / Fold::THREADS; k++) storage[k * Fold::THREADS + threadIdx.x] = 0;
    }
}

template <class Fold> __device__ __forceinline__ void fold_exact_array(const Arguments& a) {
    typedef typename Fold::Element E;
    __shared__ u64 storage[Fold::STORAGE];
    const E* x = static_cast<const E*>(a.x);
    const u64 head = misaligned<E>(x, a.n);
    const u64 count = (a.n - head) / PER_PACK<E>, tail = head + count * PER_PACK<E>;
    const u64 thread = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    const Pack* packs = reinterpret_cast<const Pack*>(x + head);

    const bool few = are_few<Fold>(count);
    if (!few) clear_digits<Fold>(storage);
    Fold fold(storage, a);
    if (few) expect_few(fold);
    fold_waves(fold, few, head, count, [&](u64 i) { return load(packs + i); });
    // At most one element before the first pack and one after the last for each thread.
#pragma unroll 1
    for (int end = 0; end < 2; end++) {
        const u64 i = end ? tail + thread : thread;
        if (i < (end ? a.n : head)) fold_end(fold, few, last_reach(fold, few), end, i, x[i]);
    }
    finish_exact(fold, storage, few, a);
}

struct TwoPacks { Pack x, y; };

template <class Fold> __device__ __forceinline__ void fold_exact_arrays(const Arguments& a) {
    typedef typename Fold::Element E;
    __shared__ u64 storage[Fold::STORAGE];
    const E *x = static_cast<const E*>(a.x), *y = static_cast<const E*>(a.y);
    const u64 head = misaligned<E>(x, a.n);
    const u64 count = (a.n - head) / PER_PACK<E>, tail = head + count * PER_PACK<E>;
    const u64 thread = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    const Pack* packs = reinterpret_cast<const Pack*>(x + head);
    const bool alike = reinterpret_cast<u64>(y + head) % 16 == 0;

    clear_digits<Fold>(storage);
    Fold fold(storage, a);
    fold_waves(fold, false, head, count, [&](u64 i) {
        TwoPacks both;
        both.x = load(packs + i);
        if (alike) {
            both.y = load(reinterpret_cast<const Pack*>(y + head) + i);
        } else {
            Elements<E> e(both.x);
#pragma unroll
            for (int k = 0; k < PER_PACK<E>; k++) e.element[k] = y[head + i * PER_PACK<E> + k];
            both.y = e.pack;
        }
        return both;
    });
#pragma unroll 1
    for (int end = 0; end < 2; end++) {
        const u64 i = end ? tail + thread : thread;
        if (i < (end ? a.n : head)) fold.one(i, x[i], y[i]);
    }
    finish_exact(fold, storage, false, a);
}

// Follows the data: after so many changes of scale a thread's window stays where it is, and the digits take the rest.
constexpr u32 MOVES = 8;

#undef READ
#define READ fold_exact_array
#undef BLOCK
#define BLOCK(...) __VA_ARGS__::THREADS
