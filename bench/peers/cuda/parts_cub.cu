// The peer of reductions of rows and of segments: CUB's DeviceSegmentedReduce, by offsets of 64 bits, of rows computed
// and not read, the parts of warpfold's example `cuda_parts`; f16 and bf16 widened to f32, results in the type that
// warpfold's have, rounded or divided or rooted as they are written. A line of JSON each. Some results are compared
// with those of a plain loop before they are timed.
//
// nvcc -O3 -std=c++17 --extended-lambda -arch=native parts_cub.cu -o parts_cub
// ./parts_cub [operations] [types] [MiB] [axes or segments]
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include <cub/cub.cuh>
#include <cuda/std/functional>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/transform_output_iterator.h>

#include "measure.cuh"

enum class Op { Sum, Mean, L1, L2, Linf, Max, Count, Any, Prod, ArgMax };
const char* const NAMES[] = {"sum", "mean", "l1", "l2", "linf", "max", "count", "any", "prod", "argmax"};

// What elements are reduced as, and what sums are, means and norms: as warpfold's.
template <class E> struct Types {
    typedef E Wide;
    typedef E Sum;
    typedef E Real;
};
template <> struct Types<__half> {
    typedef float Wide, Sum, Real;
};
template <> struct Types<__nv_bfloat16> {
    typedef float Wide, Sum, Real;
};
template <> struct Types<int> {
    typedef int Wide;
    typedef long long Sum;
    typedef double Real;
};

__host__ __device__ inline float widened(__half x) { return __half2float(x); }
__host__ __device__ inline float widened(__nv_bfloat16 x) { return __bfloat162float(x); }
template <class E> __host__ __device__ inline E widened(E x) { return x; }

// An element as a reduction takes it, and what its result is made of the total.
template <Op OP, class E, class T> struct Term {
    __host__ __device__ T operator()(E e) const {
        const auto x = widened(e);
        const T t = T(x);
        switch (OP) {
            case Op::L1:
            case Op::Linf:
                return t < T(0) ? T(-t) : t;
            case Op::L2:
                return t * t;
            case Op::Count:
            case Op::Any:
                return T(x != 0);
            default:
                return t;
        }
    }
};
template <Op OP, class R> struct Ending {
    double length;
    template <class T> __host__ __device__ R operator()(T total) const {
        if constexpr (OP == Op::Mean) return R(total / R(length));
        else if constexpr (OP == Op::L2) return R(sqrt(total));
        else return R(total);
    }
};
struct Larger {
    template <class A, class B> __host__ __device__ typename std::common_type<A, B>::type operator()(A a, B b) const {
        return a < b ? b : a;
    }
};
struct Begin {
    int64_t length;
    __host__ __device__ int64_t operator()(int64_t row) const { return row * length; }
};

std::string type_name, parts = "axes";
size_t bytes_of_input;
void* scratch;
size_t scratch_bytes;

// The parts: rows of a length, or segments by offsets in device memory.
struct Parts {
    std::string described;
    int64_t count, length;
    std::vector<int64_t> offsets;
    int64_t* on_device = nullptr;
    int64_t begin(int64_t k) const { return offsets.empty() ? k * length : offsets[k]; }
};

inline auto begins_of(const Parts& parts) {
    return thrust::make_transform_iterator(thrust::make_counting_iterator(int64_t(0)), Begin{parts.length});
}

template <class Call> void timed(Op op, const Parts& parts, size_t result, const Call& call) {
    size_t bytes = 0;
    CHECK(call(nullptr, bytes));
    if (bytes > scratch_bytes) {
        if (scratch) CHECK(cudaFree(scratch));
        CHECK(cudaMalloc(&scratch, bytes));
        scratch_bytes = bytes;
    }
    const double us = median([&](size_t) { CHECK(call(scratch, scratch_bytes)); });
    const size_t all = bytes_of_input + parts.count * result + parts.offsets.size() * 8;
    printf("{\"library\": \"CUB %d\", \"op\": \"%s\", \"dtype\": \"%s\", %s, \"us\": %.2f, \"gb_per_s\": %.1f}\n",
           CUB_VERSION, NAMES[int(op)], type_name.c_str(), parts.described.c_str(), us, all / us / 1e3);
    fflush(stdout);
}

// Whether a few results are near what a loop over their elements finds.
template <Op OP, class E, class T, class R, class Merge>
bool right(const Parts& parts, const std::vector<E>& host, const R* results, Merge merge, T first) {
    for (int64_t at : {int64_t(0), parts.count / 3, parts.count - 1}) {
        R found;
        CHECK(cudaMemcpy(&found, results + at, sizeof(R), cudaMemcpyDeviceToHost));
        const int64_t from = parts.begin(at), to = parts.begin(at + 1);
        double total = double(first);
        for (int64_t i = from; i < to; i++) total = merge(total, double(Term<OP, E, T>()(host[i])));
        const double expected = Ending<OP, R>{double(parts.length)}(total), off = std::fabs(double(found) - expected);
        // Errors of sums grow with their terms. Products in floats are not looked at: they may leave the range.
        const double terms = OP == Op::Sum || OP == Op::L1 ? double(to - from) : 0;
        if (OP != Op::Prod && off > std::ldexp(1 + std::fabs(expected) + terms, -18)) {
            fprintf(stderr, "%s of %s, %s, part %lld: %g, not %g\n", NAMES[int(OP)], type_name.c_str(),
                    parts.described.c_str(), (long long)at, double(found), expected);
            return false;
        }
    }
    return true;
}

template <Op OP, class T, class R, class E, class Merge>
void fold(const Parts& parts, const std::vector<E>& host, const E* x, void* memory, Merge merge, T first) {
    auto in = thrust::make_transform_iterator(x, Term<OP, E, T>{});
    R* results = static_cast<R*>(memory);
    const auto begins = begins_of(parts);
    const auto out = [&] {
        if constexpr (std::is_same<T, R>::value && OP != Op::Mean && OP != Op::L2) return results;
        else return thrust::make_transform_output_iterator(results, Ending<OP, R>{double(parts.length)});
    }();
    // A mean of segments of many lengths has no iterator that knows the length.
    if (OP == Op::Mean && parts.length == 0) return;
    const auto call = [&](void* room, size_t& bytes) {
        if (!parts.offsets.empty())
            return cub::DeviceSegmentedReduce::Reduce(room, bytes, in, out, parts.count, parts.on_device,
                                                      parts.on_device + 1, merge, first);
        return cub::DeviceSegmentedReduce::Reduce(room, bytes, in, out, parts.count, begins, begins + 1, merge, first);
    };
    size_t bytes = 0;
    CHECK(call(nullptr, bytes));
    if (bytes > scratch_bytes) {
        if (scratch) CHECK(cudaFree(scratch));
        CHECK(cudaMalloc(&scratch, bytes));
        scratch_bytes = bytes;
    }
    CHECK(call(scratch, scratch_bytes));
    if (right<OP, E, T, R>(parts, host, results, merge, first)) timed(OP, parts, sizeof(R), call);
}

template <class E> void arg_max(const Parts& parts, const E* x, void* memory) {
    const auto begins = begins_of(parts);
    auto* out = static_cast<cub::KeyValuePair<int, E>*>(memory);
    timed(Op::ArgMax, parts, sizeof(*out), [&](void* room, size_t& bytes) {
        if (!parts.offsets.empty())
            return cub::DeviceSegmentedReduce::ArgMax(room, bytes, x, out, parts.count, parts.on_device,
                                                      parts.on_device + 1);
        return cub::DeviceSegmentedReduce::ArgMax(room, bytes, x, out, parts.count, begins, begins + 1);
    });
}

// The parts of an array of n elements.
std::vector<Parts> all_parts(int64_t n) {
    std::vector<Parts> all;
    char text[80];
    if (parts == "axes") {
        for (int64_t length : {4, 16, 64, 256, 1024, 4096, 16384}) {
            snprintf(text, sizeof text, "\"shape\": [%lld, %lld], \"axis\": 1", (long long)(n / length),
                     (long long)length);
            all.push_back({text, n / length, length, {}});
        }
        return all;
    }
    uint64_t state = 7;
    for (int64_t length : {4, 16, 64, 1024, 16384, 0}) {
        std::vector<int64_t> offsets = {0};
        while (offsets.back() < n) {
            state = state * 6364136223846793005ull + 1442695040888963407ull;
            offsets.push_back(std::min<int64_t>(offsets.back() + (length ? length : 1 + (state >> 33) % 64), n));
        }
        if (length) snprintf(text, sizeof text, "\"segments\": \"every %lld\"", (long long)length);
        else snprintf(text, sizeof text, "\"segments\": \"random up to 64\"");
        all.push_back({text, int64_t(offsets.size()) - 1, length, offsets});
    }
    return all;
}

template <class E> void of_type(const std::string& ops, size_t size) {
    typedef typename Types<E>::Sum Sum;
    typedef typename Types<E>::Real Real;
    typedef typename Types<E>::Wide Wide;
    const int64_t n = size / sizeof(E);
    std::vector<E> host(n);
    uint64_t state = 1;
    for (E& x : host) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        const double unit = double(state >> 11) / double(1ull << 52) - 1;
        x = std::is_same<E, int>::value ? E(unit * 1e6) : E(unit);
    }
    E* x;
    void* results;
    CHECK(cudaMalloc(&x, size));
    CHECK(cudaMalloc(&results, 16 * (n / 4 + 1) + 16));
    CHECK(cudaMemcpy(x, host.data(), size, cudaMemcpyHostToDevice));
    bytes_of_input = size;
    const auto asked = [&](Op op) {
        return ("," + ops + ",").find(std::string(",") + NAMES[int(op)] + ",") != std::string::npos;
    };
    const cuda::std::plus<> add;
    for (Parts& one : all_parts(n)) {
        if (!one.offsets.empty()) {
            CHECK(cudaMalloc(&one.on_device, one.offsets.size() * 8));
            CHECK(cudaMemcpy(one.on_device, one.offsets.data(), one.offsets.size() * 8, cudaMemcpyHostToDevice));
        }
        if (asked(Op::Sum)) fold<Op::Sum, Sum, Sum>(one, host, x, results, add, Sum(0));
        if (asked(Op::Mean)) fold<Op::Mean, Sum, Real>(one, host, x, results, add, Sum(0));
        if (asked(Op::L1)) fold<Op::L1, Sum, Real>(one, host, x, results, add, Sum(0));
        if (asked(Op::L2)) fold<Op::L2, Real, Real>(one, host, x, results, add, Real(0));
        if (asked(Op::Linf)) fold<Op::Linf, Wide, Wide>(one, host, x, results, Larger(), Wide(0));
        if (asked(Op::Max)) fold<Op::Max, E, E>(one, host, x, results, Larger(), E(-2e6));
        if (asked(Op::Count)) fold<Op::Count, long long, long long>(one, host, x, results, add, 0ll);
        if (asked(Op::Any)) fold<Op::Any, int, bool>(one, host, x, results, Larger(), 0);
        if (asked(Op::Prod)) fold<Op::Prod, Sum, Sum>(one, host, x, results, cuda::std::multiplies<>(), Sum(1));
        if (asked(Op::ArgMax)) arg_max(one, x, results);
        if (one.on_device) CHECK(cudaFree(one.on_device));
    }
    CHECK(cudaFree(x));
    CHECK(cudaFree(results));
}

int main(int count, char** arguments) {
    const auto argument = [&](int k, const char* otherwise) {
        return std::string(count > k ? arguments[k] : otherwise);
    };
    const std::string ops = argument(1, "sum,mean,l1,l2,linf,max,count,any,prod,argmax");
    const std::string types = argument(2, "f16,bf16,f32,f64,i32");
    const size_t size = std::stoull(argument(3, "256")) << 20;
    parts = argument(4, "axes");
    for (size_t from = 0, to; from <= types.size(); from = to + 1) {
        to = std::min(types.find(',', from), types.size());
        type_name = types.substr(from, to - from);
        if (type_name == "f16") of_type<__half>(ops, size);
        if (type_name == "bf16") of_type<__nv_bfloat16>(ops, size);
        if (type_name == "f32") of_type<float>(ops, size);
        if (type_name == "f64") of_type<double>(ops, size);
        if (type_name == "i32") of_type<int>(ops, size);
    }
}
