//! Reductions of contiguous segments of an array.

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use warpfold_engine::{self as engine, Request};
use warpfold_num::{DType, Policy};
use warpfold_plan::segment::{Numbers, Segments};

use crate::errors::raised;
use crate::factors;
use crate::mapped_parts::Elements;
use crate::masked::mask;
use crate::named::Named;
use crate::parted::{Where, columns};
use crate::reduce::{Call, More, check_bools};
use crate::run::run;
use crate::take::{Input, Taken, one_axis, take, take_any};

/// Offsets or lengths.
fn numbers<'a>(what: &str, input: &'a Input) -> PyResult<Numbers<'a>> {
    let x = one_axis(what, input)?;
    let numbers = match x.dtype() {
        DType::I32 => x.slice::<i32>().map(Numbers::from),
        DType::I64 => x.slice::<i64>().map(Numbers::from),
        DType::U32 => x.slice::<u32>().map(Numbers::from),
        DType::U64 => x.slice::<u64>().map(Numbers::from),
        _ => None,
    };
    numbers.ok_or_else(|| {
        let name = crate::names::name(input.dtype);
        PyTypeError::new_err(format!(
            "{what} are integers of 32 or 64 bits, and these are {name}; convert them with astype(numpy.int64)"
        ))
    })
}

/// Reduces each segment of an array, or of an expression of arrays that are named.
pub(crate) fn reduce<'py>(
    call: &Call<'_, 'py>,
    x: &Bound<'py, PyAny>,
    segments: &Where<'_, 'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = x.py();
    if let Ok(text) = x.cast::<PyString>() {
        return expression(call, text, segments);
    }
    call.refuse_names()?;
    let taken = take_any(x)?;
    if call.multiplies_floats(&taken)? {
        return expression(&call.naming(&factors::names(x)?), &factors::as_floats(py), segments);
    }
    let input = match taken {
        Taken::Gpu(x) => return crate::cuda::segments::reduce(py, call, &x, segments),
        other => other.into_input()?,
    };
    let host = one_axis("an array in segments", &input)?;
    let wanted = call.wanted(input.dtype, input.home)?;
    check_bools(py, call.op, &input, call.policy)?;
    let mask = mask(segments.mask)?;
    cut(py, call.policy, segments, (host.len(), input.bytes()), |parts, outputs| {
        if mask.is_none() {
            let request = Request::new(call.op, host).policy(call.policy).parts(parts.clone());
            if let Some(given) = call.at_once(py, &input, &request, &wanted, &[outputs])? {
                return Ok(given);
            }
        }
        let columns = columns(py, call, &input, mask.as_ref(), parts, &wanted)?;
        call.give_columns(py, input.home, columns, &[outputs], &wanted)
    })
}

/// Reduces each segment of an expression.
fn expression<'py>(
    call: &Call<'_, 'py>,
    text: &Bound<'py, PyString>,
    segments: &Where<'_, 'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = text.py();
    let more = More { r#where: segments.mask, ..call.more };
    let named = Named::of(call.op.name(), text, &more)?;
    if named.is_on_gpu() {
        return crate::cuda::segments::expression(py, call, &named, segments);
    }
    let elements = Elements::new(named.on_host()?)?;
    cut(py, call.policy, segments, (elements.len(), elements.bytes()), |parts, outputs| {
        let (columns, wanted) = elements.columns(py, call, parts)?;
        call.give_columns(py, elements.home(), columns, &[outputs], &wanted)
    })
}

/// Hands the segments that a caller states of so many elements and bytes to a function, and how many they are.
pub(crate) fn cut<'py>(
    py: Python<'py>,
    policy: Policy,
    segments: &Where<'_, 'py>,
    (n, bytes): (usize, u64),
    then: impl FnOnce(&Arc<engine::Parts<'_>>, u64) -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let (offsets, lengths) =
        (segments.offsets.map(take).transpose()?, segments.lengths.map(take).transpose()?);
    let stated = match (&offsets, &lengths, segments.every) {
        (Some(offsets), None, None) => Segments::Offsets(numbers("offsets", offsets)?),
        (None, Some(lengths), None) => Segments::Lengths(numbers("lengths", lengths)?),
        (None, None, Some(length)) => Segments::Every(length),
        _ => {
            return Err(PyTypeError::new_err(
                "segments are stated in one way; give offsets, lengths or every",
            ));
        }
    };
    let parts = run(py, bytes, || engine::segments(stated, n as u64, policy));
    let parts = Arc::new(parts.map_err(|error| raised(&error))?);
    let outputs = match &*parts {
        engine::Parts::Segments(bounds, _) => bounds.count(),
        other => unreachable!("segments are {other:?}"),
    };
    then(&parts, outputs)
}
