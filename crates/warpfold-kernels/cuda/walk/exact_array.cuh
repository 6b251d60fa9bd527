// The frame of every exact fold: threads gather in windows and limbs, blocks in words, the grid in the workspace, one
// warp finishes.
//
// A fold is a struct that one thread owns. What it reads, and how much of it at once:
//
//   Element, Loaded        elements, and the vector (or vectors) that a thread loads at once
//   VECTORS, STEP          of those in flight; a divisor of VECTORS: copies of `outside_plain` in the code
//   THREADS, BLOCKS        threads of the largest block, and such blocks a multiprocessor
//   STORAGE, SHARED        64-bit words of limbs in a block, and whether they are the block's or each thread's own
//   INTEGERS, WORDS        how many integers it makes, and their 32-bit words together
//   TWO_PHASE              whether a tile is first tested for which vectors the window holds, and then added without a
//                          branch, zeros for the others
//   WHOLE_NUMBERS          whether short arrays are folded as small_array.cuh says, which then needs more members
//
// What it does with them:
//
//   Fold(storage, Arguments)   starts with limbs that are zero
//   inside(Loaded, index)      takes a vector, whose first element stands at index, into its window, if that holds all
//                              its numbers
//   holds_all, add_all(Loaded) the two halves of inside
//   outside(Loaded, index)     takes any vector into its limbs
//   plain, outside_plain       whether a vector may be taken by, and the same faster
//   sees(Loaded[])             special values, a bit each, that a tile may hold
//   look(Loaded[], index, step, seen)         all lanes of a warp, if one of them saw such a value: takes them in;
//                                             vectors are step elements apart
//   look_plain(Loaded[], index, step, plain)  the same of vectors that go into limbs, where they are plain
//   one(index, Element...)     takes in one element, or pair
//   end_tile()                 after every VECTORS vectors, for what need not be tested at each
//   close()                    puts what is in registers into the limbs
//   nans, specials(k)          NaNs counted, and which special values went into integer k
//   add_columns(storage, word) all threads: leaves the sums of all lanes' limbs in the words, which are zero, integer
//                              after integer
//   finish(word, seen, ...)    one warp: writes integers and value
//
// And, if it folds something beside integers, as folds of array.cuh do:
//
//   Beside, beside()           the states' type, identity and merge; this thread's state
//   finish_beside(state, ...)  one thread: writes that
//
// record: [specials of integer k at bits 8k: 1 NaN, 2 inf, 4 -inf; NaNs, if they are skipped or counted; the integers
// one after another, two's complement, 64 bits a word].
#pragma once
#include "walk/small_array.cuh"

// Shared memory that needs no permission, less what else a block has there; and what a multiprocessor of Hopper has for
// all.
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
    __device__ __forceinline__ void publish(const Arguments&) {}
    __device__ __forceinline__ void finish(const Arguments&) {}
};
// What is folded beside them: in the first thread the block's, later the grid's.
template <class Fold> struct FoldedBeside {
    typedef typename Fold::Beside Beside;
    typename Beside::State state;

    // Before the ticket.
    __device__ __forceinline__ void publish(const Arguments& a) {
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
template <class Fold, class = typename Fold::Beside> __device__ __forceinline__ FoldedBeside<Fold> folded_beside(
    const Fold& fold, int) {
    return {block_fold<typename Fold::Beside>(fold.beside())};
}

// All threads come here with their fold. From the block's words on one warp does all, so that it needs no barrier.
// Words and state are of limbs; few numbers, while they lie in windows, need neither.
template <class Fold> __device__ __forceinline__ void finish_exact(Fold& fold, u64* storage, bool small,
                                                                   const Arguments& a) {
    __shared__ u64 word[Fold::WORDS];
    __shared__ u32 scratch[Fold::WORDS];
    __shared__ SpecialValues flags;
    ExactState* state = reinterpret_cast<ExactState*>(a.workspace->exact);
    const u32 lane = threadIdx.x;

    SmallInput<Fold> numbers;
    bool in_limbs = true;
    if (small) in_limbs = numbers.fold_block(fold);
    if (in_limbs) {
        for (u32 k = threadIdx.x; k < Fold::WORDS; k += blockDim.x) word[k] = 0;
        if (threadIdx.x == 0) flags = {};
        if (small) numbers.close(fold);
        else fold.close();
        __syncthreads();
        Fold::add_columns(storage, word);
#pragma unroll
        for (int k = 0; k < Fold::INTEGERS; k++) {
            if (fold.specials(k)) atomicOr(&flags.specials[k], fold.specials(k));
        }
        if (fold.nans) atomicAdd(&flags.nans, fold.nans);
    }
    auto beside = folded_beside(fold, 0);
    if (in_limbs) __syncthreads();
    if (threadIdx.x >= 32) return;

    if (gridDim.x > 1) {
        beside.publish(a);
        if (in_limbs) {
            for (u32 k = lane; k < Fold::WORDS; k += 32) {
                if (word[k] != 0) atomicAdd(&state->word[k], word[k]);
            }
            if (lane < Fold::INTEGERS && flags.specials[lane]) atomicOr(&state->specials[lane], flags.specials[lane]);
            if (lane == 0 && flags.nans) atomicAdd(&state->nans, flags.nans);
            __syncwarp();
        }
        if (small) {
            if (!numbers.meet(state, in_limbs)) return;
        } else {
            u32 before = 0;
            if (lane == 0) before = take_ticket(&a.workspace->ticket, gridDim.x - 1);
            if (__shfl_sync(0xffffffffu, before, 0) != gridDim.x - 1) return;
            __syncwarp();  // hands on what lane 0 has acquired
        }
        if (in_limbs) {
            for (u32 k = lane; k < Fold::WORDS; k += 32) {
                word[k] = __ldcg(&state->word[k]);
                state->word[k] = 0;
            }
            if (lane < Fold::INTEGERS) {
                flags.specials[lane] = __ldcg(&state->specials[lane]);
                state->specials[lane] = 0;
            }
            if (lane == 0) {
                flags.nans = __ldcg(&state->nans);
                state->nans = 0;
            }
            __syncwarp();
        }
    }
    if (small) numbers.join_windows();
    if (small && !in_limbs && !a.record) {
        numbers.finish(a);
    } else {
        if (small) numbers.add_to(word, flags, in_limbs);
        Fold::finish(word, flags, scratch, a);
        beside.finish(a);
        if (a.record) {
            u64 specials = lane < Fold::INTEGERS ? u64(flags.specials[lane]) << 8 * lane : 0;
            specials |= __shfl_down_sync(0xffffffffu, specials, 2);
            specials |= __shfl_down_sync(0xffffffffu, specials, 1);
            if (lane == 0) a.record[0] = specials;
            if (lane == 0) a.record[1] = flags.nans;
        }
    }
    if (a.done) {
        __threadfence_system();
        __syncwarp();
        if (lane == 0) *reinterpret_cast<volatile u64*>(a.done) = a.stamp;
    }
}

// Takes the vectors of a set, a bit each, into limbs. The code is there once, whatever VECTORS is: vectors move down to
// where it looks for them. Ten thousand instructions, which VECTORS copies of it come to, are more than the instruction
// caches hold.
template <class Fold, class Loaded> __device__ __forceinline__ void fold_outside(Fold& fold, Loaded (&p)[Fold::VECTORS],
                                                                                 u32 set, u64 index) {
#pragma unroll 1
    for (; set; set >>= 1, index += blockDim.x * PER_VECTOR<typename Fold::Element>) {
        if (set & 1) fold.outside(p[0], index);
#pragma unroll
        for (int j = 1; j < Fold::VECTORS; j++) p[j - 1] = p[j];
    }
}

// The same for tiles that go on: what is taken out leaves zeros. Lanes need not agree on which vectors they take.
template <class Fold, class Loaded> __device__ __forceinline__ void take_out(Fold& fold, Loaded (&p)[Fold::VECTORS],
                                                                             u32 set, u64 index) {
#pragma unroll 1
    for (; set; set &= set - 1) {
        const u32 k = __ffs(set) - 1;
        Loaded taken = p[0];
#pragma unroll
        for (u32 j = 0; j < Fold::VECTORS; j++) {
            if (j != k) continue;
            taken = p[j];
            p[j] = Loaded{};
        }
        fold.outside(taken, index + k * blockDim.x * PER_VECTOR<typename Fold::Element>);
    }
}

// Takes all vectors, which are plain, into limbs: STEP copies of the code.
template <int STEP, class Fold, class Loaded> __device__ __forceinline__ void fold_plain(Fold& fold,
                                                                                         Loaded (&p)[Fold::VECTORS]) {
#pragma unroll 1
    for (int done = 0; done < Fold::VECTORS; done += STEP) {
#pragma unroll
        for (int k = 0; k < STEP; k++) fold.outside_plain(p[k]);
#pragma unroll
        for (int j = STEP; j < Fold::VECTORS; j++) p[j - STEP] = p[j];
    }
}

// Tiles in which a warp that found most vectors outside of its windows does not try them again.
constexpr u32 DENSE = 15;

// A tile after another of an array's vectors, VECTORS of them a thread.
template <class Fold, class Load> struct LoadedTiles {
    typedef typename Fold::Loaded Loaded;
    const Load& load;
    Loaded (&next)[Fold::VECTORS];

    // Loads this thread's vectors of the tile whose first one is i.
    __device__ __forceinline__ void get(Loaded (&p)[Fold::VECTORS], u64 i) {
#pragma unroll
        for (int k = 0; k < Fold::VECTORS; k++) p[k] = load(i + k * blockDim.x);
    }
    // Starts to, for `take`.
    __device__ __forceinline__ void ask(u64 i) { get(next, i); }
    // What was asked for last.
    __device__ __forceinline__ void take(Loaded (&p)[Fold::VECTORS], u64) {
#pragma unroll
        for (int k = 0; k < Fold::VECTORS; k++) p[k] = next[k];
    }
};

// Whole tiles of VECTORS vectors a thread in tiles of a block, as far as there are in `in_tiles` of `count` vectors.
// Returns where they end.
template <class Fold, class Tiles>
__device__ __forceinline__ u64 fold_whole_tiles(Fold& fold, u64 head, u64 in_tiles, u64 count, Tiles& tiles,
                                                typename Fold::Loaded (&p)[Fold::VECTORS]) {
    constexpr int VECTORS = Fold::VECTORS, ELEMENTS = PER_VECTOR<typename Fold::Element>;
    // SmallInput threads do not hide the memory's latency from one another: they load the next tile before they take in
    // this one. So do those of narrow elements, which have more to do with each vector.
    constexpr bool AHEAD = Fold::THREADS * Fold::BLOCKS <= (sizeof(typename Fold::Element) == 2 ? 768 : 640);
    const u64 threads = u64(gridDim.x) * blockDim.x, first = u64(blockIdx.x) * blockDim.x * VECTORS + threadIdx.x;
    u64 base = 0;
    u32 dense = 0;
    if (AHEAD && VECTORS * threads <= count) tiles.ask(first);
#pragma unroll 1
    for (; base + VECTORS * threads <= in_tiles; base += VECTORS * threads) {
        if constexpr (AHEAD) {
            tiles.take(p, base + first);
            if (base + 2 * VECTORS * threads <= count) tiles.ask(base + VECTORS * threads + first);
        } else {
            tiles.get(p, base + first);
        }
        const u64 index = head + (base + first) * ELEMENTS;
        bool in_limbs = dense > 0;
        if (!in_limbs) {
            u32 missed = 0;
#pragma unroll
            for (int k = 0; k < VECTORS; k++) {
                const bool in_range =
                    Fold::TWO_PHASE ? fold.holds_all(p[k]) : fold.inside(p[k], index + k * blockDim.x * ELEMENTS);
                if (!in_range) missed |= 1u << k;
            }
            const u32 seen = fold.sees(p);
            if (__any_sync(0xffffffffu, (missed | seen) != 0)) {
                fold.look(p, index, blockDim.x * ELEMENTS, seen);
                const u32 lanes = __ballot_sync(0xffffffffu, __popc(missed) * 2 > VECTORS);
                if (__popc(lanes) > 16) dense = DENSE;
                if constexpr (!Fold::TWO_PHASE) {
                    fold_outside(fold, p, missed, index);
                } else if (dense > 0) {
                    in_limbs = true;
                } else {
                    take_out(fold, p, missed, index);
                }
            }
        }
        if (in_limbs) {
            dense--;
            bool plain = true;
#pragma unroll
            for (int k = 0; k < VECTORS; k++) plain = plain && fold.plain(p[k]);
            fold.look_plain(p, index, blockDim.x * ELEMENTS, plain);
            if (plain) fold_plain<Fold::STEP>(fold, p);
            else fold_outside(fold, p, (1u << VECTORS) - 1, index);
        } else if constexpr (Fold::TWO_PHASE) {
#pragma unroll
            for (int k = 0; k < VECTORS; k++) fold.add_all(p[k]);
        }
        fold.end_tile();
    }
    return base;
}

// Whole tiles, then what is left spread over all threads, as in array.cuh. The last tile, or both of few numbers, loads
// all its vectors at once too, but takes them in one by one: its code is small, which is what such arrays wait for.
template <class Fold, class Load> __device__ __forceinline__ void fold_tiles(Fold& fold, bool small, u64 head,
                                                                             u64 count, const Load& load) {
    constexpr int VECTORS = Fold::VECTORS, ELEMENTS = PER_VECTOR<typename Fold::Element>;
    typedef typename Fold::Loaded Loaded;
    const u64 threads = u64(gridDim.x) * blockDim.x;
    Loaded p[VECTORS], next[VECTORS];
    LoadedTiles<Fold, Load> tiles = {load, next};
    const u64 base = fold_whole_tiles(fold, head, small ? 0 : count, count, tiles, p);
    const u32 reach = last_reach(fold, small);
#pragma unroll 1
    for (u64 i = base + u64(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += VECTORS * threads) {
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            if (i + k * threads < count) p[k] = load(i + k * threads);
        }
#pragma unroll 1
        for (int k = 0; k < VECTORS && i + k * threads < count; k++) {
            const u64 index = head + (i + k * threads) * ELEMENTS;
            fold_last(fold, small, reach, p[0], index);
#pragma unroll
            for (int j = 1; j < VECTORS; j++) p[j - 1] = p[j];
        }
    }
}

// A thread's own, or those of the block.
template <class Fold> __device__ __forceinline__ void clear_limbs(u64* storage) {
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
    const u64 count = (a.n - head) / PER_VECTOR<E>, tail = head + count * PER_VECTOR<E>;
    const u64 thread = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    const Vector* vectors = reinterpret_cast<const Vector*>(x + head);

    const bool small = is_small<Fold>(count);
    if (!small) clear_limbs<Fold>(storage);
    Fold fold(storage, a);
    if (small) expect_small(fold);
    fold_tiles(fold, small, head, count, [&](u64 i) { return load(vectors + i); });
    // At most one element before the first vector and one after the last for each thread.
#pragma unroll 1
    for (int end = 0; end < 2; end++) {
        const u64 i = end ? tail + thread : thread;
        if (i < (end ? a.n : head)) fold_end(fold, small, last_reach(fold, small), end, i, x[i]);
    }
    finish_exact(fold, storage, small, a);
}

struct TwoVectors {
    Vector x, y;
};

template <class Fold> __device__ __forceinline__ void fold_exact_arrays(const Arguments& a) {
    typedef typename Fold::Element E;
    __shared__ u64 storage[Fold::STORAGE];
    const E *x = static_cast<const E*>(a.x), *y = static_cast<const E*>(a.y);
    const u64 head = misaligned<E>(x, a.n);
    const u64 count = (a.n - head) / PER_VECTOR<E>, tail = head + count * PER_VECTOR<E>;
    const u64 thread = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    const Vector* vectors = reinterpret_cast<const Vector*>(x + head);
    const bool alike = reinterpret_cast<u64>(y + head) % 16 == 0;

    clear_limbs<Fold>(storage);
    Fold fold(storage, a);
    fold_tiles(fold, false, head, count, [&](u64 i) {
        TwoVectors both;
        both.x = load(vectors + i);
        if (alike) {
            both.y = load(reinterpret_cast<const Vector*>(y + head) + i);
        } else {
            Elements<E> e(both.x);
#pragma unroll
            for (int k = 0; k < PER_VECTOR<E>; k++) e.element[k] = y[head + i * PER_VECTOR<E> + k];
            both.y = e.vector;
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

// Follows the data: after so many changes of scale a thread's window stays where it is, and the limbs take the rest.
constexpr u32 MOVES = 8;

#undef READ
#define READ fold_exact_array
#undef BLOCK
#define BLOCK(...) __VA_ARGS__::THREADS
