// Every atomic, in global and shared memory.

typedef unsigned long long u64;

extern "C" __global__ void atomics32(const int* in, int* out, unsigned* old) {
  unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  int a = in[t];
  old[t] = atomicAdd((unsigned*)out, 1u);
  atomicAdd(out + 1, a); atomicSub(out + 2, a); atomicMin(out + 3, a); atomicMax(out + 4, a);
  atomicMin((unsigned*)out + 5, (unsigned)a); atomicMax((unsigned*)out + 6, (unsigned)a);
  atomicAnd(out + 7, a); atomicOr(out + 8, a); atomicXor(out + 9, a);
  atomicInc((unsigned*)out + 10, 7u); atomicDec((unsigned*)out + 11, 7u);
  atomicCAS(out + 12, 0, a); atomicExch(out + 13, 42);
  __shared__ int sh;
  if (threadIdx.x == 0) sh = 0;
  __syncthreads();
  atomicAdd(&sh, a);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(out + 14, sh);
}

extern "C" __global__ void atomics64(const u64* in, u64* out) {
  unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  u64 a = in[t];
  atomicAdd(out, a); atomicMin(out + 1, a); atomicMax(out + 2, a); atomicAnd(out + 3, a); atomicOr(out + 4, a);
  atomicXor(out + 5, a); atomicMin((long long*)out + 6, (long long)a); atomicMax((long long*)out + 7, (long long)a);
  atomicExch(out + 8, 42ull);
  u64 seen = out[9], want;
  do { want = seen; seen = atomicCAS(out + 9, want, want + a); } while (seen != want);
}

extern "C" __global__ void atomics_float(const float* in, float* out, double* wide) {
  unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(out, in[t]);
  atomicAdd(wide, (double)in[t]);
  __shared__ float sh;
  if (threadIdx.x == 0) sh = 0;
  __syncthreads();
  atomicAdd(&sh, in[t]);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(out + 1, sh);
}
