// Rows of 16-bit floats reduced by CUB's DeviceSegmentedReduce, as a library that python/bench/batches.py calls:
// widened to f32, summed there, rounded to their type at the end.
//
// nvcc -O3 -std=c++17 --extended-lambda -arch=native --shared -Xcompiler -fPIC rows_cub.cu -o librows_cub.so
#include <cub/cub.cuh>
#include <cuda/std/functional>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

struct Begin {
    long long length;
    __host__ __device__ long long operator()(long long row) const { return row * length; }
};

__host__ __device__ inline float widened(__nv_bfloat16 x) { return __bfloat162float(x); }
__host__ __device__ inline float widened(__half x) { return __half2float(x); }
__device__ inline void store(__nv_bfloat16* to, float x) { *to = __float2bfloat16(x); }
__device__ inline void store(__half* to, float x) { *to = __float2half(x); }

template <class E> struct Widen {
    __host__ __device__ float operator()(E x) const { return widened(x); }
};

template <class E> struct WidenSquare {
    __host__ __device__ float operator()(E x) const { return widened(x) * widened(x); }
};

// What becomes of each row's result.
enum class Finish { Plain, Mean, Root };

template <class E>
__global__ void narrow(const float* results, long long rows, long long length, Finish finish, E* out) {
    long long row = blockIdx.x * 256ll + threadIdx.x;
    if (row >= rows) return;
    float x = results[row];
    store(out + row, finish == Finish::Mean ? x / length : finish == Finish::Root ? sqrtf(x) : x);
}

struct Larger {
    __host__ __device__ float operator()(float a, float b) const { return a < b ? b : a; }
};

// Memory that lasts as long as the process.
template <class T> static cudaError_t grow(T*& memory, size_t& room, size_t bytes) {
    if (bytes <= room) return cudaSuccess;
    room = bytes;
    return cudaMalloc(&memory, bytes);
}

// One reduction of all rows.
template <class In, class E, class Op>
static int reduce(In in, E* out, long long rows, long long length, Op op, float init, Finish finish) {
    static void* scratch = nullptr;
    static float* results = nullptr;
    static size_t scratch_room = 0, results_room = 0;
    auto begins = thrust::make_transform_iterator(thrust::make_counting_iterator(0ll), Begin{length});
    size_t bytes = 0;
    cudaError_t error = grow(results, results_room, rows * sizeof(float));
    if (error == cudaSuccess)
        error = cub::DeviceSegmentedReduce::Reduce(nullptr, bytes, in, results, rows, begins, begins + 1, op, init);
    if (error == cudaSuccess) error = grow(scratch, scratch_room, bytes);
    if (error == cudaSuccess)
        error = cub::DeviceSegmentedReduce::Reduce(scratch, bytes, in, results, rows, begins, begins + 1, op, init);
    if (error != cudaSuccess) return error;
    narrow<<<unsigned((rows + 255) / 256), 256>>>(results, rows, length, finish, out);
    return cudaGetLastError();
}

template <class E> static int reduce_rows(int op, const void* from, long long rows, long long length, void* to) {
    const E* x = static_cast<const E*>(from);
    E* out = static_cast<E*>(to);
    auto wide = thrust::make_transform_iterator(x, Widen<E>{});
    auto squares = thrust::make_transform_iterator(x, WidenSquare<E>{});
    const cuda::std::plus<> add;
    switch (op) {
        case 0:
            return reduce(wide, out, rows, length, add, 0.f, Finish::Plain);
        case 1:
            return reduce(wide, out, rows, length, add, 0.f, Finish::Mean);
        case 2:
            return reduce(squares, out, rows, length, add, 0.f, Finish::Root);
        default:
            return reduce(wide, out, rows, length, Larger{}, -INFINITY, Finish::Plain);
    }
}

// op: 0 sum, 1 mean, 2 l2, 3 max; of f16 or else of bfloat16. Returns CUDA's error code. The work is on the default
// stream.
extern "C" int rows_cub(int op, int is_half, const void* x, long long rows, long long length, void* out) {
    return is_half ? reduce_rows<__half>(op, x, rows, length, out)
                   : reduce_rows<__nv_bfloat16>(op, x, rows, length, out);
}

extern "C" int cub_version() { return CUB_VERSION; }
