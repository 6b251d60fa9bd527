//! `where=`, `initial=` and `weights=` of an array.

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBool;
use warpfold_engine::{self as engine, Parts, Request};
use warpfold_exact::AnyPartial;
use warpfold_exact::partial::{Finish, Output};
use warpfold_num::{DType, Op, Policy, Result};
use warpfold_plan::segment::{Numbers, Segments};
use warpfold_plan::shape::Folding;

use crate::convert::Wanted;
use crate::errors::raised;
use crate::fold::{self, BlockFold};
use crate::kept::Kept;
use crate::reduce::{Call, check_bools, finish, partial};
use crate::run::run;
use crate::take::{Block, Input, Taken, Views, take_any};

/// The mask of a call: `None` where all elements count.
pub(crate) fn mask(given: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Input>> {
    let Some(given) = given else { return Ok(None) };
    if let Ok(truth) = given.cast::<PyBool>() {
        return (!truth.is_true()).then(Input::of_false).transpose();
    }
    match mask_of(take_any(given)?)? {
        Taken::Gpu(_) => Err(PyTypeError::new_err(
            "where lies on a GPU, and what it masks in the host's memory; copy one to where the other is, as where.cpu() or where.get() does",
        )),
        mask => mask.into_input().map(Some),
    }
}

/// An array as a mask, wherever it lies.
pub(crate) fn mask_of(given: Taken) -> PyResult<Taken> {
    match &given {
        Taken::Array(mask) => check_mask(mask.dtype)?,
        Taken::Gpu(mask) => check_mask(mask.input.dtype)?,
        Taken::Followed(_) => {}
        Taken::Column(_) => {
            return Err(PyTypeError::new_err(
                "where is a column, whose bools are bits or have nulls; give an array of bools, as where.to_numpy()",
            ));
        }
    }
    Ok(given)
}

/// Refuses a mask that is not of bools.
fn check_mask(dtype: DType) -> PyResult<()> {
    match dtype {
        DType::Bool => Ok(()),
        other => Err(PyTypeError::new_err(format!(
            "where has elements of {}, and is to be of bools; compare them, as in where != 0",
            crate::names::name(other)
        ))),
    }
}

/// A reduction of the elements that a mask keeps.
struct Masked {
    op: Op,
    policy: Policy,
    dtype: DType,
    /// How results are read, where nothing is merged into their partials first.
    finish: Option<Finish>,
}

/// What is left of some elements.
#[allow(
    clippy::large_enum_variant,
    reason = "there is one for a block, and a box would cost an allocation for each"
)]
enum BlockResult {
    /// Their partial.
    Partial(AnyPartial),
    /// The result, of all elements of an output.
    Result(Output),
}

impl Masked {
    fn reduced(&self, x: &Block) -> Result<AnyPartial> {
        engine::reduce(&Request::new(self.op, x.numbers()).policy(self.policy))
    }

    /// Whether elements are multiplied by where they stand: then none are left out, and ones stand for those that are dropped.
    fn fills(&self) -> bool {
        self.op == Op::Prod && self.dtype.is_float()
    }
}

impl BlockFold for Masked {
    type Partial = BlockResult;

    fn empty(&self) -> BlockResult {
        BlockResult::Partial(AnyPartial::empty(self.op, self.dtype))
    }

    fn block(&self, blocks: &mut [Block], start: u64) -> Result<BlockResult> {
        let [x, mask] = blocks else { unreachable!("an array and its mask") };
        if self.fills() {
            x.fill_with_ones(mask.bytes());
            let request = Request::new(self.op, x.numbers()).policy(self.policy);
            return engine::reduce(&request.starting_at(start)).map(BlockResult::Partial);
        }
        x.keep(mask.bytes());
        if x.len() == 0 {
            return Ok(self.empty());
        }
        let partial = self.reduced(x)?;
        if !matches!(self.op, Op::ArgMin | Op::ArgMax | Op::Stats) {
            return Ok(BlockResult::Partial(partial));
        }
        // Indices are those of the elements, not of the ones that were kept.
        let kept = mask.bytes().iter().zip(start..).filter(|(kept, _)| **kept != 0);
        let indices: Vec<u64> = kept.map(|(_, index)| index).collect();
        Ok(BlockResult::Partial(partial.reindexed(&|kept| indices[kept as usize])))
    }

    fn merge(&self, left: &mut BlockResult, later: &BlockResult) {
        match (left, later) {
            (BlockResult::Partial(left), BlockResult::Partial(later)) => left.merge(later),
            _ => unreachable!("results are of whole outputs"),
        }
    }

    fn several(&self, blocks: &mut [Block], inputs: usize) -> Option<Result<Vec<BlockResult>>> {
        if matches!(self.op, Op::ArgMin | Op::ArgMax | Op::Stats) {
            return None;
        }
        let [x, mask] = blocks else { unreachable!("an array and its mask") };
        let mut offsets = vec![0u64];
        for output in mask.bytes().chunks_exact(inputs) {
            let kept = output.iter().map(|&kept| u64::from(kept)).sum();
            let kept = if self.fills() { inputs as u64 } else { kept };
            offsets.push(offsets[offsets.len() - 1] + kept);
        }
        match self.fills() {
            true => x.fill_with_ones(mask.bytes()),
            false => x.keep(mask.bytes()),
        }
        let offsets = Segments::Offsets(Numbers::from(&offsets[..]));
        Some(engine::segments(offsets, x.len() as u64, self.policy).and_then(|parts| {
            let request = Request::new(self.op, x.numbers()).policy(self.policy);
            let request = request.parts(Arc::new(parts));
            // A result that does not exist is its reader's to say.
            if let Some(finish) = self.finish
                && let Ok(columns) = engine::columns(&request, finish)
            {
                return Ok(results(&columns));
            }
            let partials = engine::partials(&request)?;
            Ok(partials.into_iter().map(BlockResult::Partial).collect())
        }))
    }
}

/// Columns as results of outputs.
fn results(columns: &engine::Columns) -> Vec<BlockResult> {
    let [(_, first), rest @ ..] = &columns[..] else { return Vec::new() };
    let result = |output: usize| match rest {
        [(_, second)] => Output::Pair(first.get(output), second.get(output)),
        _ => Output::One(first.get(output)),
    };
    (0..first.len()).map(|output| BlockResult::Result(result(output))).collect()
}

/// The results of arrays that lie side by side, an array and its mask, without the interpreter.
pub(crate) fn outputs(
    (op, policy, dtype): (Op, Policy, DType),
    views: &Views,
    kept: &Kept,
    wanted: &Wanted,
) -> Result<Vec<Output>> {
    let finish = (!wanted.is_corrected()).then_some(wanted.finish);
    let masked = Masked { op, policy: Policy { threads: Some(1), ..policy }, dtype, finish };
    fold::each_of(views, &masked, policy.threads, &|output, left| {
        let result = match left {
            BlockResult::Partial(partial) => wanted.read(&partial, op),
            BlockResult::Result(result) => Ok(result),
        };
        kept.read(op, wanted, output, result)
    })
}

impl<'py> Call<'_, 'py> {
    /// Reduces an array with a mask or an initial element.
    pub(crate) fn chosen(&self, py: Python<'py>, input: &Input) -> PyResult<Bound<'py, PyAny>> {
        let mask = mask(self.more.r#where)?;
        let wanted = self.wanted(input.dtype, input.home)?;
        check_bools(py, self.op, input, self.policy)?;
        let kept = Kept::new(self, &input.shape)?;
        let initial = self.more.initial;
        let initial = initial
            .map(|initial| crate::initial::initial(self.op, input.dtype, self.policy, initial));
        let initial = initial.transpose()?;
        let merged = |partial: AnyPartial| match &initial {
            None => partial,
            Some(initial) => {
                let mut all = initial.clone();
                all.merge(&partial);
                all
            }
        };
        let op = self.op;
        let read = |output: usize, left: BlockResult| {
            let result = match left {
                BlockResult::Partial(partial) => wanted.read(&merged(partial), op),
                BlockResult::Result(result) => Ok(result),
            };
            kept.read(op, &wanted, output, result)
        };
        let outputs = match mask {
            Some(mask) => {
                engine::check(self.op, input.read_as()).map_err(|error| raised(&error))?;
                let inputs = [("x", input), ("where", &mask)];
                let views = Views::new(&input.shape, &kept.is_reduced, &inputs)?;
                if views.outputs() == 0 {
                    // Nothing is there to be left out.
                    return self.plain(py, input);
                }
                let policy = Policy { threads: Some(1), ..self.policy };
                let is_read = initial.is_none() && !wanted.is_corrected();
                let finish = is_read.then_some(wanted.finish);
                let masked = Masked { op: self.op, policy, dtype: input.read_as(), finish };
                fold::each(py, &views, &masked, self.policy.threads, read)
            }
            None if kept.is_whole => {
                let partial = merged(partial(py, input, self.op, self.policy)?);
                let output = finish(&partial, self.op, &wanted, !input.is_empty())?;
                return self.give(py, input.home, output, &kept.shape, &wanted);
            }
            None => {
                let axes = kept.axes();
                let (memory, layout) = input.layout()?;
                let folding = Folding::of(layout, &axes).map_err(|error| raised(&error))?;
                let form = folding.form().map_err(|error| raised(&error))?;
                if form.outputs == 0 {
                    return self.plain(py, input);
                }
                let request = Request::new(self.op, memory).policy(self.policy);
                let request = request.parts(Arc::new(Parts::Axes(form, folding)));
                run(py, input.bytes(), || {
                    let partials = engine::partials(&request)?.into_iter().enumerate();
                    partials
                        .map(|(output, partial)| read(output, BlockResult::Partial(partial)))
                        .collect()
                })
            }
        };
        let outputs = outputs.map_err(|error| raised(&error))?;
        kept.give(py, self, input.home, outputs, &wanted)
    }
}
