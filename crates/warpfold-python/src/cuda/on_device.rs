//! Results of axes and of segments that stay on the GPU, in the stream of their array's library.

use pyo3::prelude::*;
use warpfold_exact::partial::Finish;
use warpfold_gpu::cuda::Gpu;
use warpfold_gpu::kernel::{DeviceSegments, Machine, ReduceBatched};
use warpfold_num::{DType, Element, Nan, Result, with_element};
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

/// Which elements are folded into one result each.
#[derive(Clone, Copy)]
pub(super) enum Parts<'a> {
    /// Those along some axes of a layout, so many for each: they have results, and nobody waits for them.
    Axes { layout: &'a Layout, axes: &'a [i64], inputs: u64 },
    /// Those between offsets of 32 or 64 bits on the GPU. Only the kernel finds out whether they are offsets, and whether results exist: it is waited for.
    Offsets(Location, DType),
}

/// The results of elements in a place of memory; `None` of those that are read on the host first, errors included.
pub(super) fn results<'py>(
    py: Python<'py>,
    call: &Call<'_, 'py>,
    x: &OnGpu,
    (location, parts): (Location, Parts<'_>),
    shape: &[u64],
    wanted: &Wanted,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let inputs = match parts {
        // Of elements that are skipped too few may be left.
        Parts::Axes { .. } if call.policy.nan != Nan::Propagate => return Ok(None),
        Parts::Axes { inputs, .. } => inputs,
        // One stream waits for no other here.
        Parts::Offsets(offsets, _)
            if offsets.stream.is_some_and(|_| offsets.stream != x.stream) =>
        {
            return Ok(None);
        }
        Parts::Offsets(..) => u64::MAX,
    };
    let Some(dtype) = type_on_device(call, x, wanted, inputs) else { return Ok(None) };
    // Kernels that leave 16 bits take such a ddof.
    let is_counted = dtype.size() != 2 || wanted.finish.ddof <= u16::MAX.into();
    if location.len == 0 || shape.contains(&0) || !is_counted {
        return Ok(None);
    }
    // The stream of the elements is the one that the work goes to.
    let location = Location { stream: None, ..location };
    let work = Work { call, x, shape, dtype, finish: wanted.finish };
    with_element!(x.input.read_as(), T => {
        let gpu = devices::gpu(x.gpu.number)?;
        location.read::<T, _>(&gpu, |view| match parts {
            Parts::Axes { layout, axes, .. } => {
                let batched = gpu.reduce_axes(view, layout, axes).map_err(|error| raised(&error))?;
                work.started(py, &gpu, batched, false)
            }
            Parts::Offsets(offsets, dtype) => {
                let offsets = Location { stream: None, ..offsets };
                match dtype.size() {
                    4 => offsets.read::<u32, _>(&gpu, |offsets| {
                        let batched = gpu.reduce_segments(view, DeviceSegments::Offsets32(offsets));
                        work.started(py, &gpu, batched, true)
                    }),
                    _ => offsets.read::<u64, _>(&gpu, |offsets| {
                        let batched = gpu.reduce_segments(view, DeviceSegments::Offsets64(offsets));
                        work.started(py, &gpu, batched, true)
                    }),
                }
            }
        })
    })
}

/// Work whose results are left in an array of a library.
struct Work<'a, 'b, 'py> {
    call: &'a Call<'b, 'py>,
    x: &'a OnGpu,
    shape: &'a [u64],
    dtype: DType,
    finish: Finish,
}

impl<'py> Work<'_, '_, 'py> {
    /// Starts it, and waits if it is to be checked; `None` where the kernels leave another type, where nobody has memory for results, or their tables
    /// cannot be copied now, and where something was wrong.
    fn started<T: Element>(
        &self,
        py: Python<'py>,
        gpu: &Gpu,
        batched: ReduceBatched<'_, Gpu, T>,
        is_checked: bool,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Work { call, x, shape, dtype, finish } = *self;
        let batched = batched.policy(call.policy).ddof(finish.ddof);
        let batched = match finish.round_to {
            Some(to) => batched.round_to(to),
            None => batched,
        };
        let plan = batched.plan(call.op).map_err(|error| raised(&error))?;
        if plan.output().size() != dtype.size() {
            return Ok(None);
        }
        let (number, stream) = (x.gpu.number, x.stream.unwrap_or(0));
        // SAFETY: the stream is the library's own.
        let tables = unsafe { devices::tables(gpu, number, stream, &plan) };
        let Some(tables) = tables.map_err(|error| raised(&error))? else { return Ok(None) };
        let batched = batched.tables_at(tables);
        let Some((array, out)) = x.gpu.empty(py, dtype, shape)? else { return Ok(None) };
        // Who waits has the words of what is wrong for itself.
        let what = if is_checked { For::Reading } else { For::Leaving };
        let op = call.op;
        let start = |ready: &mut Ready, workspace: u64| {
            if is_checked && ready.queue.is_captured()? {
                return Ok(false);
            }
            let faults = ready.faults(gpu, FAULTS / 8)?;
            let launches = batched.launches(op, out, workspace, faults)?;
            // SAFETY: array, results and workspace are memory of the library's, which it frees behind what this stream was given, or the queue's own.
            unsafe { ready.queue.start_batched(&launches) }?;
            if is_checked { ready.is_sound(gpu) } else { Ok(true) }
        };
        let on_stream = |start: &mut (dyn FnMut(&mut Ready) -> Result<Option<bool>> + Send)| {
            // SAFETY: the stream is the library's own, as is what is read and written in it.
            py.detach(|| unsafe { devices::on_stream(gpu, number, stream, what, start) })
        };
        let done = on_stream(&mut |ready| match ready.workspace(gpu, &plan)? {
            Some(workspace) => start(ready, workspace).map(Some),
            None => Ok(None),
        });
        let done = match done.map_err(|error| raised(&error))? {
            Some(done) => done,
            None => {
                // Given back as soon as the work is in the stream: its library hands it on to later work there alone.
                let bytes = plan.workspace as usize;
                let Some((_held, workspace)) = x.gpu.empty(py, DType::U8, &[bytes as u64])? else {
                    return Ok(None);
                };
                let done = on_stream(&mut |ready| {
                    // SAFETY: as above.
                    unsafe { ready.queue.fill(workspace, bytes, 0)? };
                    start(ready, workspace).map(Some)
                });
                done.map_err(|error| raised(&error))?.unwrap_or(false)
            }
        };
        Ok(done.then_some(array))
    }
}
