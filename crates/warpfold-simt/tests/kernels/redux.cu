// What compute capability 8.0 adds.

extern "C" __global__ void redux(const unsigned* in, unsigned* out) {
  unsigned t = threadIdx.x, a = in[t];
  out += 7 * t;
  out[0] = __reduce_add_sync(~0u, a); out[1] = __reduce_min_sync(~0u, a); out[2] = __reduce_max_sync(~0u, (int)a);
  out[3] = __reduce_and_sync(~0u, a); out[4] = __reduce_or_sync(~0u, a); out[5] = __reduce_xor_sync(~0u, a);
  out[6] = __reduce_min_sync(~0u, (int)a);
}

// NaN-propagating extremes, f32 and packed f16.
extern "C" __global__ void extremes(const float* in, float* out, const unsigned* pairs, unsigned* packed) {
  unsigned t = threadIdx.x;
  float a = in[2 * t], b = in[2 * t + 1];
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(out[2 * t]) : "f"(a), "f"(b));
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(out[2 * t + 1]) : "f"(a), "f"(b));
  unsigned x = pairs[2 * t], y = pairs[2 * t + 1];
  asm("min.f16x2 %0, %1, %2;" : "=r"(packed[3 * t]) : "r"(x), "r"(y));
  asm("max.NaN.f16x2 %0, %1, %2;" : "=r"(packed[3 * t + 1]) : "r"(x), "r"(y));
  asm("min.NaN.bf16x2 %0, %1, %2;" : "=r"(packed[3 * t + 2]) : "r"(x), "r"(y));
}
