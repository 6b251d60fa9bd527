//! [`Parted`]: a map's arrays in parts, and a result for each.
//!
//! Lanes share parts in kernels of their own (`walk/map_rows.cuh`, `walk/map_columns.cuh`, `walk/map_segments.cuh`), whose results are correctly rounded
//! or known to be missed. A part that was missed, and each part of what has no such kernel, is reduced as a whole array is. Elements stay where they are:
//! code reads those of one column at their distance, and those of groups at the indices of a list.

use std::cell::OnceCell;
use std::ops::Range;

use warpfold_engine::map::{Each, Folded, Map, columns_of_stats, fits};
use warpfold_engine::{Columns, HostArray, Indices};

use super::batched::AnyOperand;
use super::given::{Given, Lie, numbers};
use super::kernel::COUNTS;
use super::part_launches::MapBatchedLaunch;
use super::parts::{MapParts, PartBounds};
use super::row_jobs::{RowJob, row_job};
use super::shape::{Shape, Walk};
use super::{folded, folded_each};
use crate::kernel::array::{AnyBuffer, AnyView};
use crate::kernel::executor::{Executor, Ready};
use crate::partial::{Finish, Output};
use crate::{Column, Error, Op, Result, Value, with_element};

/// Words of what was wrong (`parts.cuh`), behind what is counted.
pub(super) const FAULTS: usize = 6;
const OFFSETS: usize = 0;
const MISSED: usize = 4;
/// Elements of rows that whole grids reduce, one row after another, where they are fewer than multiprocessors.
const LONG: u64 = 1 << 18;
/// Parts that have no kernel of their own whose launches run without a wait in between.
const AT_ONCE: usize = 256;
/// Elements of a part that a lane's 32 bits count.
const LONGEST: u64 = 1 << 30;

/// A map's arrays in parts.
pub(super) struct Parted<'a> {
    pub(super) machine: &'a dyn Executor,
    pub(super) map: &'a Map,
    pub(super) inputs: Vec<Given<'a>>,
    pub(super) parts: MapParts<'a>,
    pub(super) outputs: u64,
    pub(super) elements: u64,
    /// Offsets, once they are read.
    offsets: OnceCell<Vec<u64>>,
}

impl<'a> Parted<'a> {
    pub(super) fn new(
        machine: &'a dyn Executor,
        map: &'a Map,
        inputs: &[AnyOperand<'a>],
        parts: &MapParts<'a>,
    ) -> Result<Self> {
        let given = |input: &AnyOperand<'_>| (input.view.dtype, input.view.len, input.each);
        let elements = map.length_of(&inputs.iter().map(given).collect::<Vec<_>>())? as u64;
        let outputs = parts.outputs(elements)?;
        let length = match parts.bounds {
            PartBounds::Every { length, .. } => Some(length),
            PartBounds::Offsets(_) => None,
        };
        for (input, name) in inputs.iter().zip(map.inputs()) {
            input.view.check(machine)?;
            if input.each == Each::Column && length.is_none() {
                let obstacle = format!(
                    "{name} has a value for each column, and parts of several lengths have no columns"
                );
                let remedy = "give it a value for each element".into();
                return Err(Error::Map { requested: "map".into(), obstacle, remedy });
            }
            let length = length.unwrap_or(0) as usize;
            fits(name, input.each, input.view.len, outputs as usize, length)?;
        }
        parts.views().iter().try_for_each(|given| given.view.check(machine))?;
        let lie = match (parts.bounds, parts.order) {
            (_, Some(order)) => Lie::Listed(order),
            (PartBounds::Every { inner, .. }, None) if inner != 1 => Lie::Apart(inner),
            _ => Lie::Behind,
        };
        let given = |&AnyOperand { view, each }: &AnyOperand<'a>| {
            let lie = if each == Each::Element { lie } else { Lie::Behind };
            Given { view, each, lie }
        };
        let inputs = inputs.iter().map(given).collect();
        let (parts, offsets) = (parts.clone(), OnceCell::new());
        Ok(Parted { machine, map, inputs, parts, outputs, elements, offsets })
    }

    /// The kernel of parts for a reduction; `None` where each part is reduced as a whole array.
    pub(super) fn job(&self, op: Op, ddof: u64) -> Result<Option<RowJob>> {
        let Some(job) = row_job(self.map, op, ddof) else { return Ok(None) };
        let Some(job) = self.has_kernel(ddof).then_some(job) else { return Ok(None) };
        let walk = match self.parts.bounds {
            PartBounds::Every { .. } if self.matrices().is_some() => Walk::Columns,
            PartBounds::Every { .. } => Walk::Rows,
            PartBounds::Offsets(_) => Walk::Segments,
        };
        let template = job.shape.template.of(walk);
        Ok(Some(RowJob { shape: Shape { template, ..job.shape }, ..job }))
    }

    /// Whether parts are as kernels have them.
    fn has_kernel(&self, ddof: u64) -> bool {
        let facts = self.machine.facts();
        if self.outputs == 0 || facts.compute < warpfold_kernels::catalog::BASE {
            return false;
        }
        // Each has a result.
        let is_long = |length: u64| length > ddof && length <= LONGEST;
        match (self.parts.bounds, self.matrices()) {
            (PartBounds::Offsets(_), _) => true,
            (PartBounds::Every { length, .. }, Some(matrices)) => {
                is_long(length) && self.are_countable(matrices)
            }
            (PartBounds::Every { length, .. }, None) => {
                let are_few = self.outputs < u64::from(facts.multiprocessors);
                is_long(length) && !(are_few && length >= LONG)
            }
        }
    }

    /// Offsets on the host.
    fn offsets(&self) -> Result<&[u64]> {
        if let (PartBounds::Offsets(view), None) = (self.parts.bounds, self.offsets.get()) {
            let offsets = numbers(self.machine, view)?;
            let is_wrong = |pair: &[u64]| pair[0] > pair[1] || pair[1] > self.elements;
            if let Some(at) = offsets.windows(2).position(is_wrong) {
                return Err(self.no_offsets(at as u64));
            }
            return Ok(self.offsets.get_or_init(|| offsets));
        }
        Ok(self.offsets.get().map_or(&[], Vec::as_slice))
    }

    fn no_offsets(&self, at: u64) -> Error {
        Error::Segments {
            requested: format!("{} segments of {} elements", self.outputs, self.elements),
            obstacle: format!("offsets from number {at} on descend, or reach beyond the array"),
            remedy: "offsets count elements from 0 and must not descend",
        }
    }

    /// The part that an element belongs to, by its index in the order of parts.
    fn output_of(&self, index: u64) -> Result<u64> {
        match self.parts.bounds {
            PartBounds::Every { length, .. } => Ok(index / length),
            PartBounds::Offsets(_) => {
                Ok(self.offsets()?.partition_point(|&begin| begin <= index) as u64 - 1)
            }
        }
    }

    fn ready(&self) -> Vec<Ready<'a>> {
        let views = self.parts.views();
        self.inputs.iter().chain(&views).map(|given| given.view.ready).collect()
    }

    /// The results of the kernel of parts, and of those that it missed.
    pub(super) fn result_buffer(&self, job: RowJob, ddof: u64) -> Result<AnyBuffer> {
        // The workspace is there until the launch is over.
        let MapBatchedLaunch { launch, mut out, record, workspace: _workspace, .. } =
            self.launch(job)?;
        self.machine.run_batched(&[launch], &self.ready())?;
        let mut words = [0u64; COUNTS + FAULTS];
        record.read(bytemuck::cast_slice_mut(&mut words))?;
        let finish = Finish { ddof, ..Finish::default() };
        let faults = &words[COUNTS..];
        if faults[OFFSETS] != u64::MAX {
            return Err(self.no_offsets(faults[OFFSETS]));
        }
        // Parts without a result, and the first in which an operation has no value, say why themselves.
        let mut wrong: Vec<u64> = faults.to_vec();
        wrong[MISSED] = u64::MAX;
        if words[0] != u64::MAX {
            wrong.push(self.output_of(words[0])?);
        }
        if let Some(output) = wrong.into_iter().min().filter(|&output| output != u64::MAX) {
            self.output(output, finish)?;
            return Err(Error::Device {
                requested: format!("a map of part {output}"),
                obstacle: "its kernel says that it has no value, and the part has one".into(),
                remedy: "report it with the expression",
            });
        }
        if faults[MISSED] != u64::MAX {
            for output in missed(&out.column()?) {
                let bytes = match self.output(output, finish)? {
                    Output::One(Value::F32(value)) => value.to_ne_bytes().to_vec(),
                    Output::One(Value::F64(value)) => value.to_ne_bytes().to_vec(),
                    other => unreachable!("kernels of parts leave floats, not {other:?}"),
                };
                let at = output as usize * bytes.len();
                out.memory_mut().write(at, &bytes)?;
            }
        }
        Ok(out)
    }

    pub(super) fn columns(&self, op: Op, finish: Finish) -> Result<Columns> {
        let rounds = |job: &RowJob| {
            finish.round_to.is_none_or(|to| to == job.shape.dtype(self.map.program()))
        };
        match self.job(op, finish.ddof)?.filter(rounds) {
            Some(job) => Ok(vec![(op.name(), self.result_buffer(job, finish.ddof)?.column()?)]),
            None => self.by_one(op, finish),
        }
    }

    /// The result of each part, or why it has none, in order, as far as `take` wants more.
    fn each(
        &self,
        finish: Finish,
        mut take: impl FnMut(Result<Output>) -> Result<()>,
    ) -> Result<()> {
        for first in (0..self.outputs).step_by(AT_ONCE) {
            let outputs = first..self.outputs.min(first + AT_ONCE as u64);
            let inputs = outputs.clone().map(|output| self.of_output(output));
            let inputs = inputs.collect::<Result<Vec<_>>>()?;
            let found = folded_each(self.machine, self.map, &inputs)?;
            for (output, folded) in outputs.zip(found) {
                take(self.finished(output, folded, finish))?;
            }
        }
        Ok(())
    }

    /// The result of each part, or why it has none.
    pub(super) fn all(&self, finish: Finish) -> Result<Vec<Result<Output>>> {
        let mut all = Vec::new();
        self.each(finish, |output| {
            all.push(output);
            Ok(())
        })?;
        Ok(all)
    }

    /// Each part as a whole array.
    pub(super) fn by_one(&self, op: Op, finish: Finish) -> Result<Columns> {
        if self.outputs == 0 {
            return self.none(finish);
        }
        let (mut first, mut second, mut summaries) = (Vec::new(), Vec::new(), Vec::new());
        self.each(finish, |output| {
            match output? {
                Output::One(value) => first.push(value),
                Output::Pair(least, greatest) => {
                    first.push(least);
                    second.push(greatest);
                }
                Output::Summary(summary) => summaries.push(*summary),
            }
            Ok(())
        })?;
        if op == Op::Stats {
            return columns_of_stats(&summaries, |output| self.parts.name(output));
        }
        if op == Op::MinMax {
            return Ok(vec![("min", Column::of_values(first)), ("max", Column::of_values(second))]);
        }
        Ok(vec![(op.name(), Column::of_values(first))])
    }

    /// No results, of the type that some would have.
    fn none(&self, finish: Finish) -> Result<Columns> {
        let empty = self
            .inputs
            .iter()
            .map(|given| with_element!(given.view.dtype, T => HostArray::of::<T>(&[])));
        let empty: Vec<HostArray<'_>> = empty.collect();
        let every = warpfold_plan::segment::Segments::every(1);
        let parts = warpfold_engine::segments(every, 0, self.map.policy())?;
        let named = self.map.columns(&empty, &parts, Indices::OfInput, finish)?;
        Ok(named.into_iter().next().map(|(_, columns)| columns).unwrap_or_default())
    }

    /// The arrays of one part, as whole ones.
    fn of_output(&self, output: u64) -> Result<Vec<Given<'a>>> {
        let (range, first) = match self.parts.bounds {
            PartBounds::Every { length, inner, .. } => {
                let first = output / inner * inner * length + output % inner;
                (0..length as usize, first)
            }
            PartBounds::Offsets(_) => {
                let offsets = self.offsets()?;
                let [begin, end] = [0, 1].map(|k| offsets[output as usize + k]);
                (0..(end - begin) as usize, begin)
            }
        };
        let at = output as usize;
        let of = |given: &Given<'a>| match (given.each, given.lie) {
            (Each::Row, _) => Given { view: given.view.slice(at..at + 1), ..*given },
            (Each::Column, _) => Given { each: Each::Element, ..*given },
            (Each::Element, Lie::Apart(_)) => {
                let bytes = first * given.view.dtype.size() as u64;
                let address = given.view.address + bytes;
                Given { view: AnyView { address, len: range.len(), ..given.view }, ..*given }
            }
            (Each::Element, _) => given.slice(shifted(&range, first as usize)),
        };
        Ok(self.inputs.iter().map(of).collect())
    }

    /// The result of one part, reduced as a whole array.
    fn output(&self, output: u64, finish: Finish) -> Result<Output> {
        let inputs = self.of_output(output)?;
        self.finished(output, folded(self.machine, self.map, &inputs, 0, None), finish)
    }

    fn finished(&self, output: u64, folded: Result<Folded>, finish: Finish) -> Result<Output> {
        let found = folded.and_then(|folded| self.map.finish(&folded, finish));
        found.map_err(|error| Error::Output {
            output: self.parts.name(output),
            error: Box::new(error),
        })
    }
}

fn shifted(range: &Range<usize>, by: usize) -> Range<usize> {
    range.start + by..range.end + by
}

/// The rows whose results are marks (`part_exact.cuh`).
fn missed(column: &Column) -> Vec<u64> {
    const MARKS: (u32, u64) = (0x7fc0_dead, 0x7ff8_0000_0000_dead);
    let is_mark: Vec<bool> = match column {
        Column::F32(values) => values.iter().map(|value| value.to_bits() == MARKS.0).collect(),
        Column::F64(values) => values.iter().map(|value| value.to_bits() == MARKS.1).collect(),
        other => unreachable!("kernels of rows leave no {:?}", other.dtype()),
    };
    (0..).zip(is_mark).filter(|(_, is_mark)| *is_mark).map(|(row, _)| row).collect()
}
