//! `where=` and `weights=` of an array on a GPU: expressions of it, of which kernels are made.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};
use warpfold_engine::Columns;
use warpfold_engine::map::Expressions;
use warpfold_num::{Accuracy, DType, Op, Policy};

use super::{check_bools, mapped};
use crate::convert::Wanted;
use crate::errors::raised;
use crate::kept::Kept;
use crate::masked::mask_of;
use crate::names::name;
use crate::reduce::{Call, More, finish};
use crate::take::{OnGpu, Taken, take_any};
use crate::weights::{exactly, is_weighted, no_weights};

/// What is done with an array that a caller chose a mask or an initial element for, or weights.
pub(crate) fn reduce<'py>(
    py: Python<'py>,
    call: &Call<'_, 'py>,
    x: &OnGpu,
) -> PyResult<Bound<'py, PyAny>> {
    let mask = mask(call.more.r#where)?;
    if let Some(initial) = call.more.initial {
        return match mask {
            None if call.more.weights.is_none() => with_initial(py, call, x, initial),
            _ => Err(PyTypeError::new_err(
                "of an array on a GPU, initial does not go with where or weights; add it to the result of an Exact, or copy the arrays to the host, as x.cpu() or x.get() does",
            )),
        };
    }
    let Some(weights) = call.more.weights else {
        return match &mask {
            None => super::reduce(py, &Call { more: More::default(), ..*call }, x),
            Some(mask) => {
                let (expressions, dtype) = kept(py, call, x)?;
                let inputs = [("x", x), ("where", mask)];
                mapped::reduce(py, call, &expressions, &inputs, Some(dtype))
            }
        };
    };
    if !is_weighted(call.op) {
        return Err(no_weights(call.op));
    }
    let weights = match take_any(weights) {
        Ok(Taken::Gpu(weights)) if !call.more.weights.is_some_and(is_text) => weights,
        _ => {
            return Err(PyTypeError::new_err(
                "the array lies on a GPU, and weights is no array there; give one, or copy the array to the host, as x.cpu() or x.get() does",
            ));
        }
    };
    let (x_type, w_type) = (x.input.dtype, weights.input.dtype);
    let Some((value, weight)) = exactly(x_type, w_type) else {
        return Err(PyTypeError::new_err(format!(
            "weights of {} are not all exact as {}; convert the weights or the array, as in x.double() or x.astype('float64')",
            name(w_type),
            name(x_type)
        )));
    };
    check_bools(py, call, x)?;
    check_bools(py, call, &weights)?;
    let weight = weight.replace('w', "\"weights\"");
    let mut expressions = Expressions::value(value).and_then(|all| all.weights(&weight));
    let mut inputs = vec![("x", x), ("weights", &weights)];
    if let Some(mask) = &mask {
        expressions = expressions.and_then(|all| all.keep("\"where\""));
        inputs.push(("where", mask));
    }
    let expressions = expressions.map_err(|error| raised(&error))?;
    let dtype = if x_type == DType::Bool { w_type } else { x_type };
    mapped::reduce(py, call, &expressions, &inputs, Some(dtype))
}

/// The result of all elements and of one more, merged before it is rounded.
fn with_initial<'py>(
    py: Python<'py>,
    call: &Call<'_, 'py>,
    x: &OnGpu,
    initial: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let kept = Kept::new(call, &x.input.shape)?;
    if !kept.is_whole {
        return Err(PyTypeError::new_err(
            "over axes of an array on a GPU there is no initial, as only results are left there; concatenate it along the axes, or copy the array to the host, as x.cpu() or x.get() does",
        ));
    }
    let wanted = call.wanted(x.input.dtype, x.input.home)?;
    // A fast sum on a GPU is rounded on the way, and nothing can be merged with it.
    let policy = Policy { accuracy: Accuracy::Exact, ..call.policy };
    let mut all = crate::initial::initial(call.op, x.input.dtype, policy, initial)?;
    all.merge(&super::partial(py, x, call.op, policy)?);
    let output = finish(&all, call.op, &wanted, !x.input.is_empty())?;
    call.give(py, x.input.home, output, &kept.shape, &wanted)
}

fn is_text(given: &Bound<'_, PyAny>) -> bool {
    given.is_instance_of::<PyString>()
}

/// A mask on a GPU; `None` where all elements count.
pub(crate) fn mask(given: Option<&Bound<'_, PyAny>>) -> PyResult<Option<OnGpu>> {
    let Some(given) = given else { return Ok(None) };
    // Of all elements there is nothing to ask.
    if given.cast::<PyBool>().is_ok_and(|truth| truth.is_true()) {
        return Ok(None);
    }
    match mask_of(take_any(given)?)? {
        Taken::Gpu(mask) => Ok(Some(mask)),
        _ => Err(PyTypeError::new_err(
            "the array lies on a GPU and where does not; give an array of bools there, as where.cuda(), or copy the array to the host, as x.cpu() or x.get() does",
        )),
    }
}

/// The elements `x` that `where` keeps, and their type as the caller sees it.
pub(crate) fn kept(
    py: Python<'_>,
    call: &Call<'_, '_>,
    x: &OnGpu,
) -> PyResult<(Expressions, DType)> {
    let expressions = expressions(call.op, x.input.dtype)?;
    check_bools(py, call, x)?;
    Ok((expressions, x.input.dtype))
}

fn expressions(op: Op, dtype: DType) -> PyResult<Expressions> {
    let is_wide = matches!(dtype, DType::F32 | DType::F64 | DType::I64);
    if dtype.is_complex() || op == Op::Stats && !is_wide {
        return Err(PyTypeError::new_err(format!(
            "there is no kernel for {op} of {} beside where; copy the array and where to the host, as x.cpu() or x.get() does",
            name(dtype)
        )));
    }
    let is_counted = matches!(op, Op::Any | Op::All | Op::Count);
    let value = if dtype == DType::Bool && !is_counted { "u64(x)" } else { "x" };
    let expressions = Expressions::value(value).and_then(|all| all.keep("\"where\""));
    expressions.map_err(|error| raised(&error))
}

/// The results over axes, or of all of them, of an array and its mask, which wait for them on the host; without the interpreter.
pub(crate) fn results(
    call: &Call<'_, '_>,
    [x, mask]: [&OnGpu; 2],
    kept: &Kept,
    wanted: &Wanted,
) -> PyResult<Columns> {
    if wanted.is_corrected() && !kept.is_whole {
        return Err(PyTypeError::new_err(
            "a correction that is no whole number is for whole arrays on a GPU; give a whole number",
        ));
    }
    let expressions = expressions(call.op, x.input.dtype)?;
    let inputs = [("x", x), ("where", mask)];
    let arrays = mapped::Arrays::of(call, &expressions, &inputs)?;
    arrays.reduced(call.op, &x.input.shape, kept, wanted).map_err(|error| raised(&error))
}
