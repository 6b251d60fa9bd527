// Constants of a GPU that the model of time needs, measured by kernels of one instruction each: no rung of the ladder
// is among them.
//   nvcc -O3 -std=c++17 -arch=native bench/cuda/constants.cu -o constants && ./constants
// One JSON object a line, {"name": …, "value": …, "unit": …}; cycles are a multiprocessor's own (%clock64).
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#define CHECK(call) \
    do { \
        cudaError_t e = (call); \
        if (e != cudaSuccess) { \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e)); \
            exit(1); \
        } \
    } while (0)

using u32 = uint32_t;
using u64 = uint64_t;

static void say(const std::string& name, double value, const char* unit) {
    printf("{\"name\":\"%s\",\"value\":%.6g,\"unit\":\"%s\"}\n", name.c_str(), value, unit);
    fflush(stdout);
}

// Microseconds of what `start` launches, the median of some runs, between two events.
template <class F> static double time_of(F start, int runs = 15) {
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    std::vector<float> times;
    for (int k = 0; k < runs + 2; k++) {
        CHECK(cudaEventRecord(begin));
        start();
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        float ms = 0;
        CHECK(cudaEventElapsedTime(&ms, begin, end));
        if (k >= 2) times.push_back(ms * 1e3f);
    }
    CHECK(cudaGetLastError());
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

__global__ void empty() {}
__global__ void empty_with_barrier() { __syncthreads(); }

// ---- one instruction, many times ---------------------------------------------------------------------------------
constexpr int TIMES = 64, ROUNDS = 64;
__shared__ u32 words[8192 + 1024];

// `BODY` is one instruction that depends on the one before through x (or y, of 64 bits).
#define KERNEL(NAME, BODY) \
    __global__ void NAME(u64* cycles, u32* out, u32 a, u32 stride) { \
        for (u32 i = threadIdx.x; i < 8192; i += blockDim.x) words[i] = a; \
        u32 x = a + threadIdx.x, address = (u32)__cvta_generic_to_shared(words) + threadIdx.x * stride % 32768; \
        u64 y = x; \
        double d = x; \
        float f = x; \
        __syncthreads(); \
        u64 begin = clock64(); \
        for (int r = 0; r < ROUNDS; r++) { \
            _Pragma("unroll") for (int k = 0; k < TIMES; k++) { BODY } \
        } \
        __syncthreads(); \
        u64 end = clock64(); \
        if (threadIdx.x == 0) cycles[blockIdx.x] = end - begin; \
        out[threadIdx.x] = x + (u32)y + (u32)d + (u32)f + address; \
    }

KERNEL(add_f32, asm volatile("add.f32 %0, %0, %1;" : "+f"(f) : "f"(1.5f));)
KERNEL(add_f64, asm volatile("add.f64 %0, %0, %1;" : "+d"(d) : "d"(1.5));)
KERNEL(add_u32, asm volatile("add.u32 %0, %0, %1;" : "+r"(x) : "r"(a));)
KERNEL(add_u64, asm volatile("add.u64 %0, %0, %1;" : "+l"(y) : "l"((u64)a << 33 | a));)
KERNEL(logic, asm volatile("lop3.b32 %0, %0, %1, %2, 0x96;" : "+r"(x) : "r"(a), "r"(stride));)
KERNEL(shift, asm volatile("shf.l.wrap.b32 %0, %0, %1, %2;" : "+r"(x) : "r"(a), "r"(stride));)
KERNEL(multiply_add_u32, asm volatile("mad.lo.u32 %0, %0, %1, %1;" : "+r"(x) : "r"(a));)
KERNEL(minimum_f32, asm volatile("min.f32 %0, %0, %1;" : "+f"(f) : "f"(1.5f));)
KERNEL(compare_select,
       asm volatile("{.reg .pred p; setp.gt.s32 p, %0, %1; selp.b32 %0, %1, %2, p;}" : "+r"(x) : "r"(a), "r"(stride));)
KERNEL(reciprocal, asm volatile("rcp.approx.ftz.f32 %0, %0;" : "+f"(f));)
KERNEL(convert, asm volatile("cvt.rzi.u32.f32 %0, %1; mov.b32 %1, %0;" : "+r"(x), "+f"(f));)
KERNEL(remainder_u32, asm volatile("rem.u32 %0, %0, %1; add.u32 %0, %0, %2;" : "+r"(x) : "r"(stride), "r"(a));)
KERNEL(shuffle, asm volatile("shfl.sync.down.b32 %0, %0, 16, 31, 0xffffffff;" : "+r"(x));)
KERNEL(vote, asm volatile("{.reg .pred p; setp.ne.u32 p, %0, 0; vote.sync.ballot.b32 %0, p, 0xffffffff;}" : "+r"(x));)
KERNEL(reduce_u32, asm volatile("redux.sync.add.u32 %0, %0, 0xffffffff;" : "+r"(x));)
KERNEL(barrier, asm volatile("bar.sync 0;" :: : "memory");)
KERNEL(warp_barrier, asm volatile("bar.warp.sync 0xffffffff;" :: : "memory");)
KERNEL(shared_load, asm volatile("ld.shared.u32 %0, [%1]; " : "=r"(x) : "r"(address + 4 * (x - a)) : "memory");)
KERNEL(shared_load_free, asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(x) : "r"(address + 4 * k) : "memory");)
KERNEL(shared_load_64, asm volatile("ld.volatile.shared.u64 %0, [%1];" : "=l"(y) : "r"(address) : "memory");)
KERNEL(shared_store, asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(address), "r"(x) : "memory");)
KERNEL(shared_store_load,
       asm volatile("st.volatile.shared.u32 [%1], %0; ld.volatile.shared.u32 %0, [%1]; add.u32 %0, %0, 1;" : "+r"(
           x) : "r"(address) : "memory");)
KERNEL(shared_store_barrier_load,
       asm volatile(
           "st.volatile.shared.u32 [%1], %0; bar.sync 0; ld.volatile.shared.u32 %0, [%1]; add.u32 %0, %0, 1;" : "+r"(
               x) : "r"(address) : "memory");)
KERNEL(shared_add_u32, asm volatile("red.shared.add.u32 [%0], %1;" ::"r"(address), "r"(x) : "memory");)
KERNEL(fence_global, asm volatile("fence.acq_rel.gpu;" :: : "memory");)
KERNEL(branch,
       asm volatile("{.reg .pred p; setp.eq.u32 p, %0, %1; @p bra L; add.u32 %0, %0, 1; L: }" : "+r"(x) : "r"(stride));)

using Kernel = void (*)(u64*, u32*, u32, u32);

// Cycles of one round of `BODY` in a block of so many threads, the least of a few launches: latency of one warp, issue
// of many.
static double cycles_of(Kernel kernel, int threads, u32 stride, u32 a) {
    static u64* cycles = nullptr;
    static u32* out = nullptr;
    if (!cycles) {
        CHECK(cudaMalloc(&cycles, 8));
        CHECK(cudaMalloc(&out, 4096 * 4));
    }
    u64 least = ~0ull;
    for (int k = 0; k < 5; k++) {
        kernel<<<1, threads>>>(cycles, out, a, stride);
        u64 found;
        CHECK(cudaMemcpy(&found, cycles, 8, cudaMemcpyDeviceToHost));
        least = std::min(least, found);
    }
    return double(least) / (TIMES * ROUNDS);
}

static void instruction(const char* name, Kernel kernel, u32 stride = 4, u32 a = 0) {
    say(std::string("cycles of one warp, ") + name, cycles_of(kernel, 32, stride, a), "cycles");
    say(std::string("cycles of 8 warps, ") + name, cycles_of(kernel, 256, stride, a), "cycles");
    say(std::string("cycles of 32 warps, ") + name, cycles_of(kernel, 1024, stride, a), "cycles");
}

// ---- atomics at one address --------------------------------------------------------------------------------------
template <class T> __global__ void reduce_lanes(T* to) { atomicAdd(to, T(threadIdx.x)); }  // 32 lanes a warp
template <class T> __global__ void reduce_leaders(T* to) {
    if (threadIdx.x % 32 == 0) atomicAdd(to, T(threadIdx.x));
}
__global__ void lanes_s32(int* to) {
    asm volatile("red.global.add.s32 [%0], %1;" ::"l"(to), "r"(threadIdx.x) : "memory");
}
__global__ void swap_f32(float* to) {  // compare-and-swap until it holds
    u32* word = (u32*)to;
    u32 old = *(volatile u32*)word, seen;
    while ((seen = atomicCAS(word, old, __float_as_uint(__uint_as_float(old) + 1.0f))) != old) old = seen;
}
__global__ void ticket(u32* to, u32* out) {
    if (threadIdx.x == 0 && atomicInc(to, ~0u) == 0xfffffff0u) *out = 1;
}
__global__ void fence_ticket(u32* to, u32* out) {
    if (threadIdx.x == 0) {
        out[1 + blockIdx.x % 1024] = 1;
        __threadfence();
        if (atomicInc(to, ~0u) == 0xfffffff0u) *out = 1;
        __threadfence();
    }
}
__global__ void atomic_chain(u32* to, u64* cycles, u32* out) {
    u32 x = 0;
    u64 begin = clock64();
    for (int k = 0; k < 1000; k++) x = atomicAdd(to, x & 1);
    cycles[0] = (clock64() - begin) / 1000;
    *out = x;
}

// ---- memory ------------------------------------------------------------------------------------------------------
__global__ void chase(const u32* next, u64* cycles, u32* out, int steps) {
    u32 at = 0;
    for (int k = 0; k < 64; k++) at = next[at];
    u64 begin = clock64();
    for (int k = 0; k < steps; k++) at = next[at];
    u64 end = clock64();
    *cycles = (end - begin) / steps;
    *out = at;
}
// LOADS loads of a vector type in flight a thread, strided over the grid.
template <class V, int LOADS> __global__ void read(const V* x, u64 count, u32* out) {
    u64 threads = (u64)gridDim.x * blockDim.x, i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    u32 all = 0;
    for (; i + (LOADS - 1) * threads < count; i += LOADS * threads) {
        V v[LOADS];
#pragma unroll
        for (int k = 0; k < LOADS; k++) v[k] = x[i + k * threads];
#pragma unroll
        for (int k = 0; k < LOADS; k++) all ^= *(u32*)&v[k];
    }
    if (all == 0x12345678) *out = all;
}
// Blocks of 256 threads that load a word each and end: what starting blocks, one load of latency, and residence allow.
template <int LOADS> __global__ void load_once(const u32* x, u32* out) {
    u64 i = (u64)blockIdx.x * blockDim.x * LOADS + threadIdx.x;
    u32 all = 0;
#pragma unroll
    for (int k = 0; k < LOADS; k++) all ^= x[i + k * blockDim.x];
    if (all == 0x12345678) *out = all;
}
__global__ void clocks(u64* found) {
    u64 t0, t1, c0 = clock64();
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t0));
    do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t1));
    while (t1 - t0 < 20000000);
    found[0] = clock64() - c0, found[1] = t1 - t0;
}

template <class V, int LOADS> static void reading(const char* what, const u32* x, u64 bytes, u32* out, int sm) {
    for (int blocks : {1, 2, 4, 8}) {
        double us = time_of([&] { read<V, LOADS><<<sm * blocks, 256>>>((const V*)x, bytes / sizeof(V), out); });
        std::string name = std::string("read ") + what + ", " + std::to_string(sizeof(V)) + " bytes x " +
                           std::to_string(LOADS) + " in flight, 256 threads x " + std::to_string(blocks);
        say(name, bytes / us / 1e3, "GB/s");
    }
}

int main() {
    cudaDeviceProp p;
    CHECK(cudaGetDeviceProperties(&p, 0));
    int sm = p.multiProcessorCount;
    printf(
        "{\"name\":\"device\",\"value\":\"%s\",\"multiprocessors\":%d,\"l2\":%d,\"registers\":%d,\"shared\":%zu,"
        "\"threads\":%d,\"blocks\":%d}\n",
        p.name, sm, p.l2CacheSize, p.regsPerMultiprocessor, p.sharedMemPerMultiprocessor, p.maxThreadsPerMultiProcessor,
        p.maxBlocksPerMultiProcessor);
    const u64 BYTES = 2ull << 30;
    u32* x;
    u64* cycles;
    u32* out;
    CHECK(cudaMalloc(&x, BYTES));
    CHECK(cudaMemset(x, 1, BYTES));
    CHECK(cudaMalloc(&cycles, 64));
    CHECK(cudaMalloc(&out, 1 << 16));
    CHECK(cudaMemset(out, 0, 1 << 16));

    clocks<<<1, 1>>>(cycles);
    u64 found[2];
    CHECK(cudaMemcpy(found, cycles, 16, cudaMemcpyDeviceToHost));
    say("clock", double(found[0]) / found[1], "GHz");

    for (int k : {1, 2, 3, 4, 8})
        say("empty kernels between two events, " + std::to_string(k),
            time_of(
                [&] {
                    for (int i = 0; i < k; i++) empty<<<1, 256>>>();
                },
                201),
            "us");
    say("empty kernels, 528 blocks, 1", time_of([&] { empty<<<528, 256>>>(); }, 201), "us");
    for (int threads : {32, 64, 128, 256, 512, 1024}) {
        double few = time_of([&] { empty<<<1 << 17, threads>>>(); }),
               many = time_of([&] { empty<<<1 << 21, threads>>>(); });
        say("blocks started, " + std::to_string(threads) + " threads", double((1 << 21) - (1 << 17)) / (many - few),
            "blocks/us");
        many = time_of([&] { empty_with_barrier<<<1 << 20, threads, 4 * threads>>>(); });
        few = time_of([&] { empty_with_barrier<<<1 << 17, threads, 4 * threads>>>(); });
        say("blocks started with shared memory and a barrier, " + std::to_string(threads) + " threads",
            double((1 << 20) - (1 << 17)) / (many - few), "blocks/us");
    }

    instruction("add.f32", add_f32);
    instruction("add.f64", add_f64);
    instruction("add.u32", add_u32);
    instruction("add.u64", add_u64);
    instruction("lop3", logic);
    instruction("shf", shift);
    instruction("mad.lo.u32", multiply_add_u32);
    instruction("min.f32", minimum_f32);
    instruction("setp and selp", compare_select);
    instruction("rcp", reciprocal);
    instruction("cvt.rzi.u32.f32", convert);
    instruction("rem.u32 and add", remainder_u32, 6, 12345);
    instruction("shfl", shuffle);
    instruction("setp and vote", vote);
    instruction("redux.add.u32", reduce_u32);
    instruction("bar.sync", barrier);
    instruction("bar.warp.sync", warp_barrier);
    instruction("ld.shared, dependent", shared_load);
    instruction("ld.shared", shared_load_free);
    for (u32 stride : {8, 16, 32, 128})
        instruction(("ld.shared, stride " + std::to_string(stride) + " bytes").c_str(), shared_load_free, stride);
    instruction("ld.shared.u64", shared_load_64, 8);
    instruction("st.shared", shared_store);
    instruction("st.shared and ld.shared", shared_store_load);
    instruction("st.shared, bar.sync and ld.shared", shared_store_barrier_load);
    instruction("red.shared.add.u32", shared_add_u32);
    instruction("fence.acq_rel.gpu", fence_global);
    instruction("setp and bra, not taken", branch, 0xffffffff);

    const int BLOCKS = 1 << 14;
    auto rate = [&](const char* name, double count, double us) { say(name, count / us / 1e3, "per ns"); };
    rate("red.add f32 at one address, 32 lanes", 256.0 * BLOCKS,
         time_of([&] { reduce_lanes<float><<<BLOCKS, 256>>>((float*)out); }));
    rate("red.add f64 at one address, 32 lanes", 256.0 * BLOCKS,
         time_of([&] { reduce_lanes<double><<<BLOCKS, 256>>>((double*)out); }));
    rate("red.add u64 at one address, 32 lanes", 256.0 * BLOCKS,
         time_of([&] { reduce_lanes<unsigned long long><<<BLOCKS, 256>>>((unsigned long long*)out); }));
    rate("red.add s32 at one address, 32 lanes", 256.0 * BLOCKS,
         time_of([&] { lanes_s32<<<BLOCKS, 256>>>((int*)out); }));
    const int MORE = 1 << 18;
    rate("red.add f32 at one address, 1 lane", 8.0 * MORE,
         time_of([&] { reduce_leaders<float><<<MORE, 256>>>((float*)out); }));
    rate("red.add s32 at one address, 1 lane", 8.0 * MORE,
         time_of([&] { reduce_leaders<int><<<MORE, 256>>>((int*)out); }));
    rate("red.add u64 at one address, 1 lane", 8.0 * MORE,
         time_of([&] { reduce_leaders<unsigned long long><<<MORE, 256>>>((unsigned long long*)out); }));
    rate("compare-and-swap f32 at one address, 1 thread a block", 1024.0,
         time_of([&] { swap_f32<<<1024, 1>>>((float*)out); }));
    rate("compare-and-swap f32 at one address, 32 lanes", 2048.0, time_of([&] { swap_f32<<<64, 32>>>((float*)out); }));
    rate("atom.inc at one address, one a block of 256", MORE, time_of([&] { ticket<<<MORE, 256>>>(out, out + 1); }));
    rate("fence and atom.inc at one address, one a block of 256", MORE,
         time_of([&] { fence_ticket<<<MORE, 256>>>(out, out + 1); }));
    atomic_chain<<<1, 1>>>(out, cycles, out + 1);
    CHECK(cudaMemcpy(found, cycles, 8, cudaMemcpyDeviceToHost));
    say("latency of atom.add", found[0], "cycles");

    // A cycle through lines of 128 bytes in random order.
    for (u64 bytes : {16ull << 10, 8ull << 20, 1ull << 30}) {
        u64 lines = bytes / 128;
        std::vector<u32> order(lines), next(bytes / 4, 0);
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin() + 1, order.end(), std::mt19937(1));
        for (u64 k = 0; k < lines; k++) next[(u64)order[k] * 32] = order[(k + 1) % lines] * 32;
        CHECK(cudaMemcpy(x, next.data(), bytes, cudaMemcpyHostToDevice));
        int steps = (int)std::min<u64>(lines, 4096);
        for (int k = 0; k < 2; k++) chase<<<1, 1>>>(x, cycles, out, bytes <= 8 << 20 ? (int)lines : steps);
        CHECK(cudaMemcpy(found, cycles, 8, cudaMemcpyDeviceToHost));
        say("latency of ld.global, " + std::to_string(bytes) + " bytes", found[0], "cycles");
    }
    CHECK(cudaMemset(x, 1, BYTES));
    reading<u32, 1>("memory", x, BYTES, out, sm);
    reading<u32, 4>("memory", x, BYTES, out, sm);
    reading<uint4, 1>("memory", x, BYTES, out, sm);
    reading<uint4, 4>("memory", x, BYTES, out, sm);
    reading<u32, 1>("L2", x, 8 << 20, out, sm);
    reading<uint4, 4>("L2", x, 8 << 20, out, sm);
    reading<uint4, 4>("L2 x 2", x, 16 << 20, out, sm);
    for (int threads : {64, 128, 256, 512, 1024}) {
        double us = time_of([&] { load_once<1><<<(u32)(BYTES / 4 / threads), threads>>>(x, out); });
        say("load once, 1 word, " + std::to_string(threads) + " threads", BYTES / us / 1e3, "GB/s");
        us = time_of([&] { load_once<2><<<(u32)(BYTES / 8 / threads), threads>>>(x, out); });
        say("load once, 2 words, " + std::to_string(threads) + " threads", BYTES / us / 1e3, "GB/s");
    }
    for (u64 bytes : {1ull << 20, 4ull << 20, 16ull << 20, 64ull << 20, 256ull << 20}) {  // other memory each time
        u64 at = 0;
        double us = time_of(
            [&] {
                read<uint4, 4><<<sm * 4, 256>>>((const uint4*)x + at / 16, bytes / 16, out);
                at = (at + bytes) % (BYTES - bytes + 1) / 256 * 256;
            },
            31);
        say("cold read with its launch, " + std::to_string(bytes) + " bytes", us, "us");
    }
    CHECK(cudaDeviceSynchronize());
}
