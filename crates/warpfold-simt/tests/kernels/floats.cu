// Floating point: 24 results a thread, as bits.

typedef unsigned long long u64;

extern "C" __global__ void float32(const float* in, unsigned* out) {
  unsigned t = threadIdx.x;
  float a = in[3 * t], b = in[3 * t + 1], c = in[3 * t + 2];
  out += 24 * t;
#define F(i, e) out[i] = __float_as_uint(e)
  F(0, a + b); F(1, __fadd_rz(a, b)); F(2, __fadd_ru(a, b)); F(3, __fadd_rd(a, b));
  F(4, __fmul_rn(a, b)); F(5, __fmul_rz(a, b)); F(6, __fmaf_rn(a, b, c)); F(7, __fmaf_ru(a, b, c));
  F(8, __fdiv_rn(a, b)); F(9, __fdiv_rd(a, b)); F(10, __fsqrt_rn(fabsf(a))); F(11, __fsqrt_ru(fabsf(a)));
  F(12, fminf(a, b)); F(13, fmaxf(a, b)); F(14, -a); F(15, __saturatef(a));
  F(16, rintf(a)); F(17, floorf(a)); F(18, ceilf(a)); F(19, truncf(a));
  out[20] = (a < b) | (a <= b) << 1 | (a == b) << 2 | (a != b) << 3 | !(a < b) << 4 | !(a >= b) << 5 | isnan(a) << 6;
  asm("add.ftz.f32 %0, %1, %2;" : "=r"(out[21]) : "r"(__float_as_uint(a)), "r"(__float_as_uint(b)));
  asm("mul.ftz.f32 %0, %1, %2;" : "=r"(out[22]) : "r"(__float_as_uint(a)), "r"(__float_as_uint(b)));
  asm("fma.rn.ftz.sat.f32 %0, %1, %2, %3;" : "=r"(out[23]) : "r"(__float_as_uint(a)), "r"(__float_as_uint(b)),
      "r"(__float_as_uint(c)));
}

extern "C" __global__ void float64(const double* in, u64* out) {
  unsigned t = threadIdx.x;
  double a = in[3 * t], b = in[3 * t + 1], c = in[3 * t + 2];
  out += 24 * t;
#define D(i, e) out[i] = __double_as_longlong(e)
  D(0, a + b); D(1, __dadd_rz(a, b)); D(2, __dadd_ru(a, b)); D(3, __dadd_rd(a, b));
  D(4, __dmul_rn(a, b)); D(5, __dmul_rz(a, b)); D(6, __fma_rn(a, b, c)); D(7, __fma_rd(a, b, c));
  D(8, __ddiv_rn(a, b)); D(9, __ddiv_ru(a, b)); D(10, __dsqrt_rn(fabs(a))); D(11, __dsqrt_rz(fabs(a)));
  D(12, fmin(a, b)); D(13, fmax(a, b)); D(14, -a); D(15, fabs(a));
  D(16, rint(a)); D(17, floor(a)); D(18, ceil(a)); D(19, trunc(a));
  out[20] = (a < b) | (a <= b) << 1 | (a == b) << 2 | (a != b) << 3 | isnan(a) << 6;
  D(21, __dsub_rn(a, b)); D(22, copysign(a, b)); D(23, __drcp_rn(a));
}

extern "C" __global__ void conversions(const double* in, u64* out) {
  unsigned t = threadIdx.x;
  double a = in[3 * t];
  float f = (float)a;
  out += 24 * t;
  out[0] = (unsigned)__double2int_rz(a); out[1] = __double2uint_rn(a); out[2] = __double2ll_ru(a);
  out[3] = __double2ull_rd(a);
  out[4] = (unsigned)__float2int_rn(f); out[5] = __float2uint_rz(f); out[6] = __float2ll_rd(f);
  out[7] = __float2ull_ru(f);
  out[8] = __float_as_uint(__double2float_rn(a)); out[9] = __float_as_uint(__double2float_rz(a));
  out[10] = __float_as_uint(__double2float_ru(a)); out[11] = __double_as_longlong((double)f);
  u64 bits = out[2];
  out[12] = __float_as_uint(__ull2float_rn(bits)); out[13] = __float_as_uint(__ll2float_rz(bits));
  out[14] = __double_as_longlong(__ull2double_ru(bits)); out[15] = __double_as_longlong(__ll2double_rd(bits));
  out[16] = __float_as_uint(__int2float_rn((int)bits));
  out[17] = __double_as_longlong(__uint2double_rn((unsigned)bits));
  unsigned short h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(f));
  out[18] = h;
  float back;
  asm("cvt.f32.f16 %0, %1;" : "=f"(back) : "h"(h));
  out[19] = __float_as_uint(back);
  asm("cvt.rz.f16.f32 %0, %1;" : "=h"(h) : "f"(f));
  out[20] = h;
  asm("cvt.rn.f16.f64 %0, %1;" : "=h"(h) : "d"(a));
  out[21] = h;
  signed char tiny = (signed char)(int)f;
  out[22] = (u64)(long long)tiny;
  out[23] = (unsigned short)__float2uint_rz(f);
}

// Half arithmetic, one and two at a time.
extern "C" __global__ void halves(const unsigned* in, unsigned* out) {
  unsigned t = threadIdx.x, a = in[3 * t], b = in[3 * t + 1], c = in[3 * t + 2];
  out += 6 * t;
  asm("add.f16x2 %0, %1, %2;" : "=r"(out[0]) : "r"(a), "r"(b));
  asm("mul.f16x2 %0, %1, %2;" : "=r"(out[1]) : "r"(a), "r"(b));
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(out[2]) : "r"(a), "r"(b), "r"(c));
  asm("sub.ftz.f16x2 %0, %1, %2;" : "=r"(out[3]) : "r"(a), "r"(b));
  unsigned short x = a, y = b, z;
  asm("{add.f16 %0, %1, %2;}" : "=h"(z) : "h"(x), "h"(y));
  out[4] = z;
  asm("{.reg .pred p; setp.lt.f16 p, %1, %2; selp.u32 %0, 1, 0, p;}" : "=r"(out[5]) : "h"(x), "h"(y));
}

// Functions that PTX calls approximate.
extern "C" __global__ void approximate(const float* in, float* out) {
  unsigned t = threadIdx.x;
  float a = in[t];
  out += 8 * t;
  out[0] = exp2f(a); out[1] = __log2f(a); out[2] = __sinf(a); out[3] = __cosf(a);
  out[4] = rsqrtf(a); out[5] = __frcp_rn(a); out[6] = __fdividef(1.f, a); out[7] = sqrtf(a);
}
