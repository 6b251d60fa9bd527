//! [`wf_partial`]: exact state of a reduction that is fed, merged, saved and finished.

use std::ffi::c_void;

use warpfold_engine::{self as engine, Parts};
use warpfold_exact::AnyPartial;
use warpfold_exact::partial::Finish;
use warpfold_num::{DType, Error, Op, PartialKind, Policy};

use crate::failure::{Failure, Outcome, guard};
use crate::memory::{self, RawArray, object, object_mut, write_if_wanted};
use crate::request::wf_request;
use crate::result::wf_result;
use crate::run::{OutputBuffer, Ready, named};
use crate::status::wf_status;
use crate::types::{dtype_code, op_code, wf_dtype, wf_op};

/// The exact state of one reduction: elements are added, other partials merged, and the result is rounded once, when it is read.
/// Any order of merging gives the same bits. Pieces of products of floats have to know where they start, as indices do (wf_partial_start_at). One thread at a time
/// may change a partial; different ones are independent.
#[derive(Clone)]
pub struct wf_partial {
    op: Op,
    policy: Policy,
    state: AnyPartial,
    /// The index of the next element in the whole.
    next: u64,
}

/// Reductions that are read from one state: a sum and its mean, a variance and its deviation.
fn kin(a: Op, b: Op) -> bool {
    let sums = |op: Op| op.partial() == PartialKind::Sum;
    a == b || (sums(a) && sums(b)) || (a.is_spread() && b.is_spread())
}

impl wf_partial {
    fn empty(op: Op, dtype: DType) -> Outcome<Self> {
        engine::check(op, dtype)?;
        let state = AnyPartial::empty(op, dtype);
        Ok(wf_partial { op, policy: Policy::default(), state, next: 0 })
    }

    /// # Safety
    /// What the request borrows is as the caller of the interface promised.
    unsafe fn of(request: &wf_request) -> Outcome<Self> {
        // SAFETY: as the caller vouches.
        let ready = unsafe { Ready::new(request) }?;
        let op = request.op;
        if !matches!(&*ready.request.parts, Parts::Whole) {
            return Err(Error::Shape {
                requested: format!("a partial of {op} of an array in parts, or of a view"),
                obstacle: "a partial is of one input that lies in one piece".into(),
                remedy: "make a partial of each piece, and merge them",
            }
            .into());
        }
        let state = engine::reduce(&ready.request)?;
        Ok(wf_partial { op, policy: request.policy, state, next: ready.request.x.len() as u64 })
    }

    /// # Safety
    /// The arrays are as the caller of the interface promised.
    unsafe fn add(&mut self, x: RawArray, y: Option<RawArray>) -> Outcome<()> {
        let mut request = wf_request::new(self.op, Some(x));
        (request.pair, request.policy) = (y, self.policy);
        if x.dtype != self.state.dtype() {
            let why = "the partial is of another element type; convert the array";
            return Err(Error::Undefined { op: self.op, dtype: x.dtype, why }.into());
        }
        if y.is_some() && self.op != Op::Dot {
            let why = "it takes one array; see wf_partial_add";
            return Err(Error::Undefined { op: self.op, dtype: x.dtype, why }.into());
        }
        let next = self.next.checked_add(x.len as u64).ok_or_else(|| {
            Failure::argument("indices end at 2^64 - 1; check what wf_partial_start_at was given")
        })?;
        // SAFETY: as the caller vouches.
        let made = unsafe { Ready::new(&request) }?.request.starting_at(self.next);
        self.state.merge(&engine::reduce(&made)?);
        self.next = next;
        Ok(())
    }

    fn merge(&mut self, other: &Self) -> Outcome<()> {
        let (mine, theirs) = (self.state.dtype(), other.state.dtype());
        if mine != theirs || !kin(self.op, other.op) {
            return Err(Failure::argument(format!(
                "a partial of {} of {theirs} cannot be merged into one of {} of {mine}; merge partials of one reduction and type",
                other.op, self.op
            )));
        }
        self.state.merge(&other.state);
        Ok(())
    }

    fn finish(&self, op: Op, ddof: u64) -> Outcome<warpfold_exact::partial::Output> {
        if !kin(self.op, op) {
            let why = "the partial is that of another reduction; make one for this";
            return Err(Error::Undefined { op, dtype: self.state.dtype(), why }.into());
        }
        let finish = Finish { ddof, overflow: self.policy.overflow, round_to: None };
        Ok(self.state.finish(op, finish)?)
    }
}

/// Makes a partial of nothing, under the contract's defaults. Free it with wf_partial_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_partial_new(
    op: op_code,
    dtype: dtype_code,
    partial: *mut *mut wf_partial,
) -> wf_status {
    // SAFETY: the caller's duty.
    guard(|| unsafe {
        memory::hand_over("the pointer to the new partial", partial, || {
            wf_partial::empty(wf_op::op(op)?, wf_dtype::dtype(dtype)?)
        })
    })
}

/// Makes the partial of a request's whole array. Its policy (NaN, overflow, accuracy, threads) stays that of the partial.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_partial_of(
    request: *const wf_request,
    partial: *mut *mut wf_partial,
) -> wf_status {
    // SAFETY: the caller's duty, for the request and what it borrows.
    guard(|| unsafe {
        memory::hand_over("the pointer to the new partial", partial, || {
            wf_partial::of(object("the request", request)?)
        })
    })
}

/// Makes another partial of the same state.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_partial_clone(
    partial: *const wf_partial,
    copy: *mut *mut wf_partial,
) -> wf_status {
    // SAFETY: the caller's duty.
    guard(|| unsafe {
        memory::hand_over("the pointer to the new partial", copy, || {
            Ok(object("the partial", partial)?.clone())
        })
    })
}

/// Frees a partial; nothing happens for a null pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_partial_free(partial: *mut wf_partial) {
    // SAFETY: the caller's duty: null, or a partial that was not freed.
    unsafe { memory::free(partial) }
}

/// Says at which index of the whole the next element that is added stands, for argmin and argmax of pieces that are folded
/// apart; it is 0 at first, and goes on with each element that is added. Merging leaves it as it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_partial_start_at(partial: *mut wf_partial, index: u64) -> wf_status {
    // SAFETY: the caller's duty.
    guard(|| unsafe {
        object_mut("the partial", partial)?.next = index;
        Ok(())
    })
}

/// Adds the elements of an array of the partial's type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_partial_add(
    partial: *mut wf_partial,
    dtype: dtype_code,
    data: *const c_void,
    len: usize,
) -> wf_status {
    // SAFETY: the caller's duty.
    guard(|| unsafe {
        let partial = object_mut("the partial", partial)?;
        partial.add(RawArray::new("the array", wf_dtype::dtype(dtype)?, data, len)?, None)
    })
}

/// Adds the pairs of two arrays of one length, to a partial of WF_DOT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_partial_add_pair(
    partial: *mut wf_partial,
    dtype: dtype_code,
    x: *const c_void,
    y: *const c_void,
    len: usize,
) -> wf_status {
    // SAFETY: the caller's duty.
    guard(|| unsafe {
        let partial = object_mut("the partial", partial)?;
        let dtype = wf_dtype::dtype(dtype)?;
        let x = RawArray::new("the array", dtype, x, len)?;
        partial.add(x, Some(RawArray::new("the second array", dtype, y, len)?))
    })
}

/// Merges another partial of the same reduction and element type into this one; the other stays as it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_partial_merge(
    partial: *mut wf_partial,
    other: *const wf_partial,
) -> wf_status {
    guard(|| {
        if std::ptr::eq(partial, other) {
            // SAFETY: the caller's duty. The copy is another object, as one cannot be read while it is changed.
            return unsafe {
                let copy = object("the partial", other)?.clone();
                object_mut("the partial", partial)?.merge(&copy)
            };
        }
        // SAFETY: the caller's duty; they are two objects.
        unsafe { object_mut("the partial", partial)?.merge(object("the other partial", other)?) }
    })
}

/// Rounds, once, and writes the result to out, memory for capacity elements of out_type (1 suffices, 2 of WF_MINMAX). op is the partial's, or its kin: a sum
/// also gives the mean, a variance the deviation, and the other way round. ddof serves variances and deviations. The partial stays as it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_partial_finish(
    partial: *const wf_partial,
    op: op_code,
    ddof: u64,
    out_type: dtype_code,
    out: *mut c_void,
    capacity: usize,
) -> wf_status {
    // SAFETY: the caller's duty.
    guard(|| unsafe {
        let (partial, op) = (object("the partial", partial)?, wf_op::op(op)?);
        let output = partial.finish(op, ddof)?;
        let buffer = OutputBuffer::new(out_type, out, capacity, std::ptr::null_mut())?;
        buffer.check(op, partial.state.dtype(), None, 1)?;
        buffer.put(output)
    })
}

/// Rounds, once, and makes an object of the results, as WF_STATS needs it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_partial_result(
    partial: *const wf_partial,
    op: op_code,
    ddof: u64,
    result: *mut *mut wf_result,
) -> wf_status {
    // SAFETY: the caller's duty.
    guard(|| unsafe {
        memory::hand_over("the pointer to the new result", result, || {
            let op = wf_op::op(op)?;
            let partial = object("the partial", partial)?;
            Ok(wf_result::new(named(op, partial.finish(op, ddof)?)?, None))
        })
    })
}

/// Saves a partial: size receives how many bytes that takes, and they are written if capacity suffices (else WF_ERROR_CAPACITY, and nothing
/// is written). With capacity 0 bytes may be null. size may be null. Any machine and any later version reads them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_partial_to_bytes(
    partial: *const wf_partial,
    bytes: *mut c_void,
    capacity: usize,
    size: *mut usize,
) -> wf_status {
    // SAFETY: the caller's duty.
    guard(|| unsafe {
        let saved = object("the partial", partial)?.state.to_bytes();
        write_if_wanted("the number of bytes", size, saved.len())?;
        if saved.len() > capacity {
            return Err(Failure::new(
                wf_status::WF_ERROR_CAPACITY,
                format!(
                    "the partial takes {} bytes, and there is room for {capacity}; give more",
                    saved.len()
                ),
            ));
        }
        memory::write_bytes("the output of bytes", bytes, &saved)
    })
}

/// Makes a partial of what wf_partial_to_bytes saved, of the reduction and element type that it was of. Its policy is the contract's default,
/// and its next element stands at index 0 (wf_partial_start_at). Bytes that are no such partial are WF_ERROR_BAD_PARTIAL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_partial_from_bytes(
    op: op_code,
    dtype: dtype_code,
    bytes: *const c_void,
    size: usize,
    partial: *mut *mut wf_partial,
) -> wf_status {
    // SAFETY: the caller's duty.
    guard(|| unsafe {
        memory::hand_over("the pointer to the new partial", partial, || {
            let (op, dtype) = (wf_op::op(op)?, wf_dtype::dtype(dtype)?);
            let bytes = RawArray::new("the array of bytes", DType::U8, bytes, size)?.integers();
            let state = AnyPartial::from_bytes_of(dtype, bytes)?;
            if !state.serves(op) {
                let why = format!("they are the partial of a reduction that is not {op}");
                return Err(Error::BadPartial { expected: op.name(), why }.into());
            }
            Ok(wf_partial { state, ..wf_partial::empty(op, dtype)? })
        })
    })
}

/// How many elements (of WF_DOT: pairs) a partial holds: WF_ERROR_UNSUPPORTED where it does not count them (WF_PROD, WF_LINF). WF_ANY and WF_ALL stop
/// counting where they know.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_partial_count(
    partial: *const wf_partial,
    count: *mut u64,
) -> wf_status {
    // SAFETY: the caller's duty.
    guard(|| unsafe {
        let partial = object("the partial", partial)?;
        let found = partial.state.count().ok_or(Error::Unsupported {
            option: "wf_partial_count",
            op: partial.op,
            dtype: partial.state.dtype(),
            why: "its partial does not count; count what you add",
        })?;
        memory::write("the pointer to the count", count, found)
    })
}
