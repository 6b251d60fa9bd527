//! Reductions of expressions of arrays on a GPU: the kernel that reads them has the expression's code in it.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use warpfold_engine::map::{Each, Expressions, Map};
use warpfold_exact::partial::Output;
use warpfold_gpu::cuda::{Gpu, KeepContext};
use warpfold_gpu::kernel::{self, AnyOperand, AnyView, MapParts};
use warpfold_num::{Column, DType, Op, Result};
use warpfold_plan::shape::{Folding, Layout};

use super::devices;
use crate::convert::Wanted;
use crate::errors::raised;
use crate::masked::Kept;
use crate::reduce::{Call, is_missing, settled};
use crate::take::{Input, OnGpu, broadcast};

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
    let (shape, kept) = check(call, inputs)?;
    let names: Vec<(&str, DType)> =
        inputs.iter().map(|(name, array)| (*name, array.input.dtype)).collect();
    let map = Map::new(call.op, expressions, &names, call.policy);
    let map = map.map_err(|error| raised(&error))?;
    let wanted = call.wanted(dtype.unwrap_or(map.dtype()), first.input.home)?;
    let gpu = devices::gpu(first.gpu.number)?;
    let locations: Vec<DeviceArray> =
        inputs.iter().map(|(_, array)| DeviceArray::of(array)).collect();
    if !kept.is_whole {
        let arrays = Arrays { gpu, locations, map };
        return arrays.over(py, call, inputs, &shape, &kept, &wanted);
    }
    let output = py.detach(|| {
        with_views(&gpu, &locations, |views| {
            let folded = kernel::map::fold(&gpu, &map, views, 0)?;
            wanted.read_mapped(&map, &folded)
        })
    });
    let output = settled(output, call.op, &wanted, !first.input.is_empty())?;
    let shape = vec![1; if call.keepdims { first.input.shape.len() } else { 0 }];
    call.give(py, first.input.home, output, &shape, &wanted)
}

/// Where an array lies, and the stream that it is ready in.
struct DeviceArray {
    dtype: DType,
    address: usize,
    len: usize,
    stream: Option<usize>,
}

impl DeviceArray {
    fn of(array: &OnGpu) -> Self {
        let address = array.input.address().addr();
        let len = array.input.len() as usize;
        DeviceArray { dtype: array.input.dtype, address, len, stream: array.stream }
    }
}

/// Runs something with arrays as views, each ready once its stream is.
fn with_views<R>(gpu: &Gpu, locations: &[DeviceArray], run: impl FnOnce(&[AnyView<'_>]) -> R) -> R {
    // SAFETY: the streams are the libraries', which keep them while the call lasts.
    let stream = |stream: usize| unsafe { gpu.borrow_stream(stream as *mut _) };
    let streams: Vec<_> = locations.iter().map(|location| location.stream.map(stream)).collect();
    let view = |location: &DeviceArray| {
        // SAFETY: the exporters vouch for these elements in their GPU's memory while they are held, which is until the result is read.
        unsafe { AnyView::from_raw(location.dtype, location.address as u64, location.len) }
    };
    let views = locations.iter().zip(&streams).map(|(location, stream)| match stream {
        Some(stream) => view(location).after(stream),
        None => view(location),
    });
    run(&views.collect::<Vec<_>>())
}

/// An expression's arrays on a GPU.
struct Arrays {
    gpu: Gpu,
    locations: Vec<DeviceArray>,
    map: Map,
}

impl Arrays {
    /// The results over some axes; the others are kept.
    fn over<'py>(
        &self,
        py: Python<'py>,
        call: &Call<'_, 'py>,
        inputs: &[(&str, &OnGpu)],
        shape: &[u64],
        kept: &Kept,
        wanted: &Wanted,
    ) -> PyResult<Bound<'py, PyAny>> {
        let home = inputs[0].1.input.home;
        let folding = Layout::c(shape).and_then(|layout| Folding::of(layout, &kept.axes()));
        let form = folding.and_then(|folding| folding.form()).map_err(|error| raised(&error))?;
        if let Some(missing) = call.missing(&form, wanted)? {
            return call.give_columns(py, home, missing, &kept.shape, wanted);
        }
        if wanted.is_corrected() {
            return Err(PyTypeError::new_err(
                "a correction that is no whole number is for arrays on the host, or whole ones; copy it to the host first",
            ));
        }
        let each = |(_, array): &(&str, &OnGpu)| {
            // What broadcasts otherwise was refused.
            Each::of_shape(&array.input.shape, shape, &kept.is_reduced).unwrap_or_default()
        };
        let each: Vec<Each> = inputs.iter().map(each).collect();
        let parts = MapParts::axes(shape, &kept.axes()).map_err(|error| raised(&error))?;
        let (op, map, gpu) = (call.op, &self.map, &self.gpu);
        let columns = py.detach(|| {
            with_views(gpu, &self.locations, |views| {
                let both = views.iter().zip(&each);
                let operands: Vec<AnyOperand<'_>> =
                    both.map(|(&view, &each)| AnyOperand { view, each }).collect();
                let found = kernel::map::columns(gpu, map, op, &operands, &parts, wanted.finish);
                match (found, wanted.nan()) {
                    (Err(error), Some(nan)) if is_missing(&error) && is_nan(op) => {
                        let all = kernel::map::outputs(gpu, map, &operands, &parts, wanted.finish)?;
                        let value = |output: Result<Output>| match output {
                            Ok(Output::One(value)) => Ok(value),
                            Err(error) if is_missing(&error) => Ok(nan),
                            Err(error) => Err(error),
                            Ok(other) => unreachable!("{op} has one result, not {other:?}"),
                        };
                        let values = all.into_iter().map(value).collect::<Result<Vec<_>>>()?;
                        Ok(vec![("", Column::of_values(values))])
                    }
                    (found, _) => found,
                }
            })
        });
        let columns = columns.map_err(|error| raised(&error))?;
        let typed = columns.into_iter().map(|(name, column)| (name, wanted.typed(column)));
        call.give_columns(py, home, typed.collect(), &kept.shape, wanted)
    }
}

/// Whether results that do not exist are NaN beside others that do.
fn is_nan(op: Op) -> bool {
    op.divides() || matches!(op, Op::Min | Op::Max)
}

/// Refuses what no kernel reads side by side; the shape of the elements, and what is kept of it.
fn check(call: &Call<'_, '_>, inputs: &[(&str, &OnGpu)]) -> PyResult<(Vec<u64>, Kept)> {
    if call.more.initial.is_some() {
        return Err(PyTypeError::new_err(
            "initial does not go with expressions and weights; concatenate it to the arrays, whose sum is rounded once",
        ));
    }
    let (of, first) = inputs[0];
    let shapes: Vec<(&str, &Input)> =
        inputs.iter().map(|(name, array)| (*name, &array.input)).collect();
    let shape = broadcast(&shapes)?;
    let kept = Kept::new(call, &shape)?;
    for (name, array) in inputs {
        let each = Each::of_shape(&array.input.shape, &shape, &kept.is_reduced);
        let is_read = match each {
            Some(Each::Element) => array.input.shape == shape,
            Some(_) => !kept.is_whole,
            None => false,
        };
        if array.gpu.number != first.gpu.number || !is_read {
            return Err(PyValueError::new_err(format!(
                "arrays of an expression on a GPU are in one memory, and of one shape or of length 1 along all axes that are reduced, or along all others; {of} is {:?} on GPU {}, {name} {:?} on GPU {}",
                first.input.shape, first.gpu.number, array.input.shape, array.gpu.number
            )));
        }
        if !array.input.is_run(false) {
            return Err(PyValueError::new_err(format!(
                "arrays of an expression on a GPU must be contiguous, and {name} is not; give {name}.contiguous()"
            )));
        }
    }
    Ok((shape, kept))
}
