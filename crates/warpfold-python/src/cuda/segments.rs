//! Segments of arrays on GPUs.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use warpfold_engine::map::Expressions;
use warpfold_gpu::cuda::{Buffer, Gpu, KeepContext};
use warpfold_num::{DType, Error, Result, with_element};
use warpfold_plan::segment::Segments;
use warpfold_plan::shape::Layout;

use super::mapped_parts::{self, DeviceParts};
use super::rows::{Cut, Rows};
use super::{Location, check_bools, devices, masked, on_device};
use crate::errors::raised;
use crate::named::Named;
use crate::parted::Where;
use crate::reduce::Call;
use crate::take::{OnGpu, Taken, take_any};

/// Reduces each segment. The host waits where there are offsets, as only the kernel finds out whether they are some.
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
    let cut = match stated(py, segments, x)? {
        Stated::Every(length) => {
            Cut::Every { length, segments: n.checked_div(length).unwrap_or(0) }
        }
        Stated::Offsets(found) => {
            offsets = found;
            let parts = on_device::Parts::Offsets(offsets.location(), offsets.dtype());
            let (parts, segments) = ((Location::of(x), parts), offsets.location().len.max(1) - 1);
            if let Some(array) = on_device::results(py, call, x, parts, &[segments], &wanted)? {
                return Ok(array);
            }
            let here = match &offsets {
                Offsets::Summed(_, here) => here.clone(),
                Offsets::Given(_) => {
                    let (there, dtype) = (offsets.location(), offsets.dtype());
                    let here = py.detach(|| download(&gpu, there, dtype));
                    here.map_err(|error| raised(&error))?
                }
            };
            if here.is_empty() {
                return Err(PyValueError::new_err(
                    "there are no offsets; give one more than segments, as [0] for none",
                ));
            }
            Cut::Offsets { there: offsets.location(), size: offsets.dtype().size(), here }
        }
    };
    if let Cut::Every { length, segments } = cut
        && segments.checked_mul(length) == Some(n)
        && let Ok(layout) = Layout::c(&[segments, length])
    {
        let parts = on_device::Parts::Axes { layout: &layout, axes: &[1], inputs: length };
        let parts = (Location::of(x), parts);
        if let Some(array) = on_device::results(py, call, x, parts, &[segments], &wanted)? {
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
    let parts = match stated(py, segments, inputs[0].1)? {
        Stated::Every(length) => DeviceParts::Every(length),
        Stated::Offsets(found) => {
            offsets = found;
            DeviceParts::Offsets(offsets.location(), offsets.dtype())
        }
    };
    let (_, results) = mapped_parts::reduce(py, call, expressions, inputs, dtype, parts)?;
    Ok(results)
}

/// How a caller states segments of an array on a GPU.
enum Stated {
    Every(u64),
    Offsets(Offsets),
}

/// One more offset than segments, on the GPU.
enum Offsets {
    Given(OnGpu),
    /// The sums of lengths, and what they are here.
    Summed(Buffer<u64>, Vec<u64>),
}

impl Offsets {
    fn location(&self) -> Location {
        match self {
            Offsets::Given(offsets) => Location::of(offsets),
            Offsets::Summed(there, here) => {
                Location { first: there.address(), len: here.len() as u64, stream: None }
            }
        }
    }

    /// The type that kernels read: an offset below 0 is one far beyond the array.
    fn dtype(&self) -> DType {
        match self {
            Offsets::Given(offsets) => read_as(offsets),
            Offsets::Summed(..) => DType::U64,
        }
    }
}

fn read_as(numbers: &OnGpu) -> DType {
    if numbers.input.dtype.size() == 4 { DType::U32 } else { DType::U64 }
}

fn download(gpu: &Gpu, numbers: Location, dtype: DType) -> Result<Vec<u64>> {
    match dtype {
        DType::U32 => {
            let all = numbers.read::<u32, _>(gpu, |view| gpu.download(view))?;
            Ok(all.into_iter().map(u64::from).collect())
        }
        _ => numbers.read::<u64, _>(gpu, |view| gpu.download(view)),
    }
}

/// Reads how segments are stated. Lengths are added up on the host, 4 or 8 bytes for each segment there and 8 back.
fn stated(py: Python<'_>, segments: &Where<'_, '_>, x: &OnGpu) -> PyResult<Stated> {
    match (segments.offsets, segments.lengths, segments.every) {
        (Some(given), None, None) => {
            on_gpu("offsets", given, x).map(|offsets| Stated::Offsets(Offsets::Given(offsets)))
        }
        (None, Some(given), None) => {
            let lengths = on_gpu("lengths", given, x)?;
            let (gpu, n) = (devices::gpu(x.gpu.number)?, x.input.len());
            let (location, dtype) = (Location::of(&lengths), read_as(&lengths));
            let summed = py.detach(|| {
                let lengths = download(&gpu, location, dtype)?;
                let bounds = Segments::lengths(&lengths[..]).check(n)?;
                let ends = (0..lengths.len()).map(|segment| bounds.range(segment).end as u64);
                let offsets: Vec<u64> = std::iter::once(0).chain(ends).collect();
                Ok((gpu.upload(&offsets)?, offsets))
            });
            let (there, here) = summed.map_err(|error: Error| raised(&error))?;
            Ok(Stated::Offsets(Offsets::Summed(there, here)))
        }
        (None, None, Some(length)) => Ok(Stated::Every(length)),
        _ => Err(PyTypeError::new_err(
            "segments are stated in one way; give offsets or lengths on the GPU of the array, or every",
        )),
    }
}

/// Offsets or lengths on the GPU that the array is on.
fn on_gpu(name: &str, given: &Bound<'_, PyAny>, x: &OnGpu) -> PyResult<OnGpu> {
    let is_whole = |dtype| matches!(dtype, DType::I32 | DType::U32 | DType::I64 | DType::U64);
    match take_any(given)? {
        Taken::Gpu(numbers)
            if numbers.gpu.number == x.gpu.number
                && is_whole(numbers.input.dtype)
                && numbers.input.shape.len() == 1
                && numbers.input.is_run(false) =>
        {
            Ok(numbers)
        }
        _ => Err(PyTypeError::new_err(format!(
            "{name} of an array on a GPU are contiguous integers of 32 or 64 bits on that GPU; move them there"
        ))),
    }
}
