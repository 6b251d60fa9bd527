// What a GPU's driver takes for one launch: the least that any reduction takes on the host, whoever asks for it. A line
// of JSON a way.
//
//   nvcc -O3 -arch=native launch_floor.cu -o launch_floor && ./launch_floor >> results/MACHINE/launch_floor.jsonl
//
// enqueue: the host's time of a launch that nothing waits for, of 200 in a row. value: from before the launch until the
// host reads, in its own memory, what the kernel wrote there. Medians of 31 turns, in microseconds; two turns before
// them are left out.
#include <algorithm>
#include <atomic>
#include <chrono>
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

constexpr int TURNS = 31, CALLS = 200;

// As many parameters as an exact sum has.
struct Nine {
    unsigned long long words[9];
};

__global__ void nothing() {}
__global__ void nine(Nine) {}
__global__ void answer(volatile unsigned long long* to, unsigned long long what) { *to = what; }
// An answer behind 64 blocks that have read 2^16 floats, as a sum of them has to.
__global__ void answer_of_all(const float4* x, unsigned* count, volatile unsigned long long* to,
                              unsigned long long what) {
    float4 v = x[blockIdx.x * blockDim.x + threadIdx.x];
    if (v.x + v.y + v.z + v.w == 12345) *to = 0;
    __syncthreads();
    if (threadIdx.x == 0 && atomicAdd(count, 1) == gridDim.x - 1) {
        *count = 0;
        *to = what;
    }
}

static double microseconds(const std::function<void()>& run) {
    auto start = std::chrono::steady_clock::now();
    run();
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

static void report(const char* what, const std::function<double()>& turn) {
    std::vector<double> times;
    for (int k = -2; k < TURNS; k++) {
        double time = turn();
        if (k >= 0) times.push_back(time);
    }
    std::sort(times.begin(), times.end());
    printf("{\"what\": \"%s\", \"us\": %.2f, \"least_us\": %.2f}\n", what, times[TURNS / 2], times[0]);
}

int main() {
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    float4* x;
    unsigned* count;
    CHECK(cudaMalloc(&x, 1 << 18));
    CHECK(cudaMemset(x, 0, 1 << 18));
    CHECK(cudaMalloc(&count, 4));
    CHECK(cudaMemset(count, 0, 4));
    unsigned long long *told, *there;
    CHECK(cudaHostAlloc(&told, 8, cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer(&there, told, 0));
    auto* word = reinterpret_cast<std::atomic<unsigned long long>*>(told);
    word->store(0);
    CHECK(cudaDeviceSynchronize());

    auto enqueue = [&](const std::function<void()>& launch) {
        double time = microseconds([&] {
            for (int k = 0; k < CALLS; k++) launch();
        });
        CHECK(cudaStreamSynchronize(stream));
        return time / CALLS;
    };
    unsigned long long stamp = 0;
    auto value = [&](const std::function<void()>& launch) {
        double time = microseconds([&] {
            for (int k = 0; k < CALLS; k++) {
                stamp++;
                launch();
                while (word->load(std::memory_order_acquire) != stamp) {}
            }
        });
        return time / CALLS;
    };
    report("enqueue, a kernel that does nothing", [&] { return enqueue([&] { nothing<<<1, 32, 0, stream>>>(); }); });
    report("enqueue, of nine parameters and 132 blocks",
           [&] { return enqueue([&] { nine<<<132, 256, 0, stream>>>(Nine{}); }); });
    report("value, written by one thread", [&] { return value([&] { answer<<<1, 32, 0, stream>>>(there, stamp); }); });
    report("value, behind 2^16 floats",
           [&] { return value([&] { answer_of_all<<<64, 256, 0, stream>>>(x, count, there, stamp); }); });
    report("a launch that is waited for by the driver", [&] {
        return microseconds([&] {
                   for (int k = 0; k < CALLS; k++) {
                       nothing<<<1, 32, 0, stream>>>();
                       CHECK(cudaStreamSynchronize(stream));
                   }
               }) /
               CALLS;
    });
    CHECK(cudaGetLastError());
}
