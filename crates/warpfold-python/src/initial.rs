//! `initial=`: one element that is merged before all others.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyComplexMethods};
use warpfold_engine::{self as engine, HostArray, Request};
use warpfold_exact::AnyPartial;
use warpfold_num::{Complex, DType, Op, Policy, bf16, f16};

use crate::errors::raised;
use crate::names::name;

/// The partial of one element of a type, which a number of Python's or of another library has to be exactly.
pub(crate) fn initial(
    op: Op,
    dtype: DType,
    policy: Policy,
    given: &Bound<'_, PyAny>,
) -> PyResult<AnyPartial> {
    fn reduced<T: warpfold_num::Element>(op: Op, policy: Policy, value: T) -> PyResult<AnyPartial> {
        let one = [value];
        let request = Request::new(op, HostArray::of(&one)).policy(policy);
        // No element of the array: a product has it to the left of all, whatever their indices.
        let partial = engine::reduce(&request).map(AnyPartial::without_indices);
        partial.map_err(|error| raised(&error))
    }
    macro_rules! one {
        ($value:expr) => {
            reduced(op, policy, $value)
        };
    }
    let inexact = || {
        let name = name(dtype);
        PyValueError::new_err(format!(
            "initial={given} is no {name}, and nothing is rounded silently; convert it, as in numpy.{name}({given}), or convert the array"
        ))
    };
    let real = |number: &Bound<'_, PyAny>| -> PyResult<f64> {
        let float: f64 = number.extract().map_err(|_| no_number(given))?;
        // An integer may be none of them.
        let is_same = match number.hasattr(intern!(number.py(), "__index__"))? {
            true => number.call_method0(intern!(number.py(), "__index__"))?.eq(float)?,
            false => true,
        };
        if is_same { Ok(float) } else { Err(inexact()) }
    };
    let narrow = |number: &Bound<'_, PyAny>| -> PyResult<f32> {
        let wide = real(number)?;
        let narrow = wide as f32;
        if f64::from(narrow) == wide || wide.is_nan() { Ok(narrow) } else { Err(inexact()) }
    };
    macro_rules! integer {
        ($ty:ty) => {{
            let index = intern!(given.py(), "__index__");
            let whole = match given.hasattr(index)? {
                true => given.call_method0(index)?.extract::<$ty>().ok(),
                // A float that is whole.
                false => {
                    let float = real(given)?;
                    let whole = float as $ty;
                    (whole as f64 == float && float.abs() < 2f64.powi(53)).then_some(whole)
                }
            };
            one!(whole.ok_or_else(inexact)?)
        }};
    }
    match dtype {
        // Bools are read as bytes.
        DType::Bool => match given.cast::<PyBool>() {
            Ok(truth) => one!(u8::from(truth.is_true())),
            Err(_) => match given.extract::<bool>() {
                Ok(truth) => one!(u8::from(truth)),
                Err(_) => Err(inexact()),
            },
        },
        DType::I8 => integer!(i8),
        DType::I16 => integer!(i16),
        DType::I32 => integer!(i32),
        DType::I64 => integer!(i64),
        DType::U8 => integer!(u8),
        DType::U16 => integer!(u16),
        DType::U32 => integer!(u32),
        DType::U64 => integer!(u64),
        DType::F64 => one!(real(given)?),
        DType::F32 => one!(narrow(given)?),
        DType::F16 => {
            let wide = real(given)?;
            let half = f16::from_f64(wide);
            if half.to_f64() != wide && !wide.is_nan() {
                return Err(inexact());
            }
            one!(half)
        }
        DType::BF16 => {
            let wide = real(given)?;
            let half = bf16::from_f64(wide);
            if half.to_f64() != wide && !wide.is_nan() {
                return Err(inexact());
            }
            one!(half)
        }
        DType::Complex64 | DType::Complex128 => {
            let complex = given.py().get_type::<PyComplex>();
            let complex = complex.call1((given,)).map_err(|_| no_number(given))?;
            let z = complex.cast_into::<PyComplex>()?;
            let [re, im] =
                [z.real(), z.imag()].map(|part| pyo3::types::PyFloat::new(given.py(), part));
            match dtype {
                DType::Complex64 => one!(Complex::new(narrow(&re)?, narrow(&im)?)),
                _ => one!(Complex::new(real(&re)?, real(&im)?)),
            }
        }
    }
}

fn no_number(given: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!(
        "initial is one number, and {given} is none; give an element of the array's type"
    ))
}
