// Correctly rounded sums of the segments that an exact kernel of segments has marked: a block a segment, by windows and digits, as exact_sum.cu does a whole array. The build
// defines ELEMENT and ENTRY. Parameters are those of segments.cu; returns at once if nothing was missed.
#include "exact_sum.cuh"
#include "segment_exact.cuh"

// One segment, by all threads. All of them have left the shared memory before.
template <class Fold> __device__ __forceinline__ void fold_again(const SegmentArguments& a, u64 segment, u64* storage, u64* word, u32* scratch, Seen& seen) {
    typedef typename Fold::Element E;
    const Bounds bounds(a);
    const u64 begin = bounds[segment], n = bounds[segment + 1] - begin;
    const E* x = static_cast<const E*>(a.x) + begin;
    const u64 head = misaligned<E>(x, n), count = (n - head) / PER_PACK<E>, tail = head + count * PER_PACK<E>;
    const Pack* packs = reinterpret_cast<const Pack*>(x + head);

    clear_digits<Fold>(storage);
    for (u32 k = threadIdx.x; k < Fold::WORDS; k += blockDim.x) word[k] = 0;
    if (threadIdx.x == 0) seen = {};
    __syncthreads();
    Fold fold(storage, a.options & 1);
#pragma unroll 1
    for (u64 base = 0; base < count; base += u64(Fold::PACKS) * blockDim.x) {
#pragma unroll 1
        for (u32 k = 0; k < Fold::PACKS; k++) {
            const u64 i = base + k * blockDim.x + threadIdx.x;
            if (i >= count) continue;
            const Pack p = load(packs + i);
            if (!fold.inside(p)) fold.outside(p);
        }
        fold.end_wave();
    }
    if (threadIdx.x < head) fold.one(x[threadIdx.x]);
    if (threadIdx.x < n - tail) fold.one(x[tail + threadIdx.x]);
    fold.close();
    __syncthreads();
    Fold::add_columns(storage, word);
    if (fold.specials(0)) atomicOr(&seen.specials[0], fold.specials(0));
    __syncthreads();
    if (threadIdx.x < 32) {
        Arguments one = {};
        one.value = static_cast<E*>(a.out) + segment;
        Fold::finish(word, seen, scratch, one);
    }
    __syncthreads();
}

template <class E> __device__ __forceinline__ void redo(const SegmentArguments& a) {
    typedef ExactSumFold<E, Of::Values> Fold;
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
                fold_again<Fold>(a, base + 32 * w + __ffs(left) - 1, storage, word, scratch, seen);
            }
        }
        __syncthreads();
    }
}

extern "C" __global__ void __launch_bounds__(ExactSumFold<ELEMENT, Of::Values>::THREADS) ENTRY(
    const void* x, u64 n, const void* offsets, u64 bounds, u64 length, u64 segments, void* out, Workspace* workspace, u64* faults, u64 options) {
    redo<ELEMENT>({x, n, offsets, bounds, length, segments, out, workspace, faults, options});
}
