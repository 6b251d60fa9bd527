//! pandas' columns: those with a NumPy type are NumPy's arrays, others are Arrow's.

use pyo3::intern;
use pyo3::prelude::*;

use super::imported;

/// The array of NumPy that a column of pandas is made of; `None` if it is none.
pub(super) fn array<'py>(x: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let py = x.py();
    let pandas = imported(py, "pandas", "Series")?;
    let is_column = ["Series", "Index"].into_iter().any(|class| {
        pandas.getattr(class).is_ok_and(|class| x.is_instance(&class).unwrap_or(false))
    });
    if !is_column {
        return None;
    }
    let dtype = x.getattr(intern!(py, "dtype")).ok()?;
    let numpy = imported(py, "numpy", "complex128")?.getattr("dtype").ok()?;
    if !dtype.is_instance(&numpy).ok()? {
        return None;
    }
    x.call_method0(intern!(py, "to_numpy")).ok()
}
