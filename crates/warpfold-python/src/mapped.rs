//! Reductions of expressions, and weights.

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use warpfold_engine::map::{Expressions, Folded, Map};
use warpfold_engine::{HostArray, Parts, Request};
use warpfold_exact::partial::Output;
use warpfold_num::{DType, Result, with_element};
use warpfold_plan::shape::{Folding, Layout};

use crate::convert::Wanted;
use crate::errors::raised;
use crate::fold::{self, BlockFold};
use crate::kept::Kept;
use crate::masked::mask;
use crate::named::{Named, is_option};
use crate::names::name;
use crate::reduce::{Call, check_bools, columns};
use crate::run::run;
use crate::take::{Block, Home, Input, Views, broadcast, take};
use crate::weights::{exactly, is_weighted, no_weights};

impl BlockFold for Map {
    type Partial = Folded;

    fn empty(&self) -> Folded {
        Map::empty(self)
    }

    fn block(&self, blocks: &mut [Block], start: u64) -> Result<Folded> {
        let arrays: Vec<HostArray<'_>> = blocks.iter().map(Block::array).collect();
        self.fold(&arrays, start)
    }

    fn merge(&self, left: &mut Folded, later: &Folded) {
        left.merge(later);
    }
}

/// An expression over inputs that broadcast to a shape.
struct Mapped<'a> {
    expressions: Expressions,
    inputs: Vec<(&'a str, &'a Input)>,
    shape: Vec<u64>,
    home: Home,
    /// The elements as the caller sees them; `None` for those that are computed.
    dtype: Option<DType>,
}

impl<'a> Mapped<'a> {
    fn reduce<'py>(&self, py: Python<'py>, call: &Call<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
        if call.more.initial.is_some() {
            return Err(PyTypeError::new_err(
                "initial does not go with expressions and weights; concatenate it to the arrays, whose sum is rounded once",
            ));
        }
        let dtypes: Vec<(&str, DType)> =
            self.inputs.iter().map(|(name, input)| (*name, input.dtype)).collect();
        let map = Map::new(call.op, &self.expressions, &dtypes, call.policy);
        let map = map.map_err(|error| raised(&error))?;
        let wanted = call.wanted(self.dtype.unwrap_or(map.dtype()), self.home)?;
        let kept = Kept::new(call, &self.shape)?;
        if kept.outer.contains(&0) {
            return self.nothing(py, call, &kept, &map, &wanted);
        }
        let op = call.op;
        let read = |output: usize, folded: Folded| {
            kept.read(op, &wanted, output, wanted.read_mapped(&map, &folded))
        };
        let outputs = match self.runs(&kept) {
            Some(arrays) => {
                let bytes = self.inputs.iter().map(|(_, input)| input.bytes()).sum();
                run(py, bytes, || Ok(vec![read(0, map.fold(&arrays, 0)?)?]))
            }
            None => {
                let views = Views::new(&self.shape, &kept.is_reduced, &self.inputs)?;
                fold::each(py, &views, &map, call.policy.threads, read)
            }
        };
        let outputs: Vec<Output> = outputs.map_err(|error| raised(&error))?;
        kept.give(py, call, self.home, outputs, &wanted)
    }

    /// No results, with the type that some would have.
    fn nothing<'py>(
        &self,
        py: Python<'py>,
        call: &Call<'_, 'py>,
        kept: &Kept,
        map: &Map,
        wanted: &Wanted,
    ) -> PyResult<Bound<'py, PyAny>> {
        let strides = vec![0; self.shape.len()];
        let layout = Layout::strided(&self.shape, &strides, 0);
        let folding = layout.and_then(|layout| Folding::of(layout, &kept.axes()));
        let parted = folding.and_then(|folding| Ok((folding.form()?, folding)));
        let (form, folding) = parted.map_err(|error| raised(&error))?;
        let none = with_element!(map.dtype(), T => HostArray::of::<T>(&[]));
        let request = Request::new(call.op, none).parts(Arc::new(Parts::Axes(form, folding)));
        let columns = columns(py, 0, &request, wanted, false)?;
        let typed = columns.into_iter().map(|(name, column)| (name, wanted.typed(column)));
        call.give_columns(py, self.home, typed.collect(), &kept.shape, wanted)
    }

    /// The arrays as runs of memory, where nothing needs to be copied.
    fn runs(&self, kept: &Kept) -> Option<Vec<HostArray<'a>>> {
        let run = |(_, input): &(&str, &'a Input)| {
            let is_same = kept.is_whole && input.shape == self.shape && input.dtype != DType::Bool;
            is_same.then(|| input.contiguous(false)).flatten()
        };
        self.inputs.iter().map(run).collect()
    }
}

/// A weighted reduction of an array.
pub(crate) fn weighted<'py>(
    py: Python<'py>,
    call: &Call<'_, 'py>,
    x: &Input,
    weights: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    if !is_weighted(call.op) {
        return Err(no_weights(call.op));
    }
    if weights.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err(
            "weights is an expression, and what it weighs is an array; give an array, or name both, as in wf.sum('x', x=x, weights='w', w=w)",
        ));
    }
    let weights = take(weights)?;
    let Some((value, weight)) = exactly(x.dtype, weights.dtype) else {
        let (x, w) = (name(x.dtype), name(weights.dtype));
        return Err(PyTypeError::new_err(format!(
            "weights of {w} are not all exact as {x}; convert the weights or the array, as in x.astype(numpy.float64)"
        )));
    };
    check_bools(py, call.op, x, call.policy)?;
    check_bools(py, call.op, &weights, call.policy)?;
    let mask = mask(call.more.r#where)?;
    let mut expressions = Expressions::value(value).and_then(|all| all.weights(weight));
    let mut inputs = vec![("x", x), ("w", &weights)];
    if let Some(mask) = &mask {
        expressions = expressions.and_then(|all| all.keep("kept"));
        inputs.push(("kept", mask));
    }
    let dtype = Some(if x.dtype == DType::Bool { weights.dtype } else { x.dtype });
    let expressions = expressions.map_err(|error| raised(&error))?;
    Mapped { expressions, inputs, shape: x.shape.clone(), home: x.home, dtype }.reduce(py, call)
}

/// The reduction of an expression, whose arrays are bound by keywords.
pub(crate) fn expression<'py>(
    call: &Call<'_, 'py>,
    text: &Bound<'py, PyString>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = text.py();
    if call.more.weights.is_some() && !is_weighted(call.op) {
        return Err(no_weights(call.op));
    }
    let named = Named::of(call.op.name(), text, &call.more)?;
    if named.is_on_gpu() {
        let arrays = named.on_gpu()?;
        return crate::cuda::mapped::reduce(py, call, &named.expressions, &arrays, None);
    }
    let (expressions, inputs) = named.on_host()?;
    let inputs: Vec<(&str, &Input)> =
        inputs.iter().map(|(name, input)| (name.as_str(), input)).collect();
    // Masks and weights broadcast to what they belong to, and not the other way.
    let named: Vec<_> = inputs.iter().filter(|(name, _)| !is_option(name)).copied().collect();
    let shape = broadcast(if named.is_empty() { &inputs } else { &named })?;
    let home = named.first().map_or(inputs[0].1.home, |(_, input)| input.home);
    Mapped { expressions, inputs, shape, home, dtype: None }.reduce(py, call)
}
