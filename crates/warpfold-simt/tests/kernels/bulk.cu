// A bulk-copy pipeline (sm_90): one thread issues copies, an mbarrier a stage says when they have landed.

typedef unsigned long long u64;
static const int STAGES = 3, BYTES = 2048, E = BYTES / 4;

__device__ float warp_sum(float v) {
#pragma unroll
  for (int o = 16; o; o >>= 1) v += __shfl_down_sync(~0u, v, o);
  return v;
}

__device__ void issue(const float* in, u64 tile, unsigned full, unsigned buffer) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(full), "r"(BYTES) : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               ::"r"(buffer), "l"(in + tile * E), "r"(BYTES), "r"(full) : "memory");
}

// Guard: with 0 the pipeline refills a buffer that other threads still read.
template <bool GUARD> __device__ void pipeline(const float* in, float* out, u64 n) {
  extern __shared__ __align__(128) float stage[];
  __shared__ __align__(8) u64 full[STAGES];
  __shared__ float part[32];
  unsigned t = threadIdx.x;
  u64 tiles = n / E;
  unsigned full0 = (unsigned)__cvta_generic_to_shared(full), stage0 = (unsigned)__cvta_generic_to_shared(stage);
  if (t == 0) {
    for (int s = 0; s < STAGES; s++) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(full0 + 8 * s));
    asm volatile("fence.proxy.async.shared::cta;");
  }
  __syncthreads();
  u64 tile = blockIdx.x;
  if (t == 0)
    for (int s = 0; s < STAGES; s++)
      if (tile + (u64)s * gridDim.x < tiles) issue(in, tile + (u64)s * gridDim.x, full0 + 8 * s, stage0 + s * BYTES);
  float v = 0;
  int s = 0;
  unsigned phase = 0;
  for (; tile < tiles; tile += gridDim.x) {
    asm volatile(
        "{\n.reg .pred p;\nWAIT: mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n@p bra DONE;\nbra WAIT;\nDONE:\n}"
        ::"r"(full0 + 8 * s), "r"(phase) : "memory");
    for (unsigned k = t; k < E; k += blockDim.x) v += stage[s * E + k];
    if (GUARD) __syncthreads();
    u64 next = tile + (u64)STAGES * gridDim.x;
    if (t == 0 && next < tiles) issue(in, next, full0 + 8 * s, stage0 + s * BYTES);
    if (++s == STAGES) { s = 0; phase ^= 1; }
  }
  for (u64 j = tiles * E + (u64)blockIdx.x * blockDim.x + t; j < n; j += (u64)gridDim.x * blockDim.x) v += in[j];
  v = warp_sum(v);
  if ((t & 31) == 0) part[t >> 5] = v;
  __syncthreads();
  if (t < 32) v = warp_sum(t < (blockDim.x + 31) / 32 ? part[t] : 0.f);
  if (t == 0) out[blockIdx.x] = v;
}

extern "C" __global__ void bulk_copy(const float* in, float* out, u64 n) { pipeline<true>(in, out, n); }
extern "C" __global__ void bulk_copy_refills_early(const float* in, float* out, u64 n) { pipeline<false>(in, out, n); }
