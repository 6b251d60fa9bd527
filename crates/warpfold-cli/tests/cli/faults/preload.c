/* Faults of the system, for tests: loaded into the program before the C library, as LD_PRELOAD.

   WARPFOLD_FAULT names the faults, separated by commas. Files below WARPFOLD_FOLDER are concerned and no others: those with "input" in
   their names are read, all others are written. A stalled call makes the file WARPFOLD_MARK and waits for a signal. A file that changes does so
   once: before the first read, before a later one, once a read has found its end, once it is mapped, or when it is looked at after that. */
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
#include <sys/stat.h>
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

enum { LONGEST = 4096 };

/* 'i' for an input, 'o' for an output, 0 for anything else; with its path. */
static char role_of(int fd, char path[LONGEST]) {
    const char *folder = getenv("WARPFOLD_FOLDER");
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, LONGEST - 1);
    if (!folder || length <= 0) return 0;
    path[length] = 0;
    if (strncmp(path, folder, strlen(folder))) return 0;
    return strstr(path, "input") ? 'i' : 'o';
}

static char role(int fd) {
    char path[LONGEST];
    return role_of(fd, path);
}

static int is_concerned(const char *path) {
    return strstr(path, "input") && (!is_on("of-keys") || strstr(path, "keys"));
}

/* Changes a file, if that fault is on and it is the file concerned, the first time. */
static void change(const char *path) {
    static int done;
    if (!is_concerned(path)) return;
    if (__atomic_exchange_n(&done, 1, __ATOMIC_RELAXED)) return;
    usleep(30000); /* Beyond a tick of the clock by which files are stamped. */
    struct stat was;
    if (stat(path, &was)) abort();
    if (is_on("cut") && truncate(path, was.st_size / 2)) abort();
    if (is_on("removed") && unlink(path)) abort();
    if (is_on("replaced")) {
        char other[LONGEST + 8];
        snprintf(other, sizeof other, "%s.new", path);
        close(REAL(open)(other, O_CREAT | O_WRONLY, 0600));
        if (truncate(other, was.st_size) || REAL(rename)(other, path)) abort();
    }
    if (is_on("grown") || is_on("written")) {
        char byte = '1';
        int fd = REAL(open)(path, O_RDWR);
        off_t at = is_on("grown") ? was.st_size : was.st_size - 1;
        if (is_on("written") && pread(fd, &byte, 1, at) != 1) abort();
        if (pwrite(fd, &byte, 1, at) != 1) abort();
        close(fd);
    }
}

static void stall(void) {
    const char *mark = getenv("WARPFOLD_MARK");
    if (mark) close(REAL(open)(mark, O_CREAT | O_WRONLY, 0600));
    for (;;) pause();
}

ssize_t read(int fd, void *buffer, size_t size) {
    static int calls;
    char path[LONGEST];
    if (size > 0 && role_of(fd, path) == 'i') {
        int call = __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
        if (is_on("read-eio") || (is_on("read-eio-later") && call > 0)) return errno = EIO, -1;
        if (is_on("read-eintr") && call % 2 == 0) return errno = EINTR, -1;
        if (is_on("read-short") && size > 3) size = 3;
        if (is_on("at-first-read") || (is_on("at-later-read") && call > 0)) change(path);
        ssize_t got = REAL(read)(fd, buffer, size);
        if (got != 0 || !is_on("at-end")) return got;
        change(path);
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

static int has_mapped;

/* The large allocation that is refused: the second, or all. */
static int refused(size_t size) {
    static int large;
    if (size < LARGE) return 0;
    int call = __atomic_fetch_add(&large, 1, __ATOMIC_RELAXED);
    return is_on("no-memory") || (is_on("no-memory-second") && call == 1);
}

static void *map(void *at, size_t size, int protection, int flags, int fd, off_t offset) {
    char path[LONGEST];
    int is_input = fd >= 0 && role_of(fd, path) == 'i';
    if (is_on("no-maps-of-files") && is_input) return errno = ENOMEM, MAP_FAILED;
    /* What is asked for without a reserve is a question whether there is room. */
    int is_memory = fd == -1 && (flags & MAP_ANONYMOUS) && (protection & PROT_WRITE) && !(flags & MAP_NORESERVE);
    if (is_memory && refused(size)) return errno = ENOMEM, MAP_FAILED;
    void *memory = REAL(mmap)(at, size, protection, flags, fd, offset);
    if (is_input && is_concerned(path)) has_mapped = 1;
    if (is_input && is_on("at-map")) change(path);
    return memory;
}

int statx(int folder, const char *restrict path, int flags, unsigned mask, struct statx *restrict found) {
    char open_file[LONGEST];
    if (has_mapped && is_on("at-check") && path) {
        /* No path stands for the open file itself. */
        if (*path) change(path);
        else if (role_of(folder, open_file) == 'i') change(open_file);
    }
    return REAL(statx)(folder, path, flags, mask, found);
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset) {
    return map(at, size, protection, flags, fd, offset);
}

void *mmap64(void *at, size_t size, int protection, int flags, int fd, off64_t offset) {
    return map(at, size, protection, flags, fd, offset);
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
