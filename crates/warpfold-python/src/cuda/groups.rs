//! Arrays on GPUs grouped by keys there: values of equal keys are brought together in the GPU's memory, and groups are segments then.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use warpfold_gpu::cuda::{Gpu, KeepContext};
use warpfold_gpu::kernel::{AnyBuffer, AnyGroups, AnyView};
use warpfold_num::{Column, DType, Op, Policy, Result, with_element};

use super::rows::{Cut, Rows};
use super::{Location, check_bools, devices};
use crate::errors::raised;
use crate::names::name;
use crate::reduce::Call;
use crate::take::OnGpu;

/// Refuses keys and values that cannot be grouped on a GPU.
pub(crate) fn check(keys: &OnGpu, x: &OnGpu) -> PyResult<()> {
    if keys.gpu.number != x.gpu.number {
        return Err(PyValueError::new_err(format!(
            "keys lie on GPU {}, and values on GPU {}; move them to one",
            keys.gpu.number, x.gpu.number
        )));
    }
    for (what, array) in [("keys", keys), ("values in groups", x)] {
        if array.input.shape.len() != 1 || !array.input.is_run(false) {
            return Err(PyValueError::new_err(format!(
                "{what} on a GPU must be contiguous, in one axis; give x.contiguous() or x.reshape(-1)"
            )));
        }
    }
    let (dtype, n, elements) = (keys.input.dtype, keys.input.len(), x.input.len());
    if dtype.is_float() {
        return Err(PyTypeError::new_err(format!(
            "keys are integers or bools, and these are {}; number them first, as torch.unique(keys, return_inverse=True) does",
            name(dtype)
        )));
    }
    match n == elements {
        true => Ok(()),
        false => Err(PyValueError::new_err(format!(
            "there are {n} keys for {elements} values; give one for each"
        ))),
    }
}

/// Hands the groups to a function: of the numbers below so many, or of the keys that there are.
fn grouped<R>(
    gpu: &Gpu,
    [keys, x]: [(Location, DType); 2],
    groups: Option<u64>,
    then: impl FnOnce(&AnyGroups<'_>) -> Result<R>,
) -> Result<R> {
    let stream = |location: Location| {
        // SAFETY: the streams are the libraries', which keep them while the call lasts.
        location.stream.map(|stream| unsafe { gpu.borrow_stream(stream as *mut _) })
    };
    let streams = [stream(keys.0), stream(x.0)];
    let view = |(location, dtype): (Location, DType)| {
        // SAFETY: the exporter vouches for these elements in its GPU's memory while it is held, which is until the call is over.
        unsafe { AnyView::from_raw(dtype, location.first, location.len as usize) }
    };
    let [keys, x] = [(keys, &streams[0]), (x, &streams[1])].map(|(array, stream)| match stream {
        Some(stream) => view(array).after(stream),
        None => view(array),
    });
    let groups = match groups {
        Some(groups) => AnyGroups::dense(gpu, keys, groups, x),
        None => AnyGroups::by(gpu, keys, x),
    };
    then(&groups?)
}

/// The keys of the groups, ascending, as the GPU has them.
pub(crate) fn keys(py: Python<'_>, keys: &OnGpu, x: &OnGpu) -> PyResult<Column> {
    let _kept = KeepContext::new();
    let gpu = devices::gpu(keys.gpu.number)?;
    check_bools(py, &Call::new(Op::Sum, Policy::default()), keys)?;
    let locations = [keys, x].map(|array| (Location::of(array), array.input.read_as()));
    let found = py.detach(|| grouped(&gpu, locations, None, |groups| groups.keys()));
    let found = found.map_err(|error| raised(&error))?;
    Ok(found.unwrap_or_else(|| unreachable!("groups of any keys have theirs")))
}

/// Reduces each group. Returns the results, and the keys of groups that have some.
pub(crate) fn reduce<'py>(
    py: Python<'py>,
    call: &Call<'_, 'py>,
    [keys, x]: [&OnGpu; 2],
    groups: Option<u64>,
) -> PyResult<(Option<Column>, Bound<'py, PyAny>)> {
    let _kept = KeepContext::new();
    let wanted = call.wanted(x.input.dtype, x.input.home)?;
    if wanted.is_corrected() {
        return Err(PyTypeError::new_err(
            "groups of an array on a GPU take a whole number as correction; copy it to the host for others",
        ));
    }
    check_bools(py, call, x)?;
    check_bools(py, &Call::new(Op::Sum, call.policy), keys)?;
    let gpu = devices::gpu(x.gpu.number)?;
    let locations = [keys, x].map(|array| (Location::of(array), array.input.read_as()));
    let (op, policy) = (call.op, call.policy);
    let found = py.detach(|| {
        grouped(&gpu, locations, groups, |groups| {
            let offsets = groups.offsets();
            let here = match offsets.column()? {
                Column::U64(offsets) => offsets,
                other => unreachable!("offsets have 64 bits: {other:?}"),
            };
            // The values lie where the sort has left them, once it is done.
            let location = groups.moved().map_or(locations[1].0, in_memory);
            let cut = Cut::Offsets { there: in_memory(offsets), size: 8, here };
            let rows = Rows { gpu: gpu.clone(), op, policy, wanted: &wanted, location, cut };
            let columns = with_element!(locations[1].1, T => rows.columns::<T>())?;
            Ok((groups.keys()?, columns, rows.outputs()))
        })
    });
    let (labels, columns, outputs) = found.map_err(|error| raised(&error))?;
    Ok((labels, call.give_columns(py, x.input.home, columns, &[outputs], &wanted)?))
}

/// Where an array of this library lies, which nothing has to be waited for.
fn in_memory(buffer: &AnyBuffer) -> Location {
    Location { first: buffer.address(), len: buffer.len() as u64, stream: None }
}
