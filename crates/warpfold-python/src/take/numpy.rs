//! NumPy's arrays, and what of NumPy results are made with; it is imported no sooner than needed.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use warpfold_num::DType;

use super::{Buffer, Home, Input, imported, of_buffer};

/// What is used of NumPy.
pub(crate) struct NumPy {
    ndarray: Py<PyType>,
    generic: Py<PyType>,
    /// `numpy.empty`.
    pub(crate) empty: Py<PyAny>,
    /// The scalar types, in the order of [`DType::ALL`]; none for bfloat16.
    scalars: Vec<Option<Py<PyAny>>>,
}

static NUMPY: PyOnceLock<NumPy> = PyOnceLock::new();

impl NumPy {
    fn import(py: Python<'_>) -> PyResult<NumPy> {
        let numpy = py.import("numpy")?;
        let scalars = DType::ALL.iter().map(|&dtype| match dtype {
            DType::BF16 => Ok(None),
            DType::Bool => Ok(Some(numpy.getattr("bool_")?.unbind())),
            dtype => Ok(Some(numpy.getattr(crate::names::name(dtype))?.unbind())),
        });
        Ok(NumPy {
            ndarray: numpy.getattr("ndarray")?.cast_into::<PyType>()?.unbind(),
            generic: numpy.getattr("generic")?.cast_into::<PyType>()?.unbind(),
            empty: numpy.getattr("empty")?.unbind(),
            scalars: scalars.collect::<PyResult<_>>()?,
        })
    }

    /// The scalar type of an element type.
    pub(crate) fn scalar<'py>(&self, py: Python<'py>, dtype: DType) -> PyResult<Bound<'py, PyAny>> {
        match &self.scalars[dtype as usize] {
            Some(scalar) => Ok(scalar.bind(py).clone()),
            None => py.import("ml_dtypes")?.getattr("bfloat16"),
        }
    }
}

/// NumPy, imported.
pub(crate) fn numpy(py: Python<'_>) -> PyResult<&'static NumPy> {
    NUMPY.get_or_try_init(py, || NumPy::import(py))
}

/// NumPy, if the program has imported it: else no object is NumPy's.
fn loaded(py: Python<'_>) -> Option<&'static NumPy> {
    if let Some(numpy) = NUMPY.get(py) {
        return Some(numpy);
    }
    // It may be half imported, by whoever imports it now.
    imported(py, "numpy", "complex128")?;
    self::numpy(py).ok()
}

/// Whether an object is an array or a scalar of NumPy.
pub(super) fn is_ndarray(x: &Bound<'_, PyAny>) -> bool {
    let py = x.py();
    let Some(numpy) = loaded(py) else { return false };
    x.get_type().is(&numpy.ndarray)
        || x.is_instance(numpy.ndarray.bind(py)).unwrap_or(false)
        || x.is_instance(numpy.generic.bind(py)).unwrap_or(false)
}

/// An array or a scalar of NumPy.
pub(super) fn take(x: &Bound<'_, PyAny>) -> PyResult<Input> {
    if !x.get_type().is(&numpy(x.py())?.ndarray) {
        refuse_masked(x)?;
    }
    match Buffer::of(x, false) {
        Ok(buffer) => of_buffer(buffer, None, Home::NumPy),
        Err(error) => without_format(x, error),
    }
}

/// Masked arrays export their data without the mask.
fn refuse_masked(x: &Bound<'_, PyAny>) -> PyResult<()> {
    let Ok(masked) = x.py().import("numpy.ma").and_then(|ma| ma.getattr("MaskedArray")) else {
        return Ok(());
    };
    if x.is_instance(&masked)? {
        return Err(PyTypeError::new_err(
            "masked arrays are not taken, as their memory does not tell what is masked; give x.compressed(), or x.filled(value)",
        ));
    }
    Ok(())
}

/// Elements that the buffer protocol has no name for: bfloat16 is read, others are refused.
fn without_format(x: &Bound<'_, PyAny>, error: PyErr) -> PyResult<Input> {
    let py = x.py();
    let dtype = x.getattr("dtype")?;
    let name: String = dtype.getattr("name")?.extract()?;
    if name == "bfloat16" {
        let bits = x.call_method1("view", (numpy(py)?.scalar(py, DType::U16)?,))?;
        let buffer = Buffer::of(&bits, false)?;
        // The view of a swapped array is swapped as well, and says so.
        buffer.dtype()?;
        return of_buffer(buffer, Some(DType::BF16), Home::NumPy);
    }
    let remedy = match dtype.getattr("kind")?.extract::<String>()?.as_str() {
        "M" | "m" => "view them as integers with x.view(numpy.int64); NaT is the least of those",
        "U" | "S" | "T" => "these are strings; convert them with x.astype(float)",
        _ => "convert them with x.astype(numpy.float32)",
    };
    let refused =
        PyTypeError::new_err(format!("elements of {name} have no reduction here: {remedy}"));
    refused.set_cause(py, Some(error));
    Err(refused)
}
