//! Parts of an array as a caller states them, and as the engine takes them.

use std::ffi::c_void;

use warpfold_engine::{Parts, group_by, group_dense, runs_by_key, segments};
use warpfold_num::{DType, Error, Policy};
use warpfold_plan::segment::Segments;
use warpfold_plan::shape::{Folding, Layout};

use crate::failure::{Failure, Outcome, guard};
use crate::memory::{RawArray, object_mut};
use crate::request::{Memory, wf_request};
use crate::types::{dtype_code, wf_dtype, wf_status};

/// How an array is parted, as it was stated.
#[derive(Clone)]
pub(crate) enum Partition {
    Whole,
    Axes(Vec<i64>),
    Every(u64),
    Offsets(RawArray),
    Groups(RawArray),
    Dense(RawArray, u64),
    Runs(RawArray),
}

/// Runs an expression with the keys as a slice of what they are.
macro_rules! with_keys {
    ($keys:expr, $slice:ident => $body:expr) => {{
        let keys: &RawArray = $keys;
        // SAFETY: the caller of the function vouches for the keys; bools were looked at by `lend`, and are bytes here.
        unsafe {
            match keys.dtype {
                DType::Bool => {
                    keys.lend("the keys")?;
                    let $slice = keys.integers::<u8>();
                    $body
                }
                DType::U8 => { let $slice = keys.integers::<u8>(); $body }
                DType::U16 => { let $slice = keys.integers::<u16>(); $body }
                DType::U32 => { let $slice = keys.integers::<u32>(); $body }
                DType::U64 => { let $slice = keys.integers::<u64>(); $body }
                DType::I8 => { let $slice = keys.integers::<i8>(); $body }
                DType::I16 => { let $slice = keys.integers::<i16>(); $body }
                DType::I32 => { let $slice = keys.integers::<i32>(); $body }
                DType::I64 => { let $slice = keys.integers::<i64>(); $body }
                other => return Err(not_keys(other)),
            }
        }
    }};
}

fn not_keys(dtype: DType) -> Failure {
    Failure::argument(format!("keys are no {dtype}; give integers or bools"))
}

fn is_integer(dtype: DType) -> bool {
    !dtype.is_float()
}

impl Partition {
    /// The parts of an array, checked.
    ///
    /// # Safety
    /// The offsets or keys are as the caller of the interface promised, while `'a` lasts.
    pub(crate) unsafe fn of<'a>(&self, memory: &Memory, policy: Policy) -> Outcome<Parts<'a>> {
        let flat = || match &memory.layout {
            None => Ok(memory.raw.len),
            Some(layout) if lies_in_order(layout) => Ok(memory.raw.len),
            Some(layout) => Err(Failure::from(Error::Shape {
                requested: format!("segments or groups of a view with {layout}"),
                obstacle: "its elements do not lie one after another".into(),
                remedy: "reduce it over axes, or copy it to an array",
            })),
        };
        Ok(match self {
            Partition::Whole => match &memory.layout {
                Some(layout) if !lies_in_order(layout) => {
                    let axes: Vec<i64> = (0i64..).take(layout.axes().len()).collect();
                    over(layout.clone(), &axes)?
                }
                _ => Parts::Whole,
            },
            Partition::Axes(axes) => {
                let layout = match &memory.layout {
                    Some(layout) => layout.clone(),
                    None => Layout::c(&[memory.raw.len as u64])?,
                };
                over(layout, axes)?
            }
            Partition::Every(length) => segments(Segments::every(*length), flat()? as u64, policy)?,
            Partition::Offsets(offsets) => {
                // SAFETY: as the caller vouches. Signed offsets are read as unsigned ones; a negative one is beyond every array's end.
                let offsets = unsafe {
                    if offsets.dtype.size() == 4 {
                        Segments::offsets(offsets.integers::<u32>())
                    } else {
                        Segments::offsets(offsets.integers::<u64>())
                    }
                };
                segments(offsets, flat()? as u64, policy)?
            }
            Partition::Groups(keys) => {
                with_keys!(keys, slice => group_by(slice, flat()?, policy)?)
            }
            Partition::Dense(keys, groups) => {
                with_keys!(keys, slice => group_dense(slice, *groups, flat()?, policy)?)
            }
            Partition::Runs(keys) => {
                with_keys!(keys, slice => runs_by_key(slice, flat()?, policy)?)
            }
        })
    }

    /// The type of the keys that the outputs have.
    pub(crate) fn keys(&self) -> Option<DType> {
        match self {
            Partition::Groups(keys) | Partition::Runs(keys) => Some(keys.dtype),
            _ => None,
        }
    }
}

/// Whether elements lie one after another in C order, so that the view is an array.
fn lies_in_order(layout: &Layout) -> bool {
    let mut next = 1i64;
    layout.is_empty()
        || layout.axes().iter().rev().all(|axis| {
            let is_next = axis.length == 1 || axis.stride == next;
            next = next.saturating_mul(i64::try_from(axis.length).unwrap_or(i64::MAX));
            is_next
        })
}

fn over(layout: Layout, axes: &[i64]) -> Outcome<Parts<'static>> {
    let folding = Folding::of(layout, axes)?;
    let form = folding.form()?;
    Ok(Parts::Axes(form, folding))
}

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
