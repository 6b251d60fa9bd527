//! Results over axes that stay on the GPU, in the stream of their array's library.

use pyo3::prelude::*;
use warpfold_exact::partial::Finish;
use warpfold_gpu::cuda::Gpu;
use warpfold_gpu::kernel::{Machine, ReduceBatched};
use warpfold_num::{DType, Element, Nan, with_element};
use warpfold_plan::shape::Layout;

use super::devices::{For, Ready};
use super::{Location, devices, type_on_device};
use crate::convert::Wanted;
use crate::errors::raised;
use crate::reduce::Call;
use crate::take::OnGpu;

/// Bytes in which the kernels say what was wrong: nothing can be, with what is left here.
const FAULTS: usize = 256;
const _: () = assert!(ReduceBatched::<Gpu, f32>::FAULT_BYTES <= FAULTS);

/// The rows of a layout: which elements are folded into one result each.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    /// The memory that they lie in.
    pub(super) location: Location,
    pub(super) layout: &'a Layout,
    pub(super) axes: &'a [i64],
    /// Elements of one.
    pub(super) inputs: u64,
}

/// The results; `None` of those that are read on the host first.
pub(super) fn results<'py>(
    py: Python<'py>,
    call: &Call<'_, 'py>,
    x: &OnGpu,
    rows: Rows<'_>,
    shape: &[u64],
    wanted: &Wanted,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    // Of elements that are skipped too few may be left, which the host says.
    let Some(dtype) =
        type_on_device(call, x, wanted, rows.inputs).filter(|_| call.policy.nan == Nan::Propagate)
    else {
        return Ok(None);
    };
    // Kernels that leave 16 bits take such a ddof.
    let is_counted = dtype.size() != 2 || wanted.finish.ddof <= u16::MAX.into();
    if x.input.is_empty() || !is_counted {
        return Ok(None);
    }
    with_element!(x.input.read_as(), T => started::<T>(py, call, x, rows, shape, (dtype, wanted.finish)))
}

/// Starts the work; `None` where the kernels leave another type, or nobody has memory for results, or their tables cannot be copied now.
fn started<'py, T: Element>(
    py: Python<'py>,
    call: &Call<'_, 'py>,
    x: &OnGpu,
    rows: Rows<'_>,
    shape: &[u64],
    (dtype, finish): (DType, Finish),
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let gpu = devices::gpu(x.gpu.number)?;
    // The stream of the elements is the one that the work goes to.
    let location = Location { stream: None, ..rows.location };
    location.read::<T, _>(&gpu, |view| {
        let batched =
            gpu.reduce_axes(view, rows.layout, rows.axes).map_err(|error| raised(&error))?;
        let batched = batched.policy(call.policy).ddof(finish.ddof);
        let batched = match finish.round_to {
            Some(to) => batched.round_to(to),
            None => batched,
        };
        let plan = batched.plan(call.op).map_err(|error| raised(&error))?;
        if plan.output().size() != dtype.size() {
            return Ok(None);
        }
        let stream = x.stream.unwrap_or(0);
        // SAFETY: the stream is the library's own.
        let tables = unsafe { devices::tables(&gpu, x.gpu.number, stream, &plan) };
        let Some(tables) = tables.map_err(|error| raised(&error))? else { return Ok(None) };
        let batched = batched.tables_at(tables);
        let Some((array, out)) = x.gpu.empty(py, dtype, shape)? else { return Ok(None) };
        let start = |ready: &mut Ready, workspace: u64| {
            let faults = ready.faults(&gpu, FAULTS / 8)?;
            let launches = batched.launches(call.op, out, workspace, faults)?;
            // SAFETY: array, results and workspace are memory of the library's, which it frees behind what this stream was given, or the queue's own.
            unsafe { ready.queue.start_batched(&launches) }
        };
        // SAFETY: the stream is the library's own, as is what is read and written in it.
        let started = unsafe {
            devices::on_stream(&gpu, x.gpu.number, stream, For::Leaving, |ready| {
                match ready.workspace(&gpu, &plan)? {
                    Some(workspace) => start(ready, workspace).map(|()| true),
                    None => Ok(false),
                }
            })
        };
        if started.map_err(|error| raised(&error))? {
            return Ok(Some(array));
        }
        // Given back as soon as the work is in the stream: its library hands it on to later work there alone.
        let bytes = plan.workspace as usize;
        let Some((_held, workspace)) = x.gpu.empty(py, DType::U8, &[bytes as u64])? else {
            return Ok(None);
        };
        // SAFETY: as above.
        let started = unsafe {
            devices::on_stream(&gpu, x.gpu.number, stream, For::Leaving, |ready| {
                ready.queue.fill(workspace, bytes, 0)?;
                start(ready, workspace)
            })
        };
        started.map_err(|error| raised(&error))?;
        Ok(Some(array))
    })
}
