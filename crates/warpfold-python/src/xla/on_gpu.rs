//! Reductions of arrays on GPUs as XLA calls them, in its stream.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use warpfold_gpu::cuda::KeepContext;
use warpfold_gpu::kernel::value_bytes;
use warpfold_num::{Column, Op, with_element};
use warpfold_plan::shape::Folding;

use super::{XlaRequest, check_pair, one};
use crate::cuda::devices::{self, For};
use crate::cuda::rows::{Cut, Rows};
use crate::cuda::{Location, finished, masked, reduce_into, type_on_device};
use crate::errors::raised;
use crate::number;
use crate::reduce::{Call, settled};
use crate::take::OnGpu;

/// Does what a call asks for.
pub(crate) fn execute(xla_request: &XlaRequest, stream: usize, number: i32) -> PyResult<()> {
    let _kept = KeepContext::new();
    let on_gpu = xla_request.operands.iter().map(|held| {
        let address = held.address.cast_const();
        OnGpu::held(held.dtype, held.shape.clone(), address, number, stream)
    });
    let arrays = on_gpu.collect::<PyResult<Vec<_>>>()?;
    let (x, y) = (&arrays[0], arrays.get(1));
    let call = Call { ddof: xla_request.ddof, ..Call::new(xla_request.op, xla_request.policy) };
    if let (Some(mask), true) = (y, xla_request.is_masked) {
        let kept = xla_request.kept(&x.input.shape);
        let columns = masked::results(&call, [x, mask], &kept, &xla_request.wanted)?;
        return send(xla_request, columns, stream, number);
    }
    if let Some(y) = y {
        check_pair(&x.input, &y.input)?;
    }
    if xla_request.axes.len() < x.input.shape.len() {
        return rows(xla_request, &call, x, stream, number);
    }
    let read_as = x.input.read_as();
    let out = xla_request.result.address.addr() as u64;
    let on_device = type_on_device(&call, x, &xla_request.wanted, x.input.len());
    if on_device == Some(xla_request.result.dtype)
        && value_bytes(xla_request.op, read_as, xla_request.wanted.finish.round_to)
            == on_device.map(|to| to.size())
        && on_device.map(|to| to.size()) == Some(xla_request.result.bytes())
    {
        return with_element!(read_as, T => reduce_into::<T>(&call, x, y, xla_request.wanted.finish, out));
    }
    let output = with_element!(read_as, T => finished::<T>(&call, x, y, &xla_request.wanted))?;
    let output = settled(output, xla_request.op, &xla_request.wanted, !x.input.is_empty())?;
    send(xla_request, one(output), stream, number)
}

/// Results over axes, by way of the host.
fn rows(
    xla_request: &XlaRequest,
    call: &Call<'_, '_>,
    x: &OnGpu,
    stream: usize,
    number: i32,
) -> PyResult<()> {
    if xla_request.op == Op::Dot {
        return Err(PyTypeError::new_err(
            "dot has no vmap on a GPU; give one pair of arrays, or sum the products",
        ));
    }
    let (first, len, layout) = x.input.span()?;
    let folding = Folding::of(layout.clone(), &xla_request.axes).map_err(|error| raised(&error))?;
    let form = folding.form().map_err(|error| raised(&error))?;
    if let Some(missing) = call.missing(&form, &xla_request.wanted)? {
        return send(xla_request, missing, stream, number);
    }
    if xla_request.wanted.is_corrected() {
        return Err(PyTypeError::new_err(
            "a correction that is no whole number is for whole arrays on a GPU; give a whole number",
        ));
    }
    let location = Location { first: first.addr() as u64, len, stream: x.stream };
    let rows = Rows {
        gpu: devices::gpu(number)?,
        op: xla_request.op,
        policy: xla_request.policy,
        wanted: &xla_request.wanted,
        location,
        cut: Cut::Axes { layout, axes: &xla_request.axes, form },
    };
    let columns = with_element!(x.input.read_as(), T => rows.columns::<T>());
    send(xla_request, columns.map_err(|error| raised(&error))?, stream, number)
}

/// Copies results to where XLA wants them.
fn send(
    xla_request: &XlaRequest,
    columns: Vec<(&'static str, Column)>,
    stream: usize,
    number: i32,
) -> PyResult<()> {
    let column = xla_request.converted(columns)?;
    let (gpu, out) = (devices::gpu(number)?, xla_request.result.address.addr() as u64);
    // SAFETY: XLA has made room for these bytes in its GPU's memory, in this stream.
    let sent = unsafe {
        devices::on_stream(&gpu, number, stream, For::Reading, |ready| {
            ready.queue.write(out, number::bytes(&column))
        })
    };
    sent.map_err(|error| raised(&error))
}
