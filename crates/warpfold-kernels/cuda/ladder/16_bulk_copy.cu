// rung:   16_bulk_copy
// idea:   One thread orders whole tiles to be copied to shared memory, four of them ahead, and the block folds them as
//         they land.
// mends:  In 15_single_pass every load takes an instruction and registers that wait for it, in every thread.
// grid:   1024 threads and 6 blocks a multiprocessor, 8192 bytes a block
// shared: 32768 bytes
// memory: 1 element a block
// target: 90
// finish: single pass
// work:   n - 1
// steps:  V * ceil(512 / B) * ceil(n / (512 * V * G)) + ceil(mod(n, 512 * V) / (B * G)) - 1 + lg(min(n, B))
//         + ceil(G / B) - 1 + lg(min(G, B))
// seeds:  beyond
// wrong:  Nothing: no document goes this far.
//
// Hopper's bulk copies go past the registers: an mbarrier a stage counts the bytes that have landed. What is read
// cannot come faster than this; whether it comes faster than by 15_single_pass is for the measurement to say.
#include "ladder/blocks_and_vectors.cuh"

constexpr u32 STAGES = 4, TILE = 8192, VECTORS = TILE / 16;

inline u32 address(const void* shared) { return u32(__cvta_generic_to_shared(shared)); }

inline void order(const Vector* from, Vector* stage, u64* landed) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(address(landed)), "r"(TILE) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(address(stage)), "l"(from), "r"(TILE), "r"(address(landed)) : "memory");
}

inline void await(u64* landed, u32 round) {
    asm volatile("{\n.reg .pred there;\n"
                 "AGAIN: mbarrier.try_wait.parity.shared.b64 there, [%0], %1;\n@!there bra AGAIN;\n}"
                 ::"r"(address(landed)), "r"(round) : "memory");
}

template <class Op, class T> T fold_tiles(const T* in, u64 n) {
    __shared__ __align__(8) u64 landed[STAGES];
    Vector* const stages = shared_array<Vector>();
    const Vector* const vectors = reinterpret_cast<const Vector*>(in);
    const u64 tiles = n / (VECTORS * PER_VECTOR<T>);
    if (threadIdx.x == 0) {
        for (u32 s = 0; s < STAGES; s++) {
            asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address(landed + s)));
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        for (u32 s = 0; s < STAGES; s++) {
            const u64 tile = blockIdx.x + u64(s) * gridDim.x;
            if (tile < tiles) order(vectors + tile * VECTORS, stages + s * VECTORS, landed + s);
        }
    }
    __syncthreads();
    T value = Op::identity();
    u32 stage = 0, round = 0;
    for (u64 tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        await(landed + stage, round);
        for (u32 k = threadIdx.x; k < VECTORS; k += blockDim.x) {
            value = fold_vector<Op>(value, stages[stage * VECTORS + k]);
        }
        __syncthreads();  // all have read the stage before it is filled again
        const u64 next = tile + u64(STAGES) * gridDim.x;
        if (threadIdx.x == 0 && next < tiles) order(vectors + next * VECTORS, stages + stage * VECTORS, landed + stage);
        if (++stage == STAGES) stage = 0, round ^= 1;
    }
    const u64 threads = u64(gridDim.x) * blockDim.x;
    u64 i = tiles * VECTORS * PER_VECTOR<T> + u64(blockIdx.x) * blockDim.x + threadIdx.x;
    for (; i < n; i += threads) value = Op::of(value, in[i]);
    return value;
}

template <class Op, class T> void bulk_copy(const T* in, T* out, u64 n, T* partials, u32* ticket) {
    __shared__ bool is_last;
    T value = fold_block<Op>(fold_tiles<Op>(in, n));
    if (threadIdx.x == 0) {
        partials[blockIdx.x] = value;
        __threadfence();
        is_last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!is_last) return;

    value = Op::identity();
    for (u32 k = threadIdx.x; k < gridDim.x; k += blockDim.x) value = Op::of(value, partials[k]);
    value = fold_block<Op>(value);
    if (threadIdx.x == 0) *out = value;
}

RUNG(bulk_copy, in, out, n, work, ticket)
