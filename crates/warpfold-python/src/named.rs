//! [`Named`]: an expression and the arrays that its names stand for.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};
use warpfold_engine::map::Expressions;
use warpfold_num::Error;

use crate::errors::raised;
use crate::masked::{mask, mask_of};
use crate::reduce::More;
use crate::take::{Input, OnGpu, Taken, take_any};

/// The names that arrays of an expression cannot have, as they are options.
const OPTIONS: [&str; 14] = [
    "axis",
    "dtype",
    "out",
    "keepdims",
    "correction",
    "ddof",
    "initial",
    "where",
    "weights",
    "accuracy",
    "nan",
    "overflow",
    "threads",
    "stream",
];

/// Whether a name is an option's; arrays that are bound to one are that option's value.
pub(crate) fn is_option(name: &str) -> bool {
    OPTIONS.contains(&name)
}

/// An expression, and those that are the values of options, bound to arrays.
pub(crate) struct Named {
    pub(crate) expressions: Expressions,
    /// In the order in which the expressions name them; the array that `where` or `weights` is has the option's name.
    arrays: Vec<(String, Taken)>,
}

impl Named {
    /// Of a function's expression and the arrays that its caller names.
    pub(crate) fn of(
        function: &str,
        text: &Bound<'_, PyString>,
        more: &More<'_, '_>,
    ) -> PyResult<Self> {
        let mut expressions =
            Expressions::value(&text.to_string()).map_err(|error| raised(&error))?;
        let mut own: Vec<(String, Taken)> = Vec::new();
        if let Some(keep) = more.r#where {
            if let Ok(text) = keep.cast::<PyString>() {
                let text = text.to_string();
                expressions = expressions.keep(&text).map_err(|error| option("where", error))?;
            } else if let Some(mask) = taken_mask(keep)? {
                expressions = expressions.keep("\"where\"").map_err(|error| raised(&error))?;
                own.push(("where".into(), mask));
            }
        }
        if let Some(weights) = more.weights {
            let text = match weights.cast::<PyString>() {
                Ok(text) => text.to_string(),
                Err(_) => {
                    own.push(("weights".into(), take_any(weights)?));
                    "\"weights\"".into()
                }
            };
            expressions = expressions.weights(&text).map_err(|error| option("weights", error))?;
        }
        let mut arrays = Vec::new();
        for name in expressions.names() {
            let array = match own.iter().position(|(own, _)| own == name) {
                Some(own_at) => own.swap_remove(own_at).1,
                None => array(function, more.names, name)?,
            };
            arrays.push((name.to_owned(), array));
        }
        if arrays.is_empty() {
            return Err(PyValueError::new_err(
                "the expression names no array, so nobody knows how many elements there are; name one, as in wf.sum('x * 2', x=x)",
            ));
        }
        for given in more.names.into_iter().flat_map(|bound| bound.keys()) {
            let given = given.to_string();
            if !arrays.iter().any(|(name, _)| *name == given) {
                return Err(PyTypeError::new_err(format!(
                    "{given} is neither an option of {function} nor named by the expression; use it or leave it out"
                )));
            }
        }
        Ok(Named { expressions, arrays })
    }

    /// Whether an array lies on a GPU.
    pub(crate) fn is_on_gpu(&self) -> bool {
        self.arrays.iter().any(|(_, array)| matches!(array, Taken::Gpu(_)))
    }

    /// The arrays, all of which are to lie on a GPU.
    pub(crate) fn on_gpu(&self) -> PyResult<Vec<(&str, &OnGpu)>> {
        let array = |(name, array): &'_ (String, Taken)| match array {
            Taken::Gpu(_) => Ok(()),
            _ => Err(PyTypeError::new_err(format!(
                "{name} lies in the host's memory, and others of the expression on a GPU; copy it there, or the others to the host, as x.cpu() or x.get() does"
            ))),
        };
        self.arrays.iter().try_for_each(array)?;
        let arrays = self.arrays.iter().filter_map(|(name, array)| match array {
            Taken::Gpu(array) => Some((name.as_str(), array)),
            _ => None,
        });
        Ok(arrays.collect())
    }

    /// The expressions and the arrays, all of which are to lie in the host's memory.
    pub(crate) fn on_host(self) -> PyResult<(Expressions, Vec<(String, Input)>)> {
        let inputs = self.arrays.into_iter().map(|(name, array)| Ok((name, array.into_input()?)));
        Ok((self.expressions, inputs.collect::<PyResult<_>>()?))
    }
}

/// The error of an expression that is the value of an option.
fn option(option: &str, error: Error) -> PyErr {
    raised(&match error {
        Error::Map { requested, obstacle, remedy } => {
            Error::Map { requested: requested.replacen("map", option, 1), obstacle, remedy }
        }
        other => other,
    })
}

/// A mask, which may lie on a GPU; `None` where all elements count.
fn taken_mask(given: &Bound<'_, PyAny>) -> PyResult<Option<Taken>> {
    if given.is_instance_of::<PyBool>() {
        return Ok(mask(Some(given))?.map(Taken::Array));
    }
    mask_of(take_any(given)?).map(Some)
}

/// The array that a name of an expression stands for.
fn array(function: &str, bound: Option<&Bound<'_, PyDict>>, name: &str) -> PyResult<Taken> {
    if is_option(name) {
        return Err(PyValueError::new_err(format!(
            "the expression names `{name}`, which is an option of {function}; call the array something else"
        )));
    }
    match bound.map(|bound| bound.get_item(name)).transpose()?.flatten() {
        Some(array) => take_any(&array),
        None => Err(PyTypeError::new_err(format!(
            "the expression names `{name}`, and no array is bound to it; give {name}=array"
        ))),
    }
}
