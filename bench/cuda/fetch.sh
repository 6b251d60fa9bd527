#!/usr/bin/env bash
# Two constants that the model of time lacks (docs/lab-notes/clock.md): what fetching code costs that runs once, and what reading L2 reaches.
# Needs nvcc only. Writes JSON lines to standard output.
set -euo pipefail
dir=$(mktemp -d)
cat >"$dir/fetch.cu" <<'C'
#include <cstdio>
#include <cstdint>
#define CHECK(x) do { cudaError_t e = (x); if (e) { fprintf(stderr, "%s\n", cudaGetErrorString(e)); return 1; } } while (0)
// N independent additions in a row, of four chains, gone through twice: the first time they are fetched.
template <int N> __global__ void straight(float* out, long long* clocks, float y) {
    float a = threadIdx.x, b = a + 1, c = a + 2, d = a + 3;
#pragma unroll 1
    for (int round = 0; round < 3; round++) {
        long long start = clock64();
#pragma unroll
        for (int k = 0; k < N / 4; k++) {
            asm volatile("add.f32 %0, %0, %4;\n\tadd.f32 %1, %1, %4;\n\tadd.f32 %2, %2, %4;\n\tadd.f32 %3, %3, %4;"
                         : "+f"(a), "+f"(b), "+f"(c), "+f"(d) : "f"(y));
        }
        long long end = clock64();
        if (threadIdx.x == 0 && blockIdx.x == 0) clocks[round] = end - start;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d;
}
template <int N> int fetch(float* out, long long* clocks, const char* how, int blocks, int threads) {
    straight<N><<<blocks, threads>>>(out, clocks, 1.5f);
    CHECK(cudaDeviceSynchronize());
    for (int k = 0; k < 3; k++)
        printf("{\"name\":\"cycles of %d instructions in a row, round %d, %s\",\"value\":%lld,\"unit\":\"cycles\"}\n", N, k + 1, how, clocks[k]);
    // A launch later: what is still there of the code.
    straight<N><<<blocks, threads>>>(out, clocks, 1.5f);
    CHECK(cudaDeviceSynchronize());
    printf("{\"name\":\"cycles of %d instructions in a row, second launch, %s\",\"value\":%lld,\"unit\":\"cycles\"}\n", N, how, clocks[0]);
    return 0;
}
// The same bytes again and again within one launch, so that the launch is nothing; past the first cache (ld.cg).
__global__ void again(const uint4* x, uint64_t count, int rounds, uint32_t* out) {
    uint64_t threads = (uint64_t)gridDim.x * blockDim.x, first = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t all = 0;
    for (int r = 0; r < rounds; r++) {
        for (uint64_t i = first; i + 3 * threads < count; i += 4 * threads) {
            uint4 v[4];
#pragma unroll
            for (int k = 0; k < 4; k++) v[k] = __ldcg(x + i + k * threads);
#pragma unroll
            for (int k = 0; k < 4; k++) all ^= v[k].x + r;
        }
    }
    if (all == 0x12345678) *out = all;
}
int main() {
    cudaDeviceProp p; CHECK(cudaGetDeviceProperties(&p, 0));
    printf("{\"name\":\"device\",\"value\":\"%s\"}\n", p.name);
    float* out; long long* clocks; CHECK(cudaMalloc(&out, 1 << 24)); CHECK(cudaMallocManaged(&clocks, 64));
    const char* one = "one warp"; const char* full = "256 threads a multiprocessor";
    int sm = p.multiProcessorCount;
    if (fetch<512>(out, clocks, one, 1, 32) || fetch<2048>(out, clocks, one, 1, 32) || fetch<4096>(out, clocks, one, 1, 32) || fetch<8192>(out, clocks, one, 1, 32) ||
        fetch<16384>(out, clocks, one, 1, 32)) return 1;
    if (fetch<1024>(out, clocks, full, sm, 256) || fetch<3072>(out, clocks, full, sm, 256) || fetch<6144>(out, clocks, full, sm, 256)) return 1;
    uint4* x; uint32_t* seen; CHECK(cudaMalloc(&x, 64 << 20)); CHECK(cudaMalloc(&seen, 4)); CHECK(cudaMemset(x, 1, 64 << 20));
    cudaEvent_t a, b; cudaEventCreate(&a); cudaEventCreate(&b);
    for (uint64_t mib : {4, 8, 16, 24}) for (int blocks : {2, 4, 8}) {
        uint64_t count = (mib << 20) / 16; float t[2];
        for (int k = 0; k < 2; k++) {
            int rounds = k ? 220 : 20;
            again<<<sm * blocks, 256>>>(x, count, rounds, seen);
            cudaEventRecord(a); again<<<sm * blocks, 256>>>(x, count, rounds, seen); cudaEventRecord(b); cudaEventSynchronize(b);
            cudaEventElapsedTime(&t[k], a, b);
        }
        CHECK(cudaGetLastError());
        printf("{\"name\":\"read L2 within a launch, %llu MiB, 256 threads x %d\",\"value\":%.1f,\"unit\":\"GB/s\"}\n", (unsigned long long)mib, blocks,
               200.0 * (mib << 20) / (t[1] - t[0]) / 1e6);
    }
}
C
nvcc -O3 -std=c++17 -arch=native "$dir/fetch.cu" -o "$dir/fetch"
"$dir/fetch"
