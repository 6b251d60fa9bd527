//! Reductions of contiguous segments of an array.

use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use warpfold_engine::{self as engine, HostArray};
use warpfold_num::DType;
use warpfold_plan::segment::{Numbers, Segments};

use crate::errors::raised;
use crate::masked::mask;
use crate::parted::{Where, columns};
use crate::reduce::{Call, check_bools};
use crate::run::run;
use crate::take::{Input, Taken, take, take_any};

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

/// An array of one axis, as one run of memory.
pub(crate) fn one_axis<'a>(what: &str, input: &'a Input) -> PyResult<HostArray<'a>> {
    if input.shape.len() != 1 {
        return Err(PyValueError::new_err(format!(
            "{what} must have one axis, and there are {}; give x.reshape(-1)",
            input.shape.len()
        )));
    }
    input.run(what)
}

/// Reduces each segment.
pub(crate) fn reduce<'py>(
    call: &Call<'_, 'py>,
    x: &Bound<'py, PyAny>,
    segments: &Where<'_, 'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = x.py();
    let input = match take_any(x)? {
        Taken::Gpu(x) => return crate::cuda::segments::reduce(py, call, &x, segments),
        other => other.into_input()?,
    };
    let host = one_axis("an array in segments", &input)?;
    let wanted = call.wanted(input.dtype, input.home)?;
    check_bools(py, call.op, &input, call.policy)?;
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
    let (n, policy) = (host.len() as u64, call.policy);
    let parts = run(py, input.bytes(), || engine::segments(stated, n, policy));
    let parts = Arc::new(parts.map_err(|error| raised(&error))?);
    let outputs = match &*parts {
        engine::Parts::Segments(bounds, _) => bounds.count(),
        other => unreachable!("segments are {other:?}"),
    };
    let mask = mask(segments.mask)?;
    let columns = columns(py, call, &input, mask.as_ref(), &parts, &wanted)?;
    call.give_columns(py, input.home, columns, &[outputs], &wanted)
}
