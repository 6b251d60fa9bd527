//! Running requests: into the caller's memory.

use std::ffi::c_void;
use std::ops::Range;
use std::sync::Arc;

use warpfold_engine::{self as engine, Columns, OutputArray, Parts, Request};
use warpfold_exact::partial::{Finish, Output, Summary};
use warpfold_num::{Column, DType, Error, Op, Value};

use crate::failure::{Failure, Outcome, guard};
use crate::memory::{self, RawArray, object};
use crate::request::wf_request;
use crate::status::wf_status;
use crate::types::{dtype_code, op_code, wf_dtype, wf_op};

/// A request that is ready to run.
pub(crate) struct Ready<'a> {
    pub(crate) request: Request<'a>,
    pub(crate) finish: Finish,
}

impl<'a> Ready<'a> {
    /// Looks at everything that a request borrows.
    ///
    /// # Safety
    /// What it borrows is as the caller of the interface promised, while `'a` lasts.
    pub(crate) unsafe fn new(request: &wf_request) -> Outcome<Self> {
        let memory = request.memory()?;
        let finish = request.finish()?;
        // SAFETY: as the caller vouches.
        let x = unsafe { memory.raw.lend("the array") }?;
        // SAFETY: as above.
        let made = unsafe { request.whole(x) }?.indices(request.indices);
        // SAFETY: as above.
        let made = match unsafe { request.partition.of(memory, request.policy) }? {
            Parts::Whole => made,
            _ if request.op == Op::Dot => {
                return Err(Error::Shape {
                    requested: "dot of an array in parts, or of a view with gaps".into(),
                    obstacle: "dot reads two whole arrays, element after element".into(),
                    remedy: "copy each part to an array, and call it once for each",
                }
                .into());
            }
            parts => made.parts(Arc::new(parts)),
        };
        Ok(Ready { request: made, finish })
    }

    /// How many outputs there are.
    pub(crate) fn outputs(&self) -> Outcome<u64> {
        Ok(match &*self.request.parts {
            Parts::Whole => 1,
            Parts::Axes(_, folding) => folding.outputs()?,
            Parts::Segments(bounds, _) => bounds.count(),
            Parts::Groups(grouping, _) => grouping.groups(),
        })
    }

    /// The results by name.
    pub(crate) fn columns(&self) -> Outcome<Columns> {
        match &*self.request.parts {
            Parts::Whole => named(self.request.op, engine::output(&self.request, self.finish)?),
            _ => Ok(engine::columns(&self.request, self.finish)?),
        }
    }
}

/// One output as columns of one element.
pub(crate) fn named(op: Op, output: Output) -> Outcome<Columns> {
    let column = |value| Column::of_values(vec![value]);
    Ok(match output {
        Output::One(value) => vec![(op.name(), column(value))],
        Output::Pair(least, greatest) => vec![("min", column(least)), ("max", column(greatest))],
        Output::Summary(summary) => of_summary(op, *summary)?,
    })
}

/// The columns of stats of one input, as those of many: what a mean or a deviation has no value for is NaN, and an extreme is an error.
fn of_summary(op: Op, summary: Summary) -> Outcome<Columns> {
    let is_complex = matches!(summary.sum, Value::Complex64(_) | Value::Complex128(_));
    let real_nan = match summary.l1 {
        Value::F32(_) => Value::F32(f32::NAN),
        _ => Value::F64(f64::NAN),
    };
    let mean_nan = match summary.sum {
        Value::Complex64(_) => Value::from(warpfold_num::Complex::new(f32::NAN, f32::NAN)),
        Value::Complex128(_) => Value::from(warpfold_num::Complex::new(f64::NAN, f64::NAN)),
        _ => real_nan,
    };
    let mut values = vec![
        ("count", summary.count.into()),
        ("nan_count", summary.nan_count.into()),
        ("sum", summary.sum),
        ("mean", summary.mean.unwrap_or(mean_nan)),
        ("var", summary.var.unwrap_or(real_nan)),
        ("std", summary.std.unwrap_or(real_nan)),
    ];
    if !is_complex {
        let empty = || Error::Empty { op, ignored: summary.count > 0 };
        values.push(("min", summary.min.ok_or_else(empty)?));
        values.push(("max", summary.max.ok_or_else(empty)?));
        values.push(("argmin", summary.argmin.ok_or_else(empty)?.into()));
        values.push(("argmax", summary.argmax.ok_or_else(empty)?.into()));
    }
    values.extend([("l1", summary.l1), ("l2", summary.l2)]);
    Ok(values.into_iter().map(|(name, value)| (name, Column::of_values(vec![value]))).collect())
}

/// What a caller gave for results.
#[derive(Clone, Copy)]
pub(crate) struct OutputBuffer {
    pub(crate) dtype: DType,
    pub(crate) out: *mut c_void,
    pub(crate) capacity: usize,
    pub(crate) written: *mut usize,
}

impl OutputBuffer {
    pub(crate) fn new(
        dtype: dtype_code,
        out: *mut c_void,
        capacity: usize,
        written: *mut usize,
    ) -> Outcome<Self> {
        Ok(OutputBuffer { dtype: wf_dtype::dtype(dtype)?, out, capacity, written })
    }

    /// Whether the results of `op` go in, of `outputs` outputs; says how many elements they are.
    ///
    /// # Safety
    /// `written` is null or memory for a number.
    pub(crate) unsafe fn check(
        &self,
        op: Op,
        dtype: DType,
        round_to: Option<DType>,
        outputs: u64,
    ) -> Outcome<()> {
        let Some(result) = op.result_dtype(dtype, round_to) else {
            let why = "its results have several types; take wf_request_result, or ask for one of them alone";
            let option = "an output of one type";
            return Err(Error::Unsupported { option, op, dtype, why }.into());
        };
        if result != self.dtype {
            return Err(Failure::new(
                wf_status::WF_ERROR_TYPE,
                format!(
                    "{op} of {dtype} is {result}, and the output is of {}; give memory for {result}, or see wf_request_set_round_to",
                    self.dtype
                ),
            ));
        }
        let columns = if op == Op::MinMax { 2 } else { 1 };
        let needed = outputs.checked_mul(columns).and_then(|n| usize::try_from(n).ok());
        let needed = needed.unwrap_or(usize::MAX);
        // SAFETY: as the caller vouches.
        unsafe { memory::write_if_wanted("the number written", self.written, needed) }?;
        if needed > self.capacity {
            return Err(Failure::new(
                wf_status::WF_ERROR_CAPACITY,
                format!(
                    "{op} has {needed} results of {result}, and the output has room for {}; give more, or take wf_request_result",
                    self.capacity
                ),
            ));
        }
        if needed == 0 { Ok(()) } else { memory::check_output_of(self.dtype, self.out) }
    }

    /// Where the room lies.
    fn addresses(&self) -> Range<usize> {
        let bytes = self.capacity.saturating_mul(self.dtype.size());
        self.out.addr()..self.out.addr().saturating_add(bytes)
    }

    /// Writes an output that was checked to go in.
    ///
    /// # Safety
    /// `out` is memory for `capacity` elements, and [`check`](Self::check) said yes to this output.
    pub(crate) unsafe fn put(&self, output: Output) -> Outcome<()> {
        // SAFETY: as the caller vouches.
        unsafe {
            match output {
                Output::One(value) => memory::write_value(self.dtype, self.out, 0, value),
                Output::Pair(least, greatest) => {
                    memory::write_value(self.dtype, self.out, 0, least)?;
                    memory::write_value(self.dtype, self.out, 1, greatest)
                }
                Output::Summary(_) => unreachable!("stats have several types, and were refused"),
            }
        }
    }
}

/// Runs a request into the caller's memory.
///
/// # Safety
/// What the request borrows is as the caller of the interface promised, and so is the room.
unsafe fn run(request: &wf_request, buffer: OutputBuffer) -> Outcome<()> {
    // SAFETY: as the caller vouches.
    let ready = unsafe { Ready::new(request) }?;
    let (op, dtype) = (request.op, ready.request.x.dtype());
    // What is undefined is said before types are compared.
    engine::check(op, dtype)?;
    // SAFETY: as above.
    unsafe { buffer.check(op, dtype, ready.finish.round_to, ready.outputs()?) }?;
    if let Parts::Whole = &*ready.request.parts {
        let output = engine::output(&ready.request, ready.finish)?;
        // SAFETY: as above, and the room was checked.
        return unsafe { buffer.put(output) };
    }
    // As they are found, unless there are two columns, or what is read may lie in the room.
    if op != Op::MinMax && ready.request.is_apart_from(buffer.addresses()) {
        let outputs = ready.outputs()? as usize;
        // SAFETY: the room was checked for so many results of their type, and nobody else uses it while the call lasts, as the caller vouches.
        let mut out = unsafe { OutputArray::from_raw(buffer.dtype, buffer.out.cast(), outputs) };
        engine::columns_into(&ready.request, ready.finish, &mut out)?;
        return Ok(());
    }
    let mut offset = 0;
    for (_, column) in ready.columns()? {
        // SAFETY: as above, and the room was checked for all columns.
        unsafe { memory::write_column(buffer.dtype, buffer.out, offset, &column) }?;
        offset += column.len();
    }
    Ok(())
}

/// The type of a reduction's results, for elements of a type: WF_ERROR_UNSUPPORTED of WF_STATS, which have several.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_result_type(
    op: op_code,
    dtype: dtype_code,
    result: *mut wf_dtype,
) -> wf_status {
    guard(|| {
        let (op, dtype) = (wf_op::op(op)?, wf_dtype::dtype(dtype)?);
        engine::check(op, dtype)?;
        let found = op.result_dtype(dtype, None).ok_or(Error::Unsupported {
            option: "one type of results",
            op,
            dtype,
            why: "its results have several types; see wf_result_column",
        })?;
        // SAFETY: the caller's duty: null, or memory for a number.
        unsafe { memory::write("the pointer to the type", result, found.into()) }
    })
}

/// Runs a request and writes its results to out, memory for capacity elements of out_type, which must be the results' type. There is one
/// result for each part (1 for a whole array); WF_MINMAX gives all minima and then all maxima. written, which may be null, receives how many
/// results there are, also where they do not go in (WF_ERROR_CAPACITY). Nothing is written to out if the request or the room
/// is refused; results of several parts are written as they are found, so that out means nothing where one of them fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_request_run(
    request: *const wf_request,
    out_type: dtype_code,
    out: *mut c_void,
    capacity: usize,
    written: *mut usize,
) -> wf_status {
    // SAFETY: the caller's duty, for the request, what it borrows and the output.
    guard(|| unsafe {
        let buffer = OutputBuffer::new(out_type, out, capacity, written)?;
        run(object("the request", request)?, buffer)
    })
}

/// Reduces a whole array under the contract's defaults, in one call: out is memory for one element of out_type (two of WF_MINMAX).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_reduce(
    op: op_code,
    dtype: dtype_code,
    data: *const c_void,
    len: usize,
    out_type: dtype_code,
    out: *mut c_void,
) -> wf_status {
    // SAFETY: the caller's duty.
    guard(|| unsafe {
        let (op, dtype) = (wf_op::op(op)?, wf_dtype::dtype(dtype)?);
        let x = RawArray::new("the array", dtype, data, len)?;
        if op == Op::Dot {
            // A request says what to call in its place.
            return wf_request::new(op, Some(x)).whole(x.lend("the array")?).map(|_| ());
        }
        let capacity = if op == Op::MinMax { 2 } else { 1 };
        engine::check(op, dtype)?;
        let buffer = OutputBuffer::new(out_type, out, capacity, std::ptr::null_mut())?;
        buffer.check(op, dtype, None, 1)?;
        let request = Request::new(op, x.lend("the array")?);
        buffer.put(engine::output(&request, Finish::default())?)
    })
}
