//! All results of one pass, as the package's `Stats`.

use pyo3::prelude::*;
use warpfold_engine::Columns;
use warpfold_exact::partial::Summary;
use warpfold_num::{Column, Complex, DType, Value, bf16, f16};

use crate::convert::Wanted;
use crate::give;
use crate::take::Home;

/// Counts, indices and, where bools were read as bytes, extremes, with the type that the array API gives them.
fn typed(name: &str, column: Column, wanted: &Wanted) -> Column {
    let is_bool = wanted.dtype() == DType::Bool;
    match (name, column) {
        ("count" | "nan_count" | "argmin" | "argmax", Column::U64(values)) => {
            Column::I64(bytemuck::cast_vec(values))
        }
        ("sum", Column::U64(values)) if is_bool => Column::I64(bytemuck::cast_vec(values)),
        ("min" | "max", Column::U8(values)) if is_bool => {
            Column::Bool(values.into_iter().map(|value| value != 0).collect())
        }
        (_, column) => column,
    }
}

/// Of many outputs.
pub(crate) fn columns<'py>(
    py: Python<'py>,
    home: Home,
    columns: Columns,
    wanted: &Wanted,
    shape: &[u64],
) -> PyResult<Bound<'py, PyAny>> {
    let fields = columns.into_iter().map(|(name, column)| {
        Ok((name, give::array(py, home, &typed(name, column, wanted), shape)?))
    });
    give::named(py, "Stats", fields.collect::<PyResult<_>>()?)
}

/// Of a whole array; what does not exist is left out, and so `None`.
pub(crate) fn summary<'py>(
    py: Python<'py>,
    home: Home,
    summary: Summary,
    wanted: &Wanted,
    shape: &[u64],
) -> PyResult<Bound<'py, PyAny>> {
    let fields = fields(&summary)
        .into_iter()
        .filter_map(|(name, value)| Some((name, Column::of_values(vec![value?]))));
    columns(py, home, fields.collect(), wanted, shape)
}

/// The results by name, those that exist.
pub(crate) fn fields(summary: &Summary) -> [(&'static str, Option<Value>); 12] {
    let index = |index: Option<u64>| index.map(Value::U64);
    [
        ("count", Some(Value::U64(summary.count))),
        ("nan_count", Some(Value::U64(summary.nan_count))),
        ("sum", Some(summary.sum)),
        ("mean", summary.mean),
        ("var", summary.var),
        ("std", summary.std),
        ("min", summary.min),
        ("max", summary.max),
        ("argmin", index(summary.argmin)),
        ("argmax", index(summary.argmax)),
        ("l1", Some(summary.l1)),
        ("l2", Some(summary.l2)),
    ]
}

/// What stands for a result that does not exist, where its type has something.
pub(crate) fn nan(name: &str, dtype: DType) -> Option<Value> {
    let is_own = matches!(name, "min" | "max");
    Some(match (name, dtype) {
        ("argmin" | "argmax", _) => return None,
        _ if is_own && !dtype.is_float() => return None,
        (_, DType::F16) if is_own => Value::F16(f16::NAN),
        (_, DType::BF16) if is_own => Value::BF16(bf16::NAN),
        ("mean", DType::Complex64) => Value::Complex64(Complex::new(f32::NAN, f32::NAN)),
        ("mean", DType::Complex128) => Value::Complex128(Complex::new(f64::NAN, f64::NAN)),
        (_, DType::F16 | DType::BF16 | DType::F32 | DType::Complex64) => Value::F32(f32::NAN),
        _ => Value::F64(f64::NAN),
    })
}
