//! Reductions of expressions of arrays on a GPU: the kernel that reads them has the expression's code in it.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use warpfold_engine::map::{Expressions, Map};
use warpfold_gpu::cuda::KeepContext;
use warpfold_gpu::kernel::{self, AnyView};
use warpfold_num::DType;

use super::devices;
use crate::errors::raised;
use crate::policy::{Axes, axes};
use crate::reduce::{Call, is_all, settled};
use crate::take::OnGpu;

/// Reduces an expression of arrays by their names; the elements are of a type as the caller sees them, if they are not computed.
pub(crate) fn reduce<'py>(
    py: Python<'py>,
    call: &Call<'_, 'py>,
    expressions: &Expressions,
    inputs: &[(&str, &OnGpu)],
    dtype: Option<DType>,
) -> PyResult<Bound<'py, PyAny>> {
    let _kept = KeepContext::new();
    let Some(&(_, first)) = inputs.first() else {
        return Err(PyValueError::new_err("the expression names no array; name one"));
    };
    check(call, inputs)?;
    let names: Vec<(&str, DType)> =
        inputs.iter().map(|(name, array)| (*name, array.input.dtype)).collect();
    let map = Map::new(call.op, expressions, &names, call.policy);
    let map = map.map_err(|error| raised(&error))?;
    let wanted = call.wanted(dtype.unwrap_or(map.dtype()), first.input.home)?;
    let gpu = devices::gpu(first.gpu.number)?;
    let places: Vec<(DType, usize, usize, Option<usize>)> = inputs
        .iter()
        .map(|(_, array)| {
            let address = array.input.address().addr();
            (array.input.dtype, address, array.input.len() as usize, array.stream)
        })
        .collect();
    let output = py.detach(|| {
        // SAFETY: the streams are the libraries', which keep them while the call lasts.
        let stream = |stream: usize| unsafe { gpu.borrow_stream(stream as *mut _) };
        let streams: Vec<_> = places.iter().map(|&(.., number)| number.map(stream)).collect();
        let view = |&(dtype, address, len, _): &(DType, usize, usize, Option<usize>)| {
            // SAFETY: the exporters vouch for these elements in their GPU's memory while they are held, which is until the result is read.
            unsafe { AnyView::from_raw(dtype, address as u64, len) }
        };
        let views = places.iter().zip(&streams).map(|(place, stream)| match stream {
            Some(stream) => view(place).after(stream),
            None => view(place),
        });
        let views: Vec<AnyView<'_>> = views.collect();
        let folded = kernel::map::fold(&gpu, &map, &views, 0)?;
        wanted.read_mapped(&map, &folded)
    });
    let output = settled(output, call.op, &wanted, !first.input.is_empty())?;
    let shape = vec![1; if call.keepdims { first.input.shape.len() } else { 0 }];
    call.give(py, first.input.home, output, &shape, &wanted)
}

/// Refuses what no kernel reads side by side.
fn check(call: &Call<'_, '_>, inputs: &[(&str, &OnGpu)]) -> PyResult<()> {
    if call.more.initial.is_some() {
        return Err(PyTypeError::new_err(
            "initial does not go with expressions and weights; concatenate it to the arrays, whose sum is rounded once",
        ));
    }
    let (of, first) = inputs[0];
    let ndim = first.input.shape.len();
    if matches!(axes(call.axis)?, Axes::Some(axes) if !is_all(&axes, ndim)) {
        return Err(PyValueError::new_err(
            "expressions, weights and conditions of arrays on GPUs are reduced whole; leave axis out, \
             or copy the arrays to the host, as x.cpu() or x.get() does",
        ));
    }
    for (name, array) in inputs {
        if array.gpu.number != first.gpu.number || array.input.shape != first.input.shape {
            return Err(PyValueError::new_err(format!(
                "arrays of an expression on a GPU are of one shape and in one memory, and {of} is {:?} on GPU {}, {name} {:?} on GPU {}",
                first.input.shape, first.gpu.number, array.input.shape, array.gpu.number
            )));
        }
        if !array.input.is_run(false) {
            return Err(PyValueError::new_err(format!(
                "arrays of an expression on a GPU must be contiguous, and {name} is not; give {name}.contiguous()"
            )));
        }
    }
    Ok(())
}
