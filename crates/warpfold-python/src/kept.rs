//! [`Kept`]: what is left of a shape when axes are reduced, and how its results are given.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use warpfold_exact::partial::Output;
use warpfold_num::{At, Column, Error, Op, Result, Value};

use crate::convert::Wanted;
use crate::errors::raised;
use crate::policy::{Axes, axes};
use crate::reduce::{Call, is_missing};
use crate::take::Home;

/// What the axes of a call leave of a shape.
pub(crate) struct Kept {
    /// Which axes are reduced.
    pub(crate) is_reduced: Vec<bool>,
    /// The lengths of the others.
    pub(crate) outer: Vec<u64>,
    /// The shape of the results.
    pub(crate) shape: Vec<u64>,
    /// Whether there is one output alone, as of no axes.
    pub(crate) is_whole: bool,
    /// Whether there are elements.
    is_any: bool,
}

impl Kept {
    /// Of a call and the shape of what is reduced.
    pub(crate) fn new(call: &Call<'_, '_>, shape: &[u64]) -> PyResult<Self> {
        let ndim = shape.len();
        let mut is_reduced = vec![false; ndim];
        match axes(call.axis)? {
            Axes::All => is_reduced.fill(true),
            Axes::Some(axes) => {
                for axis in axes {
                    let from_end = if axis < 0 { axis + ndim as i64 } else { axis };
                    let reduced = usize::try_from(from_end).ok();
                    match reduced.and_then(|axis| is_reduced.get_mut(axis)) {
                        Some(reduced) if !*reduced => *reduced = true,
                        reduced => {
                            let what =
                                if reduced.is_some() { "is named twice" } else { "does not exist" };
                            return Err(PyValueError::new_err(format!(
                                "axis {axis} {what}, of an array with the shape {shape:?}; name axes from 0, each once"
                            )));
                        }
                    }
                }
            }
        }
        Ok(Self::of(is_reduced, call.keepdims, shape))
    }

    /// Of the axes that are reduced of a shape.
    pub(crate) fn of(is_reduced: Vec<bool>, keepdims: bool, shape: &[u64]) -> Self {
        let lengths = || shape.iter().zip(&is_reduced);
        let outer: Vec<u64> =
            lengths().filter(|(_, is)| !**is).map(|(&length, _)| length).collect();
        let kept = match keepdims {
            true => lengths().map(|(&length, is)| if *is { 1 } else { length }).collect(),
            false => outer.clone(),
        };
        let is_whole = outer.is_empty();
        let is_any = !shape.contains(&0);
        Kept { is_reduced, outer, shape: kept, is_whole, is_any }
    }

    /// The axes that are reduced.
    pub(crate) fn axes(&self) -> Vec<i64> {
        let reduced = (0..).zip(&self.is_reduced).filter(|(_, is)| **is);
        reduced.map(|(axis, _)| axis).collect()
    }

    /// What an output's error is about.
    pub(crate) fn named(&self, mut output: usize, error: Error) -> Error {
        if self.is_whole || matches!(error, Error::Map { .. }) {
            return error;
        }
        let mut indices = vec![0; self.outer.len()];
        for (index, &length) in indices.iter_mut().zip(&self.outer).rev() {
            *index = output as u64 % length.max(1);
            output /= length.max(1) as usize;
        }
        Error::Output { output: At::Indices(indices), error: Box::new(error) }
    }

    /// A result, or what stands for one that does not exist.
    pub(crate) fn read(
        &self,
        op: Op,
        wanted: &Wanted,
        output: usize,
        result: Result<Output>,
    ) -> Result<Output> {
        match (result, wanted.nan()) {
            (Err(error), Some(nan)) if is_missing(&error) && self.may_be_nan(op) => {
                Ok(if op == Op::MinMax { Output::Pair(nan, nan) } else { Output::One(nan) })
            }
            (Err(Error::Empty { op, .. }), _) => {
                Err(self.named(output, Error::Empty { op, ignored: self.is_any }))
            }
            (result, _) => result.map_err(|error| self.named(output, error)),
        }
    }

    /// Whether a result that does not exist is NaN, where its type has one.
    fn may_be_nan(&self, op: Op) -> bool {
        let is_one_of_many = !self.is_whole && !matches!(op, Op::ArgMin | Op::ArgMax | Op::Stats);
        op.divides() || is_one_of_many
    }

    /// The results as the caller has them.
    pub(crate) fn give<'py>(
        &self,
        py: Python<'py>,
        call: &Call<'_, 'py>,
        home: Home,
        mut outputs: Vec<Output>,
        wanted: &Wanted,
    ) -> PyResult<Bound<'py, PyAny>> {
        if self.is_whole {
            return call.give(py, home, outputs.swap_remove(0), &self.shape, wanted);
        }
        if call.op == Op::Stats {
            return self.give_stats(py, home, outputs, wanted);
        }
        let (mut first, mut second) = (Vec::with_capacity(outputs.len()), Vec::new());
        for output in outputs {
            match output {
                Output::One(value) => first.push(value),
                Output::Pair(min, max) => {
                    first.push(min);
                    second.push(max);
                }
                Output::Summary(_) => unreachable!("stats were given above"),
            }
        }
        let mut columns = vec![("first", wanted.typed(Column::of_values(first)))];
        if call.op == Op::MinMax {
            columns.push(("second", Column::of_values(second)));
        }
        call.give_columns(py, home, columns, &self.shape, wanted)
    }

    /// All results of each output; of what does not exist NaN, where its type has one.
    fn give_stats<'py>(
        &self,
        py: Python<'py>,
        home: Home,
        outputs: Vec<Output>,
        wanted: &Wanted,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut columns: Vec<(&'static str, Vec<Value>)> = Vec::new();
        for (at, output) in outputs.into_iter().enumerate() {
            let Output::Summary(summary) = output else { unreachable!("stats are a summary") };
            let is_there = |name: &str| {
                !(wanted.dtype().is_complex()
                    && matches!(name, "min" | "max" | "argmin" | "argmax"))
            };
            let fields = crate::stats::fields(&summary).into_iter();
            for (field, (name, value)) in fields.filter(|(name, _)| is_there(name)).enumerate() {
                let Some(value) = value.or(crate::stats::nan(name, wanted.dtype())) else {
                    let op = Op::ALL.iter().copied().find(|op| op.name() == name);
                    let op = op.unwrap_or(Op::Stats);
                    let empty = Error::Empty { op, ignored: self.is_any };
                    return Err(raised(&self.named(at, empty)));
                };
                if at == 0 {
                    columns.push((name, Vec::new()));
                }
                columns[field].1.push(value);
            }
        }
        let columns = columns.into_iter().map(|(name, values)| (name, Column::of_values(values)));
        crate::stats::columns(py, home, columns.collect(), wanted, &self.shape)
    }
}
