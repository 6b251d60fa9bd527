//! [`Destination`]: the memory of an array that results are written to.

use std::ops::Range;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use warpfold_engine::OutputArray;
use warpfold_num::{Column, DType};

use crate::take::{Buffer, Home, Input, numpy};

/// Memory of an array in the host's memory that may be written: contiguous, in C order.
pub(crate) struct Destination {
    dtype: DType,
    address: *mut u8,
    bytes: usize,
    /// What keeps the memory where it is.
    _held: (Input, Option<Buffer>),
}

impl Destination {
    /// Of an array, as it lies.
    pub(crate) fn of(array: &Bound<'_, PyAny>, given: Input) -> PyResult<Self> {
        let (home, dtype) = (given.home, given.dtype);
        if matches!(home, Home::Jax { .. }) {
            return Err(PyTypeError::new_err("arrays of JAX are never written to; leave out out"));
        }
        if given.contiguous(false).is_none() {
            return Err(PyValueError::new_err(
                "out must be contiguous, in C order; give such an array",
            ));
        }
        let (address, bytes) = (given.address().cast_mut(), given.bytes() as usize);
        // Libraries with buffers say by them whether an array may be written.
        let buffer = match (home, dtype) {
            (Home::Torch, _) => None,
            // The buffer protocol has no name for bfloat16.
            (_, DType::BF16) => {
                let words = numpy(array.py())?.scalar(array.py(), DType::U16)?;
                Some(Buffer::of(&array.call_method1("view", (words,))?, true)?)
            }
            _ => Some(Buffer::of(array, true)?),
        };
        Ok(Destination { dtype, address, bytes, _held: (given, buffer) })
    }

    /// Copies results that are there.
    pub(crate) fn fill(self, column: &Column) -> PyResult<()> {
        let results = crate::number::bytes(column);
        if self.bytes != results.len() {
            return Err(PyValueError::new_err(format!(
                "the results are {} bytes, and there is room for {}",
                results.len(),
                self.bytes
            )));
        }
        // SAFETY: the memory is writable, contiguous and as long as what is written, as was seen to, and held; the results are memory of ours.
        unsafe { self.address.copy_from_nonoverlapping(results.as_ptr(), results.len()) }
        Ok(())
    }

    /// Where it lies.
    pub(crate) fn addresses(&self) -> Range<usize> {
        self.address.addr()..self.address.addr() + self.bytes
    }

    /// For results as they are found, of this type of the engine's, which has the size of the array's own.
    pub(crate) fn memory(&mut self, dtype: DType) -> OutputArray<'_> {
        assert_eq!(dtype.size(), self.dtype.size(), "{dtype} lies where {} does", self.dtype);
        // SAFETY: as in `fill`, and aligned, as whoever took the array saw to; not null, as only arrays of many bytes are written so. Another thread of the program
        // may read it meanwhile, as it may while NumPy writes: see the manual.
        unsafe { OutputArray::from_raw(dtype, self.address, self.bytes / dtype.size()) }
    }
}
