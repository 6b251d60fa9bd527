//! How a caller says in which parts a request takes its array.

use std::ffi::c_void;

use warpfold_num::DType;

use crate::failure::{Failure, Outcome, guard};
use crate::memory::{RawArray, object_mut};
use crate::partition::{Partition, is_integer, not_keys};
use crate::request::wf_request;
use crate::status::wf_status;
use crate::types::{dtype_code, wf_dtype};

/// Sets the parts of a request.
///
/// # Safety
/// Null, or a request that has not been freed and that nobody else uses meanwhile.
unsafe fn set(
    request: *mut wf_request,
    partition: impl FnOnce() -> Outcome<Partition>,
) -> wf_status {
    guard(|| {
        // SAFETY: as the caller vouches.
        unsafe { object_mut("the request", request) }?.partition = partition()?;
        Ok(())
    })
}

/// Checks type, address and number of keys, and reads none.
fn keys_of(dtype: dtype_code, keys: *const c_void, len: usize) -> Outcome<RawArray> {
    let dtype = wf_dtype::dtype(dtype)?;
    if !is_integer(dtype) {
        return Err(not_keys(dtype));
    }
    RawArray::new("the array of keys", dtype, keys, len)
}

/// The whole array is one input, as it is at first; of a view all axes are folded.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_request_whole(request: *mut wf_request) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe { set(request, || Ok(Partition::Whole)) }
}

/// Folds the axes that are named, counted from 0 or from the last as -1, and keeps the others: one output for each index of those, in C
/// order. An array without a view has one axis. axes are copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_request_axes(
    request: *mut wf_request,
    axes: *const i64,
    count: usize,
) -> wf_status {
    // SAFETY: the caller's duty, for the axes too.
    unsafe {
        set(request, || {
            let axes = RawArray::new("the list of axes", DType::I64, axes.cast(), count)?;
            Ok(Partition::Axes(axes.integers::<i64>().to_vec()))
        })
    }
}

/// Segments of one length, one after another; they are the whole array.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_request_segments_every(
    request: *mut wf_request,
    length: u64,
) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe { set(request, || Ok(Partition::Every(length))) }
}

/// Segments by offsets (WF_I32, WF_U32, WF_I64 or WF_U64), one more than segments: segment i goes from offset i to below offset i + 1.
/// The request borrows them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_request_segments(
    request: *mut wf_request,
    dtype: dtype_code,
    offsets: *const c_void,
    count: usize,
) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe {
        set(request, || {
            let dtype = wf_dtype::dtype(dtype)?;
            if !matches!(dtype, DType::I32 | DType::U32 | DType::I64 | DType::U64) {
                return Err(Failure::argument(format!(
                    "offsets are no {dtype}; give integers of 32 or 64 bits"
                )));
            }
            Ok(Partition::Offsets(RawArray::new("the array of offsets", dtype, offsets, count)?))
        })
    }
}

/// Groups of the elements of equal keys, in any order: one output for each different key, keys ascending; wf_result_keys gives them.
/// Keys are integers or bools, one for each element. The request borrows them; each run numbers them anew.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_request_groups(
    request: *mut wf_request,
    dtype: dtype_code,
    keys: *const c_void,
    count: usize,
) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe { set(request, || Ok(Partition::Groups(keys_of(dtype, keys, count)?))) }
}

/// Groups by keys that are numbers of groups, from 0 to below groups: one output for each number, those without elements as well.
/// The request borrows the keys.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_request_groups_dense(
    request: *mut wf_request,
    dtype: dtype_code,
    keys: *const c_void,
    count: usize,
    groups: u64,
) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe { set(request, || Ok(Partition::Dense(keys_of(dtype, keys, count)?, groups))) }
}

/// Runs of equal keys, one output a run, for keys that are sorted; wf_result_keys gives the key of each. The request borrows the keys.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_request_runs(
    request: *mut wf_request,
    dtype: dtype_code,
    keys: *const c_void,
    count: usize,
) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe { set(request, || Ok(Partition::Runs(keys_of(dtype, keys, count)?))) }
}
