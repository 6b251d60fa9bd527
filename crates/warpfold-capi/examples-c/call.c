/* What a call costs: the sum of 1,000 floats through the shared library. examples/call.rs is the same in Rust. */

#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "warpfold.h"

enum { CALLS = 20000, ROUNDS = 25 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(void) {
    float x[1000], sum = 0;
    double rounds[ROUNDS];
    for (int k = 0; k < 1000; k++) {
        x[k] = (float)k * 0.1f;
    }
    for (int round = 0; round < ROUNDS; round++) {
        double start = now();
        for (int call = 0; call < CALLS; call++) {
            if (wf_sum_f32(x, 1000, &sum) != WF_OK) {
                return 1;
            }
        }
        rounds[round] = (now() - start) / CALLS;
    }
    qsort(rounds, ROUNDS, sizeof *rounds, ascending);
    printf("%.0f ns a call, median of %d rounds of %d; the sum is %.9g\n", rounds[ROUNDS / 2], ROUNDS, CALLS, (double)sum);
    return 0;
}
