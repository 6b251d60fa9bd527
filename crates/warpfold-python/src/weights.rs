//! Which reductions take weights, and of which types.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use warpfold_num::{DType, Op};

/// How weights, and the elements they belong to, are said to be of one type, by conversions that are exact whatever the numbers are.
pub(crate) fn exactly(x: DType, w: DType) -> Option<(&'static str, &'static str)> {
    let is_short = |dtype: DType| matches!(dtype, DType::Bool) || dtype.size() <= 2;
    let is_unsigned =
        |dtype| matches!(dtype, DType::Bool | DType::U8 | DType::U16 | DType::U32 | DType::U64);
    let is_wide = |dtype| matches!(dtype, DType::I64 | DType::U64);
    if x.is_complex() || w.is_complex() {
        return None;
    }
    Some(match (x, w) {
        (DType::Bool, DType::Bool) => ("u64(x)", "u64(w)"),
        (DType::Bool, w) if is_unsigned(w) => ("u64(x)", "w"),
        (DType::Bool, DType::F64) => ("f64(x)", "w"),
        (DType::Bool, w) if w.is_float() => ("f32(x)", "w"),
        (DType::Bool, _) => ("i64(x)", "w"),
        (DType::F64, DType::F64) => ("x", "w"),
        (DType::F64, w) if !is_wide(w) => ("x", "f64(w)"),
        (x, w) if x.is_float() && x != DType::F64 && w.is_float() && w != DType::F64 => ("x", "w"),
        (x, w) if x.is_float() && x != DType::F64 && !w.is_float() && is_short(w) => {
            ("x", "f32(w)")
        }
        (x, w) if x.is_float() || w.is_float() => return None,
        (x, DType::Bool) if is_unsigned(x) => ("x", "u64(w)"),
        (x, w) if is_unsigned(x) == is_unsigned(w) => ("x", "w"),
        (x, w) if !is_unsigned(x) && w != DType::U64 => ("x", "i64(w)"),
        _ => return None,
    })
}

/// Whether a reduction takes weights.
pub(crate) fn is_weighted(op: Op) -> bool {
    matches!(op, Op::Sum | Op::Mean | Op::Var | Op::Std)
}

pub(crate) fn no_weights(op: Op) -> PyErr {
    PyTypeError::new_err(format!("{op} takes no weights; sum, mean, var and std do"))
}
