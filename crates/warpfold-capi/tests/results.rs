//! Every reduction of every element type through the interface, beside integer arithmetic; axes, segments and keys; partials; threads.

use std::ffi::{CStr, c_void};
use std::ptr::{null, null_mut};

use warpfold_c::partial::*;
use warpfold_c::parts::*;
use warpfold_c::request::*;
use warpfold_c::result::*;
use warpfold_c::run::*;
use warpfold_c::short::*;
use warpfold_c::status::wf_status::WF_OK;
use warpfold_c::types::wf_op::{self, *};
use warpfold_c::types::{wf_dtype, wf_dtype::*};

/// What is reduced, in each type.
const VALUES: [u8; 4] = [1, 2, 2, 0];

/// The element types, with the bytes of 0, 1 and 2 in each.
fn types() -> Vec<(wf_dtype, [Vec<u8>; 3])> {
    macro_rules! of {
        ($($dtype:ident: [$($value:expr),+];)+) => {
            vec![$(($dtype, [$($value.to_ne_bytes().to_vec()),+])),+]
        };
    }
    let mut all = of! {
        WF_I8: [0i8, 1i8, 2i8];
        WF_I16: [0i16, 1i16, 2i16];
        WF_I32: [0i32, 1i32, 2i32];
        WF_I64: [0i64, 1i64, 2i64];
        WF_BOOL: [0u8, 1u8, 1u8];
        WF_U8: [0u8, 1u8, 2u8];
        WF_U16: [0u16, 1u16, 2u16];
        WF_U32: [0u32, 1u32, 2u32];
        WF_U64: [0u64, 1u64, 2u64];
        WF_F16: [0u16, 0x3c00u16, 0x4000u16];
        WF_BF16: [0u16, 0x3f80u16, 0x4000u16];
        WF_F32: [0f32, 1f32, 2f32];
        WF_F64: [0f64, 1f64, 2f64];
    };
    for (complex, part) in [(WF_COMPLEX64, WF_F32), (WF_COMPLEX128, WF_F64)] {
        let real = all.iter().find(|(dtype, _)| *dtype == part).expect("it is listed").1.clone();
        all.push((complex, real.clone().map(|bytes| [bytes, real[0].clone()].concat())));
    }
    all
}

fn read(dtype: wf_dtype, bytes: &[u8]) -> f64 {
    let whole =
        |n: usize| u64::from_le_bytes(std::array::from_fn(|k| if k < n { bytes[k] } else { 0 }));
    match dtype {
        WF_F32 | WF_COMPLEX64 => f32::from_bits(whole(4) as u32).into(),
        WF_F64 | WF_COMPLEX128 => f64::from_bits(whole(8)),
        WF_I64 | WF_U64 => whole(8) as i64 as f64,
        WF_I32 | WF_U32 => whole(4) as i32 as f64,
        WF_I16 | WF_U16 => whole(2) as i16 as f64,
        WF_I8 | WF_U8 | WF_BOOL => bytes[0].into(),
        WF_F16 | WF_BF16 => match whole(2) {
            0 => 0.0,
            0x3c00 | 0x3f80 => 1.0,
            0x4000 => 2.0,
            other => panic!("{other:x}"),
        },
    }
}

#[test]
fn every_reduction_of_every_type() {
    let ops = [
        WF_SUM, WF_MEAN, WF_VAR, WF_STD, WF_L1, WF_L2, WF_LINF, WF_PROD, WF_MIN, WF_MAX, WF_MINMAX,
        WF_ARGMIN, WF_ARGMAX, WF_ANY, WF_ALL, WF_COUNT, WF_DOT,
    ];
    let mut compared = 0;
    for (dtype, bytes) in types() {
        let values = VALUES.map(|v| if dtype == WF_BOOL { f64::from(v.min(1)) } else { v.into() });
        // Aligned for every type.
        let mut memory = [0u128; 4];
        let data: Vec<u8> = VALUES.iter().flat_map(|&v| bytes[usize::from(v)].clone()).collect();
        // SAFETY: 64 bytes are enough for four elements of 16, and the copy is of plain bytes.
        unsafe { memory.as_mut_ptr().cast::<u8>().copy_from(data.as_ptr(), data.len()) };
        let x: *const c_void = memory.as_ptr().cast();
        let (sum, squares): (f64, f64) = (values.iter().sum(), values.iter().map(|v| v * v).sum());
        let variance = (4.0 * squares - sum * sum) / 16.0;
        let largest = values.iter().copied().fold(0.0, f64::max);
        for op in ops {
            let is_complex = matches!(dtype, WF_COMPLEX64 | WF_COMPLEX128);
            let mut result = WF_BOOL;
            // SAFETY: the pointer is a local's.
            let known = unsafe { wf_result_type(op as i32, dtype as i32, &mut result) } == WF_OK;
            let ordered = matches!(op, WF_MIN | WF_MAX | WF_MINMAX | WF_ARGMIN | WF_ARGMAX);
            assert_eq!(known, !(is_complex && ordered), "{op:?} of {dtype:?}");
            if !known {
                continue;
            }
            let rounded_root = |square: f64| match result {
                WF_F32 => f64::from((square as f32).sqrt()),
                _ => square.sqrt(),
            };
            let expected: &[f64] = match op {
                WF_SUM | WF_L1 => &[sum],
                WF_MEAN => &[sum / 4.0],
                WF_VAR => &[variance],
                WF_STD => &[rounded_root(variance)],
                WF_L2 => &[rounded_root(squares)],
                WF_LINF | WF_MAX => &[largest],
                WF_PROD | WF_MIN | WF_ALL => &[0.0],
                WF_MINMAX => &[0.0, largest],
                WF_ARGMIN => &[3.0],
                WF_ARGMAX => &[if dtype == WF_BOOL { 0.0 } else { 1.0 }],
                WF_ANY => &[1.0],
                WF_COUNT => &[3.0],
                WF_DOT | WF_SUMSQ => &[squares],
                WF_STATS => unreachable!("it is not listed"),
            };
            let mut out = [0xa5u8; 64];
            let aligned = out.as_mut_ptr().align_offset(16);
            // SAFETY: two elements of at most 16 bytes fit from the aligned byte on; the request borrows `memory`.
            unsafe {
                let at: *mut c_void = out.as_mut_ptr().add(aligned).cast();
                let mut request = null_mut();
                assert_eq!(wf_request_new(op as i32, &mut request), WF_OK);
                assert_eq!(wf_request_set_array(request, dtype as i32, x, 4), WF_OK);
                assert_eq!(wf_request_set_pair(request, dtype as i32, x, 4), WF_OK);
                let mut written = 0;
                let status = wf_request_run(request, result as i32, at, 2, &mut written);
                assert_eq!((status, written), (WF_OK, expected.len()), "{op:?} of {dtype:?}");
                wf_request_free(request);
            }
            if op != WF_DOT {
                let mut once = [0u128; 2];
                // SAFETY: two elements of at most 16 bytes fit.
                unsafe {
                    let at: *mut c_void = once.as_mut_ptr().cast();
                    let status = wf_reduce(op as i32, dtype as i32, x, 4, result as i32, at);
                    assert_eq!(status, WF_OK, "{op:?} of {dtype:?}");
                }
                let once: Vec<u8> = once.iter().flat_map(|half| half.to_ne_bytes()).collect();
                let size =
                    (0..).find(|&k| out[aligned + k] == 0xa5).expect("the rest is untouched");
                assert_eq!(once[..size], out[aligned..aligned + size], "{op:?} of {dtype:?}");
            }
            let size = match result {
                WF_BOOL | WF_I8 | WF_U8 => 1,
                WF_I16 | WF_U16 | WF_F16 | WF_BF16 => 2,
                WF_I32 | WF_U32 | WF_F32 => 4,
                WF_I64 | WF_U64 | WF_F64 | WF_COMPLEX64 => 8,
                WF_COMPLEX128 => 16,
            };
            for (k, expected) in expected.iter().enumerate() {
                let found = read(result, &out[aligned + k * size..]);
                assert_eq!(found, *expected, "{op:?} of {dtype:?}");
            }
            // Nothing beyond the results was written.
            assert!(out[aligned + size * expected.len()..].iter().all(|&byte| byte == 0xa5));
            compared += 1;
        }
    }
    assert_eq!(compared, 15 * 17 - 2 * 5);
}

#[test]
fn one_line_functions() {
    macro_rules! floats {
        ($ty:ty: $sum:ident $mean:ident $var:ident $std:ident $l2:ident $dot:ident $min:ident $max:ident) => {{
            let (x, y) = ([1.0, 2.0, 2.0, 0.0], [3.0, -1.0, 0.5, 9.0]);
            let mut out: [$ty; 8] = [0.0; 8];
            let [sum, mean, var, std, l2, dot, min, max] = &mut out;
            let (at, n) = (x.as_ptr(), x.len());
            // SAFETY: the arrays have four elements each, and outputs are locals.
            let statuses = unsafe {
                [
                    $sum(at, n, sum),
                    $mean(at, n, mean),
                    $var(at, n, 1, var),
                    $std(at, n, 0, std),
                    $l2(at, n, l2),
                    $dot(at, y.as_ptr(), n, dot),
                    $min(at, n, min),
                    $max(at, n, max),
                ]
            };
            assert_eq!(statuses, [WF_OK; 8]);
            let var: $ty = 2.75 / 3.0;
            assert_eq!(out, [5.0, 1.25, var, <$ty>::sqrt(0.6875), 3.0, 2.0, 0.0, 2.0]);
        }};
    }
    floats!(f32: wf_sum_f32 wf_mean_f32 wf_var_f32 wf_std_f32 wf_l2_f32 wf_dot_f32 wf_min_f32 wf_max_f32);
    floats!(f64: wf_sum_f64 wf_mean_f64 wf_var_f64 wf_std_f64 wf_l2_f64 wf_dot_f64 wf_min_f64 wf_max_f64);
    let (narrow, wide) = ([i32::MAX, i32::MAX, -5], [i64::MAX, -7]);
    let mut sums = [0i64; 2];
    // SAFETY: lengths are those of the arrays, and outputs are locals.
    unsafe {
        assert_eq!(wf_sum_i32(narrow.as_ptr(), 3, &mut sums[0]), WF_OK);
        assert_eq!(wf_sum_i64(wide.as_ptr(), 2, &mut sums[1]), WF_OK);
    }
    assert_eq!(sums, [2 * i64::from(i32::MAX) - 5, i64::MAX - 7]);
}

struct Request(*mut wf_request);

impl Request {
    fn of<T>(op: wf_op, dtype: wf_dtype, x: &[T]) -> Self {
        let mut request = null_mut();
        // SAFETY: the callers keep the slice for as long as the request is run.
        unsafe {
            assert_eq!(wf_request_new(op as i32, &mut request), WF_OK);
            let status = wf_request_set_array(request, dtype as i32, x.as_ptr().cast(), x.len());
            assert_eq!(status, WF_OK);
        }
        Request(request)
    }

    fn column<T: Copy>(&self, name: &CStr) -> Vec<T> {
        let (mut result, mut outputs, mut columns) = (null_mut(), 0, 0);
        // SAFETY: what the request borrows lives, and `T` is the column's type, as the callers know.
        unsafe {
            assert_eq!(wf_request_result(self.0, &mut result), WF_OK);
            assert_eq!(wf_result_size(result, &mut outputs, &mut columns), WF_OK);
            for k in 0..columns {
                let (mut its_name, mut data) = (null(), null());
                let status = wf_result_column(result, k, &mut its_name, null_mut(), &mut data);
                assert_eq!(status, WF_OK);
                if CStr::from_ptr(its_name) == name {
                    let column = std::slice::from_raw_parts(data.cast(), outputs).to_vec();
                    wf_result_free(result);
                    return column;
                }
            }
        }
        panic!("no column {name:?}");
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        // SAFETY: it was made by `wf_request_new` and is freed once.
        unsafe { wf_request_free(self.0) }
    }
}

#[test]
fn stats_of_an_array_and_of_its_parts() {
    let x = [3.0f64, f64::NAN, -1.0, 4.0];
    let request = Request::of(WF_STATS, WF_F64, &x);
    // SAFETY: the request lives.
    assert_eq!(unsafe { wf_request_set_nan(request.0, 1) }, WF_OK);
    assert_eq!(request.column::<u64>(c"nan_count"), [1]);
    assert_eq!(request.column::<f64>(c"sum"), [6.0]);
    assert_eq!(request.column::<f64>(c"mean"), [2.0]);
    assert_eq!(request.column::<f64>(c"max"), [4.0]);
    assert_eq!(request.column::<u64>(c"argmin"), [2]);
    // SAFETY: the request lives.
    assert_eq!(unsafe { wf_request_segments_every(request.0, 2) }, WF_OK);
    assert_eq!(request.column::<f64>(c"sum"), [3.0, 3.0]);
    assert_eq!(request.column::<u64>(c"argmin"), [0, 0]);
    // SAFETY: the request lives.
    assert_eq!(unsafe { wf_request_set_flat_indices(request.0, true) }, WF_OK);
    assert_eq!(request.column::<u64>(c"argmin"), [0, 2]);
}

#[test]
fn a_column_of_nothing_has_its_type() {
    for (op, expected) in [(WF_VAR, WF_F32), (WF_ARGMAX, WF_U64), (WF_MIN, WF_F16)] {
        let request = Request::of::<u16>(op, WF_F16, &[]);
        let (mut result, mut outputs, mut dtype) = (null_mut(), 7, WF_BOOL);
        // SAFETY: the request lives, and pointers are of locals.
        unsafe {
            assert_eq!(wf_request_segments_every(request.0, 3), WF_OK);
            assert_eq!(wf_request_result(request.0, &mut result), WF_OK);
            assert_eq!(wf_result_size(result, &mut outputs, null_mut()), WF_OK);
            let status = wf_result_column(result, 0, null_mut(), &mut dtype, null_mut());
            assert_eq!((status, outputs, dtype), (WF_OK, 0, expected), "{op:?}");
            wf_result_free(result);
        }
    }
}

#[test]
fn keys_of_every_type_come_back() {
    macro_rules! keys {
        ($($dtype:ident $ty:ty;)+) => {$({
            let keys: [$ty; 5] = [1, 0, 1, 1, 0];
            let x = [1u32, 10, 100, 1000, 10_000];
            let request = Request::of(WF_SUM, WF_U32, &x);
            let given: *const c_void = keys.as_ptr().cast();
            let (mut result, mut dtype, mut data) = (null_mut(), WF_F64, null());
            // SAFETY: the keys live until the request was run; two keys of this type lie where the result says.
            unsafe {
                assert_eq!(wf_request_groups(request.0, $dtype as i32, given, 5), WF_OK);
                assert_eq!(request.column::<u64>(c"sum"), [10_010, 1101], stringify!($dtype));
                assert_eq!(wf_request_result(request.0, &mut result), WF_OK);
                assert_eq!(wf_result_keys(result, &mut dtype, &mut data), WF_OK);
                assert_eq!(dtype, $dtype);
                assert_eq!(std::slice::from_raw_parts(data.cast::<$ty>(), 2), [0, 1]);
                wf_result_free(result);
                assert_eq!(wf_request_runs(request.0, $dtype as i32, given, 5), WF_OK);
                assert_eq!(request.column::<u64>(c"sum"), [1, 10, 1100, 10_000]);
                assert_eq!(wf_request_groups_dense(request.0, $dtype as i32, given, 5, 3), WF_OK);
                let dense = request.column::<u64>(c"sum");
                assert_eq!(dense, [10_010, 1101, 0], stringify!($dtype));
            }
        })+};
    }
    keys! {
        WF_BOOL u8; WF_U8 u8; WF_U16 u16; WF_U32 u32; WF_U64 u64;
        WF_I8 i8; WF_I16 i16; WF_I32 i32; WF_I64 i64;
    }
}

#[test]
fn results_go_over_what_they_are_read_from() {
    const N: usize = 4096;
    let run = |request: &Request, out: *mut u64| {
        // SAFETY: every part has one result of 64 bits, and N of them have room.
        let status = unsafe { wf_request_run(request.0, WF_U64 as i32, out.cast(), N, null_mut()) };
        assert_eq!(status, WF_OK);
    };
    let ones = vec![1u64; 4 * N];
    let mut x = ones.clone();
    let at = x.as_mut_ptr();
    // SAFETY: the array lives until the request was run, and is read again after that alone.
    let request = Request::of(WF_SUM, WF_U64, unsafe { std::slice::from_raw_parts(at, 4 * N) });
    // SAFETY: the request is alive.
    assert_eq!(unsafe { wf_request_segments_every(request.0, 4) }, WF_OK);
    // SAFETY: the last N elements, of which the first results would come before they are read.
    run(&request, unsafe { at.add(3 * N) });
    assert!(x[3 * N..].iter().all(|&sum| sum == 4) && x[..3 * N] == ones[..3 * N]);

    let mut offsets: Vec<u64> = (0..=N as u64).map(|k| 4 * k).collect();
    let at = offsets.as_mut_ptr();
    let request = Request::of(WF_SUM, WF_U64, &ones);
    // SAFETY: the offsets live until the request was run.
    let status = unsafe { wf_request_segments(request.0, WF_U64 as i32, at.cast(), N + 1) };
    assert_eq!(status, WF_OK);
    // SAFETY: the second of the offsets.
    run(&request, unsafe { at.add(1) });
    assert!(offsets[0] == 0 && offsets[1..].iter().all(|&sum| sum == 4));

    let mut keys: Vec<u64> = (0..4 * N as u64).map(|k| (7 * k + 3) % N as u64).collect();
    let at = keys.as_mut_ptr();
    let request = Request::of(WF_SUM, WF_U64, &ones);
    // SAFETY: the keys live until the request was run.
    let status =
        unsafe { wf_request_groups_dense(request.0, WF_U64 as i32, at.cast(), 4 * N, N as u64) };
    assert_eq!(status, WF_OK);
    run(&request, at);
    assert!(keys[..N].iter().all(|&sum| sum == 4));
}

#[test]
fn views_with_any_strides() {
    // Elements of a 2 x 3 x 4 array by strides, beside loops over indices.
    let x: Vec<i32> = (0..60).map(|k| k * k - 100).collect();
    for (start, strides) in
        [(0, [30i64, 7, 2]), (59, [-30, -7, -2]), (40, [1, -20, 5]), (9, [0, 3, 1])]
    {
        let shape = [2u64, 3, 4];
        let at = |i: i64, j: i64, k: i64| {
            i64::from(x[(start + i * strides[0] + j * strides[1] + k * strides[2]) as usize])
        };
        let request = Request::of(WF_SUM, WF_I32, &x);
        // SAFETY: every index lies in `x`.
        unsafe {
            let first = x.as_ptr().add(start as usize).cast();
            let (shape, strides) = (shape.as_ptr(), strides.as_ptr());
            assert_eq!(
                wf_request_set_view(request.0, WF_I32 as i32, first, 3, shape, strides),
                WF_OK
            );
        }
        let all: i64 = (0..24).map(|n| at(n / 12, n / 4 % 3, n % 4)).sum();
        assert_eq!(request.column::<i64>(c"sum"), [all]);
        // SAFETY: the axes are copied.
        unsafe { assert_eq!(wf_request_axes(request.0, [0i64, -1].as_ptr(), 2), WF_OK) };
        let kept: Vec<i64> = (0..3).map(|j| (0..8).map(|n| at(n / 4, j, n % 4)).sum()).collect();
        assert_eq!(request.column::<i64>(c"sum"), kept);
    }
}

#[test]
fn partials_in_any_order_and_from_bytes() {
    // 1 + 2^-60 - 1 in pieces: any rounding on the way loses the middle term.
    let pieces = [[1.0f64, 0.0], [(-60f64).exp2(), 0.0], [-1.0, 0.0]];
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
        let (mut total, mut sum) = (null_mut(), 0.0f64);
        // SAFETY: pointers are of locals, and objects are freed once.
        unsafe {
            assert_eq!(wf_partial_new(WF_SUM as i32, WF_F64 as i32, &mut total), WF_OK);
            for k in order {
                let request = Request::of(WF_SUM, WF_F64, &pieces[k]);
                let (mut partial, mut restored, mut size) = (null_mut(), null_mut(), 0);
                let mut bytes = [0u8; 512];
                let at: *mut c_void = bytes.as_mut_ptr().cast();
                assert_eq!(wf_partial_of(request.0, &mut partial), WF_OK);
                assert_eq!(wf_partial_to_bytes(partial, at, 512, &mut size), WF_OK);
                let (op, dtype) = (WF_SUM as i32, WF_F64 as i32);
                assert_eq!(wf_partial_from_bytes(op, dtype, at, size, &mut restored), WF_OK);
                assert_eq!(wf_partial_merge(total, restored), WF_OK);
                wf_partial_free(partial);
                wf_partial_free(restored);
            }
            let at: *mut c_void = (&raw mut sum).cast();
            assert_eq!(wf_partial_finish(total, WF_SUM as i32, 0, WF_F64 as i32, at, 1), WF_OK);
            let mut count = 0;
            assert_eq!(wf_partial_count(total, &mut count), WF_OK);
            assert_eq!((sum, count), ((-60f64).exp2(), 6));
            wf_partial_free(total);
        }
    }
}

#[test]
fn indices_of_pieces_count_from_the_whole() {
    let x = [5i16, 9, 1, 9, 0, 9];
    let (mut first, mut second, mut index) = (null_mut(), null_mut(), 0u64);
    // SAFETY: pointers are of locals, and objects are freed once.
    unsafe {
        for partial in [&mut first, &mut second] {
            assert_eq!(wf_partial_new(WF_ARGMAX as i32, WF_I16 as i32, partial), WF_OK);
        }
        assert_eq!(wf_partial_start_at(second, 3), WF_OK);
        assert_eq!(wf_partial_add(second, WF_I16 as i32, x[3..].as_ptr().cast(), 3), WF_OK);
        let at: *mut c_void = (&raw mut index).cast();
        let finish =
            |partial| wf_partial_finish(partial, WF_ARGMAX as i32, 0, WF_U64 as i32, at, 1);
        assert_eq!((finish(second), index), (WF_OK, 3));
        for piece in x[..3].chunks(2) {
            let data = piece.as_ptr().cast();
            assert_eq!(wf_partial_add(first, WF_I16 as i32, data, piece.len()), WF_OK);
        }
        assert_eq!(wf_partial_merge(second, first), WF_OK);
        assert_eq!((finish(second), index), (WF_OK, 1));
        wf_partial_free(first);
        wf_partial_free(second);
    }
}

/// A request that several threads run.
#[derive(Clone, Copy)]
struct Shared(*const wf_request);
// SAFETY: a request may be read by several threads at once, as the interface says, and nobody changes it here.
unsafe impl Send for Shared {}

#[test]
fn one_request_on_eight_threads() {
    let x: Vec<f32> = (0..300_000).map(|k| (k % 1000) as f32 * 0.125).collect();
    // Whole multiples of 1/8 below 2^24 / 8 in all: an integer sum is the reference.
    let eighths: u64 = (0..300_000u64).map(|k| k % 1000).sum();
    let expected = (eighths as f64 / 8.0) as f32;
    let request = Request::of(WF_SUM, WF_F32, &x);
    let shared = Shared(request.0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(move || {
                let shared = shared;
                for _ in 0..20 {
                    let mut sum = 0.0f32;
                    let at: *mut c_void = (&raw mut sum).cast();
                    // SAFETY: the request and the array outlive the threads.
                    let status =
                        unsafe { wf_request_run(shared.0, WF_F32 as i32, at, 1, null_mut()) };
                    assert_eq!((status, sum), (WF_OK, expected));
                }
            });
        }
    });
}
