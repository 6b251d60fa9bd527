//! Results over axes that stay on the GPU, in the stream of their array's library.

use pyo3::prelude::*;
use warpfold_gpu::cuda::Gpu;
use warpfold_gpu::kernel::{Machine, ManyLaunch, ReduceMany};
use warpfold_num::{DType, Element, Nan, Result, with_element};
use warpfold_plan::shape::Layout;

use super::{Place, devices, left_as};
use crate::convert::Wanted;
use crate::errors::raised;
use crate::reduce::Call;
use crate::take::OnGpu;

/// Bytes before the workspace, in which the kernels say what was wrong: nothing can be, with what is left here.
const FAULTS: usize = 256;
const _: () = assert!(ReduceMany::<Gpu, f32>::FAULT_BYTES <= FAULTS);

/// The rows of a layout: which elements are folded into one result each.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    /// The memory that they lie in.
    pub(super) place: Place,
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
        left_as(call, x, wanted, rows.inputs).filter(|_| call.policy.nan == Nan::Propagate)
    else {
        return Ok(None);
    };
    if x.input.is_empty() {
        return Ok(None);
    }
    let gpu = devices::gpu(x.gpu.number)?;
    let size = with_element!(x.input.read_as(), T => room::<T>(&gpu, call, rows, dtype));
    let Some(workspace) = size.map_err(|error| raised(&error))? else { return Ok(None) };
    let Some((array, out)) = x.gpu.empty(py, dtype, shape)? else { return Ok(None) };
    // Given back as soon as the work is in the stream: its library hands it on to later work there alone.
    let scratch = [(FAULTS + workspace) as u64];
    let Some((_scratch, at)) = x.gpu.empty(py, DType::U8, &scratch)? else { return Ok(None) };
    let bytes = shape.iter().product::<u64>() as usize * dtype.size();
    let addresses = [out, at + FAULTS as u64, at];
    let launches =
        with_element!(x.input.read_as(), T => launches::<T>(&gpu, call, rows, addresses));
    let launches = launches.map_err(|error| raised(&error))?;
    // SAFETY: array, results and workspace are memory of the library's, which it frees behind what this stream was given.
    let started = unsafe {
        devices::on_stream(&gpu, x.gpu.number, x.stream.unwrap_or(0), |queue| {
            queue.fill(out, bytes, 0)?;
            queue.fill(at, FAULTS, 0xff)?;
            queue.fill(at + FAULTS as u64, workspace, 0)?;
            queue.start_many(&launches)
        })
    };
    started.map_err(|error| raised(&error))?;
    Ok(Some(array))
}

/// What is asked of the rows.
fn asked<T: Element, R>(
    gpu: &Gpu,
    call: &Call<'_, '_>,
    rows: Rows<'_>,
    ask: impl FnOnce(ReduceMany<'_, Gpu, T>) -> Result<R>,
) -> Result<R> {
    // Their stream is the one that the work goes to.
    Place { stream: None, ..rows.place }.read::<T, _>(gpu, |view| {
        let many = gpu.reduce_axes(view, rows.layout, rows.axes)?.policy(call.policy);
        ask(many.ddof(call.ddof.whole().unwrap_or(0)))
    })
}

/// Bytes of workspace; `None` where the kernels need tables, or leave another type.
fn room<T: Element>(
    gpu: &Gpu,
    call: &Call<'_, '_>,
    rows: Rows<'_>,
    dtype: DType,
) -> Result<Option<usize>> {
    asked::<T, _>(gpu, call, rows, |many| {
        let plan = many.plan(call.op)?;
        let is_left = plan.tables().is_empty() && plan.output().size() == dtype.size();
        Ok(is_left.then_some(plan.workspace as usize))
    })
}

fn launches<T: Element>(
    gpu: &Gpu,
    call: &Call<'_, '_>,
    rows: Rows<'_>,
    [out, workspace, faults]: [u64; 3],
) -> Result<Vec<ManyLaunch>> {
    asked::<T, _>(gpu, call, rows, |many| many.launches(call.op, out, workspace, faults))
}
