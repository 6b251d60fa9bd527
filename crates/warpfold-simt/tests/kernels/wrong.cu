// What the well-known tutorials get wrong, each to be caught.

typedef unsigned long long u64;

// Warp-synchronous code through volatile, without __syncwarp.
extern "C" __global__ void volatile_tail(const float* in, float* out) {
  __shared__ float sd[128];
  unsigned t = threadIdx.x;
  sd[t] = in[blockIdx.x * 128 + t];
  __syncthreads();
  if (t < 64) sd[t] += sd[t + 64];
  __syncthreads();
  if (t < 32) {
    volatile float* v = sd;
    v[t] += v[t + 32];
    v[t] += v[t + 16];
    v[t] += v[t + 8];
    v[t] += v[t + 4];
    v[t] += v[t + 2];
    v[t] += v[t + 1];
  }
  if (t == 0) out[blockIdx.x] = sd[0];
}

// A tree in global memory with its barrier left out.
extern "C" __global__ void global_without_barrier(int* data, unsigned n) {
  unsigned t = threadIdx.x;
  for (unsigned s = n / 2; s > 0; s >>= 1)
    if (t < s) data[t] += data[t + s];
}

// The second pass in place: block b writes where block 0 still reads.
extern "C" __global__ void in_place_across_blocks(float* data, u64 n) {
  __shared__ float sd[64];
  unsigned t = threadIdx.x;
  u64 i = (u64)blockIdx.x * 64 + t;
  sd[t] = i < n ? data[i] : 0.f;
  __syncthreads();
  for (unsigned s = 32; s > 0; s >>= 1) {
    if (t < s) sd[t] += sd[t + s];
    __syncthreads();
  }
  if (t == 0) data[blockIdx.x] = sd[0];
}

// The ticket without its fence.
extern "C" __global__ void ticket_without_fence(const float* in, float* partial, unsigned* ticket, float* out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = in[blockIdx.x];
    last = atomicAdd(ticket, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    float t = 0;
    for (unsigned k = 0; k < gridDim.x; k++) t += __ldcg(&partial[k]);
    *out = t;
  }
}

// A barrier under a guard that splits a warp.
extern "C" __global__ void barrier_in_guard(float* data) {
  __shared__ float sd[64];
  unsigned t = threadIdx.x;
  sd[t] = data[t];
  if (t < 48) {
    __syncthreads();
    sd[t] += 1.f;
  }
  data[t] = sd[t];
}

// A barrier under a guard that some warps never come to, while they come to another.
extern "C" __global__ void barrier_by_warp(float* data) {
  __shared__ float sd[64];
  unsigned t = threadIdx.x;
  sd[t] = data[t];
  if (t < 32) {
    __syncthreads();
    sd[t] += 1.f;
  }
  data[t] = sd[63 - t];
  if (t >= 32) __syncthreads();
}

// Shared memory past n is read, never written.
extern "C" __global__ void reads_unwritten(const float* in, float* out, unsigned n) {
  extern __shared__ float sd[];
  unsigned t = threadIdx.x;
  if (t < n) sd[t] = in[t];
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
    if (t < s) sd[t] += sd[t + s];
    __syncthreads();
  }
  if (t == 0) *out = sd[0];
}

extern "C" __global__ void past_the_end(const float* in, float* out) { out[threadIdx.x] = in[threadIdx.x + 1]; }

extern "C" __global__ void misaligned(const float* in, float4* out) {
  out[threadIdx.x] = *(const float4*)(in + 1 + threadIdx.x);
}

extern "C" __global__ void endless(volatile int* flag) {
  while (*flag == 0) {}
}

// Lane 0 waits for lanes that wait elsewhere.
extern "C" __global__ void waits_for_ever(int* out) {
  if (threadIdx.x < 16) __syncwarp(0xffffffff);
  else __syncthreads();
  out[threadIdx.x] = 1;
}

// Lanes write different values to one place.
extern "C" __global__ void one_place(int* out) { out[0] = threadIdx.x; }
// Lanes write the same value to one place: allowed.
extern "C" __global__ void one_place_one_value(int* out) { out[0] = 7; }
