//! [`wf_request`]: what is to be reduced, and how, until it is run.

use std::ffi::c_void;

use warpfold_engine::{HostArray, Indices, Request};
use warpfold_exact::partial::Finish;
use warpfold_num::{DType, Error, Op, Policy};
use warpfold_plan::shape::Layout;

use crate::failure::{Failure, Outcome, guard};
use crate::memory::{self, Memory, RawArray, object_mut};
use crate::partition::Partition;
use crate::status::wf_status;
use crate::types::{
    accuracy_code, dtype_code, nan_code, op_code, overflow_code, wf_accuracy, wf_dtype, wf_nan,
    wf_op, wf_overflow,
};

/// A reduction that is being set up: the operation, the array, its parts, and every choice of the contract. It borrows the arrays,
/// offsets and keys that it was given: they must stay as they are while it is run, and may be changed, or freed, between runs and before
/// it is freed. It can be run any number of times, and by several threads at once while nobody changes it.
#[derive(Clone)]
pub struct wf_request {
    pub(crate) op: Op,
    pub(crate) array: Option<Memory>,
    pub(crate) pair: Option<RawArray>,
    pub(crate) partition: Partition,
    pub(crate) policy: Policy,
    pub(crate) ddof: u64,
    pub(crate) round_to: Option<DType>,
    pub(crate) indices: Indices,
}

impl wf_request {
    /// A reduction of a whole array under the contract's policy.
    pub(crate) fn new(op: Op, array: Option<RawArray>) -> Self {
        wf_request {
            op,
            array: array.map(|raw| Memory { raw, layout: None }),
            pair: None,
            partition: Partition::Whole,
            policy: Policy::default(),
            ddof: 0,
            round_to: None,
            indices: Indices::OfInput,
        }
    }

    pub(crate) fn memory(&self) -> Outcome<&Memory> {
        self.array.as_ref().ok_or_else(|| {
            Failure::argument(format!(
                "{} of a request without an array; call wf_request_set_array or wf_request_set_view first",
                self.op
            ))
        })
    }

    /// How the results are read.
    pub(crate) fn finish(&self) -> Outcome<Finish> {
        let Some(to) = self.round_to else {
            return Ok(Finish { ddof: self.ddof, overflow: self.policy.overflow, round_to: None });
        };
        let dtype = self.memory()?.raw.dtype;
        let why = match self.op {
            op if op.is_ordered() => "an element or an index is not rounded",
            Op::Any | Op::All | Op::Count => "its result is no float",
            Op::Stats => "its results have several types; ask for one of them alone",
            Op::Sum | Op::Mean | Op::Dot | Op::Prod
                if dtype.is_complex() && matches!(to, DType::F16 | DType::BF16) =>
            {
                "no type has two floats of 16 bits; round to WF_F32 or WF_F64"
            }
            _ => {
                let round_to = Some(to);
                return Ok(Finish { ddof: self.ddof, overflow: self.policy.overflow, round_to });
            }
        };
        Err(Error::Unsupported { option: "wf_request_set_round_to", op: self.op, dtype, why }
            .into())
    }

    /// The engine's request of the whole of an array that lies in one piece.
    ///
    /// # Safety
    /// The arrays are as the caller of the interface promised, while `'a` lasts.
    pub(crate) unsafe fn whole<'a>(&self, x: HostArray<'a>) -> Outcome<Request<'a>> {
        let request = Request::new(self.op, x).policy(self.policy);
        if self.op != Op::Dot {
            return Ok(request);
        }
        let pair = self.pair.as_ref().ok_or_else(|| {
            Failure::argument("dot of one array; give the second one, by wf_request_set_pair or wf_partial_add_pair")
        })?;
        // SAFETY: as the caller vouches.
        Ok(request.pair(unsafe { pair.lend("the second array") }?))
    }
}

/// Makes a request of a reduction: of a whole array, under the contract's defaults. Free it with wf_request_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_request_new(op: op_code, request: *mut *mut wf_request) -> wf_status {
    guard(|| {
        let make = || Ok(wf_request::new(wf_op::op(op)?, None));
        // SAFETY: the caller's duty: null, or memory for a pointer.
        unsafe { memory::hand_over("the pointer to the new request", request, make) }
    })
}

/// Frees a request; nothing happens for a null pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_request_free(request: *mut wf_request) {
    // SAFETY: the caller's duty: null, or a request that was not freed.
    unsafe { memory::free(request) }
}

/// Changes a request, whose pointer is its caller's.
///
/// # Safety
/// Null, or a request that has not been freed and that nobody else uses meanwhile.
unsafe fn change(
    request: *mut wf_request,
    with: impl FnOnce(&mut wf_request) -> Outcome<()>,
) -> wf_status {
    // SAFETY: as the caller vouches.
    guard(|| with(unsafe { object_mut("the request", request) }?))
}

/// Another reduction of the same array.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_request_set_op(request: *mut wf_request, op: op_code) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe {
        change(request, |request| {
            request.op = wf_op::op(op)?;
            Ok(())
        })
    }
}

/// The array: len elements, one after another. data may be null if there are none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_request_set_array(
    request: *mut wf_request,
    dtype: dtype_code,
    data: *const c_void,
    len: usize,
) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe {
        change(request, |request| {
            let raw = RawArray::new("the array", wf_dtype::dtype(dtype)?, data, len)?;
            request.array = Some(Memory { raw, layout: None });
            Ok(())
        })
    }
}

/// The second array, of the first one's type and length; WF_DOT alone reads it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_request_set_pair(
    request: *mut wf_request,
    dtype: dtype_code,
    data: *const c_void,
    len: usize,
) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe {
        change(request, |request| {
            let raw = RawArray::new("the second array", wf_dtype::dtype(dtype)?, data, len)?;
            request.pair = Some(raw);
            Ok(())
        })
    }
}

/// An array of ndim axes, the outermost first. data points to the element whose indices are all 0; strides count elements, not bytes,
/// and may be negative, or 0 for an axis that repeats. Null strides: C order, the last axis contiguous.
/// Memory between elements, from the first of them to the last, must be readable too, and of WF_BOOL hold 0 and 1 only.
/// shape and strides are copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_request_set_view(
    request: *mut wf_request,
    dtype: dtype_code,
    data: *const c_void,
    ndim: usize,
    shape: *const u64,
    strides: *const i64,
) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe {
        change(request, |request| {
            let dtype = wf_dtype::dtype(dtype)?;
            let shape = RawArray::new("the shape", DType::U64, shape.cast(), ndim)?.integers();
            let layout = if strides.is_null() {
                Layout::c(shape)?
            } else {
                let strides = RawArray::new("the strides", DType::I64, strides.cast(), ndim)?;
                strided(shape, strides.integers())?
            };
            let extent = layout.extent()?.end;
            let len = usize::try_from(extent).unwrap_or(usize::MAX);
            let before = usize::try_from(layout.start()).unwrap_or(usize::MAX);
            let before = before.checked_mul(dtype.size());
            let first = before.and_then(|before| data.addr().checked_sub(before));
            let first = match first {
                _ if len == 0 || data.is_null() => data,
                Some(_) => data.wrapping_byte_sub(before.unwrap_or_default()),
                None => {
                    return Err(Failure::argument(
                        "elements of the view would lie before address 0; check strides, which count elements",
                    ));
                }
            };
            let raw = RawArray::new("the view's memory", dtype, first, len)?;
            request.array = Some(Memory { raw, layout: Some(layout) });
            Ok(())
        })
    }
}

/// A layout whose memory begins with its lowest element.
fn strided(shape: &[u64], strides: &[i64]) -> Outcome<Layout> {
    let mut start = 0u64;
    if !shape.contains(&0) {
        for (&length, &stride) in shape.iter().zip(strides) {
            if stride < 0 {
                let span = stride.unsigned_abs().checked_mul(length - 1);
                let sum = span.and_then(|span| start.checked_add(span));
                start = sum.filter(|&sum| i64::try_from(sum).is_ok()).ok_or_else(|| {
                    Failure::argument(format!(
                        "a view of shape {shape:?} and strides {strides:?} is longer than memory; check strides, which count elements"
                    ))
                })?;
            }
        }
    }
    Ok(Layout::strided(shape, strides, start)?)
}

/// Exact or fast float sums.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_request_set_accuracy(
    request: *mut wf_request,
    accuracy: accuracy_code,
) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe {
        change(request, |request| {
            request.policy.accuracy = wf_accuracy::accuracy(accuracy)?;
            Ok(())
        })
    }
}

/// Whether NaN propagates or is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_request_set_nan(request: *mut wf_request, nan: nan_code) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe {
        change(request, |request| {
            request.policy.nan = wf_nan::nan(nan)?;
            Ok(())
        })
    }
}

/// Whether an integer result too large for its type is an error or wraps.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_request_set_overflow(
    request: *mut wf_request,
    overflow: overflow_code,
) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe {
        change(request, |request| {
            request.policy.overflow = wf_overflow::overflow(overflow)?;
            Ok(())
        })
    }
}

/// Delta degrees of freedom of variances and deviations: they divide by n - ddof. The default is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_request_set_ddof(request: *mut wf_request, ddof: u64) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe {
        change(request, |request| {
            request.ddof = ddof;
            Ok(())
        })
    }
}

/// Threads at most; 0, the default, takes what the machine offers. Results do not depend on it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_request_set_threads(
    request: *mut wf_request,
    threads: usize,
) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe {
        change(request, |request| {
            request.policy.threads = (threads > 0).then_some(threads);
            Ok(())
        })
    }
}

/// Rounds the exact result to WF_F16, WF_BF16, WF_F32 or WF_F64 in place of the contract's type; complex results stay complex.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_request_set_round_to(
    request: *mut wf_request,
    dtype: dtype_code,
) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe {
        change(request, |request| {
            let dtype = wf_dtype::dtype(dtype)?;
            if !matches!(dtype, DType::F16 | DType::BF16 | DType::F32 | DType::F64) {
                return Err(Failure::argument(format!(
                    "results are not rounded to {dtype}; take WF_F16, WF_BF16, WF_F32 or WF_F64"
                )));
            }
            request.round_to = Some(dtype);
            Ok(())
        })
    }
}

/// Whether indices (argmin, argmax) of parts count from the start of the whole array, its elements in C order, and not from the start of each
/// part's input, which is the default.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_request_set_flat_indices(
    request: *mut wf_request,
    flat: bool,
) -> wf_status {
    // SAFETY: the caller's duty.
    unsafe {
        change(request, |request| {
            request.indices = if flat { Indices::OfArray } else { Indices::OfInput };
            Ok(())
        })
    }
}
