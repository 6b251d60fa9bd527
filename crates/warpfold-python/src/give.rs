//! Results as the caller's library has them.

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use warpfold_num::{Column, DType, Value};

use crate::names::name;
use crate::take::{Buffer, Home, Input, OnGpu, Taken, jax, numpy, torch};

/// The element type of a column of results.
pub(crate) fn dtype_of(column: &Column) -> DType {
    column.dtype().unwrap_or_else(|| unreachable!("no result of this front is of such a type"))
}

/// One result, without axes.
pub(crate) fn scalar(py: Python<'_>, home: Home, value: Value) -> PyResult<Bound<'_, PyAny>> {
    match home {
        Home::Python => crate::number::number(py, value),
        Home::NumPy => numpy(py)?.value(py, value),
        Home::Torch => torch::scalar(py, value),
        Home::Gpu(gpu) => {
            gpu.give(py, &array(py, gpu.host(), &Column::of_values(vec![value]), &[1])?, true)
        }
        Home::Jax { is_narrow } => {
            check_width(&Column::of_values(vec![value]), is_narrow)?;
            jax::array(&numpy(py)?.value(py, value)?)
        }
    }
}

/// Fails for integers that JAX would wrap, where it has 32 bits.
fn check_width(column: &Column, is_narrow: bool) -> PyResult<()> {
    let beyond = match column {
        _ if !is_narrow => None,
        Column::I64(values) => {
            values.iter().find(|&&value| i32::try_from(value).is_err()).map(i64::to_string)
        }
        Column::U64(values) => {
            values.iter().find(|&&value| u32::try_from(value).is_err()).map(u64::to_string)
        }
        _ => None,
    };
    beyond.map_or(Ok(()), |value| {
        Err(PyOverflowError::new_err(format!(
            "a result is {value}, which JAX cannot hold without 64 bits; set jax_enable_x64, or give numpy.asarray(x)"
        )))
    })
}

/// Results with axes, in C order.
pub(crate) fn array<'py>(
    py: Python<'py>,
    home: Home,
    column: &Column,
    shape: &[u64],
) -> PyResult<Bound<'py, PyAny>> {
    if shape.is_empty() {
        return scalar(py, home, column.get(0));
    }
    let dtype = dtype_of(column);
    match home {
        Home::Torch => return torch::array(py, column, dtype, shape),
        Home::Gpu(gpu) => return gpu.give(py, &array(py, gpu.host(), column, shape)?, false),
        Home::Jax { is_narrow } => {
            check_width(column, is_narrow)?;
            return jax::array(&array(py, Home::NumPy, column, shape)?);
        }
        Home::NumPy | Home::Python => {}
    }
    let numpy = numpy(py)?;
    // The buffer protocol has no name for bfloat16.
    let written = if dtype == DType::BF16 { DType::U16 } else { dtype };
    let shape = PyTuple::new(py, shape)?;
    let array = numpy.empty.bind(py).call1((shape, numpy.scalar(py, written)?))?;
    fill(&Buffer::of(&array, true)?, column)?;
    if dtype == DType::BF16 {
        return array.call_method1("view", (numpy.scalar(py, dtype)?,));
    }
    Ok(array)
}

/// Writes results into an array of the caller's, and gives it back.
pub(crate) fn into<'py>(
    out: &Bound<'py, PyAny>,
    column: &Column,
    shape: &[u64],
) -> PyResult<Bound<'py, PyAny>> {
    let dtype = dtype_of(column);
    let given = match crate::take::take_any(out)? {
        Taken::Gpu(given) => return into_gpu(out, &given, column, shape),
        other => other.into_input()?,
    };
    if given.dtype != dtype {
        let (wanted, given) = (name(dtype), name(given.dtype));
        return Err(PyTypeError::new_err(format!(
            "the results are {wanted}, and out has elements of {given}; give one of {wanted}, or dtype={given:?} where the reduction has it"
        )));
    }
    if given.shape != shape {
        return Err(PyValueError::new_err(format!(
            "the results have the shape {shape:?}, and out {:?}; give one of that shape",
            given.shape
        )));
    }
    write(out, &given, column)?;
    Ok(out.clone())
}

/// Copies results into an array on a GPU, and gives it back.
fn into_gpu<'py>(
    out: &Bound<'py, PyAny>,
    given: &OnGpu,
    column: &Column,
    shape: &[u64],
) -> PyResult<Bound<'py, PyAny>> {
    given.check_results(dtype_of(column), shape)?;
    let made = array(out.py(), Home::Gpu(given.gpu), column, shape)?;
    given.gpu.copy(out, &made)?;
    Ok(out.clone())
}

fn write(out: &Bound<'_, PyAny>, given: &Input, column: &Column) -> PyResult<()> {
    match given.home {
        Home::Torch => return given.fill(crate::number::bytes(column)),
        Home::Jax { .. } => {
            return Err(PyTypeError::new_err("arrays of JAX are never written to; leave out out"));
        }
        Home::Gpu(_) => unreachable!("it lies in the host's memory"),
        Home::NumPy | Home::Python => {}
    }
    if given.contiguous(false).is_none() {
        return Err(PyValueError::new_err(
            "out must be contiguous, in C order; give such an array",
        ));
    }
    if given.dtype == DType::BF16 {
        let bits = out.call_method1("view", (numpy(out.py())?.scalar(out.py(), DType::U16)?,))?;
        return fill(&Buffer::of(&bits, true)?, column);
    }
    fill(&Buffer::of(out, true)?, column)
}

/// Copies results to a contiguous buffer of as many elements of their type.
fn fill(buffer: &Buffer, column: &Column) -> PyResult<()> {
    let bytes = crate::number::bytes(column);
    if buffer.bytes() != bytes.len() {
        return Err(PyValueError::new_err(format!(
            "the results are {} bytes, and there is room for {}",
            bytes.len(),
            buffer.bytes()
        )));
    }
    // SAFETY: the buffer is writable, contiguous as its callers saw to, and as long as what is written; nobody can have freed it, and
    // the results are memory of ours.
    unsafe { buffer.address().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) }
    Ok(())
}

/// Keyword arguments for a class of the package.
pub(crate) fn named<'py>(
    py: Python<'py>,
    class: &str,
    fields: Vec<(&'static str, Bound<'py, PyAny>)>,
) -> PyResult<Bound<'py, PyAny>> {
    let keywords = PyDict::new(py);
    for (name, value) in fields {
        keywords.set_item(name, value)?;
    }
    py.import("warpfold._types")?.getattr(class)?.call((), Some(&keywords))
}
