//! Segments of arrays on GPUs.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use warpfold_engine::map::Expressions;
use warpfold_gpu::cuda::KeepContext;
use warpfold_num::{DType, with_element};
use warpfold_plan::shape::Layout;

use super::mapped_parts::{self, DeviceParts};
use super::rows::{Cut, Rows};
use super::{Location, check_bools, devices, masked, on_device};
use crate::errors::raised;
use crate::named::Named;
use crate::parted::Where;
use crate::reduce::Call;
use crate::take::{OnGpu, Taken, take_any};

/// Reduces each segment; results of segments by offsets pass through the host, as only the kernel finds out whether those are offsets.
pub(crate) fn reduce<'py>(
    py: Python<'py>,
    call: &Call<'_, 'py>,
    x: &OnGpu,
    segments: &Where<'_, 'py>,
) -> PyResult<Bound<'py, PyAny>> {
    if let Some(mask) = masked::mask(segments.mask)? {
        let (expressions, dtype) = masked::kept(py, call, x)?;
        let inputs = [("x", x), ("where", &mask)];
        return mapped(py, call, &expressions, &inputs, Some(dtype), segments);
    }
    let _kept = KeepContext::new();
    let wanted = call.wanted(x.input.dtype, x.input.home)?;
    if wanted.is_corrected() {
        return Err(PyTypeError::new_err(
            "segments of an array on a GPU take a whole number as correction; copy it to the host for others, as x.cpu() or x.get() does",
        ));
    }
    if x.input.shape.len() != 1 || !x.input.is_run(false) {
        return Err(PyValueError::new_err(
            "an array in segments must be contiguous, in one axis; give x.reshape(-1)",
        ));
    }
    check_bools(py, call, x)?;
    let gpu = devices::gpu(x.gpu.number)?;
    let n = x.input.len();
    let offsets;
    let cut = match (segments.offsets, segments.every) {
        (Some(given), None) if segments.lengths.is_none() => {
            offsets = on_gpu(given, x)?;
            let there = Location::of(&offsets);
            let here = py.detach(|| match offsets.input.dtype.size() {
                4 => there
                    .read::<u32, _>(&gpu, |view| gpu.download(view))
                    .map(|all| all.into_iter().map(u64::from).collect()),
                _ => there.read::<u64, _>(&gpu, |view| gpu.download(view)),
            });
            let here: Vec<u64> = here.map_err(|error| raised(&error))?;
            if here.is_empty() {
                return Err(PyValueError::new_err(
                    "there are no offsets; give one more than segments, as [0] for none",
                ));
            }
            Cut::Offsets { there, size: offsets.input.dtype.size(), here }
        }
        (None, Some(length)) if segments.lengths.is_none() => {
            Cut::Every { length, segments: n.checked_div(length).unwrap_or(0) }
        }
        _ => return Err(stated_otherwise()),
    };
    if let Cut::Every { length, segments } = cut
        && segments.checked_mul(length) == Some(n)
        && let Ok(layout) = Layout::c(&[segments, length])
    {
        let rows = on_device::Rows {
            location: Location::of(x),
            layout: &layout,
            axes: &[1],
            inputs: length,
        };
        if let Some(array) = on_device::results(py, call, x, rows, &[segments], &wanted)? {
            return Ok(array);
        }
    }
    let (op, policy) = (call.op, call.policy);
    let rows = Rows { gpu, op, policy, wanted: &wanted, location: Location::of(x), cut };
    let columns = with_element!(x.input.read_as(), T => py.detach(|| rows.columns::<T>()));
    let columns = columns.map_err(|error| raised(&error))?;
    call.give_columns(py, x.input.home, columns, &[rows.outputs()], &wanted)
}

/// Reduces each segment of an expression of arrays on a GPU.
pub(crate) fn expression<'py>(
    py: Python<'py>,
    call: &Call<'_, 'py>,
    named: &Named,
    segments: &Where<'_, 'py>,
) -> PyResult<Bound<'py, PyAny>> {
    mapped(py, call, &named.expressions, &named.on_gpu()?, None, segments)
}

/// The same of arrays by their names, whose elements may be those of an array.
fn mapped<'py>(
    py: Python<'py>,
    call: &Call<'_, 'py>,
    expressions: &Expressions,
    inputs: &[(&str, &OnGpu)],
    dtype: Option<DType>,
    segments: &Where<'_, 'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let offsets;
    let parts = match (segments.offsets, segments.every) {
        (Some(given), None) if segments.lengths.is_none() => {
            offsets = on_gpu(given, inputs[0].1)?;
            DeviceParts::Offsets(&offsets)
        }
        (None, Some(length)) if segments.lengths.is_none() => DeviceParts::Every(length),
        _ => return Err(stated_otherwise()),
    };
    let (_, results) = mapped_parts::reduce(py, call, expressions, inputs, dtype, parts)?;
    Ok(results)
}

fn stated_otherwise() -> PyErr {
    PyTypeError::new_err(
        "segments of an array on a GPU are stated by offsets there, or by every; give one of them",
    )
}

/// Offsets on the GPU that the array is on.
fn on_gpu(given: &Bound<'_, PyAny>, x: &OnGpu) -> PyResult<OnGpu> {
    let is_offsets = |dtype| matches!(dtype, DType::I32 | DType::U32 | DType::I64 | DType::U64);
    match take_any(given)? {
        Taken::Gpu(offsets)
            if offsets.gpu.number == x.gpu.number
                && is_offsets(offsets.input.dtype)
                && offsets.input.shape.len() == 1
                && offsets.input.is_run(false) =>
        {
            Ok(offsets)
        }
        _ => Err(PyTypeError::new_err(
            "offsets of an array on a GPU are contiguous integers of 32 or 64 bits on that GPU; move them there",
        )),
    }
}
