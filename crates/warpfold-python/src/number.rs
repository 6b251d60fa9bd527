//! Results as Python's numbers, and as bytes.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyFloat};
use warpfold_num::{Column, Value};

/// A value as a number of Python.
pub(crate) fn number(py: Python<'_>, value: Value) -> PyResult<Bound<'_, PyAny>> {
    Ok(match value {
        Value::Bool(value) => PyBool::new(py, value).to_owned().into_any(),
        Value::U64(value) => value.into_pyobject(py)?.into_any(),
        Value::U8(value) => value.into_pyobject(py)?.into_any(),
        Value::U16(value) => value.into_pyobject(py)?.into_any(),
        Value::U32(value) => value.into_pyobject(py)?.into_any(),
        Value::I8(value) => value.into_pyobject(py)?.into_any(),
        Value::I16(value) => value.into_pyobject(py)?.into_any(),
        Value::I32(value) => value.into_pyobject(py)?.into_any(),
        Value::I64(value) => value.into_pyobject(py)?.into_any(),
        Value::I128(value) => value.into_pyobject(py)?.into_any(),
        Value::U128(value) => value.into_pyobject(py)?.into_any(),
        Value::Complex64(z) => PyComplex::from_doubles(py, z.re.into(), z.im.into()).into_any(),
        Value::Complex128(z) => PyComplex::from_doubles(py, z.re, z.im).into_any(),
        other => match other.as_f64() {
            Some(value) => PyFloat::new(py, value).into_any(),
            None => unreachable!("no result of this front is {other:?}"),
        },
    })
}

/// The bytes of results.
pub(crate) fn bytes(column: &Column) -> &[u8] {
    macro_rules! bytes {
        ($($variant:ident),+) => {
            match column {
                $(Column::$variant(values) => bytemuck::cast_slice(values),)+
            }
        };
    }
    bytes!(
        Bool,
        I8,
        I16,
        I32,
        I64,
        I128,
        U8,
        U16,
        U32,
        U64,
        U128,
        F16,
        BF16,
        F32,
        F64,
        ComplexF16,
        ComplexBF16,
        Complex64,
        Complex128
    )
}
