/* The interface in one tour. Every result is exact, so every comparison is with ==. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "warpfold.h"

/* What a program does with a failure is its own choice; this one ends. */
static void need(wf_status status) {
    if (status != WF_OK) {
        fprintf(stderr, "%s: %s\n", wf_status_name(status), wf_last_error());
        exit(1);
    }
}

#define SAY(condition)                                                                                                 \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "line %d: %s is false\n", __LINE__, #condition);                                           \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static void whole_arrays(void) {
    double tenths[10], sum, mean, deviation;
    for (int i = 0; i < 10; i++) {
        tenths[i] = 0.1;
    }
    need(wf_sum_f64(tenths, 10, &sum));
    need(wf_mean_f64(tenths, 10, &mean));
    SAY(sum == 1.0 && mean == 0.1); /* a loop gives 0.9999999999999999 */

    const float x[] = {1, 2, 3, 4};
    float variance;
    need(wf_var_f32(x, 4, 1, &variance));
    SAY(variance == 5.0f / 3.0f);
    const double y[] = {2, 4, 4, 4, 5, 5, 7, 9};
    need(wf_std_f64(y, 8, 0, &deviation));
    SAY(deviation == 2.0);

    /* Any reduction, any type: by numbers. */
    const uint8_t bytes[] = {3, 9, 9};
    uint64_t index;
    need(wf_reduce(WF_ARGMAX, WF_U8, bytes, 3, WF_U64, &index));
    SAY(index == 1);
}

static void choices(void) {
    const double x[] = {1, NAN, 3};
    double mean;
    wf_request *request;
    need(wf_request_new(WF_MEAN, &request));
    need(wf_request_set_array(request, WF_F64, x, 3));
    need(wf_request_set_nan(request, WF_NAN_IGNORE));
    need(wf_request_set_threads(request, 1));
    need(wf_request_run(request, WF_F64, &mean, 1, NULL));
    SAY(mean == 2.0);
    wf_request_free(request);
}

static void parts(void) {
    const float x[] = {1, 2, 3, 4, 5, 6};
    const uint64_t shape[] = {2, 3};
    const int64_t columns[] = {0}, by_column[] = {1, 3};
    const uint64_t turned[] = {3, 2};
    float sums[3];
    size_t written;
    wf_request *request;
    need(wf_request_new(WF_SUM, &request));

    need(wf_request_set_view(request, WF_F32, x, 2, shape, NULL));
    need(wf_request_axes(request, columns, 1));
    need(wf_request_run(request, WF_F32, sums, 3, &written));
    SAY(written == 3 && sums[0] == 5 && sums[1] == 7 && sums[2] == 9);

    /* The same memory, transposed by strides, which count elements. */
    need(wf_request_set_view(request, WF_F32, x, 2, turned, by_column));
    need(wf_request_run(request, WF_F32, sums, 3, &written));
    SAY(written == 2 && sums[0] == 6 && sums[1] == 15);

    /* Backwards: data points to the element whose index is 0. */
    const uint64_t every_other[] = {3};
    const int64_t back[] = {-2};
    need(wf_request_set_view(request, WF_F32, x + 5, 1, every_other, back));
    need(wf_request_whole(request));
    need(wf_request_run(request, WF_F32, sums, 1, NULL));
    SAY(sums[0] == 12);

    const int32_t offsets[] = {0, 2, 2, 6};
    need(wf_request_set_array(request, WF_F32, x, 6));
    need(wf_request_segments(request, WF_I32, offsets, 4));
    need(wf_request_run(request, WF_F32, sums, 3, &written));
    SAY(written == 3 && sums[0] == 3 && sums[1] == 0 && sums[2] == 18);

    /* Groups: how many there are is known afterwards, so the library makes the memory. */
    const int64_t keys[] = {7, -1, 7, 7, -1, 0};
    wf_result *result;
    const void *values, *found;
    wf_dtype type;
    need(wf_request_groups(request, WF_I64, keys, 6));
    need(wf_request_result(request, &result));
    need(wf_result_size(result, &written, NULL));
    need(wf_result_column(result, 0, NULL, &type, &values));
    need(wf_result_keys(result, NULL, &found));
    const float *by_key = values;
    const int64_t *key = found;
    SAY(written == 3 && type == WF_F32);
    SAY(key[0] == -1 && key[1] == 0 && key[2] == 7);
    SAY(by_key[0] == 7 && by_key[1] == 6 && by_key[2] == 8);
    wf_result_free(result);
    wf_request_free(request);
}

static void partials(void) {
    const double left[] = {1e300, 1}, right[] = {-1e300};
    double sum;
    wf_partial *a, *b;
    need(wf_partial_new(WF_SUM, WF_F64, &a));
    need(wf_partial_add(a, WF_F64, left, 2));

    /* Bytes travel to another process, machine or year. */
    unsigned char bytes[512];
    size_t size;
    need(wf_partial_to_bytes(a, bytes, sizeof bytes, &size));
    need(wf_partial_from_bytes(WF_SUM, WF_F64, bytes, size, &b));
    need(wf_partial_add(b, WF_F64, right, 1));
    need(wf_partial_finish(b, WF_SUM, 0, WF_F64, &sum, 1));
    SAY(sum == 1.0);
    wf_partial_free(a);
    wf_partial_free(b);
}

static void errors(void) {
    const int64_t x[] = {INT64_MAX, 1};
    int64_t sum = 42;
    SAY(wf_sum_i64(x, 2, &sum) == WF_ERROR_OVERFLOW);
    SAY(strstr(wf_last_error(), "9223372036854775808") != NULL); /* the exact value */
    SAY(sum == 42);                                              /* nothing was written */
    double mean;
    SAY(wf_mean_f64(NULL, 0, &mean) == WF_ERROR_EMPTY);
    SAY(wf_mean_f64(NULL, 1, &mean) == WF_ERROR_ARGUMENT);
    printf("an error reads like this: %s\n", wf_last_error());
}

int main(void) {
    SAY(strlen(wf_version()) > 0);
    whole_arrays();
    choices();
    parts();
    partials();
    errors();
    puts("all results are exact");
    return 0;
}
