// Correctly rounded sums of the segments, or columns, that an exact kernel has marked: a block a segment, by windows and digits, as exact_sum.cu does a whole array. The build
// defines ELEMENT and ENTRY. Parameters are those of segments.cu; returns at once if nothing was missed.
#include "exact_sums.cuh"
#include "segment_exact.cuh"

// Where the elements of an output are.
struct Elements_ { u64 first, count, pitch; };
struct OfSegments {
    const SegmentArguments& a;
    __device__ __forceinline__ Elements_ operator()(u64 segment) const {
        const Bounds bounds(a);
        const u64 begin = bounds[segment];
        return {begin, bounds[segment + 1] - begin, 1};
    }
};
struct OfColumns {
    u64 rows, row_pitch, batch_pitch, columns;
    __device__ __forceinline__ Elements_ operator()(u64 output) const {
        return {output / columns * batch_pitch + output % columns, rows, row_pitch};
    }
};

template <class E> using Again = ExactFold<Components<E>, SumsOf<E>, IN_FLIGHT<E>>;

// One output, by all threads. All of them have left the shared memory before.
template <class Fold>
__device__ __forceinline__ void fold_again(const SegmentArguments& a, u64 output, const Elements_& e, u64* storage, u64* word, u32* scratch, Seen& seen) {
    typedef typename Fold::Element E;
    const E* x = static_cast<const E*>(a.x) + e.first;
    const u64 packed = e.pitch == 1 ? e.count : 0;
    const u64 head = misaligned<E>(x, packed), count = (packed - head) / PER_PACK<E>, tail = head + count * PER_PACK<E>;
    const Pack* packs = reinterpret_cast<const Pack*>(x + head);

    clear_digits<Fold>(storage);
    for (u32 k = threadIdx.x; k < Fold::WORDS; k += blockDim.x) word[k] = 0;
    if (threadIdx.x == 0) seen = {};
    __syncthreads();
    Arguments one = {};
    one.value = static_cast<E*>(a.out) + output;
    one.options = a.options & SKIP_NAN;
    Fold fold(storage, one);
#pragma unroll 1
    for (u64 base = 0; base < count; base += u64(Fold::PACKS) * blockDim.x) {
#pragma unroll 1
        for (u32 k = 0; k < Fold::PACKS; k++) {
            const u64 i = base + k * blockDim.x + threadIdx.x;
            if (i >= count) continue;
            const Pack p = load(packs + i);
            const u64 index = head + i * PER_PACK<E>;
            if (!fold.inside(p, index)) fold.outside(p, index);
        }
        fold.end_wave();
    }
    // What stands before and after packs, or lies apart.
#pragma unroll 1
    for (u64 i = threadIdx.x; i < head + (e.count - tail); i += blockDim.x) {
        const u64 at = i < head ? i : tail + i - head;
        fold.one(at, x[at * e.pitch]);
        if (e.pitch > 1) fold.end_wave();
    }
    fold.close();
    __syncthreads();
    Fold::add_columns(storage, word);
    if (fold.specials(0)) atomicOr(&seen.specials[0], fold.specials(0));
    __syncthreads();
    if (threadIdx.x < 32) Fold::finish(word, seen, scratch, one);
    __syncthreads();
}

template <class E, class Where> __device__ __forceinline__ void redo(const SegmentArguments& a, const Where& where) {
    typedef Again<E> Fold;
    typedef typename Mark<E>::Bits Bits;
    __shared__ u64 storage[Fold::STORAGE * Fold::THREADS];
    __shared__ u64 word[Fold::WORDS];
    __shared__ u32 scratch[Fold::WORDS];
    __shared__ Seen seen;
    __shared__ u32 votes[Fold::THREADS / 32];
    if (a.faults[MISSED] == ~0ull) return;
    const Bits* out = static_cast<const Bits*>(a.out);
#pragma unroll 1
    for (u64 base = u64(blockIdx.x) * blockDim.x; base < a.segments; base += u64(gridDim.x) * blockDim.x) {
        const u64 mine = base + threadIdx.x;
        const u32 vote = __ballot_sync(0xffffffffu, mine < a.segments && out[mine] == Mark<E>::BITS);
        if (threadIdx.x % 32 == 0) votes[threadIdx.x / 32] = vote;
        __syncthreads();
#pragma unroll 1
        for (u32 w = 0; w < blockDim.x / 32; w++) {
#pragma unroll 1
            for (u32 left = votes[w]; left != 0; left &= left - 1) {
                const u64 output = base + 32 * w + __ffs(left) - 1;
                fold_again<Fold>(a, output, where(output), storage, word, scratch, seen);
            }
        }
        __syncthreads();
    }
}

#define NAME_(a, b) a##b
#define NAME(a, b) NAME_(a, b)

extern "C" __global__ void __launch_bounds__(Again<ELEMENT>::THREADS) ENTRY(
    const void* x, u64 n, const void* offsets, u64 bounds, u64 length, u64 segments, void* out, Workspace* workspace, u64* faults, u64 options) {
    const SegmentArguments a = {x, n, offsets, bounds, length, segments, out, workspace, faults, options};
    redo<ELEMENT>(a, OfSegments{a});
}

// The same of columns: `outputs` of `rows` elements each.
extern "C" __global__ void __launch_bounds__(Again<ELEMENT>::THREADS) NAME(ENTRY, _columns)(
    const void* x, u64 rows, u64 row_pitch, u64 batch_pitch, u64 columns, u64 outputs, void* out, u64* faults, u64 options) {
    const SegmentArguments a = {x, 0, nullptr, 0, 0, outputs, out, nullptr, faults, options};
    redo<ELEMENT>(a, OfColumns{rows, row_pitch, batch_pitch, columns});
}
