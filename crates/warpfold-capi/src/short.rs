//! One line for what is wanted most: whole arrays under the contract's defaults.

use warpfold_engine::{self as engine, Request};
use warpfold_exact::partial::{Finish, Output};
use warpfold_num::{Element, Op, Scalar};

use crate::failure::guard;
use crate::memory::{self, RawArray};
use crate::status::wf_status;

/// Reduces one array, or two, to one number, without a request of C's in between: of short arrays that would be a good part of the time.
///
/// # Safety
/// The arrays are as the caller of the interface promised, and so is the output.
#[inline]
unsafe fn reduce<T: Element, R: Scalar>(
    op: Op,
    [x, y]: [*const T; 2],
    len: usize,
    ddof: u64,
    out: *mut R,
) -> wf_status {
    guard(|| {
        let x = RawArray::new("the array", T::DTYPE, x.cast(), len)?;
        memory::check_output("the output", out)?;
        // SAFETY: as the caller vouches.
        let mut request = Request::new(op, unsafe { x.lend("the array") }?);
        if op == Op::Dot {
            let y = RawArray::new("the second array", T::DTYPE, y.cast(), len)?;
            // SAFETY: as the caller vouches.
            request = request.pair(unsafe { y.lend("the second array") }?);
        }
        let output = engine::output(&request, Finish { ddof, ..Finish::default() })?;
        let value = match output {
            Output::One(value) => value.typed::<R>(),
            _ => None,
        };
        let value = value.unwrap_or_else(|| unreachable!("the contract gives {op} one type"));
        // SAFETY: as the caller vouches.
        unsafe { memory::write("the output", out, value) }
    })
}

/// The sum of floats: exact, rounded once; 0 of none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_sum_f32(x: *const f32, len: usize, out: *mut f32) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe { reduce(Op::Sum, [x, std::ptr::null()], len, 0, out) }
}

/// The sum of doubles: exact, rounded once; 0 of none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_sum_f64(x: *const f64, len: usize, out: *mut f64) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe { reduce(Op::Sum, [x, std::ptr::null()], len, 0, out) }
}

/// The sum of integers of 32 bits: WF_ERROR_OVERFLOW if it does not fit; 0 of none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_sum_i32(x: *const i32, len: usize, out: *mut i64) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe { reduce(Op::Sum, [x, std::ptr::null()], len, 0, out) }
}

/// The sum of integers of 64 bits: WF_ERROR_OVERFLOW if it does not fit; 0 of none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_sum_i64(x: *const i64, len: usize, out: *mut i64) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe { reduce(Op::Sum, [x, std::ptr::null()], len, 0, out) }
}

/// The mean of floats, rounded once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_mean_f32(x: *const f32, len: usize, out: *mut f32) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe { reduce(Op::Mean, [x, std::ptr::null()], len, 0, out) }
}

/// The mean of doubles, rounded once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_mean_f64(x: *const f64, len: usize, out: *mut f64) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe { reduce(Op::Mean, [x, std::ptr::null()], len, 0, out) }
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
    unsafe { reduce(Op::Var, [x, std::ptr::null()], len, ddof, out) }
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
    unsafe { reduce(Op::Var, [x, std::ptr::null()], len, ddof, out) }
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
    unsafe { reduce(Op::Std, [x, std::ptr::null()], len, ddof, out) }
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
    unsafe { reduce(Op::Std, [x, std::ptr::null()], len, ddof, out) }
}

/// The Euclidean norm of floats, rounded once, without overflow on the way.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_l2_f32(x: *const f32, len: usize, out: *mut f32) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe { reduce(Op::L2, [x, std::ptr::null()], len, 0, out) }
}

/// The Euclidean norm of doubles, rounded once, without overflow on the way.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_l2_f64(x: *const f64, len: usize, out: *mut f64) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe { reduce(Op::L2, [x, std::ptr::null()], len, 0, out) }
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
    unsafe { reduce(Op::Dot, [x, y], len, 0, out) }
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
    unsafe { reduce(Op::Dot, [x, y], len, 0, out) }
}

/// The smallest of floats: NaN propagates, -0 < +0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_min_f32(x: *const f32, len: usize, out: *mut f32) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe { reduce(Op::Min, [x, std::ptr::null()], len, 0, out) }
}

/// The smallest of doubles: NaN propagates, -0 < +0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_min_f64(x: *const f64, len: usize, out: *mut f64) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe { reduce(Op::Min, [x, std::ptr::null()], len, 0, out) }
}

/// The largest of floats: NaN propagates, -0 < +0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_max_f32(x: *const f32, len: usize, out: *mut f32) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe { reduce(Op::Max, [x, std::ptr::null()], len, 0, out) }
}

/// The largest of doubles: NaN propagates, -0 < +0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_max_f64(x: *const f64, len: usize, out: *mut f64) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe { reduce(Op::Max, [x, std::ptr::null()], len, 0, out) }
}
