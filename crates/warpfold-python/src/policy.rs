//! What a caller chooses, from keywords to the engine's policy.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyTuple};
use warpfold_num::{Accuracy, Nan, Overflow, Policy};

fn choice<T>(keyword: &str, given: &str, choices: [(&str, T); 2]) -> PyResult<T> {
    let [(first, a), (second, b)] = choices;
    if given == first {
        return Ok(a);
    }
    if given == second {
        return Ok(b);
    }
    Err(PyValueError::new_err(format!(
        "{keyword}={given:?} is no choice; give {first:?} or {second:?}"
    )))
}

/// The policy of a call.
pub(crate) fn policy(
    accuracy: &str,
    nan: &str,
    overflow: &str,
    threads: Option<usize>,
) -> PyResult<Policy> {
    if threads == Some(0) {
        return Err(PyValueError::new_err(
            "threads=0 leaves nobody to do the work; give 1 or more, or None for all cores",
        ));
    }
    Ok(Policy {
        accuracy: choice(
            "accuracy",
            accuracy,
            [("exact", Accuracy::Exact), ("fast", Accuracy::Fast)],
        )?,
        nan: choice("nan", nan, [("propagate", Nan::Propagate), ("ignore", Nan::Ignore)])?,
        overflow: choice(
            "overflow",
            overflow,
            [("raise", Overflow::Error), ("wrap", Overflow::Wrap)],
        )?,
        threads,
        isa: None,
    })
}

/// The delta degrees of freedom, by the array API's name or by NumPy's.
pub(crate) fn correction(correction: Option<f64>, ddof: Option<f64>) -> PyResult<u64> {
    let given = match (correction, ddof) {
        (Some(_), Some(_)) => {
            return Err(PyTypeError::new_err(
                "correction and ddof are two names of one choice; give one of them",
            ));
        }
        (given, None) | (None, given) => given.unwrap_or(0.0),
    };
    // Above 2^53 a float is not the number that was written.
    let is_whole = given >= 0.0 && given.fract() == 0.0 && given <= (1u64 << 53) as f64;
    is_whole.then_some(given as u64).ok_or_else(|| {
        PyValueError::new_err(format!(
            "correction={given}: the divisor n - correction must be whole here, and at most n; give a whole number from 0"
        ))
    })
}

/// Which axes are reduced.
pub(crate) enum Axes {
    /// All of them.
    All,
    /// Those named.
    Some(Vec<i64>),
}

/// The axes of a call: `None`, a number, or a tuple of them.
pub(crate) fn axes(axis: Option<&Bound<'_, PyAny>>) -> PyResult<Axes> {
    let Some(axis) = axis else { return Ok(Axes::All) };
    if axis.is_instance_of::<PyInt>() || axis.hasattr("__index__")? {
        return Ok(Axes::Some(vec![axis.extract()?]));
    }
    let axes = axis.cast::<PyTuple>().ok().and_then(|axes| axes.extract().ok());
    axes.map(Axes::Some)
        .ok_or_else(|| PyTypeError::new_err("axis is None, an integer, or a tuple of integers"))
}
