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
    threads: Option<i64>,
) -> PyResult<Policy> {
    if let Some(threads) = threads.filter(|&threads| threads < 1) {
        return Err(PyValueError::new_err(format!(
            "threads={threads} leaves nobody to do the work; give 1 or more, or None for all cores"
        )));
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
            // Where nothing is left on a device, nothing can be put off.
            if overflow == "defer" { "raise" } else { overflow },
            [("raise", Overflow::Error), ("wrap", Overflow::Wrap)],
        )?,
        threads: threads.map(|threads| usize::try_from(threads).unwrap_or(usize::MAX)),
        isa: None,
    })
}

/// What a variance divides by: `n` less this.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Correction {
    /// A whole number, which the engine's kernels know.
    Whole(u64),
    /// Any other number; results are read from partials.
    Other(f64),
}

impl Correction {
    /// Without one.
    pub(crate) const NONE: Self = Correction::Whole(0);

    /// Whether it leaves nothing of so many elements to divide by.
    pub(crate) fn takes_all(self, n: u64) -> bool {
        match self {
            Correction::Whole(ddof) => ddof >= n,
            // Both are exact below 2^53, and no array of as many elements exists.
            Correction::Other(number) => number >= n as f64,
        }
    }
}

/// The delta degrees of freedom, by the array API's name or by NumPy's.
pub(crate) fn correction(correction: Option<f64>, ddof: Option<f64>) -> PyResult<Correction> {
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
    match is_whole {
        true => Ok(Correction::Whole(given as u64)),
        false if given.is_finite() => Ok(Correction::Other(given)),
        false => Err(PyValueError::new_err(format!(
            "correction={given} leaves no divisor n - correction; give a finite number"
        ))),
    }
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
