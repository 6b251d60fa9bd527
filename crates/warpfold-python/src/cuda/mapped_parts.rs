//! Segments and groups of expressions of arrays on a GPU, and of arrays with masks: a result for each part, of elements that stay where they are.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use warpfold_engine::map::{Each, Expressions};
use warpfold_gpu::cuda::KeepContext;
use warpfold_gpu::kernel::{AnyOperand, MapGroups, MapParts};
use warpfold_num::{Column, DType, Op};

use super::mapped::{Arrays, check_run};
use super::{Location, check_bools};
use crate::errors::raised;
use crate::reduce::Call;
use crate::take::OnGpu;

/// How arrays on a GPU are parted.
#[derive(Clone, Copy)]
pub(crate) enum DeviceParts<'a> {
    /// Segments of one length.
    Every(u64),
    /// Segments, by one more offset than there are, of 32 or 64 bits, on the GPU of the arrays.
    Offsets(Location, DType),
    /// Groups of equal keys; where there is a number of groups, keys are the numbers below it.
    Keys(&'a OnGpu, Option<u64>),
}

/// Reduces each part of an expression of arrays by their names; elements have a type as the caller sees them, if they are not computed. Returns the
/// keys of groups that have some, and the results.
pub(crate) fn reduce<'py>(
    py: Python<'py>,
    call: &Call<'_, 'py>,
    expressions: &Expressions,
    inputs: &[(&str, &OnGpu)],
    dtype: Option<DType>,
    parts: DeviceParts<'_>,
) -> PyResult<(Option<Column>, Bound<'py, PyAny>)> {
    let _kept = KeepContext::new();
    check(inputs, parts)?;
    let home = inputs[0].1.input.home;
    let arrays = Arrays::of(call, expressions, inputs)?;
    let wanted = call.wanted(dtype.unwrap_or(arrays.map.dtype()), home)?;
    if wanted.is_corrected() {
        return Err(PyTypeError::new_err(
            "segments and groups on a GPU take a whole number as correction; copy the arrays to the host for others, as x.cpu() or x.get() does",
        ));
    }
    let arrays = match parts {
        DeviceParts::Every(_) => arrays,
        DeviceParts::Offsets(offsets, dtype) => arrays.and(offsets, dtype),
        DeviceParts::Keys(keys, _) => {
            check_bools(py, &Call::new(Op::Sum, call.policy), keys)?;
            arrays.and(Location::of(keys), keys.input.read_as())
        }
    };
    let (op, every, numbers) = match parts {
        DeviceParts::Every(length) => (call.op, Some(length), None),
        DeviceParts::Offsets(..) => (call.op, None, None),
        DeviceParts::Keys(_, numbers) => (call.op, None, Some(numbers)),
    };
    let n = inputs.len();
    let found = py.detach(|| {
        arrays.with_views(|views| {
            let (views, others) = views.split_at(n);
            let operands: Vec<AnyOperand<'_>> =
                views.iter().map(|&view| AnyOperand { view, each: Each::Element }).collect();
            let groups;
            let (labels, parts) = match (every, numbers) {
                (Some(length), _) => (None, MapParts::rows(length)),
                (None, None) => (None, MapParts::segments(others[0])?),
                (None, Some(numbers)) => {
                    groups = match numbers {
                        Some(numbers) => MapGroups::dense(&arrays.gpu, others[0], numbers)?,
                        None => MapGroups::by(&arrays.gpu, others[0])?,
                    };
                    (groups.keys()?, groups.parts())
                }
            };
            Ok((labels, arrays.columns(op, &operands, &parts, &wanted)?))
        })
    });
    let (labels, columns) = found.map_err(|error| raised(&error))?;
    let outputs = columns.first().map_or(0, |(_, column)| column.len() as u64);
    Ok((labels, call.give_columns(py, home, columns, &[outputs], &wanted)?))
}

/// Refuses arrays that are not side by side, one run of memory each, on one GPU.
pub(crate) fn check(inputs: &[(&str, &OnGpu)], parts: DeviceParts<'_>) -> PyResult<()> {
    let (of, first) = inputs[0];
    let parting = match parts {
        DeviceParts::Every(_) | DeviceParts::Offsets(..) => None,
        DeviceParts::Keys(keys, _) => Some(("keys", keys)),
    };
    for (name, array) in inputs.iter().copied().chain(parting) {
        if array.gpu.number != first.gpu.number {
            return Err(PyValueError::new_err(format!(
                "{of} lies on GPU {}, and {name} on GPU {}; move them to one",
                first.gpu.number, array.gpu.number
            )));
        }
        if array.input.shape.len() != 1 {
            return Err(PyValueError::new_err(format!(
                "{name} has {} axes, and segments and groups are of arrays of one; give {name}.reshape(-1)",
                array.input.shape.len()
            )));
        }
        check_run(name, array)?;
    }
    for (name, array) in inputs {
        if array.input.shape != first.input.shape {
            return Err(PyValueError::new_err(format!(
                "{of} has {} elements, and {name} {}; in segments and groups each has one for each element",
                first.input.len(),
                array.input.len()
            )));
        }
    }
    Ok(())
}
