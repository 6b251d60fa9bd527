//! [`Parted`]: a map's arrays in parts, and a result for each.
//!
//! Lanes share parts in kernels of their own (`walk/map_rows.cuh`, `walk/map_segments.cuh`), whose results are correctly rounded or known to be missed. A
//! part that was missed, and each part of what has no such kernel, is reduced as a whole array is. Elements stay where they are: code reads those of
//! columns at their distance, and those of groups at the indices of a list.

use std::cell::OnceCell;
use std::marker::PhantomData;
use std::ops::Range;

use warpfold_engine::map::{Each, Folded, Map, fits};
use warpfold_engine::{Columns, HostArray, Indices};

use super::batched::AnyOperand;
use super::given::{Given, Lie, numbers};
use super::kernel::{COUNTS, Kernel};
use super::parts::{MapParts, PartBounds};
use super::row_jobs::{RowJob, row_job};
use super::shape::{Reads, Shape};
use super::splice::{Input, Lies};
use super::{Spliced, folded, folded_each};
use crate::kernel::array::{AnyBuffer, AnyView};
use crate::kernel::batched::{BatchedLaunch, Code};
use crate::kernel::executor::{Executor, Memory, Ready};
use crate::partial::{Finish, Output};
use crate::{Column, Error, Op, Result, Value, with_element};

/// Threads of a block, and the most lanes that share a part.
const THREADS: u64 = 256;
/// Steps that a lane loads at once.
const FLIGHT: u64 = 4;
/// Steps that a lane should have of a part, and the part of the warps that should have work at any time.
const STEPS_OF_A_LANE: u64 = 16;
const BUSY: f64 = 0.85;
/// Words of what was wrong (`parts.cuh`), behind what is counted.
const FAULTS: usize = 6;
const OFFSETS: usize = 0;
const MISSED: usize = 4;
/// Elements of parts that whole grids reduce, one part after another, where they are fewer than multiprocessors.
const LONG: u64 = 1 << 18;
/// Parts that have no kernel of their own whose launches run without a wait in between.
const AT_ONCE: usize = 256;
/// Elements of a part that a lane's 32 bits count.
const LONGEST: u64 = 1 << 30;

/// The launch of a kernel of parts, with the memory that it leaves its results in.
pub struct MapBatchedLaunch<'a> {
    launch: BatchedLaunch,
    out: AnyBuffer,
    record: Memory,
    /// The arrays that it reads.
    arrays: PhantomData<AnyView<'a>>,
}

impl MapBatchedLaunch<'_> {
    /// The same, bound to the arrays and not to the map that it was made of.
    pub(super) fn of_arrays<'a>(self) -> MapBatchedLaunch<'a> {
        MapBatchedLaunch { arrays: PhantomData, ..self }
    }

    /// The launch, to time it: it may run again and again.
    pub fn launches(&self) -> &[BatchedLaunch] {
        std::slice::from_ref(&self.launch)
    }

    /// The module that it runs.
    pub fn module(&self) -> &Spliced {
        match &self.launch.code {
            Code::Spliced(spliced) => spliced,
            Code::Shipped(name) => unreachable!("{name} has no map in it"),
        }
    }
}

/// A map's arrays in parts.
pub(super) struct Parted<'a> {
    machine: &'a dyn Executor,
    map: &'a Map,
    inputs: Vec<Given<'a>>,
    parts: MapParts<'a>,
    outputs: u64,
    elements: u64,
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
        let Some(job) = self.has_kernel(ddof)?.then_some(job) else { return Ok(None) };
        let template = match self.parts.bounds {
            PartBounds::Every { .. } => job.shape.template,
            PartBounds::Offsets(_) => job.shape.template.of_segments(),
        };
        Ok(Some(RowJob { shape: Shape { template, ..job.shape }, ..job }))
    }

    /// Whether parts are as kernels have them.
    fn has_kernel(&self, ddof: u64) -> Result<bool> {
        let facts = self.machine.facts();
        let few = self.outputs < u64::from(facts.multiprocessors);
        let mean = self.elements / self.outputs.max(1);
        if self.outputs == 0
            || (few && mean >= LONG)
            || facts.compute < warpfold_kernels::catalog::BASE
        {
            return Ok(false);
        }
        match self.parts.bounds {
            // Each has a result.
            PartBounds::Every { length, .. } => Ok(length > ddof && length <= LONGEST),
            PartBounds::Offsets(_) if self.elements <= LONGEST => Ok(true),
            PartBounds::Offsets(_) => {
                let is_short = |pair: &[u64]| pair[1].saturating_sub(pair[0]) <= LONGEST;
                Ok(self.offsets()?.windows(2).all(is_short))
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

    /// As a kernel reads an input whose steps are of so many elements.
    fn input(&self, index: usize, elements: u64) -> Input {
        let Given { view, each, lie } = self.inputs[index];
        let size = view.dtype.size() as u64;
        let lies = lie.lies();
        let apart = match (self.parts.bounds, each) {
            (PartBounds::Every { length, .. }, Each::Element) => length * size,
            // Segments begin at any address.
            (PartBounds::Offsets(_), Each::Element) => size,
            _ => 0,
        };
        let is_aligned = (view.address | apart).is_multiple_of((elements * size).min(16));
        let reads =
            if is_aligned && lies == Lies::Behind { Reads::Vectors } else { Reads::Elements };
        Input { index, reads, each, lies }
    }

    pub(super) fn launch_of(&self, op: Op, ddof: u64) -> Result<Option<MapBatchedLaunch<'a>>> {
        self.job(op, ddof)?.map(|job| self.launch(job)).transpose()
    }

    fn launch(&self, job: RowJob) -> Result<MapBatchedLaunch<'a>> {
        let Parted { machine, map, outputs, .. } = *self;
        let dtype = job.shape.dtype(map.program());
        // A step's values are 32 bytes.
        let elements = 32 / dtype.size() as u64;
        let kernel =
            Kernel::reading(map.program(), &job.shape, |index| self.input(index, elements))?;
        let out = AnyBuffer::new(
            machine.zeros(outputs as usize * dtype.size())?,
            dtype,
            outputs as usize,
        );
        let record = machine.copy_of(bytemuck::cast_slice(&Self::fresh()))?;
        let most = machine.facts().multiprocessors * kernel.entry.min_blocks.unwrap_or(1);
        let (second, length) = match self.parts.bounds {
            PartBounds::Every { length, .. } => (length, length),
            PartBounds::Offsets(_) => (self.elements, (self.elements / outputs.max(1)).max(1)),
        };
        let is_apart = matches!(self.parts.bounds, PartBounds::Every { inner: 2.., .. });
        let lanes =
            lanes(length.div_ceil(elements), outputs, u64::from(most) * THREADS / 32, is_apart);
        let grid = (outputs * lanes).div_ceil(THREADS).clamp(1, most.into()) as u32;
        let mut words = kernel.addresses(&self.inputs);
        let faults = record.address() + 8 * COUNTS as u64;
        let rest = [outputs, second, out.address(), record.address(), faults, job.options, lanes];
        words.extend(rest);
        if let PartBounds::Offsets(offsets) = self.parts.bounds {
            words.extend([offsets.address, offsets.dtype.size() as u64]);
        }
        let launch = BatchedLaunch {
            entry: kernel.spliced.entry().into(),
            code: Code::Spliced(kernel.spliced.clone()),
            grid,
            block: THREADS as u32,
            shared_bytes: 0,
            words,
        };
        Ok(MapBatchedLaunch { launch, out, record, arrays: PhantomData })
    }

    fn fresh() -> [u64; COUNTS + FAULTS] {
        let mut fresh = [u64::MAX; COUNTS + FAULTS];
        fresh[2..COUNTS].fill(0);
        fresh
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
        let MapBatchedLaunch { launch, mut out, record, .. } = self.launch(job)?;
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
        if op == Op::Stats {
            let remedy = "ask for the results that are wanted, one by one";
            let obstacle = "stats of an expression's parts are not there".into();
            return Err(Error::Map { requested: "map".into(), obstacle, remedy: remedy.into() });
        }
        if self.outputs == 0 {
            return self.none(finish);
        }
        let (mut first, mut second) = (Vec::new(), Vec::new());
        self.each(finish, |output| {
            match output? {
                Output::One(value) => first.push(value),
                Output::Pair(least, greatest) => {
                    first.push(least);
                    second.push(greatest);
                }
                Output::Summary(_) => unreachable!("stats are refused"),
            }
            Ok(())
        })?;
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

/// How many lanes share parts of so many steps, where so many warps run at once: as `lanes_of_rows` of the planner has it, whose figures are those of rows
/// without a map. Neighbouring columns are neighbouring lanes', so that what a warp reads lies together.
fn lanes(steps: u64, rows: u64, warps: u64, is_apart: bool) -> u64 {
    let least = match steps / STEPS_OF_A_LANE {
        0 => 1,
        lanes => 1 << lanes.ilog2(),
    };
    let least: u64 = match is_apart {
        true => 1,
        false => least.clamp(steps.next_power_of_two().min(4), 32),
    };
    let busy = |lanes: u64| {
        let rounds = (rows * lanes) as f64 / 32.0 / warps as f64;
        rounds / rounds.ceil()
    };
    let all = std::iter::successors(Some(least), |lanes| Some(lanes * 2));
    let possible = |&lanes: &u64| lanes <= THREADS && (lanes <= 32 || steps / lanes >= FLIGHT);
    let lanes: Vec<u64> = all.take_while(possible).collect();
    let enough = lanes.iter().copied().find(|&lanes| busy(lanes) >= BUSY);
    let busiest = lanes.into_iter().max_by(|&a, &b| busy(a).total_cmp(&busy(b)));
    enough.or(busiest).unwrap_or(least)
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
