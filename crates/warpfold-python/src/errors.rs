//! The engine's errors as Python's.

use pyo3::PyErr;
use pyo3::exceptions::{PyIndexError, PyMemoryError, PyOverflowError, PyTypeError, PyValueError};
use warpfold_num::{Error, Op};

use crate::names::name;

/// The exception for an error.
pub(crate) fn raised(error: &Error) -> PyErr {
    let text = message(error);
    match cause(error) {
        Error::Overflow { .. } => PyOverflowError::new_err(text),
        Error::Undefined { .. } => PyTypeError::new_err(text),
        Error::Shape { obstacle, .. } if obstacle.contains("memory") => {
            PyMemoryError::new_err(text)
        }
        Error::Keys { obstacle, .. } if obstacle.starts_with("key ") => PyIndexError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}

/// What went wrong, in whichever output.
pub(crate) fn cause(error: &Error) -> &Error {
    match error {
        Error::Output { error, .. } => cause(error),
        other => other,
    }
}

/// The message, with what to do in Python's words.
fn message(error: &Error) -> String {
    match error {
        Error::Output { output, error } => format!("{output}: {}", message(error)),
        Error::Overflow { op, dtype, result, value, .. } => {
            let result = result.replace('i', "int").replace('u', "uint");
            let holds = match op {
                Op::Prod => "dtype='float64' multiplies floats",
                _ => "dtype='float64' rounds it",
            };
            format!(
                "{op} of {} is {value}, which {result} cannot hold; {holds}, overflow='wrap' keeps the low 64 bits",
                name(*dtype)
            )
        }
        Error::Undefined { op, dtype, why } => {
            format!("{op} is not defined for {}: {why}", name(*dtype))
        }
        Error::Unsupported { option, op, dtype, why } => {
            format!("{option} does not apply to {op} of {}: {why}", name(*dtype))
        }
        Error::Shape { requested, obstacle, remedy } => {
            format!("{requested}: {obstacle}; {remedy}")
        }
        Error::TooFew { op, n, ddof } => format!(
            "{op} with correction={ddof} needs more than {ddof} elements, and there are {n}; lower the correction or give more data"
        ),
        other => other.to_string(),
    }
}
