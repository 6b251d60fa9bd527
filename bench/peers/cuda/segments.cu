// The peer of many reductions: CUB's DeviceSegmentedReduce, by offsets and, of equal segments, by their length; timed
// as warpfold is. Segments are those of crates/warpfold-lab/src/cuda/segments/shapes.rs, from the same random numbers.
// Lines of JSON, one a figure; bytes are those of input, results and, by offsets, offsets. Results are compared with
// sums in double precision before they are timed.
//
// nvcc -O3 -std=c++17 -arch=native segments.cu -o segments && ./segments
#include <cmath>
#include <cstdint>
#include <string>

#include <cub/cub.cuh>

#include "measure.cuh"

constexpr uint64_t N = 1ull << 28;

// Sebastiano Vigna's splitmix64.
struct Random {
    uint64_t state;
    uint64_t operator()() {
        state += 0x9e3779b97f4a7c15ull;
        uint64_t z = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
        return z ^ (z >> 31);
    }
};

std::vector<float> host;
float* result;
void* scratch;
size_t scratch_bytes;

void report(const char* way, const std::string& shape, uint64_t n, uint64_t segments, uint64_t bytes, double us) {
    printf(
        "{\"peer\":\"cub %d "
        "%s\",\"op\":\"sum\",\"type\":\"f32\",\"n\":%llu,\"shape\":\"%s\",\"us\":%.3f,\"gb_s\":%.1f}\n",
        CUB_VERSION, way, (unsigned long long)n, shape.c_str(), us, (bytes + 4 * (n + segments)) / us / 1e3);
    fflush(stdout);
}

// Calls that take long are timed less often.
double timed(const std::function<void(size_t)>& call) {
    cudaEvent_t from, to;
    CHECK(cudaEventCreate(&from));
    CHECK(cudaEventCreate(&to));
    CHECK(cudaEventRecord(from));
    call(0);
    CHECK(cudaEventRecord(to));
    CHECK(cudaEventSynchronize(to));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, from, to));
    return ms > 20 ? ms * 1e3 : median(call);
}

// Two calls with a null scratch ask how much is wanted; both ways take what they need from one buffer.
template <class Call> void take_scratch(Call&& call) {
    size_t bytes = 0;
    CHECK(call(nullptr, bytes));
    if (bytes <= scratch_bytes) return;
    if (scratch) CHECK(cudaFree(scratch));
    CHECK(cudaMalloc(&scratch, bytes));
    scratch_bytes = bytes;
}

// Whether a few of the results, the first and the last among them, are near the sums of their segments.
template <class Bounds> bool right(uint64_t segments, const Bounds& bounds) {
    Random random{3};
    for (int k = 0; k < 64; k++) {
        const uint64_t at = k == 0 ? 0 : k == 1 ? segments - 1 : random() % segments;
        float found;
        CHECK(cudaMemcpy(&found, result + at, 4, cudaMemcpyDeviceToHost));
        double sum = 0;
        const uint64_t begin = bounds(at), end = bounds(at + 1);
        if (end - begin > N / 16 && k > 1) continue;
        for (uint64_t i = begin; i < end; i++) sum += host[i];
        if (std::fabs(found - sum) > std::ldexp(1.0 + (end - begin), -22)) {
            fprintf(stderr, "segment %llu: %g, not %g\n", (unsigned long long)at, found, sum);
            return false;
        }
    }
    return true;
}

void by_offsets(const std::string& shape, const std::vector<int64_t>& offsets) {
    int64_t* on_device;
    CHECK(cudaMalloc(&on_device, offsets.size() * 8));
    CHECK(cudaMemcpy(on_device, offsets.data(), offsets.size() * 8, cudaMemcpyHostToDevice));
    const int64_t segments = offsets.size() - 1;
    auto call = [&](void* memory, size_t& bytes, size_t k) {
        return cub::DeviceSegmentedReduce::Sum(memory, bytes, array<float>(N, k), result, segments, on_device,
                                               on_device + 1);
    };
    take_scratch([&](void* memory, size_t& bytes) { return call(memory, bytes, 0); });
    auto run = [&](size_t k) { CHECK(call(scratch, scratch_bytes, k)); };
    run(0);
    CHECK(cudaDeviceSynchronize());
    if (right(segments, [&](uint64_t k) { return uint64_t(offsets[k]); })) {
        report("by offsets", shape, offsets.back() - offsets[0], segments, offsets.size() * 8, timed(run));
    }
    CHECK(cudaFree(on_device));
}

void by_length(const std::string& shape, uint64_t length) {
    const int64_t segments = N / length;
    auto call = [&](void* memory, size_t& bytes, size_t k) {
        return cub::DeviceSegmentedReduce::Sum(memory, bytes, array<float>(N, k), result, segments, int(length));
    };
    take_scratch([&](void* memory, size_t& bytes) { return call(memory, bytes, 0); });
    auto run = [&](size_t k) { CHECK(call(scratch, scratch_bytes, k)); };
    run(0);
    CHECK(cudaDeviceSynchronize());
    if (right(segments, [&](uint64_t k) { return k * length; }))
        report("by length", shape, segments * length, segments, 0, timed(run));
}

std::vector<int64_t> ends(const std::vector<int64_t>& lengths) {
    std::vector<int64_t> all = {0};
    for (int64_t length : lengths) all.push_back(all.back() + length);
    return all;
}

int main() {
    // Numbers from -1 to 1, a block of them again and again.
    std::vector<unsigned long long> block(1 << 22);
    Random numbers{1};
    for (auto& word : block) {
        float two[2];
        for (float& x : two) x = float(numbers() >> 40) / (1 << 23) - 1;
        memcpy(&word, two, 8);
    }
    fill(block);
    host.resize(N);
    for (uint64_t at = 0; at < N; at += block.size() * 2) memcpy(host.data() + at, block.data(), block.size() * 8);
    CHECK(cudaMalloc(&result, N * 4));

    Random random{7};
    std::vector<int64_t> offsets = {0};
    while (offsets.back() < int64_t(N)) offsets.push_back(std::min<int64_t>(offsets.back() + random() % 65, N));
    by_offsets("random up to 64", offsets);
    const uint64_t count = 1 << 16;
    double harmonic = 0;
    for (uint64_t k = 1; k <= count; k++) harmonic += 1.0 / k;
    std::vector<int64_t> lengths(count);
    for (uint64_t k = 1; k <= count; k++) lengths[k - 1] = N / (k * harmonic);
    for (uint64_t k = count - 1; k > 0; k--) std::swap(lengths[k], lengths[random() % (k + 1)]);
    by_offsets("Zipf", ends(lengths));
    const int64_t tiny = 1 << 20;
    lengths.assign(tiny + 1, 4);
    lengths[tiny / 2] = N - 4 * tiny;
    by_offsets("one giant among tiny ones", ends(lengths));

    // The slowest last, should there not be time for all.
    for (uint64_t length : {1ull << 28, 1ull << 24, 1ull << 16, 4096ull, 256ull, 31ull, 16ull, 3ull, 1ull}) {
        const std::string shape = "every " + std::to_string(length);
        by_length(shape, length);
        by_offsets(shape, ends(std::vector<int64_t>(N / length, length)));
    }
}
