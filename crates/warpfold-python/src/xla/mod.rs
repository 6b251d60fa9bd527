//! The reductions as XLA calls them, for functions that JAX has compiled: operands and results lie where XLA has them.

mod abi;
mod on_gpu;

use std::ffi::c_void;
use std::sync::Arc;

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use warpfold_engine::{self as engine, Parts, Request};
use warpfold_exact::AnyPartial;
use warpfold_exact::partial::Output;
use warpfold_num::{Column, Op, Policy};
use warpfold_plan::shape::Folding;

use abi::{CAPSULE, Code, Failure, Frame, RawFrame, XlaArray};

use crate::convert::Wanted;
use crate::errors::raised;
use crate::followed;
use crate::kept::Kept;
use crate::masked;
use crate::names;
use crate::number;
use crate::policy::{Correction, correction, policy};
use crate::reduce::{self, Call};
use crate::take::{Home, Input, Views};

type Handler = unsafe extern "C" fn(*mut RawFrame) -> *mut c_void;

/// The handlers by XLA's names of platforms.
#[pyfunction]
pub(crate) fn _handlers(py: Python<'_>) -> PyResult<Vec<(&'static str, Bound<'_, PyAny>)>> {
    let name = CAPSULE.map_or(std::ptr::null(), std::ffi::CStr::as_ptr);
    let handlers: [(&str, Handler); 2] = [("cpu", on_host), ("CUDA", on_gpu)];
    let capsule = |(platform, handler): (&'static str, Handler)| {
        // SAFETY: a function is never freed, and the capsule has no destructor.
        let capsule = unsafe {
            let capsule = ffi::PyCapsule_New(handler as *mut c_void, name, None);
            Bound::from_owned_ptr_or_err(py, capsule)?
        };
        Ok((platform, capsule))
    };
    handlers.into_iter().map(capsule).collect()
}

/// # Safety
/// As [`Frame::handle`].
unsafe extern "C" fn on_host(frame: *mut RawFrame) -> *mut c_void {
    // SAFETY: XLA calls this with a frame of its own.
    unsafe { Frame::handle(frame, |frame| Ok(host(&XlaRequest::of(frame)?)?)) }
}

/// # Safety
/// As [`Frame::handle`].
unsafe extern "C" fn on_gpu(frame: *mut RawFrame) -> *mut c_void {
    // SAFETY: XLA calls this with a frame of its own.
    unsafe {
        Frame::handle(frame, |frame| {
            let (stream, number) = frame.stream()?;
            Ok(on_gpu::execute(&XlaRequest::of(frame)?, stream, number)?)
        })
    }
}

impl From<PyErr> for Failure {
    /// The message; XLA's callers have released the interpreter, as they have for callbacks of JAX's.
    fn from(error: PyErr) -> Self {
        Python::attach(|py| {
            let is_range = error.is_instance_of::<PyOverflowError>(py);
            let code = if is_range { Code::OutOfRange } else { Code::InvalidArgument };
            Failure { code, message: error.value(py).to_string() }
        })
    }
}

/// What a call asks for.
pub(crate) struct XlaRequest {
    pub(crate) op: Op,
    /// An array and, of a dot product, another one, or bools of its shape that say which elements count.
    pub(crate) operands: Vec<XlaArray>,
    pub(crate) is_masked: bool,
    pub(crate) result: XlaArray,
    /// Counted from the last one, so that XLA may put axes of batches in front.
    pub(crate) axes: Vec<i64>,
    pub(crate) ddof: Correction,
    pub(crate) policy: Policy,
    pub(crate) wanted: Wanted,
}

impl XlaRequest {
    fn of(frame: &Frame<'_>) -> Result<Self, Failure> {
        let op = match frame.text("name")? {
            "dot" => Op::Dot,
            name => followed::op(name)?,
        };
        let mut operands = vec![frame.operand(0)?];
        let is_masked = frame.text("mask")? == "where";
        if op == Op::Dot || is_masked {
            operands.push(frame.operand(1)?);
        }
        let policy =
            policy(frame.text("accuracy")?, frame.text("nan")?, frame.text("overflow")?, None)?;
        let ddof = correction(Some(frame.number("correction")?), None)?;
        let to = Some(frame.text("dtype")?).filter(|to| !to.is_empty());
        let to = to.map(names::of_name).transpose()?;
        let home = Home::Jax { is_narrow: frame.text("width")? == "narrow" };
        let wanted = Wanted::new(op, operands[0].dtype, ddof, policy, to, home)?;
        let result = frame.result()?;
        let axes = frame.integers("axes")?;
        Ok(XlaRequest { op, operands, is_masked, result, axes, ddof, policy, wanted })
    }

    /// What is left of a shape.
    pub(crate) fn kept(&self, shape: &[u64]) -> Kept {
        let ndim = shape.len() as i64;
        let is_reduced = (0..ndim).map(|axis| self.axes.contains(&(axis - ndim)));
        Kept::of(is_reduced.collect(), false, shape)
    }

    /// Results as XLA is to have them.
    pub(crate) fn converted(&self, columns: Vec<(&'static str, Column)>) -> PyResult<Column> {
        let column = columns.into_iter().next().map(|(_, column)| column);
        let column =
            self.wanted.convert(column.unwrap_or_else(|| Column::of_values(Vec::new())))?;
        let bytes = number::bytes(&column);
        let fits = bytes.len() == self.result.bytes()
            && (bytes.is_empty() || column.dtype() == Some(self.result.dtype));
        if !fits {
            return Err(PyTypeError::new_err(format!(
                "the results are {} bytes of {:?}, and there is room for {} of {}",
                bytes.len(),
                column.dtype().map(names::name),
                self.result.bytes(),
                names::name(self.result.dtype)
            )));
        }
        Ok(column)
    }

    /// Writes results to where XLA wants them on the host.
    fn write(&self, columns: Vec<(&'static str, Column)>) -> PyResult<()> {
        let column = self.converted(columns)?;
        let bytes = number::bytes(&column);
        if !bytes.is_empty() {
            // SAFETY: XLA has made this room for the results of this call, of the size that was just compared.
            unsafe { self.result.address.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) }
        }
        Ok(())
    }
}

/// Arrays in the host's memory.
fn host(xla_request: &XlaRequest) -> PyResult<()> {
    let XlaRequest { op, policy, wanted, .. } = xla_request;
    let inputs = xla_request.operands.iter().map(|held| {
        Input::dense(held.dtype, held.shape.clone(), held.address.cast_const(), Home::Python)
    });
    let inputs = inputs.collect::<PyResult<Vec<_>>>()?;
    let input = &inputs[0];
    if *op == Op::Dot {
        return dots(xla_request, input, &inputs[1]);
    }
    if xla_request.is_masked {
        return masked(xla_request, input, &inputs[1]);
    }
    let (memory, layout) = input.layout()?;
    if xla_request.axes.len() == input.shape.len() {
        let run = input.run("an operand")?;
        let partial = engine::reduce(&Request::new(*op, run).policy(*policy));
        let partial = partial.map_err(|error| raised(&error))?;
        let output = reduce::finish(&partial, *op, wanted, !input.is_empty())?;
        return xla_request.write(one(output));
    }
    let folding = Folding::of(layout, &xla_request.axes).map_err(|error| raised(&error))?;
    let form = folding.form().map_err(|error| raised(&error))?;
    let call = Call { ddof: xla_request.ddof, ..Call::new(*op, *policy) };
    if let Some(missing) = call.missing(&form, wanted)? {
        return xla_request.write(missing);
    }
    let is_any = form.inputs > 0;
    let request =
        Request::new(*op, memory).policy(*policy).parts(Arc::new(Parts::Axes(form, folding)));
    let columns = reduce::columns_of(&request, wanted, is_any);
    xla_request.write(columns.map_err(|error| raised(&error))?)
}

/// Reductions of the elements that a mask keeps.
fn masked(xla_request: &XlaRequest, x: &Input, mask: &Input) -> PyResult<()> {
    let XlaRequest { op, policy, wanted, .. } = xla_request;
    engine::check(*op, x.read_as()).map_err(|error| raised(&error))?;
    let kept = xla_request.kept(&x.shape);
    let views = Views::new(&x.shape, &kept.is_reduced, &[("x", x), ("where", mask)])?;
    let outputs = masked::outputs((*op, *policy, x.read_as()), &views, &kept, wanted);
    let values = outputs.map_err(|error| raised(&error))?.into_iter().map(|output| match output {
        Output::One(value) => value,
        other => unreachable!("a call has one result, not {other:?}"),
    });
    xla_request.write(vec![("", wanted.typed(Column::of_values(values.collect())))])
}

/// One result as a column.
pub(crate) fn one(output: Output) -> Vec<(&'static str, Column)> {
    match output {
        Output::One(value) => vec![("", Column::of_values(vec![value]))],
        other => unreachable!("a call has one result, not {other:?}"),
    }
}

/// Refuses two arrays of a dot product that do not go together.
pub(crate) fn check_pair(x: &Input, y: &Input) -> PyResult<()> {
    if x.shape == y.shape && x.dtype == y.dtype {
        return Ok(());
    }
    let [x, y] =
        [x, y].map(|of| format!("{} of shape {:?}", crate::names::name(of.dtype), of.shape));
    Err(PyValueError::new_err(format!(
        "dot takes two arrays of one shape and type, and they are {x} and {y}"
    )))
}

/// Dot products of pairs of arrays, one for each element of the axes in front.
fn dots(xla_request: &XlaRequest, x: &Input, y: &Input) -> PyResult<()> {
    let XlaRequest { policy, wanted, .. } = xla_request;
    check_pair(x, y)?;
    let kept = x.shape.len() - xla_request.axes.len();
    let outputs = x.shape[..kept].iter().product::<u64>() as usize;
    let each = x.shape[kept..].iter().product::<u64>() as usize;
    let mut values = Vec::with_capacity(outputs);
    for output in 0..outputs {
        let part = |of: &Input| {
            let first = of.address().wrapping_add(output * each * of.read_as().size());
            Input::part(of.read_as(), first, each as u64, Home::Python)
        };
        let (a, b) = (part(x)?, part(y)?);
        let request = Request::new(Op::Dot, a.run("an operand")?).pair(b.run("an operand")?);
        let partial: AnyPartial =
            engine::reduce(&request.policy(*policy)).map_err(|error| raised(&error))?;
        match reduce::finish(&partial, Op::Dot, wanted, each > 0)? {
            Output::One(value) => values.push(value),
            other => unreachable!("a dot product is one value, not {other:?}"),
        }
    }
    xla_request.write(vec![("", wanted.typed(Column::of_values(values)))])
}
