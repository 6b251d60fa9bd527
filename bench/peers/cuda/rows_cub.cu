// Rows of bfloat16 reduced by CUB's DeviceSegmentedReduce, as a library that python/bench/batches.py calls: widened to
// f32, summed there, rounded to bfloat16 at the end.
//
// nvcc -O3 -std=c++17 --extended-lambda -arch=native --shared -Xcompiler -fPIC rows_cub.cu -o librows_cub.so
#include <cub/cub.cuh>
#include <cuda/std/functional>
#include <cuda_bf16.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/transform_output_iterator.h>

struct Begin {
    long long length;
    __host__ __device__ long long operator()(long long row) const { return row * length; }
};

struct Widen {
    __host__ __device__ float operator()(__nv_bfloat16 x) const { return __bfloat162float(x); }
};

struct WidenSquare {
    __host__ __device__ float operator()(__nv_bfloat16 x) const {
        float wide = __bfloat162float(x);
        return wide * wide;
    }
};

struct Narrow {
    __host__ __device__ __nv_bfloat16 operator()(float x) const { return __float2bfloat16(x); }
};

struct NarrowMean {
    float length;
    __host__ __device__ __nv_bfloat16 operator()(float x) const { return __float2bfloat16(x / length); }
};

struct NarrowRoot {
    __host__ __device__ __nv_bfloat16 operator()(float x) const { return __float2bfloat16(sqrtf(x)); }
};

struct Larger {
    __host__ __device__ float operator()(float a, float b) const { return a < b ? b : a; }
};

// One reduction of all rows, with memory that lasts as long as the process.
template <class In, class Out, class Op>
static int reduce(In in, Out out, long long rows, long long length, Op op, float init) {
    static void* scratch = nullptr;
    static size_t room = 0;
    auto begins = thrust::make_transform_iterator(thrust::make_counting_iterator(0ll), Begin{length});
    size_t bytes = 0;
    cudaError_t error = cub::DeviceSegmentedReduce::Reduce(nullptr, bytes, in, out, rows, begins, begins + 1, op, init);
    if (error == cudaSuccess && bytes > room) {
        error = cudaMalloc(&scratch, bytes);
        room = bytes;
    }
    if (error == cudaSuccess)
        error = cub::DeviceSegmentedReduce::Reduce(scratch, bytes, in, out, rows, begins, begins + 1, op, init);
    return error;
}

// op: 0 sum, 1 mean, 2 l2, 3 max. Returns CUDA's error code. The work is on the default stream.
extern "C" int rows_cub(int op, const __nv_bfloat16* x, long long rows, long long length, __nv_bfloat16* out) {
    auto wide = thrust::make_transform_iterator(x, Widen{});
    switch (op) {
        case 0:
            return reduce(wide, thrust::make_transform_output_iterator(out, Narrow{}), rows, length,
                          cuda::std::plus<>(), 0.f);
        case 1:
            return reduce(wide, thrust::make_transform_output_iterator(out, NarrowMean{float(length)}), rows, length,
                          cuda::std::plus<>(), 0.f);
        case 2:
            return reduce(thrust::make_transform_iterator(x, WidenSquare{}),
                          thrust::make_transform_output_iterator(out, NarrowRoot{}), rows, length, cuda::std::plus<>(),
                          0.f);
        default:
            return reduce(wide, thrust::make_transform_output_iterator(out, Narrow{}), rows, length, Larger{},
                          -INFINITY);
    }
}

extern "C" int cub_version() { return CUB_VERSION; }
