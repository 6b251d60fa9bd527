//! Products of integers as floats: 64 bits hold few of them, so that each element is a float before it is multiplied.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use warpfold_num::{DType, Op};

use crate::reduce::{Call, More};
use crate::take::{Taken, take_any};

/// What is multiplied, as an expression of `x`.
pub(crate) fn as_floats(py: Python<'_>) -> Bound<'_, PyString> {
    PyString::intern(py, "f64(x)")
}

/// The name of that expression, bound to an array.
pub(crate) fn names<'py>(x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    let names = PyDict::new(x.py());
    names.set_item("x", x)?;
    Ok(names)
}

impl<'a, 'py> Call<'a, 'py> {
    /// Whether this is a product of integers, and its caller wants a float.
    pub(crate) fn multiplies_floats(&self, x: &Taken) -> PyResult<bool> {
        // The element that comes first is of the array's type, and so is what it is multiplied by.
        if self.op != Op::Prod || self.more.initial.is_some() {
            return Ok(false);
        }
        let dtype = match x {
            Taken::Array(input) => input.dtype,
            Taken::Gpu(x) => x.input.dtype,
            // An expression reads neither chunks nor nulls.
            Taken::Column(_) | Taken::Followed(_) => return Ok(false),
        };
        let is_whole = !dtype.is_float() && dtype != DType::Bool;
        let to = self.dtype.map(crate::names::dtype).transpose()?;
        Ok(is_whole && to.is_some_and(|to| to.is_float() && !to.is_complex()))
    }

    /// The same of an array that is not taken yet.
    pub(crate) fn multiplies_floats_of(&self, x: &Bound<'py, PyAny>) -> PyResult<bool> {
        Ok(self.op == Op::Prod && self.dtype.is_some() && self.multiplies_floats(&take_any(x)?)?)
    }

    /// The same call with arrays that an expression names.
    pub(crate) fn naming<'b>(&self, names: &'b Bound<'py, PyDict>) -> Call<'b, 'py>
    where
        'a: 'b,
    {
        Call { more: More { names: Some(names), ..self.more }, ..*self }
    }
}
