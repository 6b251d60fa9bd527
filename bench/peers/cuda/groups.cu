// The peer of sums by keys: CUB's DeviceRadixSort::SortPairs, over the bits that the keys have, then
// DeviceReduce::ReduceByKey; timed as warpfold is, both together. Keys are distributed as those of
// crates/warpfold-lab/src/segments/cases.rs. Lines of JSON, one a figure; bytes are those of input, keys and results. A
// few results are compared with sums in double precision before they are timed.
//
// nvcc -O3 -std=c++17 -arch=native groups.cu -o groups && ./groups
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

#include <cub/cub.cuh>
#include <cuda/std/functional>

#include "measure.cuh"

constexpr uint64_t N = 1ull << 28;
// Groups whose sums are compared.
constexpr uint32_t COMPARED = 64;

// Sebastiano Vigna's splitmix64, by its place in the sequence.
__host__ __device__ uint64_t word(uint64_t seed, uint64_t index) {
    uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

__global__ void make_keys(uint32_t* keys, uint64_t groups, bool is_zipf) {
    for (uint64_t at = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; at < N;
         at += uint64_t(gridDim.x) * blockDim.x) {
        uint64_t key = word(11, at) % groups;
        if (is_zipf) {
            const uint64_t rank = uint64_t(pow(groups + 1.0, (word(11, at) >> 11) * 0x1p-53)) - 1;
            key = (rank < groups ? rank : groups - 1) * 0x9e3779b97f4a7c15ull % groups;
        }
        keys[at] = uint32_t(key);
    }
}

__global__ void sum_some(const uint32_t* keys, const float* x, double* sums, unsigned long long* counts) {
    for (uint64_t at = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; at < N;
         at += uint64_t(gridDim.x) * blockDim.x) {
        if (keys[at] >= COMPARED) continue;
        atomicAdd(sums + keys[at], double(x[at]));
        atomicAdd(counts + keys[at], 1ull);
    }
}

template <class T> T* allocate(size_t n) {
    T* memory;
    CHECK(cudaMalloc(&memory, n * sizeof(T)));
    return memory;
}

int main() {
    // Numbers from -1 to 1, a block of them again and again.
    std::vector<unsigned long long> block(1 << 22);
    for (size_t k = 0; k < block.size(); k++) {
        float two[2];
        for (int j = 0; j < 2; j++) two[j] = float(word(1, 2 * k + j) >> 40) / (1 << 23) - 1;
        memcpy(&block[k], two, 8);
    }
    fill(block);
    uint32_t *keys = allocate<uint32_t>(N), *sorted = allocate<uint32_t>(N), *unique = allocate<uint32_t>(N);
    float *values = allocate<float>(N), *sums = allocate<float>(N);
    int* runs = allocate<int>(1);
    double* exact = allocate<double>(COMPARED);
    unsigned long long* counts = allocate<unsigned long long>(COMPARED);
    for (int bits : {8, 16, 20, 26}) {
        for (bool is_zipf : {false, true}) {
            make_keys<<<4096, 256>>>(keys, 1ull << bits, is_zipf);
            auto sort = [&](void* memory, size_t& bytes, size_t k) {
                return cub::DeviceRadixSort::SortPairs(memory, bytes, keys, sorted, array<float>(N, k), values, int(N),
                                                       0, bits);
            };
            auto reduce = [&](void* memory, size_t& bytes) {
                return cub::DeviceReduce::ReduceByKey(memory, bytes, sorted, unique, values, sums, runs,
                                                      cuda::std::plus<>{}, int(N));
            };
            size_t for_sort = 0, for_reduce = 0;
            CHECK(sort(nullptr, for_sort, 0));
            CHECK(reduce(nullptr, for_reduce));
            char *of_sort = allocate<char>(for_sort), *of_reduce = allocate<char>(for_reduce);
            auto both = [&](size_t k) {
                CHECK(sort(of_sort, for_sort, k));
                CHECK(reduce(of_reduce, for_reduce));
            };
            both(0);
            CHECK(cudaMemset(exact, 0, COMPARED * 8));
            CHECK(cudaMemset(counts, 0, COMPARED * 8));
            sum_some<<<4096, 256>>>(keys, array<float>(N, 0), exact, counts);
            uint32_t first[COMPARED];
            float found[COMPARED];
            double expected[COMPARED];
            unsigned long long counted[COMPARED];
            CHECK(cudaMemcpy(first, unique, sizeof first, cudaMemcpyDeviceToHost));
            CHECK(cudaMemcpy(found, sums, sizeof found, cudaMemcpyDeviceToHost));
            CHECK(cudaMemcpy(expected, exact, sizeof expected, cudaMemcpyDeviceToHost));
            CHECK(cudaMemcpy(counted, counts, sizeof counted, cudaMemcpyDeviceToHost));
            bool right = true;
            for (uint32_t k = 0; k < COMPARED; k++) {
                if (first[k] >= COMPARED) continue;
                right = right && std::fabs(found[k] - expected[first[k]]) <= std::ldexp(1.0 + counted[first[k]], -22);
            }
            const std::string shape = "2^" + std::to_string(bits) + " dense keys, " + (is_zipf ? "Zipf" : "uniform");
            if (right) {
                const double us = median(both), bytes = 8.0 * N + 4.0 * (1ull << bits);
                printf(
                    "{\"peer\":\"cub %d sort and reduce by "
                    "key\",\"op\":\"sum\",\"type\":\"f32\",\"n\":%llu,\"shape\":\"%s\",\"us\":%.3f,\"gb_s\":%.1f}\n",
                    CUB_VERSION, (unsigned long long)N, shape.c_str(), us, bytes / us / 1e3);
                fflush(stdout);
            } else {
                fprintf(stderr, "%s: wrong sums\n", shape.c_str());
            }
            CHECK(cudaFree(of_sort));
            CHECK(cudaFree(of_reduce));
        }
    }
}
