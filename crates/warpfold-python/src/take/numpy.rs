//! NumPy's arrays, and what of NumPy results are made with; it is imported no sooner than needed.

use std::ffi::c_void;

use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use warpfold_num::{DType, Value};

use crate::number;

use super::{Buffer, Home, Input, imported, of_buffer};

/// What is used of NumPy.
pub(crate) struct NumPy {
    ndarray: Py<PyType>,
    generic: Py<PyType>,
    /// `numpy.empty`.
    pub(crate) empty: Py<PyAny>,
    /// `PyArray_Scalar` of NumPy's C interface, which makes a scalar in a fifth of the time that its type takes.
    make: Option<Make>,
    /// The element types of arrays, in the order of [`DType::ALL`]; none for bfloat16.
    descriptors: Vec<Option<Py<PyAny>>>,
    /// The scalar types, in the order of [`DType::ALL`]; none for bfloat16.
    scalars: Vec<Option<Py<PyAny>>>,
}

static NUMPY: PyOnceLock<NumPy> = PyOnceLock::new();

/// From the address of a value, its element type and no base to a scalar.
type Make =
    unsafe extern "C" fn(*mut c_void, *mut ffi::PyObject, *mut ffi::PyObject) -> *mut ffi::PyObject;

/// Where the function stands in the table of NumPy's C interface, which only ever grows at its end.
const SCALAR: usize = 60;

/// NumPy's C interface, if it is where it has been.
fn make(py: Python<'_>) -> Option<Make> {
    let core = py.import("numpy._core._multiarray_umath");
    let core = core.or_else(|_| py.import("numpy.core._multiarray_umath")).ok()?;
    let capsule = core.getattr("_ARRAY_API").ok()?;
    // SAFETY: the object is alive; whatever it is, this looks whether it is a capsule without a name.
    let table = unsafe { ffi::PyCapsule_GetPointer(capsule.as_ptr(), std::ptr::null()) };
    if table.is_null() {
        drop(PyErr::take(py));
        return None;
    }
    // SAFETY: the capsule of that name in NumPy holds the table of its C interface, which lives as long as the program, and whose entry
    // of that index has been this function since NumPy 1.0.
    unsafe {
        let entry = *table.cast::<*const c_void>().add(SCALAR);
        (!entry.is_null()).then(|| std::mem::transmute::<*const c_void, Make>(entry))
    }
}

impl NumPy {
    fn import(py: Python<'_>) -> PyResult<NumPy> {
        let numpy = py.import("numpy")?;
        let scalars = DType::ALL.iter().map(|&dtype| match dtype {
            DType::BF16 => Ok(None),
            DType::Bool => Ok(Some(numpy.getattr("bool_")?.unbind())),
            dtype => Ok(Some(numpy.getattr(crate::names::name(dtype))?.unbind())),
        });
        let scalars: Vec<Option<Py<PyAny>>> = scalars.collect::<PyResult<_>>()?;
        let of = numpy.getattr("dtype")?;
        let descriptors = scalars.iter().map(|scalar| match scalar {
            Some(scalar) => Ok(Some(of.call1((scalar,))?.unbind())),
            None => Ok(None),
        });
        Ok(NumPy {
            make: make(py),
            descriptors: descriptors.collect::<PyResult<_>>()?,
            ndarray: numpy.getattr("ndarray")?.cast_into::<PyType>()?.unbind(),
            generic: numpy.getattr("generic")?.cast_into::<PyType>()?.unbind(),
            empty: numpy.getattr("empty")?.unbind(),
            scalars,
        })
    }

    /// A result as a scalar.
    pub(crate) fn value<'py>(&self, py: Python<'py>, value: Value) -> PyResult<Bound<'py, PyAny>> {
        let dtype = value.dtype();
        let dtype = dtype.unwrap_or_else(|| unreachable!("no result of this front is {value:?}"));
        let (Some(make), Some(descriptor)) = (self.make, &self.descriptors[dtype as usize]) else {
            return self.scalar(py, dtype)?.call1((number::number(py, value)?,));
        };
        let with = |address: *const c_void| {
            // SAFETY: the address is that of a value of the descriptor's type, which is copied; the result is a new reference, or none with
            // an exception.
            unsafe {
                let none = std::ptr::null_mut();
                Bound::from_owned_ptr_or_err(
                    py,
                    make(address.cast_mut(), descriptor.as_ptr(), none),
                )
            }
        };
        macro_rules! scalar {
            ($($variant:ident),+) => {
                match value {
                    $(Value::$variant(value) => with((&raw const value).cast()),)+
                    other => unreachable!("{other:?} is of no element type"),
                }
            };
        }
        scalar!(Bool, I8, I16, I32, I64, U8, U16, U32, U64, F16, F32, F64, Complex64, Complex128)
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
    // Whoever has one has imported its module.
    let Some(module) = imported(x.py(), "numpy.ma", "MaskedArray") else { return Ok(()) };
    let masked = module.getattr("MaskedArray")?;
    if x.is_instance(&masked)? {
        return Err(PyTypeError::new_err(
            "masked arrays are not taken, as their memory does not show what is masked; give x.compressed(), or x.filled(value)",
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
        "U" | "S" | "T" => {
            "these are strings; convert numbers with x.astype(float), and keys to integers with numpy.unique(x, return_inverse=True)[1]"
        }
        _ => "convert them with x.astype(numpy.float32)",
    };
    let refused =
        PyTypeError::new_err(format!("elements of {name} have no reduction here: {remedy}"));
    refused.set_cause(py, Some(error));
    Err(refused)
}
