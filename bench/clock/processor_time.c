// A monotonic clock that stands still while its thread does not run, for measurements with one thread on a machine that others use:
//   cc -O2 -shared -fPIC -o processor_time.so processor_time.c
//   LD_PRELOAD=./processor_time.so target/release/examples/maps 100000000 1 9
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *time) {
    return syscall(SYS_clock_gettime, clock == CLOCK_MONOTONIC ? CLOCK_THREAD_CPUTIME_ID : clock, time);
}
