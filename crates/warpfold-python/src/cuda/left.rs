//! Results over axes that stay on the GPU, in the stream of their array's library.

use pyo3::prelude::*;
use warpfold_gpu::cuda::Gpu;
use warpfold_gpu::kernel::{Machine, ReduceMany};
use warpfold_num::{DType, Element, Nan, with_element};
use warpfold_plan::shape::Layout;

use super::devices::For;
use super::{Place, devices, left_as};
use crate::convert::Wanted;
use crate::errors::raised;
use crate::reduce::Call;
use crate::take::OnGpu;

/// Bytes in which the kernels say what was wrong: nothing can be, with what is left here.
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
    with_element!(x.input.read_as(), T => started::<T>(py, call, x, rows, shape, dtype))
}

/// Starts the work; `None` where the kernels need tables, or leave another type, or nobody has memory for results.
fn started<'py, T: Element>(
    py: Python<'py>,
    call: &Call<'_, 'py>,
    x: &OnGpu,
    rows: Rows<'_>,
    shape: &[u64],
    dtype: DType,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let gpu = devices::gpu(x.gpu.number)?;
    // The stream of the elements is the one that the work goes to.
    let place = Place { stream: None, ..rows.place };
    place.read::<T, _>(&gpu, |view| {
        let many = gpu.reduce_axes(view, rows.layout, rows.axes).map_err(|error| raised(&error))?;
        let many = many.policy(call.policy).ddof(call.ddof.whole().unwrap_or(0));
        let plan = many.plan(call.op).map_err(|error| raised(&error))?;
        if !plan.tables().is_empty() || plan.output().size() != dtype.size() {
            return Ok(None);
        }
        let Some((array, out)) = x.gpu.empty(py, dtype, shape)? else { return Ok(None) };
        // Given back as soon as the work is in the stream: its library hands it on to later work there alone.
        let workspace = plan.workspace as usize;
        let scratch = match workspace {
            0 => None,
            bytes => x.gpu.empty(py, DType::U8, &[bytes as u64])?,
        };
        let at = scratch.as_ref().map_or(0, |(_, address)| *address);
        if workspace > 0 && at == 0 {
            return Ok(None);
        }
        let bytes = shape.iter().product::<u64>() as usize * dtype.size();
        // SAFETY: array, results and workspace are memory of the library's, which it frees behind what this stream was given.
        let started = unsafe {
            let stream = x.stream.unwrap_or(0);
            devices::on_stream(&gpu, x.gpu.number, stream, For::Leaving, |ready| {
                let faults = ready.faults(&gpu, FAULTS / 8)?;
                let launches = many.launches(call.op, out, at, faults)?;
                ready.queue.fill(out, bytes, 0)?;
                ready.queue.fill(at, workspace, 0)?;
                ready.queue.start_many(&launches)
            })
        };
        started.map_err(|error| raised(&error))?;
        Ok(Some(array))
    })
}
