/* Faults of the system, for tests: loaded into the program before the C library, as LD_PRELOAD.

   WARPFOLD_FAULT names the faults, separated by commas. Files below WARPFOLD_FOLDER are concerned and no others: those with "input" in
   their names are read, all others are written. A stalled call makes the file WARPFOLD_MARK and waits for a signal. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);

enum { LARGE = 1 << 20 };

static int is_on(const char *fault) {
    const char *faults = getenv("WARPFOLD_FAULT");
    size_t length = strlen(fault);
    for (const char *at = faults; at && (at = strstr(at, fault)); at += length)
        if ((at == faults || at[-1] == ',') && (at[length] == 0 || at[length] == ',')) return 1;
    return 0;
}

/* 'i' for an input, 'o' for an output, 0 for anything else. */
static char role(int fd) {
    const char *folder = getenv("WARPFOLD_FOLDER");
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (!folder || length <= 0) return 0;
    path[length] = 0;
    if (strncmp(path, folder, strlen(folder))) return 0;
    return strstr(path, "input") ? 'i' : 'o';
}

static void stall(void) {
    const char *mark = getenv("WARPFOLD_MARK");
    if (mark) close(REAL(open)(mark, O_CREAT | O_WRONLY, 0600));
    for (;;) pause();
}

ssize_t read(int fd, void *buffer, size_t size) {
    static int calls;
    if (size > 0 && role(fd) == 'i') {
        int call = __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
        if (is_on("read-eio") || (is_on("read-eio-later") && call > 0)) return errno = EIO, -1;
        if (is_on("read-eintr") && call % 2 == 0) return errno = EINTR, -1;
        if (is_on("read-short") && size > 3) size = 3;
    }
    return REAL(read)(fd, buffer, size);
}

ssize_t write(int fd, const void *bytes, size_t size) {
    static int calls;
    if (size > 0 && role(fd) == 'o') {
        int call = __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
        if (is_on("write-stall") && call > 0) stall();
        if (is_on("write-enospc") && call > 0) return errno = ENOSPC, -1;
        if (is_on("write-eio") && call > 0) return errno = EIO, -1;
        if (is_on("write-eintr") && call % 2 == 0) return errno = EINTR, -1;
        if (is_on("write-short") && size > 100) size = 100;
    }
    return REAL(write)(fd, bytes, size);
}

int fsync(int fd) {
    if (role(fd) == 'o') {
        if (is_on("fsync-stall")) stall();
        if (is_on("fsync-eio")) return errno = EIO, -1;
    }
    return REAL(fsync)(fd);
}

int rename(const char *from, const char *to) {
    if (is_on("rename-stall")) stall();
    if (is_on("rename-eacces")) return errno = EACCES, -1;
    return REAL(rename)(from, to);
}

static int open_or_not(const char *path, int flags, mode_t mode) {
    if ((flags & O_TMPFILE) == O_TMPFILE && is_on("no-tmpfile")) return errno = EOPNOTSUPP, -1;
    return REAL(open)(path, flags, mode);
}

#define MODE(flags, mode)                                         \
    mode_t mode = 0;                                              \
    if ((flags) & (O_CREAT | O_TMPFILE)) {                        \
        va_list arguments;                                        \
        va_start(arguments, flags);                               \
        mode = va_arg(arguments, mode_t);                         \
        va_end(arguments);                                        \
    }

int open(const char *path, int flags, ...) {
    MODE(flags, mode)
    return open_or_not(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    MODE(flags, mode)
    return open_or_not(path, flags | O_LARGEFILE, mode);
}

static void *map(void *at, size_t size, int protection, int flags, int fd, off_t offset) {
    if (is_on("no-maps-of-files") && fd >= 0 && role(fd) == 'i') return errno = ENOMEM, MAP_FAILED;
    return REAL(mmap)(at, size, protection, flags, fd, offset);
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset) {
    return map(at, size, protection, flags, fd, offset);
}

void *mmap64(void *at, size_t size, int protection, int flags, int fd, off64_t offset) {
    return map(at, size, protection, flags, fd, offset);
}

/* The large allocation that is refused: the first, or the second, or all. */
static int refused(size_t size) {
    static int large;
    if (size < LARGE) return 0;
    int call = __atomic_fetch_add(&large, 1, __ATOMIC_RELAXED);
    return is_on("no-memory") || (is_on("no-memory-second") && call == 1);
}

void *malloc(size_t size) {
    return refused(size) ? (errno = ENOMEM, NULL) : __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    return refused(count * size) ? (errno = ENOMEM, NULL) : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
    return refused(size) ? (errno = ENOMEM, NULL) : __libc_realloc(memory, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    return refused(size) ? ENOMEM : REAL(posix_memalign)(memory, alignment, size);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
    static int threads;
    int call = __atomic_fetch_add(&threads, 1, __ATOMIC_RELAXED);
    if (is_on("no-threads") || (is_on("one-thread") && call > 0)) return EAGAIN;
    return REAL(pthread_create)(thread, attributes, start, argument);
}
