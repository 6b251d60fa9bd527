// How peers are timed: as warpfold is. Cold, arrays in rotation through 4 GiB, device events, medians. A figure is a
// line of JSON.
#pragma once
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#define CHECK(call) \
    do { \
        cudaError_t error = (call); \
        if (error != cudaSuccess) { \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error)); \
            exit(1); \
        } \
    } while (0)

constexpr size_t POOL = size_t(4) << 30;
inline char* pool;

// Repeats a block through the pool.
inline void fill(const std::vector<unsigned long long>& block) {
    if (!pool) CHECK(cudaMalloc(&pool, POOL));
    for (size_t at = 0; at < POOL; at += block.size() * 8)
        CHECK(cudaMemcpy(pool + at, block.data(), block.size() * 8, cudaMemcpyHostToDevice));
}

template <class T> const T* array(size_t n, size_t k) {
    size_t bytes = (n * sizeof(T) + 4095) / 4096 * 4096;
    return reinterpret_cast<const T*>(pool + k % std::max<size_t>(1, POOL / bytes) * bytes);
}

// The ceiling: reads everything, four loads in flight, and keeps what it read alive without writing it.
static __global__ void __launch_bounds__(512) read(const uint4* x, size_t n, uint4* out) {
    size_t threads = size_t(gridDim.x) * blockDim.x, i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    uint4 a = {};
    for (; i + 3 * threads < n; i += 4 * threads) {
        uint4 v[4];
        for (int k = 0; k < 4; k++) v[k] = __ldcs(x + i + k * threads);
        for (int k = 0; k < 4; k++) {
            a.x ^= v[k].x;
            a.y ^= v[k].y;
            a.z ^= v[k].z;
            a.w ^= v[k].w;
        }
    }
    if ((a.x & a.y & a.z & a.w) == 0x12345678u) *out = a;
}

// Microseconds of a call, which is given its number.
inline double median(std::function<void(size_t)> call, double floor_us = 2) {
    cudaEvent_t from, to;
    CHECK(cudaEventCreate(&from));
    CHECK(cudaEventCreate(&to));
    size_t next = 0;
    auto calls = [&](int count) {
        CHECK(cudaEventRecord(from));
        for (int k = 0; k < count; k++) call(next++);
        CHECK(cudaEventRecord(to));
        CHECK(cudaEventSynchronize(to));
        float ms;
        CHECK(cudaEventElapsedTime(&ms, from, to));
        return ms * 1e3 / count;
    };
    calls(3);
    int count = std::clamp(int(8000 / std::max(calls(3), floor_us)), 3, 400);
    std::vector<double> times(11);
    for (auto& time : times) time = calls(count);
    CHECK(cudaGetLastError());
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}
