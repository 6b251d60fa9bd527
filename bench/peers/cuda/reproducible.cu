// The peer that promises the same bits on every GPU: CUB's sum with determinism gpu_to_gpu (CCCL 3.5 and later), on
// every kind of data, beside its plain sum. Lines of JSON, one a figure.
//
// nvcc -O3 -std=c++17 -arch=native -Icccl reproducible.cu -o reproducible && ./reproducible
#include "measure.cuh"
#include "data.cuh"

#include <cub/cub.cuh>
#include <cuda/__execution/determinism.h>
#include <cuda/__execution/require.h>

template <class T> void sums(const char* type, Data data, void* out) {
    fill(words_of<T>(data, 1 << 22));
    const size_t n = (size_t(2) << 30) / sizeof(T);
    auto report = [&](const char* promise, bool reproducible, double us) {
        printf(
            "{\"peer\":\"cub "
            "%d%s\",\"op\":\"sum\",\"type\":\"%s\",\"n\":%zu,\"data\":\"%s\",\"reproducible\":%s,\"us\":%.3f,\"gb_s\":%"
            ".1f}\n",
            CUB_VERSION, promise, type, n, DATA_NAMES[int(data)], reproducible ? "true" : "false", us,
            n * sizeof(T) / us / 1e3);
        fflush(stdout);
    };
    auto sum = [&](auto promise) {
        auto env = cuda::execution::require(promise);
        return median([&](size_t k) {
            CHECK(cub::DeviceReduce::Reduce(array<T>(n, k), static_cast<T*>(out), n, cuda::std::plus<T>{}, T(0), env));
        });
    };
    report(" gpu_to_gpu", true, sum(cuda::execution::determinism::gpu_to_gpu));
    if (data != Data::Uniform) report("", false, sum(cuda::execution::determinism::run_to_run));
}

int main() {
    void* out;
    CHECK(cudaMalloc(&out, 64));
    for (int data = 0; data <= int(Data::Limbs); data++) {
        sums<float>("f32", Data(data), out);
        sums<double>("f64", Data(data), out);
    }
}
