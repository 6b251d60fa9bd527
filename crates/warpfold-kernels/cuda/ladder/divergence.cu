// The thesis's pair (3.2): four branches in the lanes of one warp, and the same four in four warps. A demonstration
// beside the ladder.
//
// A warp goes through every branch that any of its lanes takes, and the other lanes wait. So the first kernel takes the
// time of four branches, and the second that of one, while both compute the same. Each branch has its own arithmetic:
// equal ones the compiler would join.
//
// The thesis has no bodies for its branches; here each folds `rounds` steps of a recurrence over its own start value.
#include "num/elements.cuh"

inline u32 do_a(u32 x, u32 rounds) { for (u32 k = 0; k < rounds; k++) x = x * 1664525u + 1013904223u; return x; }
inline u32 do_b(u32 x, u32 rounds) { for (u32 k = 0; k < rounds; k++) x = (x ^ (x << 13)) + 7u; return x; }
inline u32 do_c(u32 x, u32 rounds) { for (u32 k = 0; k < rounds; k++) x = (x ^ (x >> 17)) * 3u; return x; }
inline u32 do_d(u32 x, u32 rounds) { for (u32 k = 0; k < rounds; k++) x = (x + (x << 5)) ^ 5u; return x; }

// Four results for each block, from four start values that all share. Blocks have 128 threads.
extern "C" __global__ void horrific_kernel(const u32* in, u32* out, u64 rounds) {
    u32* const mine = out + u64(blockIdx.x) * 4;
    if (threadIdx.x == 0) mine[0] = do_a(in[0], u32(rounds));
    if (threadIdx.x == 1) mine[1] = do_b(in[1], u32(rounds));
    if (threadIdx.x == 2) mine[2] = do_c(in[2], u32(rounds));
    if (threadIdx.x == 3) mine[3] = do_d(in[3], u32(rounds));
}

extern "C" __global__ void good_kernel(const u32* in, u32* out, u64 rounds) {
    u32* const mine = out + u64(blockIdx.x) * 4;
    if (threadIdx.x == 0) mine[0] = do_a(in[0], u32(rounds));
    if (threadIdx.x == 32) mine[1] = do_b(in[1], u32(rounds));
    if (threadIdx.x == 64) mine[2] = do_c(in[2], u32(rounds));
    if (threadIdx.x == 96) mine[3] = do_d(in[3], u32(rounds));
}
