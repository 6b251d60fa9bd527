// The classical tree reductions: each block folds its part, right for every n.

typedef unsigned long long u64;

extern "C" __global__ void interleaved(const float* in, float* out, u64 n) {
  extern __shared__ float sd[];
  unsigned t = threadIdx.x;
  u64 i = (u64)blockIdx.x * blockDim.x + t;
  sd[t] = i < n ? in[i] : 0.f;
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    if (t % (2 * s) == 0) sd[t] += sd[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sd[0];
}

extern "C" __global__ void strided(const float* in, float* out, u64 n) {
  extern __shared__ float sd[];
  unsigned t = threadIdx.x;
  u64 i = (u64)blockIdx.x * blockDim.x + t;
  sd[t] = i < n ? in[i] : 0.f;
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    unsigned x = 2 * s * t;
    if (x < blockDim.x) sd[x] += sd[x + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sd[0];
}

extern "C" __global__ void sequential(const float* in, float* out, u64 n) {
  extern __shared__ float sd[];
  unsigned t = threadIdx.x;
  u64 i = (u64)blockIdx.x * blockDim.x + t;
  sd[t] = i < n ? in[i] : 0.f;
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
    if (t < s) sd[t] += sd[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sd[0];
}

extern "C" __global__ void add_on_load(const float* in, float* out, u64 n) {
  extern __shared__ float sd[];
  unsigned t = threadIdx.x;
  u64 i = (u64)blockIdx.x * blockDim.x * 2 + t;
  sd[t] = (i < n ? in[i] : 0.f) + (i + blockDim.x < n ? in[i + blockDim.x] : 0.f);
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
    if (t < s) sd[t] += sd[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sd[0];
}

// The last warp without block barriers: each step reads, waits, writes, waits.
extern "C" __global__ void last_warp(const float* in, float* out, u64 n) {
  extern __shared__ float sd[];
  unsigned t = threadIdx.x;
  u64 i = (u64)blockIdx.x * blockDim.x * 2 + t;
  sd[t] = (i < n ? in[i] : 0.f) + (i + blockDim.x < n ? in[i + blockDim.x] : 0.f);
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 32; s >>= 1) {
    if (t < s) sd[t] += sd[t + s];
    __syncthreads();
  }
  if (t < 32) {
    float v = sd[t];
#pragma unroll
    for (unsigned s = 32; s > 0; s >>= 1) {
      if (t + s < blockDim.x) v += sd[t + s];
      __syncwarp();
      sd[t] = v;
      __syncwarp();
    }
  }
  if (t == 0) out[blockIdx.x] = sd[0];
}

template <unsigned B> __device__ void unrolled_body(const float* in, float* out, u64 n) {
  __shared__ float sd[B];
  unsigned t = threadIdx.x;
  u64 i = (u64)blockIdx.x * B * 2 + t;
  sd[t] = (i < n ? in[i] : 0.f) + (i + B < n ? in[i + B] : 0.f);
  __syncthreads();
#pragma unroll
  for (unsigned s = B / 2; s >= 32; s >>= 1) {
    if (t < s) sd[t] += sd[t + s];
    __syncthreads();
  }
  if (t < 32) {
    float v = sd[t];
#pragma unroll
    for (unsigned s = 16; s > 0; s >>= 1) v += __shfl_down_sync(~0u, v, s);
    if (t == 0) out[blockIdx.x] = v;
  }
}
extern "C" __global__ void unrolled_256(const float* in, float* out, u64 n) { unrolled_body<256>(in, out, n); }

__device__ float warp_sum(float v) {
#pragma unroll
  for (int o = 16; o; o >>= 1) v += __shfl_down_sync(~0u, v, o);
  return v;
}

// Any block size up to 1024: missing warps count as zero.
__device__ float block_sum(float v) {
  __shared__ float part[32];
  unsigned t = threadIdx.x;
  v = warp_sum(v);
  if ((t & 31) == 0) part[t >> 5] = v;
  __syncthreads();
  if (t < 32) v = warp_sum(t < (blockDim.x + 31) / 32 ? part[t] : 0.f);
  return v;
}

extern "C" __global__ void shuffle(const float* in, float* out, u64 n) {
  float v = 0;
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (u64)gridDim.x * blockDim.x) v += in[i];
  v = block_sum(v);
  if (threadIdx.x == 0) out[blockIdx.x] = v;
}

extern "C" __global__ void vector_grid(const float* in, float* out, u64 n) {
  const float4* in4 = (const float4*)in;
  u64 first = (u64)blockIdx.x * blockDim.x + threadIdx.x, stride = (u64)gridDim.x * blockDim.x;
  float a = 0, b = 0, c = 0, d = 0;
  for (u64 i = first; i < n / 4; i += stride) {
    float4 v = __ldcs(&in4[i]);
    a += v.x; b += v.y; c += v.z; d += v.w;
  }
  for (u64 i = n / 4 * 4 + first; i < n; i += stride) a += in[i];
  float v = block_sum((a + b) + (c + d));
  if (threadIdx.x == 0) out[blockIdx.x] = v;
}

// One launch: the last block to finish folds the partials, and resets the ticket.
extern "C" __global__ void single_pass(const float* in, float* partial, unsigned* ticket, float* out, u64 n) {
  float v = 0;
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (u64)gridDim.x * blockDim.x) v += in[i];
  v = block_sum(v);
  __shared__ bool last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = v;
    __threadfence();
    last = atomicAdd(ticket, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last) {
    float t = 0;
    for (unsigned k = threadIdx.x; k < gridDim.x; k += blockDim.x) t += __ldcg(&partial[k]);
    __syncthreads();
    t = block_sum(t);
    if (threadIdx.x == 0) { *out = t; *ticket = 0; }
  }
}

// A tree in global memory, one block, sequential addressing, a barrier a step.
extern "C" __global__ void global_sequential(float* data, unsigned n) {
  for (u64 s = 1; s < n; s *= 2) {
    for (u64 i = threadIdx.x * 2 * s; i + s < n; i += blockDim.x * 2 * s) data[i] += data[i + s];
    __syncthreads();
  }
}

extern "C" __global__ void atomic_sum(const float* in, float* out, u64 n) {
  u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(out, in[i]);
}
