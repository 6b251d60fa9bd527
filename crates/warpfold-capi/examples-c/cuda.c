/* Arrays in the memory of a GPU, reduced in a stream of this program. A program of the CUDA runtime has both from cudaMalloc and cudaStreamCreate; this
 * one opens the driver itself, so that it compiles where no CUDA is. Where there is no GPU, it says so and is done. */

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "warpfold.h"

static void need(wf_status status) {
    if (status != WF_OK) {
        fprintf(stderr, "%s: %s\n", wf_status_name(status), wf_last_error());
        exit(1);
    }
}

#define SAY(condition)                                                                                                 \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "line %d: %s is false (%s)\n", __LINE__, #condition, wf_last_error());                     \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

/* What this program takes of the driver. */
static struct {
    int (*init)(unsigned);
    int (*device)(int *, int);
    int (*retain)(void **, int);
    int (*set_current)(void *);
    int (*current)(void **);
    int (*create)(void **, unsigned, int);
    int (*allocate)(unsigned long long *, size_t);
    int (*release)(unsigned long long);
    int (*stream)(void **, unsigned);
    int (*to_device)(unsigned long long, const void *, size_t, void *);
    int (*to_host)(void *, unsigned long long, size_t, void *);
    int (*wait)(void *);
} cuda;

static void driver(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    SAY(library != NULL);
    const struct {
        void *function;
        const char *name;
    } all[] = {
        {&cuda.init, "cuInit"},
        {&cuda.device, "cuDeviceGet"},
        {&cuda.retain, "cuDevicePrimaryCtxRetain"},
        {&cuda.set_current, "cuCtxSetCurrent"},
        {&cuda.current, "cuCtxGetCurrent"},
        {&cuda.create, "cuCtxCreate_v2"},
        {&cuda.allocate, "cuMemAlloc_v2"},
        {&cuda.release, "cuMemFree_v2"},
        {&cuda.stream, "cuStreamCreate"},
        {&cuda.to_device, "cuMemcpyHtoDAsync_v2"},
        {&cuda.to_host, "cuMemcpyDtoHAsync_v2"},
        {&cuda.wait, "cuStreamSynchronize"},
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        void *found = dlsym(library, all[k].name);
        SAY(found != NULL);
        memcpy(all[k].function, &found, sizeof found);
    }
}

/* A copy in the GPU's memory, which is there once the stream has come this far. */
static void *copied(const void *x, size_t bytes, void *stream) {
    unsigned long long address = 0;
    SAY(cuda.allocate(&address, bytes) == 0);
    SAY(cuda.to_device(address, x, bytes, stream) == 0);
    return (void *)(uintptr_t)address;
}

enum { N = 100003 };

static void values(wf_gpu *gpu, void *stream) {
    static double x[N], y[N];
    double here, there, pair[2], both[2];
    uint64_t index, expected;
    for (int i = 0; i < N; i++) {
        x[i] = (i % 2 ? 1e16 : -1e16) / (i % 97 + 1) + i * 0.1;
        y[i] = 1.0 / (i + 1);
    }
    void *a = copied(x, sizeof x, stream), *b = copied(y, sizeof y, stream);
    wf_request *request;
    need(wf_request_new(WF_SUM, &request));
    need(wf_request_set_array(request, WF_F64, a, N));

    /* A number on the host, with the processor's bits. */
    need(wf_gpu_request_run(gpu, request, stream, WF_F64, &there, 1, NULL));
    need(wf_sum_f64(x, N, &here));
    SAY(there == here);
    need(wf_request_set_op(request, WF_ARGMAX));
    need(wf_gpu_request_run(gpu, request, stream, WF_U64, &index, 1, NULL));
    need(wf_reduce(WF_ARGMAX, WF_F64, x, N, WF_U64, &expected));
    SAY(index == expected);
    need(wf_request_set_op(request, WF_DOT));
    need(wf_request_set_pair(request, WF_F64, b, N));
    need(wf_gpu_request_run(gpu, request, stream, WF_F64, &there, 1, NULL));
    need(wf_dot_f64(x, y, N, &here));
    SAY(there == here);

    /* Left on the GPU: nothing waits until this program does. */
    const double nothing[2] = {0, 0};
    void *out = copied(nothing, sizeof nothing, stream);
    need(wf_gpu_request_start(gpu, request, stream, WF_F64, out));
    SAY(cuda.to_host(&there, (uintptr_t)out, sizeof there, stream) == 0 && cuda.wait(stream) == 0);
    SAY(there == here);
    need(wf_request_set_op(request, WF_MINMAX));
    need(wf_gpu_request_start(gpu, request, stream, WF_F64, out));
    SAY(cuda.to_host(pair, (uintptr_t)out, sizeof pair, stream) == 0 && cuda.wait(stream) == 0);
    need(wf_reduce(WF_MINMAX, WF_F64, x, N, WF_F64, both));
    SAY(pair[0] == both[0] && pair[1] == both[1]);
    wf_request_free(request);
    SAY(cuda.release((uintptr_t)a) == 0 && cuda.release((uintptr_t)b) == 0 && cuda.release((uintptr_t)out) == 0);
}

static void parts(wf_gpu *gpu, void *stream) {
    static float x[60][50];
    float here[60], there[60];
    for (int i = 0; i < 60 * 50; i++) {
        x[i / 50][i % 50] = (float)(i * 7919 % 1000) * 0.1f - 50.0f;
    }
    float *a = copied(x, sizeof x, stream);
    const uint64_t shape[] = {60, 50}, offsets[] = {0, 7, 7, 3000};
    void *bounds = copied(offsets, sizeof offsets, stream);
    wf_request *on_host, *on_gpu;
    need(wf_request_new(WF_SUM, &on_host));
    need(wf_request_new(WF_SUM, &on_gpu));
    for (int64_t axis = 0; axis < 2; axis++) {
        const size_t outputs = axis == 0 ? 50 : 60;
        size_t written = 0;
        need(wf_request_set_view(on_host, WF_F32, x, 2, shape, NULL));
        need(wf_request_set_view(on_gpu, WF_F32, a, 2, shape, NULL));
        need(wf_request_axes(on_host, &axis, 1));
        need(wf_request_axes(on_gpu, &axis, 1));
        need(wf_request_run(on_host, WF_F32, here, 60, NULL));
        need(wf_gpu_request_run(gpu, on_gpu, stream, WF_F32, there, 60, &written));
        SAY(written == outputs && memcmp(here, there, outputs * sizeof(float)) == 0);
    }
    /* Every other row from the last one, as a view with strides. */
    const uint64_t rows[] = {30, 50};
    const int64_t strides[] = {-100, 1}, last = 1;
    need(wf_request_set_view(on_host, WF_F32, x[59], 2, rows, strides));
    need(wf_request_set_view(on_gpu, WF_F32, a + 59 * 50, 2, rows, strides));
    need(wf_request_axes(on_host, &last, 1));
    need(wf_request_axes(on_gpu, &last, 1));
    need(wf_request_run(on_host, WF_F32, here, 60, NULL));
    need(wf_gpu_request_run(gpu, on_gpu, stream, WF_F32, there, 60, NULL));
    SAY(memcmp(here, there, 30 * sizeof(float)) == 0);
    need(wf_request_set_array(on_host, WF_F32, x, 3000));
    need(wf_request_set_array(on_gpu, WF_F32, a, 3000));
    need(wf_request_segments(on_host, WF_U64, offsets, 4));
    need(wf_request_segments(on_gpu, WF_U64, bounds, 4));
    need(wf_request_run(on_host, WF_F32, here, 60, NULL));
    need(wf_gpu_request_run(gpu, on_gpu, stream, WF_F32, there, 60, NULL));
    SAY(memcmp(here, there, 3 * sizeof(float)) == 0);

    /* What is not there says so. */
    SAY(wf_gpu_request_start(gpu, on_gpu, stream, WF_F32, a) == WF_ERROR_UNSUPPORTED);
    need(wf_request_groups(on_gpu, WF_I32, a, 3000));
    SAY(wf_gpu_request_run(gpu, on_gpu, stream, WF_F32, there, 60, NULL) == WF_ERROR_UNSUPPORTED);
    printf("an error reads like this: %s\n", wf_last_error());
    need(wf_request_set_array(on_gpu, WF_I32, a, 3000));
    need(wf_request_whole(on_gpu));
    SAY(wf_gpu_request_start(gpu, on_gpu, stream, WF_I64, a) == WF_ERROR_UNSUPPORTED);
    SAY(wf_gpu_request_start(gpu, on_gpu, stream, WF_F32, a) == WF_ERROR_TYPE);
    wf_request_free(on_host);
    wf_request_free(on_gpu);
    SAY(cuda.release((uintptr_t)a) == 0 && cuda.release((uintptr_t)bounds) == 0);
}

int main(void) {
    wf_gpu *gpu;
    if (wf_gpu_open(0, &gpu) != WF_OK) {
        printf("skipped: %s\n", wf_last_error());
        return 0;
    }
    int device;
    void *context, *stream, *current = NULL;
    driver();
    SAY(cuda.init(0) == 0 && cuda.device(&device, 0) == 0 && cuda.retain(&context, device) == 0);
    SAY(cuda.set_current(context) == 0 && cuda.stream(&stream, 1) == 0);
    values(gpu, stream);
    parts(gpu, stream);
    /* Where another context is current, it stays so. */
    wf_gpu *second;
    SAY(cuda.create(&context, 0, device) == 0);
    need(wf_gpu_open(0, &second));
    SAY(cuda.current(&current) == 0 && current == context);
    wf_gpu_free(second);
    wf_gpu_free(gpu);
    SAY(cuda.current(&current) == 0 && current == context);
    puts("all results are exact");
    return 0;
}
