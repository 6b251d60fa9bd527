// CUB's sum of a raw file of f32 or f64, in hexadecimal: for hard_sums.py.
//
// nvcc -O3 -std=c++17 -arch=native hard_cub.cu -o hard_cub && ./hard_cub f32 FILE
#include <cub/cub.cuh>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#define CHECK(call) \
    do { \
        cudaError_t error = (call); \
        if (error != cudaSuccess) { \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error)); \
            exit(1); \
        } \
    } while (0)

template <class T> void sum(const std::vector<char>& bytes) {
    const int n = int(bytes.size() / sizeof(T));
    T *x, *out, result;
    void* scratch = nullptr;
    size_t scratch_bytes = 0;
    CHECK(cudaMalloc(&x, bytes.size()));
    CHECK(cudaMalloc(&out, sizeof(T)));
    CHECK(cudaMemcpy(x, bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
    CHECK(cub::DeviceReduce::Sum(scratch, scratch_bytes, x, out, n));
    CHECK(cudaMalloc(&scratch, scratch_bytes));
    CHECK(cub::DeviceReduce::Sum(scratch, scratch_bytes, x, out, n));
    CHECK(cudaMemcpy(&result, out, sizeof(T), cudaMemcpyDeviceToHost));
    printf("CUB %d.%d.%d %a\n", CUB_VERSION / 100000, CUB_VERSION / 100 % 1000, CUB_VERSION % 100, double(result));
}

int main(int argc, char** argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: %s f32|f64 FILE\n", argv[0]);
        return 2;
    }
    std::ifstream file(argv[2], std::ios::binary);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    strcmp(argv[1], "f64") ? sum<float>(bytes) : sum<double>(bytes);
}
