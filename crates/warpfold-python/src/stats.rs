//! All results of one pass, as the package's `Stats`.

use pyo3::prelude::*;
use warpfold_engine::Columns;
use warpfold_exact::partial::Summary;
use warpfold_num::{Column, DType, Value};

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
    let index = |index: Option<u64>| index.map(Value::U64);
    let fields = [
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
    ];
    let fields = fields
        .into_iter()
        .filter_map(|(name, value)| Some((name, Column::of_values(vec![value?]))));
    columns(py, home, fields.collect(), wanted, shape)
}
