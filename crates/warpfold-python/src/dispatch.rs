//! Who reduces an array: where it lies and what it is decides.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::names::name;
use crate::reduce::{Call, finish, pair};
use crate::take::{Taken, take_any};
use crate::{columns, cuda, factors, followed, mapped};

/// Runs what makes the stream the current one of an array's library.
fn within<'py, R>(
    x: &Bound<'py, PyAny>,
    stream: &Bound<'py, PyAny>,
    run: impl FnOnce() -> PyResult<R>,
) -> PyResult<R> {
    let streams = x.py().import("warpfold._streams")?;
    let current = streams.getattr("within")?.call1((x, stream))?;
    current.call_method0("__enter__")?;
    let ran = run();
    let none = x.py().None();
    current.call_method1("__exit__", (&none, &none, &none))?;
    ran
}

impl<'py> Call<'_, 'py> {
    /// Refuses keywords that no option has, of an array: those of an expression name arrays.
    pub(crate) fn refuse_names(&self) -> PyResult<()> {
        let Some(name) = self.more.names.and_then(|names| names.keys().iter().next()) else {
            return Ok(());
        };
        Err(PyTypeError::new_err(format!(
            "{} got an unexpected keyword argument {name:?}; arrays have names where the first argument is an expression",
            self.op
        )))
    }

    /// Reduces an array.
    pub(crate) fn reduce(&self, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = x.py();
        if let Some(stream) = self.stream {
            return within(x, stream, || Call { stream: None, ..*self }.reduce(x));
        }
        if let Ok(text) = x.cast::<PyString>() {
            return mapped::expression(self, text);
        }
        self.refuse_names()?;
        let taken = take_any(x)?;
        if self.multiplies_floats(&taken)? {
            return mapped::expression(&self.naming(&factors::names(x)?), &factors::as_floats(py));
        }
        let input = match taken {
            Taken::Array(input) => input,
            Taken::Column(column) if self.more.is_any() => column.into_input()?,
            Taken::Column(column) => return columns::reduce(py, self, &column),
            Taken::Gpu(input) if !self.more.is_any() => {
                return cuda::reduce(py, self, &input);
            }
            Taken::Gpu(input) => return cuda::masked::reduce(py, self, &input),
            Taken::Followed(library) => return followed::reduce(py, self, x, library),
        };
        if self.more.is_any() {
            return match self.more.weights {
                Some(weights) => mapped::weighted(py, self, &input, weights),
                None => self.chosen(py, &input),
            };
        }
        self.plain(py, &input)
    }
}

/// The dot product of two arrays.
pub(crate) fn dot<'py>(
    call: &Call<'_, 'py>,
    x: &Bound<'py, PyAny>,
    y: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = x.py();
    if let Some(stream) = call.stream {
        return within(x, stream, || dot(&Call { stream: None, ..*call }, x, y));
    }
    let (x, y) = match (take_any(x)?, take_any(y)?) {
        (Taken::Followed(library), _) | (_, Taken::Followed(library)) => {
            return followed::dot(py, call, x, y, library);
        }
        (Taken::Gpu(a), Taken::Gpu(b)) => return cuda::dot(py, call, &a, &b),
        (a, b) => (a.into_input()?, b.into_input()?),
    };
    if x.dtype != y.dtype {
        return Err(PyTypeError::new_err(format!(
            "dot takes two arrays of one element type, and they are of {} and {}; convert one, as y.astype(x.dtype) does",
            name(x.dtype),
            name(y.dtype)
        )));
    }
    let wanted = call.wanted(x.dtype, x.home)?;
    let partial = pair(py, &x, &y, call.policy)?;
    let output = finish(&partial, call.op, &wanted, !x.is_empty())?;
    call.give(py, x.home, output, &[], &wanted)
}
