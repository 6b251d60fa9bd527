// Integer, bit and packed instructions: each kernel writes 16 results a thread, from three inputs a thread.

typedef unsigned long long u64;
typedef long long s64;

#define KERNEL(name, T) extern "C" __global__ void name(const T* in, T* out)
#define THREAD(T) unsigned t = threadIdx.x; T a = in[3 * t], b = in[3 * t + 1], c = in[3 * t + 2]; out += 16 * t

KERNEL(int32, unsigned) {
  THREAD(unsigned);
  int x = a, y = b, z = c;
  out[0] = a + b; out[1] = a * b; out[2] = a / b; out[3] = a % b;
  out[4] = x / y; out[5] = x % y; out[6] = min(x, y); out[7] = max(a, b);
  out[8] = __umulhi(a, b); out[9] = __mulhi(x, y); out[10] = x >> (b & 31); out[11] = a >> (b & 31);
  out[12] = a << (b & 31); out[13] = abs(x); out[14] = x * y + z; out[15] = __usad(a, b, c);
}

KERNEL(int64, u64) {
  THREAD(u64);
  // The compiler divides by zero as it likes: it may go by 32 bits.
  s64 x = a, y = b, e = b ? b : 1;
  u64 d = e;
  out[0] = a + b; out[1] = a * b; out[2] = a / d; out[3] = a % d;
  out[4] = x / e; out[5] = x % e; out[6] = x < y ? x : y; out[7] = a > b ? a : b;
  out[8] = __umul64hi(a, b); out[9] = __mul64hi(x, y); out[10] = x >> (b & 63); out[11] = a >> (b & 63);
  out[12] = a << (b & 63); out[13] = x < 0 ? -x : x; out[14] = a * b + c; out[15] = (u64)(unsigned)a * (unsigned)b;
}

// 128 bits by carries: written out, and by the compiler's own type.
KERNEL(int128, u64) {
  THREAD(u64);
  u64 low, high;
  asm("add.cc.u64 %0, %2, %3;\n\taddc.u64 %1, %4, 0;" : "=l"(low), "=l"(high) : "l"(a), "l"(b), "l"(c));
  out[0] = low; out[1] = high;
  asm("sub.cc.u64 %0, %2, %3;\n\tsubc.u64 %1, %4, 0;" : "=l"(low), "=l"(high) : "l"(a), "l"(b), "l"(c));
  out[2] = low; out[3] = high;
  unsigned w0, w1, w2;
  asm("mad.lo.cc.u32 %0, %3, %4, %5;\n\tmadc.hi.cc.u32 %1, %3, %4, 0;\n\taddc.u32 %2, 0, 0;"
      : "=r"(w0), "=r"(w1), "=r"(w2) : "r"((unsigned)a), "r"((unsigned)b), "r"((unsigned)c));
  out[4] = w0; out[5] = w1; out[6] = w2;
  unsigned __int128 p = (unsigned __int128)a * b + c;
  out[7] = (u64)p; out[8] = (u64)(p >> 64);
  __int128 q = (__int128)(s64)a * (s64)b - (s64)c;
  out[9] = (u64)q; out[10] = (u64)(q >> 64);
  unsigned __int128 s = ((unsigned __int128)a << 64 | b) + ((unsigned __int128)b << 64 | c);
  out[11] = (u64)s; out[12] = (u64)(s >> 64);
  unsigned __int128 d = ((unsigned __int128)a << 64 | b) >> (c & 127);
  out[13] = (u64)d; out[14] = (u64)(d >> 64);
  out[15] = ((unsigned __int128)a << 64 | b) < ((unsigned __int128)b << 64 | c);
}

KERNEL(bits32, unsigned) {
  THREAD(unsigned);
  out[0] = __popc(a); out[1] = __clz(a); out[2] = __brev(a); out[3] = __ffs(a);
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(out[4]) : "r"(a), "r"(b), "r"(c)); out[5] = __funnelshift_l(a, b, c);
  out[6] = __funnelshift_rc(a, b, c & 63);
  out[7] = (a & b) ^ (~c | a);
  asm("bfe.u32 %0, %1, %2, %3;" : "=r"(out[8]) : "r"(a), "r"(b & 31), "r"(c & 31));
  asm("bfe.s32 %0, %1, %2, %3;" : "=r"(out[9]) : "r"(a), "r"(b & 31), "r"(c & 31));
  asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(out[10]) : "r"(a), "r"(b), "r"(c & 31), "r"(b & 15));
  asm("bfind.u32 %0, %1;" : "=r"(out[11]) : "r"(a));
  asm("bfind.s32 %0, %1;" : "=r"(out[12]) : "r"(a));
  asm("lop3.b32 %0, %1, %2, %3, 0xca;" : "=r"(out[13]) : "r"(a), "r"(b), "r"(c));
  asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(out[14]) : "r"(a), "r"(b), "r"(c));
  asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(out[15]) : "r"(a), "r"(b), "r"(c));
}

KERNEL(bits64, u64) {
  THREAD(u64);
  out[0] = __popcll(a); out[1] = __clzll(a); out[2] = __brevll(a); out[3] = __ffsll(a);
  asm("bfe.u64 %0, %1, %2, %3;" : "=l"(out[4]) : "l"(a), "r"((unsigned)b & 63), "r"((unsigned)c & 63));
  asm("bfe.s64 %0, %1, %2, %3;" : "=l"(out[5]) : "l"(a), "r"((unsigned)b & 63), "r"((unsigned)c & 63));
  asm("bfi.b64 %0, %1, %2, %3, %4;" : "=l"(out[6]) : "l"(a), "l"(b), "r"((unsigned)c & 63), "r"((unsigned)b & 31));
  out[7] = a & b; out[8] = a | c; out[9] = a ^ b; out[10] = ~a; out[11] = a == b; out[12] = a && b;
  out[13] = (a < b && b < c) || a == c; out[14] = (s64)a < (s64)b ? c : a; out[15] = !a;
}

// Narrow loads, stores and conversions, with sign and saturation.
KERNEL(narrow, unsigned) {
  THREAD(unsigned);
  out[0] = (int)(signed char)a; out[1] = (unsigned char)a; out[2] = (int)(short)b; out[3] = (unsigned short)b;
  unsigned short h = (unsigned short)a; short g = (short)b;
  out[4] = (unsigned short)(h * 3 + 1); out[5] = (int)(short)(g >> 3);
  out[6] = (unsigned short)(h / (unsigned short)(c | 1));
  const signed char* bytes = (const signed char*)(in + 3 * t);
  out[7] = bytes[0]; out[8] = bytes[5]; out[9] = ((const short*)bytes)[3]; out[10] = ((const unsigned char*)bytes)[7];
  asm("cvt.sat.u8.s32 %0, %1;" : "=r"(out[11]) : "r"(a));
  asm("cvt.sat.s16.s32 %0, %1;" : "=r"(out[12]) : "r"(b));
  asm("add.sat.s32 %0, %1, %2;" : "=r"(out[13]) : "r"(a), "r"(b));
  ((unsigned char*)(out + 14))[0] = a; ((unsigned char*)(out + 14))[1] = b; ((unsigned short*)(out + 14))[1] = c;
  out[15] = (unsigned)(unsigned char)(((unsigned char)a > (unsigned char)b) ? a : b);
}

// A table in constant memory, an array on the stack, a variable of the module, a call, a switch.
__constant__ unsigned table[8] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
__device__ unsigned scale = 3;
__device__ unsigned counters[4] = {5, 6, 7, 8};
__noinline__ __device__ unsigned looked_up(unsigned i, const unsigned* p) { return table[i & 7] * p[i & 3]; }
__noinline__ __device__ u64 twice(unsigned i, const unsigned* p) { return (u64)looked_up(i, p) + looked_up(i + 1, p); }
KERNEL(spaces, unsigned) {
  THREAD(unsigned);
  unsigned stack[16];
  for (int i = 0; i < 16; i++) stack[(i + c) & 15] = a * i + b;
  out[0] = stack[a & 15]; out[1] = table[b & 7]; out[2] = scale * a; out[3] = (unsigned)twice(a, stack + (b & 7));
  __shared__ unsigned sh[64];
  sh[t] = a;
  __syncthreads();
  const unsigned* p = (a & 1) ? sh + (t ^ 1) : (b & 1) ? stack + (c & 15) : (c & 1) ? table + (a & 7)
      : counters + (a & 3);
  out[4] = *p;
  unsigned r = 0;
  switch (c % 9) {
    case 0: r = a + 1; break;
    case 1: r = b * 3; break;
    case 2: r = a ^ b; break;
    case 3: r = a - b; break;
    case 4: for (unsigned i = 0; i < (a & 7); i++) r += b; break;
    case 5: r = a / (b | 1);
    case 6: r += 9; break;
    default: r = 77;
  }
  out[5] = r;
  out[6] = __isShared(p); out[7] = __isGlobal(p); out[8] = __isLocal(p);
  // A loop that lanes leave at different times, with a second way out.
  unsigned steps = 0;
  for (unsigned x = a | 1; x != 1; steps++) {
    if (steps > 200) break;
    x = (x & 1) ? 3 * x + 1 : x / 2;
  }
  out[9] = steps;
  out[10] = gridDim.x * 1000 + blockDim.x; out[11] = blockIdx.x; out[12] = warpSize;
  out[13] = out[14] = out[15] = 0;
}
