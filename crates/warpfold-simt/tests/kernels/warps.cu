// What lanes do together.

#define LANE unsigned t = threadIdx.x; unsigned a = in[t]

extern "C" __global__ void shuffles(const unsigned* in, unsigned* out) {
  LANE;
  out += 12 * t;
  out[0] = __shfl_down_sync(~0u, a, 3); out[1] = __shfl_up_sync(~0u, a, 5); out[2] = __shfl_xor_sync(~0u, a, 9);
  out[3] = __shfl_sync(~0u, a, a & 31); out[4] = __shfl_down_sync(~0u, a, 2, 8); out[5] = __shfl_up_sync(~0u, a, 1, 16);
  out[6] = __shfl_xor_sync(~0u, a, 16, 16); out[7] = __shfl_sync(~0u, a, 5, 4);
  unsigned p;
  asm volatile("{.reg .pred q;\n\tshfl.sync.down.b32 %0|q, %2, 4, 0x181f, 0xffffffff;\n\tselp.u32 %1, 1, 0, q;}"
      : "=r"(out[8]), "=r"(p) : "r"(a));
  out[9] = p;
  double d = __shfl_xor_sync(~0u, (double)a, 1);
  out[10] = (unsigned)d;
  out[11] = t & 1 ? __shfl_sync(0xaaaaaaaa, a, 31) : __shfl_sync(0x55555555, a, 0);
}

extern "C" __global__ void votes(const unsigned* in, unsigned* out) {
  LANE;
  out += 10 * t;
  out[0] = __ballot_sync(~0u, a & 1); out[1] = __any_sync(~0u, a == 5); out[2] = __all_sync(~0u, a < 1000);
  out[3] = __match_any_sync(~0u, a & 3);
  int same; out[4] = __match_all_sync(~0u, a >> 8, &same); out[5] = same;
  out[6] = __syncthreads_count(a & 1); out[7] = __syncthreads_and(a < 64); out[8] = __syncthreads_or(a == 63);
  unsigned long long wide = (unsigned long long)(a & 1) << 40;
  out[9] = __match_any_sync(~0u, wide);
}

// Lanes of one warp on two sides of a branch, meeting by mask from both.
extern "C" __global__ void across_paths(const unsigned* in, unsigned* out) {
  LANE;
  __shared__ unsigned sh[32];
  if (t < 16) {
    sh[t] = a;
    __syncwarp();
    out[t] = sh[t + 16];
  } else {
    sh[t] = a * 2;
    __syncwarp();
    out[t] = sh[t - 16];
  }
}

// A lock taken lane by lane: needs every lane to make progress.
extern "C" __global__ void lock(unsigned* mutex, unsigned* value) {
  bool done = false;
  while (!done) {
    if (atomicCAS(mutex, 0u, 1u) == 0u) {
      __threadfence();
      unsigned v = *(volatile unsigned*)value;
      *(volatile unsigned*)value = v + 1;
      __threadfence();
      atomicExch(mutex, 0u);
      done = true;
    }
  }
}

// A lock whose holder leaves the loop that the others still spin in.
extern "C" __global__ void spin(unsigned* mutex, unsigned* value) {
  while (atomicCAS(mutex, 0u, 1u) != 0u) {}
  __threadfence();
  *(volatile unsigned*)value = *(volatile unsigned*)value + 1;
  __threadfence();
  atomicExch(mutex, 0u);
}

// Every lane reads what one lane wrote, over and over.
extern "C" __global__ void broadcast(const unsigned* in, unsigned* out) {
  __shared__ unsigned word;
  unsigned sum = 0;
  for (unsigned k = 0; k < 200; k++) {
    if (threadIdx.x == k % blockDim.x) word = in[k % 32];
    __syncthreads();
    sum += word;
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}

// A barrier across the grid: every block must be resident.
extern "C" __global__ void grid_barrier(unsigned* count, unsigned* data, unsigned* out) {
  if (threadIdx.x == 0) {
    data[blockIdx.x] = blockIdx.x + 1;
    __threadfence();
    atomicAdd(count, 1u);
    while (atomicAdd(count, 0u) < gridDim.x) {}
    unsigned sum = 0;
    for (unsigned i = 0; i < gridDim.x; i++) sum += data[i];
    out[blockIdx.x] = sum;
  }
}
