//! What callers of C get wrong: each is an error that says so, writes nothing, and leaves everything usable.

use std::ffi::{CStr, c_void};
use std::ptr::{null, null_mut};

use warpfold_c::cuda::*;
use warpfold_c::failure::wf_last_error;
use warpfold_c::partial::*;
use warpfold_c::parts::*;
use warpfold_c::request::*;
use warpfold_c::result::*;
use warpfold_c::run::*;
use warpfold_c::short::*;
use warpfold_c::status::wf_status::{self, *};
use warpfold_c::status::wf_status_name;
use warpfold_c::types::{wf_dtype, wf_op};

const SUM: i32 = wf_op::WF_SUM as i32;
const F32: i32 = wf_dtype::WF_F32 as i32;
const F64: i32 = wf_dtype::WF_F64 as i32;
const U8: i32 = wf_dtype::WF_U8 as i32;
const U64: i32 = wf_dtype::WF_U64 as i32;
const I64: i32 = wf_dtype::WF_I64 as i32;

const X: [f64; 4] = [1.0, 2.0, 3.0, 4.0];

fn message() -> String {
    // SAFETY: `wf_last_error` gives a C string.
    unsafe { CStr::from_ptr(wf_last_error()) }.to_str().expect("messages are UTF-8").to_owned()
}

/// The call failed in this way, and its message has these words.
#[track_caller]
fn refused(status: wf_status, expected: wf_status, words: &str) {
    assert_eq!(status, expected, "{}", message());
    assert!(message().contains(words), "{words:?} is not in {:?}", message());
}

#[track_caller]
fn fine(status: wf_status) {
    assert_eq!(status, WF_OK, "{}", message());
}

/// A request over `X`, freed at its end.
struct Request(*mut wf_request);

impl Request {
    fn new(op: wf_op) -> Self {
        let mut request = null_mut();
        // SAFETY: the pointer is a local's, and `X` is static.
        unsafe {
            fine(wf_request_new(op as i32, &mut request));
            fine(wf_request_set_array(request, F64, X.as_ptr().cast(), X.len()));
        }
        Request(request)
    }

    fn run(&self, out: &mut [f64]) -> (wf_status, usize) {
        let mut written = usize::MAX;
        // SAFETY: the request lives, what it borrows is the caller's, and `out` is as long as said.
        let status = unsafe {
            wf_request_run(self.0, F64, out.as_mut_ptr().cast(), out.len(), &mut written)
        };
        (status, written)
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        // SAFETY: it was made by `wf_request_new` and is freed once.
        unsafe { wf_request_free(self.0) }
    }
}

#[test]
fn pointers() {
    let mut out = 42.0f64;
    let request = Request::new(wf_op::WF_SUM);
    // SAFETY: every pointer is null, misaligned, or points to what the call says.
    unsafe {
        refused(wf_sum_f64(null(), 1, &mut out), WF_ERROR_ARGUMENT, "the array is a null pointer");
        refused(wf_sum_f64(X.as_ptr(), 4, null_mut()), WF_ERROR_ARGUMENT, "the output is a null");
        let odd = X.as_ptr().wrapping_byte_add(1);
        refused(
            wf_sum_f64(odd, 3, &mut out),
            WF_ERROR_ARGUMENT,
            "not aligned to the 8 bytes of f64",
        );
        let odd_out = (&raw mut out).wrapping_byte_add(4);
        refused(wf_sum_f64(X.as_ptr(), 4, odd_out), WF_ERROR_ARGUMENT, "the output at");
        refused(wf_dot_f64(X.as_ptr(), null(), 4, &mut out), WF_ERROR_ARGUMENT, "the second array");
        refused(wf_request_new(SUM, null_mut()), WF_ERROR_ARGUMENT, "the new request is a null");
        refused(wf_request_set_ddof(null_mut(), 1), WF_ERROR_ARGUMENT, "the request is a null");
        refused(wf_request_axes(request.0, null(), 1), WF_ERROR_ARGUMENT, "the list of axes");
        refused(
            wf_request_run(null(), F64, (&raw mut out).cast(), 1, null_mut()),
            WF_ERROR_ARGUMENT,
            "the request is a null",
        );
        refused(wf_partial_count(null(), null_mut()), WF_ERROR_ARGUMENT, "the partial is a null");
        refused(wf_result_size(null(), null_mut(), null_mut()), WF_ERROR_ARGUMENT, "the result");
        wf_request_free(null_mut());
        wf_partial_free(null_mut());
        wf_result_free(null_mut());
    }
    assert_eq!(out, 42.0, "nothing was written");
}

#[test]
fn numbers_of_no_enumerator() {
    let request = Request::new(wf_op::WF_SUM);
    let mut made: *mut wf_request = std::ptr::dangling_mut();
    let (x, mut out): (*const c_void, f64) = (X.as_ptr().cast(), 0.0);
    let out = (&raw mut out).cast();
    // SAFETY: the pointers are of locals.
    unsafe {
        let codes = warpfold_num::Op::ALL.len() as i32;
        for code in [-1, codes, i32::MIN, i32::MAX] {
            let words = format!("{code} is no wf_op");
            refused(wf_request_new(code, &mut made), WF_ERROR_ARGUMENT, &words);
            assert!(made.is_null(), "a pointer of old is not left");
            refused(wf_reduce(code, F64, x, 4, F64, out), WF_ERROR_ARGUMENT, &words);
        }
        refused(wf_reduce(SUM, 15, x, 4, F64, out), WF_ERROR_ARGUMENT, "15 is no wf_dtype");
        refused(wf_reduce(SUM, F64, x, 4, -7, out), WF_ERROR_ARGUMENT, "-7 is no wf_dtype");
        refused(wf_request_set_nan(request.0, 2), WF_ERROR_ARGUMENT, "2 is no wf_nan");
        refused(wf_request_set_accuracy(request.0, 2), WF_ERROR_ARGUMENT, "2 is no wf_accuracy");
        refused(wf_request_set_overflow(request.0, 2), WF_ERROR_ARGUMENT, "2 is no wf_overflow");
        assert_eq!(CStr::from_ptr(wf_status_name(-1)), c"no wf_status");
        assert_eq!(CStr::from_ptr(wf_status_name(i32::MAX)), c"no wf_status");
    }
}

#[test]
fn lengths_that_no_memory_has() {
    let mut out = 0.0f64;
    let request = Request::new(wf_op::WF_SUM);
    let x: *const c_void = X.as_ptr().cast();
    // SAFETY: refused before the array is looked at.
    unsafe {
        for len in [usize::MAX, usize::MAX / 8 + 2, isize::MAX as usize / 8 + 1] {
            refused(wf_sum_f64(X.as_ptr(), len, &mut out), WF_ERROR_ARGUMENT, "longer than memory");
        }
        let view = |shape: &[u64], strides: &[i64]| {
            wf_request_set_view(request.0, F64, x, shape.len(), shape.as_ptr(), strides.as_ptr())
        };
        refused(view(&[3], &[i64::MIN]), WF_ERROR_ARGUMENT, "longer than memory");
        refused(view(&[3], &[i64::MAX]), WF_ERROR_SHAPE, "beyond 2^63");
        refused(view(&[1 << 33, 1 << 33], &[0, 0]), WF_ERROR_SHAPE, "more elements than 64 bits");
        refused(view(&[2], &[-(1 << 61)]), WF_ERROR_ARGUMENT, "address 0");
        refused(
            wf_request_set_view(request.0, F64, x, 1, [u64::MAX].as_ptr(), null()),
            WF_ERROR_SHAPE,
            "more elements",
        );
        refused(
            wf_request_set_view(request.0, F64, x, usize::MAX, [1u64].as_ptr(), null()),
            WF_ERROR_ARGUMENT,
            "longer than memory",
        );
    }
    // The request is as it was.
    assert_eq!((request.run(&mut [0.0]), 10.0), ((WF_OK, 1), 10.0));
}

#[test]
fn bools_are_0_or_1() {
    let (bytes, mut out) = ([0u8, 1, 2], 42u64);
    let of = |dtype: wf_dtype, out: &mut u64| {
        let (x, out) = (bytes.as_ptr().cast(), (out as *mut u64).cast());
        // SAFETY: the pointers are of locals.
        unsafe { wf_reduce(wf_op::WF_COUNT as i32, dtype as i32, x, 3, U64, out) }
    };
    refused(of(wf_dtype::WF_BOOL, &mut out), WF_ERROR_ARGUMENT, "byte 2 of the array is 2");
    assert_eq!(out, 42);
    fine(of(wf_dtype::WF_U8, &mut out));
    assert_eq!(out, 2);
}

#[test]
fn types_and_room() {
    let mut sums = [42.0f64; 4];
    let request = Request::new(wf_op::WF_SUM);
    // SAFETY: the request lives and the room is as long as said.
    unsafe {
        let out: *mut c_void = sums.as_mut_ptr().cast();
        let words = "sum of f64 is f64, and the output is of f32";
        refused(wf_request_run(request.0, F32, out, 1, null_mut()), WF_ERROR_TYPE, words);
        fine(wf_request_segments_every(request.0, 1));
    }
    let (status, needed) = request.run(&mut sums[..3]);
    refused(status, WF_ERROR_CAPACITY, "4 results of f64, and the output has room for 3");
    assert_eq!((needed, sums), (4, [42.0; 4]));
    assert_eq!(request.run(&mut sums), (WF_OK, 4));
    assert_eq!(sums, X);
    // SAFETY: as above.
    unsafe {
        fine(wf_request_set_op(request.0, wf_op::WF_STATS as i32));
        let out = sums.as_mut_ptr().cast();
        let status = wf_request_run(request.0, F64, out, 4, null_mut());
        refused(status, WF_ERROR_UNSUPPORTED, "wf_request_result");
        fine(wf_request_set_op(request.0, wf_op::WF_MIN as i32));
        fine(wf_request_set_round_to(request.0, F32));
        let status = wf_request_run(request.0, F64, out, 4, null_mut());
        refused(status, WF_ERROR_UNSUPPORTED, "not rounded");
        refused(wf_request_set_round_to(request.0, I64), WF_ERROR_ARGUMENT, "not rounded to i64");
    }
}

#[test]
fn results_that_do_not_exist() {
    let (mut out, big) = (42.0f64, [i64::MAX, 1]);
    let mut sum = 42i64;
    // SAFETY: the pointers are of locals, and null for no elements.
    unsafe {
        refused(wf_mean_f64(null(), 0, &mut out), WF_ERROR_EMPTY, "mean of an empty input");
        refused(wf_min_f64(X.as_ptr(), 0, &mut out), WF_ERROR_EMPTY, "min of an empty input");
        let words = "var with ddof = 4 needs more than 4 elements, and there are 4";
        refused(wf_var_f64(X.as_ptr(), 4, 4, &mut out), WF_ERROR_TOO_FEW, words);
        refused(wf_sum_i64(big.as_ptr(), 2, &mut sum), WF_ERROR_OVERFLOW, "9223372036854775808");
        assert!(message().contains("WF_OVERFLOW_WRAP"), "the remedy is C's: {}", message());
        assert_eq!((out, sum), (42.0, 42));
        fine(wf_sum_f64(null(), 0, &mut out));
        assert_eq!(out.to_bits(), 0, "a sum of nothing is +0.0");
        let z = [1.0f32, 2.0];
        let min = wf_op::WF_MIN as i32;
        let complex = wf_dtype::WF_COMPLEX64 as i32;
        let status = wf_reduce(min, complex, z.as_ptr().cast(), 1, complex, (&raw mut out).cast());
        refused(status, WF_ERROR_UNDEFINED, "no order");
        let request = Request::new(wf_op::WF_DOT);
        refused(request.run(&mut [0.0]).0, WF_ERROR_ARGUMENT, "wf_request_set_pair");
        fine(wf_request_set_pair(request.0, F64, X.as_ptr().cast(), 3));
        refused(request.run(&mut [0.0]).0, WF_ERROR_LENGTH_MISMATCH, "4 and 3 elements");
        fine(wf_request_set_pair(request.0, F64, X.as_ptr().cast(), 4));
        fine(wf_request_segments_every(request.0, 2));
        refused(request.run(&mut [0.0; 2]).0, WF_ERROR_SHAPE, "dot of an array in parts");
        fine(wf_request_whole(request.0));
        let mut dot = [0.0];
        fine(request.run(&mut dot).0);
        assert_eq!(dot, [30.0]);
    }
}

#[test]
fn parts_that_are_none() {
    let request = Request::new(wf_op::WF_MAX);
    let mut out = [0.0; 8];
    let mut refuse = |status, words: &str| refused(request.run(&mut out).0, status, words);
    // SAFETY: what the request borrows lives until it has been run.
    unsafe {
        fine(wf_request_axes(request.0, [1i64].as_ptr(), 1));
        refuse(WF_ERROR_SHAPE, "there is no axis 1");
        fine(wf_request_segments_every(request.0, 3));
        refuse(WF_ERROR_SEGMENTS, "1 element would be left over");
        let offsets = [0i32, 3, 2];
        fine(wf_request_segments(request.0, 3, offsets.as_ptr().cast(), 3));
        refuse(WF_ERROR_SEGMENTS, "offset 2 is 2, less than 3");
        let offsets = [0i64, -1];
        fine(wf_request_segments(request.0, I64, offsets.as_ptr().cast(), 2));
        refuse(WF_ERROR_SEGMENTS, "-1 if it is signed");
        let offsets = [0u64, 2, 2, 4];
        fine(wf_request_segments(request.0, U64, offsets.as_ptr().cast(), 4));
        refuse(WF_ERROR_EMPTY, "segment 1: max of an empty input");
        let status = wf_request_segments(request.0, F64, X.as_ptr().cast(), 4);
        refused(status, WF_ERROR_ARGUMENT, "offsets are no f64");
        let keys = [0u8, 1, 4, 1];
        fine(wf_request_groups(request.0, U8, keys.as_ptr().cast(), 3));
        refuse(WF_ERROR_KEYS, "4 elements by 3 keys");
        fine(wf_request_groups_dense(request.0, U8, keys.as_ptr().cast(), 4, 3));
        refuse(WF_ERROR_KEYS, "key 2 is 4");
        fine(wf_request_groups(request.0, 0, keys.as_ptr().cast(), 4));
        refuse(WF_ERROR_ARGUMENT, "byte 2 of the keys is 4");
        let status = wf_request_runs(request.0, F32, keys.as_ptr().cast(), 4);
        refused(status, WF_ERROR_ARGUMENT, "keys are no f32");
        let (shape, strides) = ([2u64], [2i64]);
        let x = X.as_ptr().cast();
        fine(wf_request_set_view(request.0, F64, x, 1, shape.as_ptr(), strides.as_ptr()));
        fine(wf_request_segments_every(request.0, 1));
        refuse(WF_ERROR_SHAPE, "do not lie one after another");
    }
    let nothing = {
        let mut request = null_mut();
        // SAFETY: the pointer is a local's.
        fine(unsafe { wf_request_new(SUM, &mut request) });
        Request(request)
    };
    refused(nothing.run(&mut out).0, WF_ERROR_ARGUMENT, "a request without an array");
}

#[test]
fn partials_of_something_else() {
    let new = |op: wf_op, dtype: i32| {
        let mut partial = null_mut();
        // SAFETY: the pointer is a local's.
        fine(unsafe { wf_partial_new(op as i32, dtype, &mut partial) });
        partial
    };
    let (sum, narrow, max) =
        (new(wf_op::WF_SUM, F64), new(wf_op::WF_SUM, F32), new(wf_op::WF_MAX, F64));
    let (mut out, mut size) = (42.0f64, 0);
    let at: *mut c_void = (&raw mut out).cast();
    // SAFETY: the partials live to the end, and other pointers are of locals.
    unsafe {
        fine(wf_partial_add(sum, F64, X.as_ptr().cast(), 4));
        let status = wf_partial_add(sum, F32, X.as_ptr().cast(), 4);
        refused(status, WF_ERROR_UNDEFINED, "another element type");
        let x = X.as_ptr().cast();
        refused(wf_partial_add_pair(sum, F64, x, x, 4), WF_ERROR_UNDEFINED, "one array");
        refused(wf_partial_merge(sum, narrow), WF_ERROR_ARGUMENT, "cannot be merged");
        refused(wf_partial_merge(sum, max), WF_ERROR_ARGUMENT, "max of f64 cannot be merged");
        let finish =
            |partial, op: wf_op, dtype| wf_partial_finish(partial, op as i32, 0, dtype, at, 1);
        refused(finish(max, wf_op::WF_MAX, F64), WF_ERROR_EMPTY, "max of an empty input");
        refused(finish(sum, wf_op::WF_VAR, F64), WF_ERROR_UNDEFINED, "another reduction");
        refused(finish(sum, wf_op::WF_SUM, F32), WF_ERROR_TYPE, "sum of f64 is f64");
        assert_eq!(out, 42.0);

        let status = wf_partial_to_bytes(sum, null_mut(), 0, &mut size);
        refused(status, WF_ERROR_CAPACITY, "room for 0");
        let mut bytes = vec![0u8; size];
        fine(wf_partial_to_bytes(sum, bytes.as_mut_ptr().cast(), size, null_mut()));
        let mut read = null_mut();
        for (op, dtype, len) in [
            (wf_op::WF_SUM, F64, size - 1),
            (wf_op::WF_SUM, F64, 0),
            (wf_op::WF_SUM, F32, size),
            (wf_op::WF_MAX, F64, size),
        ] {
            let status =
                wf_partial_from_bytes(op as i32, dtype, bytes.as_ptr().cast(), len, &mut read);
            refused(status, WF_ERROR_BAD_PARTIAL, "not a saved partial");
            assert!(read.is_null());
        }
        fine(wf_partial_from_bytes(SUM, F64, bytes.as_ptr().cast(), size, &mut read));
        fine(wf_partial_merge(read, read));
        fine(finish(read, wf_op::WF_SUM, F64));
        assert_eq!(out, 20.0, "a partial that is merged with itself doubles");
        for partial in [sum, narrow, max, read] {
            wf_partial_free(partial);
        }
    }
}

#[test]
fn gpus_that_are_not_there() {
    let request = Request::new(wf_op::WF_SUM);
    let mut gpu = std::ptr::dangling_mut::<wf_gpu>();
    let mut out = 42.0f64;
    let at: *mut c_void = (&raw mut out).cast();
    // SAFETY: pointers are null or of locals; no GPU is asked to read anything.
    unsafe {
        refused(wf_gpu_open(0, null_mut()), WF_ERROR_ARGUMENT, "null pointer");
        refused(wf_gpu_open(-1, &mut gpu), WF_ERROR_ARGUMENT, "number -1");
        assert!(gpu.is_null(), "no pointer of old is left");
        refused(wf_gpu_open(4096, &mut gpu), WF_ERROR_DEVICE, "GPU");
        assert!(gpu.is_null());
        let run = wf_gpu_request_run(null(), request.0, null_mut(), F64, at, 1, null_mut());
        refused(run, WF_ERROR_ARGUMENT, "the GPU is a null pointer");
        let start = wf_gpu_request_start(null(), request.0, null_mut(), F64, at);
        refused(start, WF_ERROR_ARGUMENT, "the GPU is a null pointer");
        wf_gpu_free(null_mut());
    }
    assert_eq!(out, 42.0, "nothing is written");
}
