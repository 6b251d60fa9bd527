//! Reductions of columns of Arrow: chunk by chunk, exactly, without what is null.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use warpfold_engine::{self as engine, Request, check};
use warpfold_exact::AnyPartial;
use warpfold_num::{DType, Op, Policy};

use crate::errors::raised;
use crate::policy::{Axes, axes};
use crate::reduce::{Call, finish};
use crate::run::run;
use crate::take::{Chunked, Home};

/// The exact partial of a column. Nulls are left out, as in the libraries that know them.
pub(crate) fn partial(
    py: Python<'_>,
    column: &Chunked,
    op: Op,
    policy: Policy,
) -> PyResult<AnyPartial> {
    let has_indices = matches!(op, Op::ArgMin | Op::ArgMax | Op::Stats);
    if has_indices && column.has_nulls() {
        return Err(PyValueError::new_err(format!(
            "{op} has indices, which nulls would shift; fill or drop the nulls"
        )));
    }
    let read_as = if column.dtype == DType::Bool { DType::U8 } else { column.dtype };
    check(op, read_as).map_err(|error| raised(&error))?;
    let mut all: Option<AnyPartial> = None;
    let mut add = |partial: AnyPartial| match &mut all {
        Some(all) => all.merge(&partial),
        none => *none = Some(partial),
    };
    let mut start = 0;
    for chunk in &column.chunks {
        let added = match chunk.input()? {
            Some(input) => {
                let x = input.run("a chunk")?;
                let request = Request::new(op, x).policy(policy).starting_at(start);
                start += chunk.len() as u64;
                run(py, input.bytes(), || engine::reduce(&request)).map(&mut add)
            }
            None => run(py, chunk.len() as u64 * column.dtype.size() as u64, || {
                // Nulls are not there: what has indices has none of them.
                chunk.blocks(|block| {
                    let request = Request::new(op, block).policy(policy).starting_at(start);
                    start += block.len() as u64;
                    engine::reduce(&request).map(&mut add)
                })
            }),
        };
        added.map_err(|error| raised(&error))?;
    }
    Ok(all.unwrap_or_else(|| AnyPartial::empty(op, read_as)))
}

/// The result of a column.
pub(crate) fn reduce<'py>(
    py: Python<'py>,
    call: &Call<'_, 'py>,
    column: &Chunked,
) -> PyResult<Bound<'py, PyAny>> {
    if let Axes::Some(axes) = axes(call.axis)?
        && !matches!(axes[..], [0 | -1])
    {
        return Err(PyValueError::new_err(format!(
            "a column has one axis, and none of {axes:?}; leave out axis"
        )));
    }
    let wanted = call.wanted(column.dtype, Home::Python)?;
    let partial = partial(py, column, call.op, call.policy)?;
    let output = finish(&partial, call.op, &wanted, !column.is_empty())?;
    call.give(py, Home::Python, output, if call.keepdims { &[1] } else { &[] }, &wanted)
}
