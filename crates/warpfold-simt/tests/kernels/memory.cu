// Vector accesses, cache hints, narrow types, volatile, generic pointers.

typedef unsigned long long u64;

extern "C" __global__ void vectors(const float4* in4, const double2* in2, const short4* in_s, float4* out4,
    double2* out2, int4* out_i) {
  unsigned t = threadIdx.x;
  float4 a = __ldcs(in4 + t), b = __ldcg(in4 + t), c = __ldg(in4 + t), d = __ldlu(in4 + t);
  out4[t] = make_float4(a.x + b.x, a.y + c.y, a.z + d.z, a.w);
  double2 p = in2[t], q = __ldcv(in2 + t);
  __stcs(out2 + t, make_double2(p.x + q.x, p.y - q.y));
  short4 s = in_s[t];
  out_i[t] = make_int4(s.x, s.y, s.z, s.w);
}

extern "C" __global__ void hints(const unsigned* in, unsigned* out) {
  unsigned t = threadIdx.x, a, b, c, d;
  asm volatile("ld.global.nc.L1::no_allocate.u32 %0, [%1];" : "=r"(a) : "l"(in + t));
  asm volatile("ld.global.L1::evict_last.L2::128B.u32 %0, [%1];" : "=r"(b) : "l"(in + t));
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(c) : "l"(in + t));
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(d) : "l"(in + t));
  asm volatile("prefetch.global.L2 [%0];" ::"l"(in + t));
  asm volatile("st.global.wt.u32 [%0], %1;" ::"l"(out + 2 * t), "r"(a + b + c + d));
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(out + 2 * t + 1), "r"(a));
}

// A flag between blocks, by release and acquire.
extern "C" __global__ void message(unsigned* flag, unsigned* data, unsigned* out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *data = 123;
    asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory");
  } else {
    unsigned seen;
    do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory"); while (!seen);
    *out = *data;
  }
}

// The same with nothing that releases.
extern "C" __global__ void message_unordered(unsigned* flag, unsigned* data, unsigned* out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *data = 123;
    asm volatile("st.relaxed.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory");
  } else {
    unsigned seen;
    do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory"); while (!seen);
    *out = *data;
  }
}

// Neighbouring bytes and halves by neighbouring threads: no race.
extern "C" __global__ void neighbours(unsigned char* bytes, unsigned short* halves) {
  unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  bytes[t] = (unsigned char)(bytes[t] + 1);
  halves[t] = (unsigned short)(halves[t] * 2);
  __shared__ unsigned char sh[64];
  sh[threadIdx.x] = (unsigned char)t;
  __syncthreads();
  bytes[t] += sh[threadIdx.x ^ 1];
}

// A structure by value, and a block of three dimensions.
struct Shape { unsigned short a; u64 b; float c[3]; };
extern "C" __global__ void by_value(Shape s, unsigned* out) {
  unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  u64 block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  out[block * blockDim.x * blockDim.y * blockDim.z + t] =
      s.a + (unsigned)s.b + (unsigned)s.c[t % 3] + threadIdx.x + 10 * threadIdx.y + 100 * threadIdx.z;
}
