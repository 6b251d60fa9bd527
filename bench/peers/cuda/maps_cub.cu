// The peer of fused maps: CUB's DeviceReduce::TransformReduce over two arrays, timed as warpfold's example `cuda_maps`
// is: nine rounds of ten calls between device events, in turn with reading the same bytes alone. A line of JSON a map
// and type.
//
// nvcc -O3 -std=c++17 --extended-lambda -arch=native maps_cub.cu -o maps_cub && ./maps_cub
#include <cub/cub.cuh>
#include <cuda/std/functional>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/tuple.h>

#include "measure.cuh"

constexpr int ROUNDS = 9, CALLS = 10;
constexpr size_t BYTES = size_t(1) << 29;

template <class Call> double marked(Call call) {
    cudaEvent_t from, to;
    CHECK(cudaEventCreate(&from));
    CHECK(cudaEventCreate(&to));
    CHECK(cudaEventRecord(from));
    for (int k = 0; k < CALLS; k++) call();
    CHECK(cudaEventRecord(to));
    CHECK(cudaEventSynchronize(to));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, from, to));
    return ms * 1e3 / CALLS;
}

int multiprocessors;
void* scratch;
size_t scratch_bytes = 64 << 20;

template <class Call> void report(const char* map, const char* type, size_t bytes, Call call) {
    std::vector<double> times[2];
    for (int round = 0; round <= ROUNDS; round++) {
        double reading = marked([&] {
            read<<<multiprocessors * 4, 512>>>(reinterpret_cast<const uint4*>(pool), bytes / 16,
                                               reinterpret_cast<uint4*>(pool));
        });
        double own = marked(call);
        if (round > 0) times[0].push_back(reading), times[1].push_back(own);
    }
    CHECK(cudaGetLastError());
    for (auto& column : times) std::sort(column.begin(), column.end());
    double reading = times[0][ROUNDS / 2], own = times[1][ROUNDS / 2];
    printf(
        "{\"map\": \"%s\", \"dtype\": \"%s\", \"peer\": \"CUB %d\", \"bytes\": %zu, \"read_us\": %.2f, \"us\": %.2f, "
        "\"percent\": %.1f}\n",
        map, type, CUB_VERSION, bytes, reading, own, 100 * reading / own);
    fflush(stdout);
}

template <class T> void maps(const char* type) {
    const size_t n = BYTES / sizeof(T);
    const T *x = reinterpret_cast<const T*>(pool), *y = x + n;
    T* out = reinterpret_cast<T*>(pool + 2 * BYTES);
    long long* count = reinterpret_cast<long long*>(out);
    const auto pairs = thrust::make_zip_iterator(thrust::make_tuple(x, y));
    using Pair = thrust::tuple<T, T>;
    size_t bytes;
    report("sum(abs(x - y))", type, 2 * BYTES, [&] {
        bytes = scratch_bytes;
        CHECK(cub::DeviceReduce::TransformReduce(
            scratch, bytes, pairs, out, (long long)n, cuda::std::plus<>(),
            [] __host__ __device__(Pair p) { return T(fabs(thrust::get<0>(p) - thrust::get<1>(p))); }, T(0)));
    });
    report("count(x > 0.3)", type, BYTES, [&] {
        bytes = scratch_bytes;
        CHECK(cub::DeviceReduce::TransformReduce(
            scratch, bytes, x, count, (long long)n, cuda::std::plus<>(),
            [] __host__ __device__(T x) { return (long long)(x > T(0.3)); }, 0ll));
    });
    report("sum(exp(x))", type, BYTES, [&] {
        bytes = scratch_bytes;
        CHECK(cub::DeviceReduce::TransformReduce(
            scratch, bytes, x, out, (long long)n, cuda::std::plus<>(),
            [] __host__ __device__(T x) { return T(exp(x)); }, T(0)));
    });
}

int main() {
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    multiprocessors = device.multiProcessorCount;
    CHECK(cudaMalloc(&scratch, scratch_bytes));
    // Numbers of magnitude below two in either type.
    std::vector<unsigned long long> block(1 << 22);
    unsigned long long state = 1;
    for (auto& word : block) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        word = state & 0xbfff3fffbfff3fffull;
    }
    fill(block);
    printf("{\"gpu\": \"%s\"}\n", device.name);
    maps<float>("f32");
    maps<double>("f64");
}
