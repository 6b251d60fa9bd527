//! Operators of parts of arrays: each output as if its elements were folded alone, with indices that count from its first.

use std::ops::Range;

use warpfold_exact::tree::{Interval, LEVEL_OF_RUNS, RUN};
use warpfold_expr::{MOST_RUNS, Piece, Slice, State, TypedOperator};
use warpfold_num::{Column, Error, Policy, Result, Value, with_element};
use warpfold_plan::{HostArray, Parts};

use super::{Along, GRAIN, length, read, state, threads_of};
use crate::map::{Elements, array, gathered, slice};
use crate::threads;

/// Elements, more or less, whose outputs a thread takes at once.
const BLOCK: usize = 1 << 16;

/// Elements at most of rows that are folded side by side: longer ones have runs enough of their own.
const LONGEST_ROW: usize = 4096;

/// The results of all parts, a column for each that the operator has; its laws are tried on a sample of all elements before.
///
/// # Errors
/// As [`fold`](super::fold), with the part that has no result; or the parts are of other lengths than the arrays.
pub fn columns(
    operator: &TypedOperator,
    arrays: &[HostArray<'_>],
    parts: &Parts<'_>,
    policy: Policy,
) -> Result<Vec<Column>> {
    let n = length(operator, arrays)?;
    let inputs: Vec<Slice<'_>> = arrays.iter().map(slice).collect();
    operator.check(&inputs)?;
    let (elements, outputs) = Elements::of(parts, n)?;
    let parted = Parted { operator, arrays, inputs: &inputs, elements: &elements };
    let threads = threads_of(policy);
    let each = n.checked_div(outputs).unwrap_or(0);
    let states: Vec<Result<Option<State>>> = match &elements {
        // Few and long: the threads share each.
        Elements::Runs(run) if outputs < 2 * threads && each > 4 * BLOCK => {
            let one = |output| parted.run(run(output), threads);
            (0..outputs).map(one).collect()
        }
        _ => {
            let block = (BLOCK / each.max(1)).max(1);
            let blocks = threads::map(threads, 0..outputs.div_ceil(block), |k| {
                parted.block(k * block..outputs.min((k + 1) * block))
            });
            blocks.into_iter().flatten().collect()
        }
    };
    read_columns(operator, parts, states)
}

/// The results that the states of all parts say, a column for each that the operator has.
///
/// # Errors
/// As [`read`], with the part that has no result.
pub fn read_columns(
    operator: &TypedOperator,
    parts: &Parts<'_>,
    states: impl IntoIterator<Item = Result<Option<State>>>,
) -> Result<Vec<Column>> {
    let mut results: Vec<Vec<Value>> = operator.results().iter().map(|_| Vec::new()).collect();
    for (output, state) in states.into_iter().enumerate() {
        let values = state.and_then(|state| read(operator, state)).map_err(|error| {
            Error::Output { output: parts.name(output as u64), error: Box::new(error) }
        })?;
        results.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
    }
    let typed = operator.results().into_iter().zip(results);
    Ok(typed
        .map(|(dtype, values)| match values.is_empty() {
            true => with_element!(dtype, T => Column::of::<T>(Vec::new())),
            false => Column::of_values(values),
        })
        .collect())
}

/// Arrays in parts.
struct Parted<'a> {
    operator: &'a TypedOperator,
    arrays: &'a [HostArray<'a>],
    inputs: &'a [Slice<'a>],
    elements: &'a Elements<'a>,
}

impl Parted<'_> {
    /// The state of each of some outputs.
    fn block(&self, outputs: Range<usize>) -> Vec<Result<Option<State>>> {
        let Elements::Runs(run) = self.elements else {
            return outputs.map(|output| self.gathered(output)).collect();
        };
        match self.rows(&**run, outputs.clone()) {
            Some(states) => states.into_iter().map(|state| state.map(Some)).collect(),
            None => outputs.map(|output| self.run(run(output), 1)).collect(),
        }
    }

    /// Elements that lie one behind the other.
    fn run(&self, elements: Range<usize>, threads: usize) -> Result<Option<State>> {
        let inputs: Vec<Slice<'_>> =
            self.inputs.iter().map(|input| input.part(elements.clone())).collect();
        state(self.operator, &inputs, elements.len() as u64, threads)
    }

    /// Outputs of one length, one behind the other, whose runs are folded side by side; `None` of others.
    fn rows(
        &self,
        run: &dyn Fn(usize) -> Range<usize>,
        outputs: Range<usize>,
    ) -> Option<Vec<Result<State>>> {
        let first = run(outputs.start);
        let row = first.len();
        // Rows of several runs are made of whole ones.
        let is_of_runs = row > 0 && (row <= RUN as usize || row.is_multiple_of(RUN as usize));
        let are_rows = is_of_runs && row <= LONGEST_ROW && {
            let at = |output: usize| first.start + (output - outputs.start) * row;
            outputs.clone().all(|output| run(output) == (at(output)..at(output) + row))
        };
        if !are_rows {
            return None;
        }
        let (length, rows) = (row.min(RUN as usize), outputs.len());
        let inputs: Vec<Slice<'_>> = self
            .inputs
            .iter()
            .map(|input| input.part(first.start..first.start + rows * row))
            .collect();
        let piece = Piece { row: Some(row as u64), ..Piece::of(&inputs) };
        let all = rows * row / length;
        let states = (0..all).step_by(MOST_RUNS).flat_map(|at| {
            let runs = MOST_RUNS.min(all - at);
            match self.operator.runs(piece, at * length, length, runs) {
                Ok(states) => states.into_iter().map(Ok).collect(),
                // Each by itself: one that has no value leaves the others.
                Err(_) => (at..at + runs)
                    .map(|run| self.operator.run(piece, run * length, length))
                    .collect::<Vec<_>>(),
            }
        });
        let states: Vec<Result<State>> = states.collect();
        if row == length {
            return Some(states);
        }
        let along = Along { operator: self.operator, piece };
        let joined = |runs: &[Result<State>]| {
            let mut interval = Interval::new(0);
            runs.iter().for_each(|state| interval.node(along, LEVEL_OF_RUNS, state.clone()));
            interval.value(along)
        };
        Some(states.chunks(row / length).map(joined).collect())
    }

    /// An output whose elements lie apart: brought together, a span of the tree at a time.
    fn gathered(&self, output: usize) -> Result<Option<State>> {
        let n = self.elements.count(output);
        let mut offsets = (0..0, Vec::new());
        let mut spans = Vec::new();
        for first in (0..n).step_by(GRAIN as usize) {
            let end = n.min(first + GRAIN as usize);
            let indices = self.elements.indices(output, first..end, &mut offsets);
            let owned: Vec<_> = self.arrays.iter().map(|array| gathered(array, &indices)).collect();
            let both = self.arrays.iter().zip(&owned);
            let arrays: Vec<HostArray<'_>> =
                both.map(|(of, owned)| array(of.dtype(), &**owned)).collect();
            let inputs: Vec<Slice<'_>> = arrays.iter().map(slice).collect();
            let piece = Piece { start: first as u64, ..Piece::of(&inputs) };
            let along = Along { operator: self.operator, piece };
            spans.push(along.interval(first as u64, end as u64).value(along)?);
        }
        // Neighbours of one size, the last of which may be shorter.
        while spans.len() > 1 {
            let joined = spans.chunks(2).map(|pair| match pair {
                [left, right] => self.operator.merge(left, right),
                rest => Ok(rest[0]),
            });
            spans = joined.collect::<Result<_>>()?;
        }
        Ok(spans.pop())
    }
}
