//! Results as the caller's library has them.

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use warpfold_num::{Column, DType, Value};

use crate::destination::Destination;
use crate::names::name;
use crate::take::{Home, Input, Taken, jax, numpy, take, torch};

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
        Home::Gpu(gpu) => return gpu.give(py, &array(py, gpu.host(), column, shape)?, false),
        Home::Jax { is_narrow } => {
            check_width(column, is_narrow)?;
            return jax::array(&array(py, Home::NumPy, column, shape)?);
        }
        Home::Torch | Home::NumPy | Home::Python => {}
    }
    let made = empty(py, home, dtype, shape)?;
    Destination::of(&made, taken(&made, home)?)?.fill(column)?;
    Ok(made)
}

/// An array for results of a type, in C order, that nobody has written to: of NumPy, or of torch on the host.
fn empty<'py>(
    py: Python<'py>,
    home: Home,
    dtype: DType,
    shape: &[u64],
) -> PyResult<Bound<'py, PyAny>> {
    if home == Home::Torch {
        return torch::empty(py, dtype, shape);
    }
    let numpy = numpy(py)?;
    // NumPy makes no bfloat16 by itself.
    let written = if dtype == DType::BF16 { DType::U16 } else { dtype };
    let shape = PyTuple::new(py, shape)?;
    let array = numpy.empty.bind(py).call1((shape, numpy.scalar(py, written)?))?;
    match dtype {
        DType::BF16 => array.call_method1("view", (numpy.scalar(py, dtype)?,)),
        _ => Ok(array),
    }
}

/// An array that was made for results, as it lies.
fn taken(made: &Bound<'_, PyAny>, home: Home) -> PyResult<Input> {
    if home == Home::Torch { torch::made(made) } else { take(made) }
}

/// Bytes of results from which on it matters that they are written once, to where they stay.
const LARGE: u64 = 64 << 10;

/// An array of the caller's library that results of a type are to be written to as they are found, if there will be many: the caller's own, or a new one. `None`
/// where they are given when they are there.
pub(crate) fn beforehand<'py>(
    py: Python<'py>,
    home: Home,
    out: Option<&Bound<'py, PyAny>>,
    dtype: DType,
    shape: &[u64],
) -> PyResult<Option<(Bound<'py, PyAny>, Destination)>> {
    let elements = shape.iter().fold(1u64, |n, &length| n.saturating_mul(length));
    let is_small = elements.saturating_mul(dtype.size() as u64) < LARGE;
    if is_small || !matches!(home, Home::NumPy | Home::Python | Home::Torch) {
        return Ok(None);
    }
    let (array, given) = match out {
        // Where there is no memory for so many, the engine says so.
        None => match empty(py, home, dtype, shape) {
            Ok(array) => (array.clone(), taken(&array, home)?),
            Err(_) => return Ok(None),
        },
        Some(out) => match checked(out, dtype, shape)? {
            Some(given) => (out.clone(), given),
            None => return Ok(None),
        },
    };
    let destination = Destination::of(&array, given)?;
    Ok(Some((array, destination)))
}

/// Writes results into an array of the caller's, and gives it back.
pub(crate) fn into<'py>(
    out: &Bound<'py, PyAny>,
    column: &Column,
    shape: &[u64],
) -> PyResult<Bound<'py, PyAny>> {
    let dtype = dtype_of(column);
    match checked(out, dtype, shape)? {
        Some(given) => Destination::of(out, given)?.fill(column)?,
        None => into_gpu(out, column, shape)?,
    }
    Ok(out.clone())
}

/// An array of the caller's in the host's memory that is for results of a type and shape, or why it is not; `None` of one on a GPU.
fn checked(out: &Bound<'_, PyAny>, dtype: DType, shape: &[u64]) -> PyResult<Option<Input>> {
    let given = match crate::take::take_any(out)? {
        Taken::Gpu(_) => return Ok(None),
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
    Ok(Some(given))
}

/// Copies results into an array on a GPU.
fn into_gpu(out: &Bound<'_, PyAny>, column: &Column, shape: &[u64]) -> PyResult<()> {
    let Taken::Gpu(given) = crate::take::take_any(out)? else {
        unreachable!("the array is on a GPU")
    };
    given.check_results(dtype_of(column), shape)?;
    let made = array(out.py(), Home::Gpu(given.gpu), column, shape)?;
    given.gpu.copy(out, &made)
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
