// The peer: CUB's DeviceReduce, timed as warpfold is (cold, arrays in rotation through 4 GiB, device events, medians),
// and the limits of the machine: an empty kernel, a plain reading kernel. Lines of JSON, one a figure.
//
// nvcc -O3 -std=c++17 -arch=native cub.cu -o cub && ./cub
#include <cub/cub.cuh>
#include <cuda_fp16.h>

#include "measure.cuh"

void *result, *index_result, *scratch;
size_t scratch_bytes = 64 << 20;

__global__ void empty() {}

void report(const char* op, const char* type, size_t n, size_t size, double us) {
    printf("{\"peer\":\"cub %d\",\"op\":\"%s\",\"type\":\"%s\",\"n\":%zu,\"us\":%.3f,\"gb_s\":%.1f}\n", CUB_VERSION, op,
           type, n, us, n * size / us / 1e3);
    fflush(stdout);
}

template <class T> void types(const char* type, bool sum_only = false) {
    size_t n = (size_t(2) << 30) / sizeof(T), bytes;
    T* out = static_cast<T*>(result);
    report("sum", type, n, sizeof(T), median([&](size_t k) {
               bytes = scratch_bytes;
               cub::DeviceReduce::Sum(scratch, bytes, array<T>(n, k), out, (long long)n);
           }));
    if (sum_only) return;
    report("max", type, n, sizeof(T), median([&](size_t k) {
               bytes = scratch_bytes;
               cub::DeviceReduce::Max(scratch, bytes, array<T>(n, k), out, (long long)n);
           }));
    report("argmax", type, n, sizeof(T), median([&](size_t k) {
               bytes = scratch_bytes;
               cub::DeviceReduce::ArgMax(scratch, bytes, array<T>(n, k), out, (long long*)index_result, (long long)n);
           }));
}

int main() {
    CHECK(cudaMalloc(&result, 64));
    CHECK(cudaMalloc(&index_result, 64));
    CHECK(cudaMalloc(&scratch, scratch_bytes));
    std::vector<unsigned long long> block(1 << 22);
    unsigned long long state = 1;
    for (auto& word : block) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        word = state & 0xbfff3fffbfff3fffull;
    }
    fill(block);
    report("empty", "-", 0, 0, median([&](size_t) { empty<<<1, 32>>>(); }));
    report("read", "16 bytes", POOL / 16, 16,
           median([&](size_t) { read<<<132 * 4, 512>>>((const uint4*)pool, POOL / 16, (uint4*)result); }));
    report("read", "16 bytes", POOL / 32, 16, median([&](size_t k) {
               read<<<132 * 4, 512>>>((const uint4*)array<uint4>(POOL / 32, k), POOL / 32, (uint4*)result);
           }));
    {
        // What the ladder of kernels is climbed with besides f32.
        size_t n = size_t(1) << 28, bytes;
        report("sum", "i32", n, 4, median([&](size_t k) {
                   bytes = scratch_bytes;
                   cub::DeviceReduce::Sum(scratch, bytes, array<int>(n, k), (int*)result, (long long)n);
               }));
    }
    for (int power : {10, 12, 14, 16, 18, 20, 22, 24, 25, 26, 28, 30}) {
        size_t n = size_t(1) << power, bytes;
        report("sum", "f32", n, 4, median([&](size_t k) {
                   bytes = scratch_bytes;
                   cub::DeviceReduce::Sum(scratch, bytes, array<float>(n, k), (float*)result, (long long)n);
               }));
    }
    types<signed char>("i8");
    types<short>("i16");
    types<int>("i32");
    types<long long>("i64");
    types<__half>("f16");
    types<float>("f32");
    types<double>("f64");
}
