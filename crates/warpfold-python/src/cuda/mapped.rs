//! Reductions of expressions of arrays on a GPU: the kernel that reads them has the expression's code in it.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use warpfold_engine::Columns;
use warpfold_engine::map::{Each, Expressions, Map};
use warpfold_exact::partial::Output;
use warpfold_gpu::cuda::{Gpu, KeepContext};
use warpfold_gpu::kernel::{self, AnyOperand, AnyView, MapParts};
use warpfold_num::{Column, DType, Op, Result};
use warpfold_plan::shape::{Folding, Layout};

use super::{Location, devices};
use crate::convert::Wanted;
use crate::errors::raised;
use crate::kept::Kept;
use crate::named::is_option;
use crate::reduce::{Call, is_missing, settled};
use crate::take::{Home, Input, OnGpu, broadcast};

/// Reduces an expression of arrays by their names; the elements are of a type as the caller sees them, if they are not computed.
pub(crate) fn reduce<'py>(
    py: Python<'py>,
    call: &Call<'_, 'py>,
    expressions: &Expressions,
    inputs: &[(&str, &OnGpu)],
    dtype: Option<DType>,
) -> PyResult<Bound<'py, PyAny>> {
    let _kept = KeepContext::new();
    let (home, shape, kept) = check(call, inputs)?;
    let arrays = Arrays::of(call, expressions, inputs)?;
    let wanted = call.wanted(dtype.unwrap_or(arrays.map.dtype()), home)?;
    if !kept.is_whole {
        return arrays.over(py, call, home, (inputs, &shape), &kept, &wanted);
    }
    let output = py.detach(|| {
        arrays.with_views(|views| {
            let folded = kernel::map::fold(&arrays.gpu, &arrays.map, views, 0)?;
            wanted.read_mapped(&arrays.map, &folded).map(|output| wanted.elements(output))
        })
    });
    let output = settled(output, call.op, &wanted, !shape.contains(&0))?;
    call.give(py, home, output, &kept.shape, &wanted)
}

/// Where an array lies, and the stream that it is ready in.
pub(super) struct DeviceArray {
    dtype: DType,
    address: usize,
    len: usize,
    stream: Option<usize>,
}

impl DeviceArray {
    pub(super) fn of(array: &OnGpu) -> Self {
        let address = array.input.address().addr();
        let len = array.input.len() as usize;
        DeviceArray { dtype: array.input.dtype, address, len, stream: array.stream }
    }
}

/// Runs something with arrays of a GPU as views, each ready once its stream is.
pub(super) fn with_views<R>(
    gpu: &Gpu,
    locations: &[DeviceArray],
    run: impl FnOnce(&[AnyView<'_>]) -> R,
) -> R {
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

/// An expression's arrays on a GPU, and what is reduced of them.
pub(super) struct Arrays {
    pub(super) gpu: Gpu,
    pub(super) map: Map,
    locations: Vec<DeviceArray>,
}

impl Arrays {
    /// Of arrays of one GPU.
    pub(super) fn of(
        call: &Call<'_, '_>,
        expressions: &Expressions,
        inputs: &[(&str, &OnGpu)],
    ) -> PyResult<Self> {
        let dtypes: Vec<(&str, DType)> =
            inputs.iter().map(|(name, array)| (*name, array.input.dtype)).collect();
        let map = Map::new(call.op, expressions, &dtypes, call.policy);
        let map = map.map_err(|error| raised(&error))?;
        let gpu = devices::gpu(inputs[0].1.gpu.number)?;
        let locations = inputs.iter().map(|(_, array)| DeviceArray::of(array)).collect();
        Ok(Arrays { gpu, map, locations })
    }

    /// One more array, which is none of the expression's; its elements are read as of a type.
    pub(super) fn and(mut self, location: Location, dtype: DType) -> Self {
        let Location { first, len, stream } = location;
        self.locations.push(DeviceArray {
            dtype,
            address: first as usize,
            len: len as usize,
            stream,
        });
        self
    }

    /// Runs something with arrays as views, each ready once its stream is.
    pub(super) fn with_views<R>(&self, run: impl FnOnce(&[AnyView<'_>]) -> R) -> R {
        with_views(&self.gpu, &self.locations, run)
    }

    /// The result of each part; of one that does not exist NaN, where its type has one.
    pub(super) fn columns(
        &self,
        op: Op,
        operands: &[AnyOperand<'_>],
        parts: &MapParts<'_>,
        wanted: &Wanted,
    ) -> Result<Columns> {
        let Arrays { gpu, map, .. } = self;
        let found = kernel::map::columns(gpu, map, op, operands, parts, wanted.finish);
        let is_index = matches!(op, Op::ArgMin | Op::ArgMax | Op::Stats);
        match (found, wanted.nan()) {
            (Err(error), Some(nan)) if is_missing(&error) && !is_index => {
                let (mut first, mut second) = (Vec::new(), Vec::new());
                for output in kernel::map::outputs(gpu, map, operands, parts, wanted.finish)? {
                    match output.map(|output| wanted.elements(output)) {
                        Ok(Output::One(value)) => first.push(value),
                        Ok(Output::Pair(least, greatest)) => {
                            first.push(least);
                            second.push(greatest);
                        }
                        Ok(Output::Summary(_)) => unreachable!("stats were left out above"),
                        Err(error) if is_missing(&error) => {
                            first.push(nan);
                            second.push(nan);
                        }
                        Err(error) => return Err(error),
                    }
                }
                let mut columns = vec![("first", Column::of_values(first))];
                if op == Op::MinMax {
                    columns.push(("second", Column::of_values(second)));
                }
                Ok(columns)
            }
            (Ok(columns), _) => {
                let typed = |(name, column)| (name, wanted.typed(wanted.elements_of(column)));
                Ok(columns.into_iter().map(typed).collect())
            }
            (Err(error), _) => Err(error),
        }
    }

    /// The results of arrays of one shape, each of them one value.
    pub(super) fn reduced(
        &self,
        op: Op,
        shape: &[u64],
        kept: &Kept,
        wanted: &Wanted,
    ) -> Result<Columns> {
        if kept.is_whole {
            let output = self.with_views(|views| {
                let folded = kernel::map::fold(&self.gpu, &self.map, views, 0)?;
                wanted.read_mapped(&self.map, &folded).map(|output| wanted.elements(output))
            });
            return match kept.read(op, wanted, 0, output)? {
                Output::One(value) => Ok(vec![("", Column::of_values(vec![value]))]),
                other => unreachable!("a call has one result, not {other:?}"),
            };
        }
        let parts = MapParts::axes(shape, &kept.axes())?;
        self.with_views(|views| {
            let operands: Vec<AnyOperand<'_>> =
                views.iter().map(|&view| AnyOperand { view, each: Each::Element }).collect();
            self.columns(op, &operands, &parts, wanted)
        })
    }

    /// The results over some axes; the others are kept.
    fn over<'py>(
        &self,
        py: Python<'py>,
        call: &Call<'_, 'py>,
        home: Home,
        (inputs, shape): (&[(&str, &OnGpu)], &[u64]),
        kept: &Kept,
        wanted: &Wanted,
    ) -> PyResult<Bound<'py, PyAny>> {
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
        let op = call.op;
        let columns = py.detach(|| {
            self.with_views(|views| {
                let both = views.iter().zip(&each);
                let operands: Vec<AnyOperand<'_>> =
                    both.map(|(&view, &each)| AnyOperand { view, each }).collect();
                self.columns(op, &operands, &parts, wanted)
            })
        });
        let columns = columns.map_err(|error| raised(&error))?;
        call.give_columns(py, home, columns, &kept.shape, wanted)
    }
}

/// Refuses what no kernel reads side by side; where results go, the shape of the elements, and what is kept of it.
fn check(call: &Call<'_, '_>, inputs: &[(&str, &OnGpu)]) -> PyResult<(Home, Vec<u64>, Kept)> {
    if call.more.initial.is_some() {
        return Err(PyTypeError::new_err(
            "initial does not go with expressions and weights; concatenate it to the arrays, whose sum is rounded once",
        ));
    }
    // Masks and weights broadcast to what they belong to, and not the other way.
    let of_elements = |(name, _): &&(&str, &OnGpu)| !is_option(name);
    let named: Vec<(&str, &Input)> =
        inputs.iter().filter(of_elements).map(|(name, array)| (*name, &array.input)).collect();
    let (of, first) = *inputs.iter().find(of_elements).unwrap_or(&inputs[0]);
    let shape = if named.is_empty() { first.input.shape.clone() } else { broadcast(&named)? };
    let kept = Kept::new(call, &shape)?;
    for (name, array) in inputs {
        let own = &array.input.shape;
        let is_read = match Each::of_shape(own, &shape, &kept.is_reduced) {
            Some(Each::Element) => *own == shape,
            Some(_) => !kept.is_whole,
            None => false,
        };
        if array.gpu.number != first.gpu.number {
            return Err(PyValueError::new_err(format!(
                "{of} lies on GPU {}, and {name} on GPU {}; move them to one",
                first.gpu.number, array.gpu.number
            )));
        }
        if !is_read {
            return Err(PyValueError::new_err(format!(
                "{name} is {own:?} beside elements of the shape {shape:?}; on a GPU give it that shape, as {name}.expand({shape:?}).contiguous(), or over axes length 1 along all that are reduced or along all others"
            )));
        }
        check_run(name, array)?;
    }
    Ok((first.input.home, shape, kept))
}

/// Refuses an array that kernels of maps do not read, which is not one run of memory.
pub(super) fn check_run(name: &str, array: &OnGpu) -> PyResult<()> {
    match array.input.is_run(false) {
        true => Ok(()),
        false => Err(PyValueError::new_err(format!(
            "on a GPU, {name} must be contiguous here, and is not; give {name}.contiguous(), or copy it to the host, as {name}.cpu() does"
        ))),
    }
}
