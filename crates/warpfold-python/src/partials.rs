//! Many partials at once, for engines that reduce chunk by chunk: over axes, by groups, and their results.

use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use warpfold_engine::{self as engine, Parts, Request};
use warpfold_exact::AnyPartial;
use warpfold_exact::partial::Output;
use warpfold_num::{Column, Error, Op};
use warpfold_plan::shape::Folding;

use crate::convert::Wanted;
use crate::errors::{cause, raised};
use crate::exact::Exact;
use crate::give;
use crate::keys::dense;
use crate::names;
use crate::policy::{Axes, axes, correction as ddof_of, policy};
use crate::reduce::{check_bools, partial};
use crate::run::run;
use crate::take::{Home, Input, one_axis, take};

/// A list of one for each output.
fn listed<'py>(py: Python<'py>, empty: &Exact, partials: Vec<AnyPartial>) -> Given<'py> {
    let partials: Vec<_> = partials.into_iter().map(|partial| empty.holding(partial)).collect();
    Ok(PyList::new(py, partials)?.into_any())
}

type Given<'py> = PyResult<Bound<'py, PyAny>>;

fn empty_of(py: Python<'_>, input: &Input, op: &str, nan: &str) -> PyResult<Exact> {
    let empty = Exact::of_name(input.dtype, op, nan)?;
    if empty.reduction() == Op::Dot {
        return Err(PyTypeError::new_err(
            "dot takes two arrays; give both to the method add of an Exact",
        ));
    }
    check_bools(py, empty.reduction(), input, policy("exact", nan, "raise", None)?)?;
    Ok(empty)
}

/// The partials of an array over some axes, in C order of the outputs, and the outputs' shape.
#[pyfunction]
#[pyo3(signature = (x, axis, op, nan, threads))]
pub(crate) fn _partials<'py>(
    x: &Bound<'py, PyAny>,
    axis: Option<&Bound<'py, PyAny>>,
    op: &str,
    nan: &str,
    threads: Option<i64>,
) -> Given<'py> {
    let py = x.py();
    let policy = policy("exact", nan, "raise", threads)?;
    let input = take(x)?;
    let empty = empty_of(py, &input, op, nan)?;
    let (partials, shape) = match axes(axis)? {
        Axes::All => (vec![partial(py, &input, empty.reduction(), policy)?], Vec::new()),
        Axes::Some(axes) => {
            let (memory, layout) = input.layout()?;
            let folding = Folding::of(layout, &axes).map_err(|error| raised(&error))?;
            let form = folding.form().map_err(|error| raised(&error))?;
            let shape = folding.shape();
            let parts = Arc::new(Parts::Axes(form, folding));
            let request = Request::new(empty.reduction(), memory).policy(policy).parts(parts);
            let partials = run(py, input.bytes(), || engine::partials(&request));
            (partials.map_err(|error| raised(&error))?, shape)
        }
    };
    let shape = PyTuple::new(py, shape)?;
    Ok((listed(py, &empty, partials)?, shape).into_pyobject(py)?.into_any())
}

/// The partials of groups whose keys are their numbers.
#[pyfunction]
#[pyo3(signature = (keys, x, groups, op, nan, threads))]
pub(crate) fn _group_partials<'py>(
    keys: &Bound<'py, PyAny>,
    x: &Bound<'py, PyAny>,
    groups: u64,
    op: &str,
    nan: &str,
    threads: Option<i64>,
) -> Given<'py> {
    let py = x.py();
    let policy = policy("exact", nan, "raise", threads)?;
    let (taken, input) = (take(keys)?, take(x)?);
    if taken.dtype.is_float() {
        return Err(PyTypeError::new_err(
            "keys are the numbers of groups, and these are floats; number them with numpy.unique(keys, return_inverse=True)",
        ));
    }
    let empty = empty_of(py, &input, op, nan)?;
    let (keys, x) = (one_axis("keys", &taken)?, one_axis("values in groups", &input)?);
    let parts = run(py, taken.bytes(), || dense(keys, groups, x.len(), policy));
    let parts = Arc::new(parts.map_err(|error| raised(&error))?);
    let request = Request::new(empty.reduction(), x).policy(policy).parts(parts);
    let partials = run(py, input.bytes(), || engine::partials(&request));
    listed(py, &empty, partials.map_err(|error| raised(&error))?)
}

/// The results of partials of one reduction, rounded once each, as one array of NumPy, or two for minmax.
/// One without a value is NaN where the type has one.
#[pyfunction]
#[pyo3(signature = (partials, dtype, correction, overflow))]
pub(crate) fn _rounded<'py>(
    py: Python<'py>,
    partials: Vec<PyRef<'py, Exact>>,
    dtype: Option<&Bound<'py, PyAny>>,
    correction: Option<f64>,
    overflow: &str,
) -> Given<'py> {
    let Some(first) = partials.first() else {
        return Err(PyValueError::new_err("there are no partials to round; give one at least"));
    };
    let op = first.reduction();
    let to = dtype.map(names::dtype).transpose()?;
    let wanted = first.wanted(ddof_of(correction, None)?, to, Home::NumPy, overflow)?;
    let (mut lows, mut highs) = (Vec::new(), Vec::new());
    for (k, partial) in partials.iter().enumerate() {
        first.check_alike(partial)?;
        let output = match (wanted.read(partial.partial(), op), wanted.nan()) {
            (Err(error), Some(nan)) if is_missing(&error) && op != Op::MinMax => Output::One(nan),
            (Err(error), Some(nan)) if is_missing(&error) => Output::Pair(nan, nan),
            (Err(error), None) if is_missing(&error) => {
                return Err(PyValueError::new_err(format!(
                    "output {k}: {op} of nothing has no value; leave out what is empty"
                )));
            }
            (output, _) => output.map_err(|error| raised(&error))?,
        };
        match output {
            Output::One(value) => lows.push(value),
            Output::Pair(low, high) => {
                lows.push(low);
                highs.push(high);
            }
            Output::Summary(_) => {
                return Err(PyTypeError::new_err("stats are rounded one by one; call round"));
            }
        }
    }
    let shape = [lows.len() as u64];
    let give = |values| give(py, &wanted, values, &shape);
    match op {
        Op::MinMax => Ok((give(lows)?, give(highs)?).into_pyobject(py)?.into_any()),
        _ => give(lows),
    }
}

fn give<'py>(
    py: Python<'py>,
    wanted: &Wanted,
    values: Vec<warpfold_num::Value>,
    shape: &[u64],
) -> Given<'py> {
    give::array(py, Home::NumPy, &wanted.convert(Column::of_values(values))?, shape)
}

fn is_missing(error: &Error) -> bool {
    matches!(cause(error), Error::Empty { .. } | Error::TooFew { .. })
}
