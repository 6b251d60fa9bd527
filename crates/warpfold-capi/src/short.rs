//! One line for what is wanted most: whole arrays under the contract's defaults.

use warpfold_num::{DType, Op};

use crate::failure::{Outcome, guard};
use crate::memory::RawArray;
use crate::request::wf_request;
use crate::run::{Room, run};
use crate::types::wf_status;

/// Reduces one array, or two, to one number.
///
/// # Safety
/// The arrays are as the caller of the interface promised, and so is the output, which is of the type that the contract gives the result.
#[inline]
unsafe fn reduce<T, R>(
    (op, dtype, result): (Op, DType, DType),
    [x, y]: [*const T; 2],
    len: usize,
    ddof: u64,
    out: *mut R,
) -> wf_status {
    debug_assert!(dtype.size() == size_of::<T>() && result.size() == size_of::<R>());
    guard(|| -> Outcome<()> {
        let mut request =
            wf_request::new(op, Some(RawArray::new("the array", dtype, x.cast(), len)?));
        if op == Op::Dot {
            request.pair = Some(RawArray::new("the second array", dtype, y.cast(), len)?);
        }
        request.ddof = ddof;
        let room =
            Room { dtype: result, out: out.cast(), capacity: 1, written: std::ptr::null_mut() };
        // SAFETY: as the caller vouches.
        unsafe { run(&request, room) }
    })
}

/// The sum of floats: exact, rounded once; 0 of none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_sum_f32(x: *const f32, len: usize, out: *mut f32) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe { reduce((Op::Sum, DType::F32, DType::F32), [x, std::ptr::null()], len, 0, out) }
}

/// The sum of doubles: exact, rounded once; 0 of none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_sum_f64(x: *const f64, len: usize, out: *mut f64) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe { reduce((Op::Sum, DType::F64, DType::F64), [x, std::ptr::null()], len, 0, out) }
}

/// The sum of integers of 32 bits: WF_ERROR_OVERFLOW if it does not fit; 0 of none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_sum_i32(x: *const i32, len: usize, out: *mut i64) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe { reduce((Op::Sum, DType::I32, DType::I64), [x, std::ptr::null()], len, 0, out) }
}

/// The sum of integers of 64 bits: WF_ERROR_OVERFLOW if it does not fit; 0 of none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_sum_i64(x: *const i64, len: usize, out: *mut i64) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe { reduce((Op::Sum, DType::I64, DType::I64), [x, std::ptr::null()], len, 0, out) }
}

/// The mean of floats, rounded once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_mean_f32(x: *const f32, len: usize, out: *mut f32) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe { reduce((Op::Mean, DType::F32, DType::F32), [x, std::ptr::null()], len, 0, out) }
}

/// The mean of doubles, rounded once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_mean_f64(x: *const f64, len: usize, out: *mut f64) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe { reduce((Op::Mean, DType::F64, DType::F64), [x, std::ptr::null()], len, 0, out) }
}

/// The variance of floats over len - ddof, rounded once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_var_f32(
    x: *const f32,
    len: usize,
    ddof: u64,
    out: *mut f32,
) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe { reduce((Op::Var, DType::F32, DType::F32), [x, std::ptr::null()], len, ddof, out) }
}

/// The variance of doubles over len - ddof, rounded once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_var_f64(
    x: *const f64,
    len: usize,
    ddof: u64,
    out: *mut f64,
) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe { reduce((Op::Var, DType::F64, DType::F64), [x, std::ptr::null()], len, ddof, out) }
}

/// The standard deviation of floats over len - ddof: the root of the exact variance, rounded once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_std_f32(
    x: *const f32,
    len: usize,
    ddof: u64,
    out: *mut f32,
) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe { reduce((Op::Std, DType::F32, DType::F32), [x, std::ptr::null()], len, ddof, out) }
}

/// The standard deviation of doubles over len - ddof: the root of the exact variance, rounded once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_std_f64(
    x: *const f64,
    len: usize,
    ddof: u64,
    out: *mut f64,
) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe { reduce((Op::Std, DType::F64, DType::F64), [x, std::ptr::null()], len, ddof, out) }
}

/// The Euclidean norm of floats, rounded once, without overflow on the way.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_l2_f32(x: *const f32, len: usize, out: *mut f32) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe { reduce((Op::L2, DType::F32, DType::F32), [x, std::ptr::null()], len, 0, out) }
}

/// The Euclidean norm of doubles, rounded once, without overflow on the way.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_l2_f64(x: *const f64, len: usize, out: *mut f64) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe { reduce((Op::L2, DType::F64, DType::F64), [x, std::ptr::null()], len, 0, out) }
}

/// The dot product of floats: exact products, exact sum, rounded once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_dot_f32(
    x: *const f32,
    y: *const f32,
    len: usize,
    out: *mut f32,
) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe { reduce((Op::Dot, DType::F32, DType::F32), [x, y], len, 0, out) }
}

/// The dot product of doubles: exact products, exact sum, rounded once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_dot_f64(
    x: *const f64,
    y: *const f64,
    len: usize,
    out: *mut f64,
) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe { reduce((Op::Dot, DType::F64, DType::F64), [x, y], len, 0, out) }
}

/// The smallest of floats: NaN propagates, -0 < +0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_min_f32(x: *const f32, len: usize, out: *mut f32) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe { reduce((Op::Min, DType::F32, DType::F32), [x, std::ptr::null()], len, 0, out) }
}

/// The smallest of doubles: NaN propagates, -0 < +0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_min_f64(x: *const f64, len: usize, out: *mut f64) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe { reduce((Op::Min, DType::F64, DType::F64), [x, std::ptr::null()], len, 0, out) }
}

/// The largest of floats: NaN propagates, -0 < +0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_max_f32(x: *const f32, len: usize, out: *mut f32) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe { reduce((Op::Max, DType::F32, DType::F32), [x, std::ptr::null()], len, 0, out) }
}

/// The largest of doubles: NaN propagates, -0 < +0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_max_f64(x: *const f64, len: usize, out: *mut f64) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe { reduce((Op::Max, DType::F64, DType::F64), [x, std::ptr::null()], len, 0, out) }
}
