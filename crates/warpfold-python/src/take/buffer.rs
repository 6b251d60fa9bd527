//! Python's buffer protocol: NumPy, `array`, `memoryview`, `bytes` and whatever else exports one.

use std::ffi::CStr;
use std::slice;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::{PyErr, ffi};
use warpfold_num::DType;

/// A buffer that is held: its exporter neither moves nor frees it until this is dropped.
pub(crate) struct Buffer(Box<ffi::Py_buffer>);

impl Buffer {
    /// The buffer of an object, with its shape, strides and format.
    pub(crate) fn of(x: &Bound<'_, PyAny>, writable: bool) -> PyResult<Self> {
        let mut view = Box::new(ffi::Py_buffer::new());
        let flags = if writable { ffi::PyBUF_RECORDS } else { ffi::PyBUF_RECORDS_RO };
        // SAFETY: the object is alive and attached, and the view has an address of its own, which `PyBuffer_FillInfo` lets its fields point to.
        if unsafe { ffi::PyObject_GetBuffer(x.as_ptr(), &mut *view, flags) } != 0 {
            return Err(PyErr::fetch(x.py()));
        }
        Ok(Buffer(view))
    }

    /// Where the element with all indices 0 lies.
    pub(crate) fn address(&self) -> *mut u8 {
        self.0.buf.cast()
    }

    /// The lengths of the axes.
    pub(crate) fn shape(&self) -> &[isize] {
        self.axes(self.0.shape)
    }

    /// Bytes from one element of each axis to the next.
    pub(crate) fn strides(&self) -> &[isize] {
        self.axes(self.0.strides)
    }

    fn axes(&self, numbers: *const isize) -> &[isize] {
        if self.0.ndim == 0 || numbers.is_null() {
            return &[];
        }
        // SAFETY: a view requested with strides has as many lengths and strides as axes, which live as long as the view.
        unsafe { slice::from_raw_parts(numbers, self.0.ndim as usize) }
    }

    fn format(&self) -> &[u8] {
        if self.0.format.is_null() {
            return b"B";
        }
        // SAFETY: a format is a string that ends with a zero and lives as long as the view.
        unsafe { CStr::from_ptr(self.0.format) }.to_bytes()
    }

    /// The type of the elements.
    pub(crate) fn dtype(&self) -> PyResult<DType> {
        let format = self.format();
        let refused = |why: &str| {
            let format = String::from_utf8_lossy(format);
            Err(PyTypeError::new_err(format!("elements of buffer format {format:?}: {why}")))
        };
        let (order, kind) = match format {
            [order @ (b'@' | b'=' | b'<' | b'>' | b'!'), kind @ ..] => (*order, kind),
            kind => (b'@', kind),
        };
        let size = self.0.itemsize;
        let is_swapped = match order {
            b'<' => cfg!(target_endian = "big"),
            b'>' | b'!' => cfg!(target_endian = "little"),
            _ => false,
        };
        if is_swapped && size > 1 {
            return refused(
                "the bytes are in the other order; convert them with x.astype(x.dtype.newbyteorder('='))",
            );
        }
        Ok(match (kind, size) {
            (b"?", 1) => DType::Bool,
            (b"b" | b"h" | b"i" | b"l" | b"q" | b"n", 1) => DType::I8,
            (b"h" | b"i" | b"l" | b"q" | b"n", 2) => DType::I16,
            (b"i" | b"l" | b"q" | b"n", 4) => DType::I32,
            (b"l" | b"q" | b"n", 8) => DType::I64,
            (b"B", 1) => DType::U8,
            (b"H", 2) => DType::U16,
            (b"I" | b"L", 4) => DType::U32,
            (b"L" | b"Q" | b"N", 8) => DType::U64,
            (b"e", 2) => DType::F16,
            (b"f", 4) => DType::F32,
            (b"d", 8) | (b"g", 8) => DType::F64,
            (b"Zf", 8) => DType::Complex64,
            (b"Zd", 16) | (b"Zg", 16) => DType::Complex128,
            (b"O", _) => {
                return refused(
                    "these are Python objects; convert numbers with x.astype(float), and keys to integers with numpy.unique(x, return_inverse=True)[1]",
                );
            }
            (b"g" | b"Zg", _) => {
                return refused(
                    "there are no long doubles here; convert them with x.astype(float)",
                );
            }
            ([b'T', b'{', ..], _) => {
                return refused("these are records; take one field, as x['name']");
            }
            ([.., b'w' | b's'], _) => {
                return refused(
                    "these are strings; convert numbers with x.astype(float), and keys to integers with numpy.unique(x, return_inverse=True)[1]",
                );
            }
            _ => return refused("no reduction takes them; convert them to numbers"),
        })
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: the view was filled by `PyObject_GetBuffer` and is released once, by a thread that is attached: buffers are never moved
        // into code that runs detached.
        unsafe { ffi::PyBuffer_Release(&mut *self.0) }
    }
}
