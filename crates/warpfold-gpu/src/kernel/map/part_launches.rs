//! [`MapBatchedLaunch`]: the launch of a kernel of parts, over arrays that lie in a machine's memory.

use std::marker::PhantomData;

use warpfold_engine::map::Each;
use warpfold_kernels::arguments::{MapColumnArguments, MapRowArguments, MapSegmentArguments};

use super::Spliced;
use super::column_tiles::{ColumnTiles, Matrices};
use super::given::Given;
use super::kernel::{COUNTS, Kernel};
use super::parted::{FAULTS, Parted};
use super::parts::PartBounds;
use super::row_jobs::RowJob;
use super::shape::{Reads, Walk};
use super::splice::{Input, Lies};
use crate::kernel::array::{AnyBuffer, AnyView};
use crate::kernel::batched::{BatchedLaunch, Code};
use crate::kernel::executor::Memory;
use crate::plan::WORKSPACE_HEADER;
use crate::{DType, Op, Result};

/// Threads of a block, and the most lanes that share a row.
const THREADS: u64 = 256;
/// Bytes of the values of a step, and of those that a lane of columns has of a row.
const STEP_BYTES: u64 = 32;
const VECTOR_BYTES: u64 = 16;
/// Elements of a step of segments, such steps of a lane's, and what an end weighs beside elements.
const OF_STEP: u64 = 8;
const STEPS_OF_A_TILE: u64 = 2;
const WEIGHT: u64 = 32;
/// Steps that a lane loads at once.
const FLIGHT: u64 = 4;
/// Steps that a lane should have of a row, and the part of the warps that should have work at any time.
const STEPS_OF_A_LANE: u64 = 16;
const BUSY: f64 = 0.85;

/// The launch of a kernel of parts, with the memory that it leaves its results in.
pub struct MapBatchedLaunch<'a> {
    pub(super) launch: BatchedLaunch,
    pub(super) out: AnyBuffer,
    pub(super) record: Memory,
    /// What blocks leave each other.
    pub(super) workspace: Option<Memory>,
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

impl<'a> Parted<'a> {
    pub(super) fn launch_of(&self, op: Op, ddof: u64) -> Result<Option<MapBatchedLaunch<'a>>> {
        self.job(op, ddof)?.map(|job| self.launch(job)).transpose()
    }

    pub(super) fn launch(&self, job: RowJob) -> Result<MapBatchedLaunch<'a>> {
        let dtype = job.shape.dtype(self.map.program());
        let n = self.outputs as usize;
        let out = AnyBuffer::new(self.machine.zeros(n * dtype.size())?, dtype, n);
        let record = self.machine.copy_of(bytemuck::cast_slice(&fresh()))?;
        let counts = record.address();
        let to = To {
            out: out.address(),
            counts,
            faults: counts + 8 * COUNTS as u64,
            options: job.options,
        };
        let (launch, workspace) = match job.shape.template.walk() {
            Some(Walk::Columns) => self.launch_of_columns(&job, dtype, to)?,
            Some(Walk::Segments) => self.launch_of_segments(&job, to)?,
            _ => (self.launch_of_rows(&job, dtype, to)?, None),
        };
        Ok(MapBatchedLaunch { launch, out, record, workspace, arrays: PhantomData })
    }

    /// Of rows.
    fn launch_of_rows(&self, job: &RowJob, dtype: DType, to: To) -> Result<BatchedLaunch> {
        let PartBounds::Every { length, .. } = self.parts.bounds else {
            unreachable!("rows are of one length")
        };
        let outputs = self.outputs;
        let elements = STEP_BYTES / dtype.size() as u64;
        let input = |index| {
            let Given { view, each, .. } = self.inputs[index];
            let apart = if each == Each::Element { length * view.dtype.size() as u64 } else { 0 };
            read(index, view, each, Lies::Behind, elements, apart)
        };
        let kernel = Kernel::reading(self.map.program(), &job.shape, input)?;
        let most = self.blocks(&kernel);
        let lanes = lanes(length.div_ceil(elements), outputs, most * THREADS / 32);
        let mut words = kernel.addresses(&self.inputs);
        let To { out, counts, faults, options } = to;
        let rows = outputs;
        words.extend(MapRowArguments { rows, length, out, counts, faults, options, lanes }.words());
        Ok(launch(&kernel, (outputs * lanes).div_ceil(THREADS).clamp(1, most), words))
    }

    /// Blocks of a kernel that run at once.
    fn blocks(&self, kernel: &Kernel) -> u64 {
        let each = kernel.entry.min_blocks.unwrap_or(1);
        u64::from(self.machine.facts().multiprocessors) * u64::from(each)
    }

    fn launch_of_segments(&self, job: &RowJob, to: To) -> Result<(BatchedLaunch, Option<Memory>)> {
        let PartBounds::Offsets(offsets) = self.parts.bounds else {
            unreachable!("segments have offsets")
        };
        let (outputs, n) = (self.outputs, self.elements);
        let input = |index| {
            let Given { view, each, lie } = self.inputs[index];
            read(index, view, each, lie.lies(), OF_STEP, 0)
        };
        let kernel = Kernel::reading(self.map.program(), &job.shape, input)?;
        let work = (n + outputs * WEIGHT).div_ceil(STEPS_OF_A_TILE * OF_STEP * THREADS);
        let grid = work.clamp(1, self.blocks(&kernel));
        let entry = kernel.entry;
        let state = entry.state_bytes.unwrap_or_else(|| unreachable!("{} says so", entry.name));
        let bytes = WORKSPACE_HEADER + grid * u64::from(state);
        let workspace = self.machine.zeros(bytes as usize)?;
        let mut words = kernel.addresses(&self.inputs);
        let To { out, counts, faults, options } = to;
        let arguments = MapSegmentArguments {
            segments: outputs,
            n,
            out,
            counts,
            faults,
            options,
            workspace: workspace.address(),
            offsets: offsets.address,
            bytes: offsets.dtype.size() as u64,
        };
        words.extend(arguments.words());
        Ok((launch(&kernel, grid, words), Some(workspace)))
    }

    /// The matrices whose columns parts are; `None` of other parts.
    pub(super) fn matrices(&self) -> Option<Matrices> {
        match self.parts.bounds {
            PartBounds::Every { length, inner, .. } if inner > 1 => {
                let batches = self.outputs / inner;
                Some(Matrices { width: inner, rows: length, batches })
            }
            _ => None,
        }
    }

    fn launch_of_columns(
        &self,
        job: &RowJob,
        dtype: DType,
        to: To,
    ) -> Result<(BatchedLaunch, Option<Memory>)> {
        let matrices = self.matrices().unwrap_or_else(|| unreachable!("parts are columns"));
        let per_lane = VECTOR_BYTES / dtype.size() as u64;
        let input = |index| {
            let Given { view, each, .. } = self.inputs[index];
            let apart = matrices.width * view.dtype.size() as u64;
            read(index, view, each, Lies::Behind, per_lane, apart)
        };
        let kernel = Kernel::reading(self.map.program(), &job.shape, input)?;
        let (entry, blocks) = (kernel.entry, self.blocks(&kernel));
        let tiles = ColumnTiles::of(matrices, per_lane, blocks);
        let tiles = tiles.unwrap_or_else(|| unreachable!("the kernel counts so many"));
        let state = entry.state_bytes.unwrap_or_else(|| unreachable!("{} says so", entry.name));
        let workspace = self.machine.zeros(tiles.workspace(state.into()) as usize)?;
        let Matrices { width, rows, batches } = matrices;
        let ColumnTiles { lanes, is_apart, share, runs, .. } = tiles;
        let mut words = kernel.addresses(&self.inputs);
        let To { out, counts, faults, options } = to;
        let arguments = MapColumnArguments {
            width,
            rows,
            out,
            counts,
            faults,
            options,
            batches,
            runs,
            lanes,
            share,
            is_apart: is_apart.into(),
            workspace: workspace.address(),
        };
        words.extend(arguments.words());
        Ok((launch(&kernel, tiles.blocks().clamp(1, blocks), words), Some(workspace)))
    }

    /// Whether columns are as many as a kernel counts.
    pub(super) fn are_countable(&self, matrices: Matrices) -> bool {
        ColumnTiles::of(matrices, VECTOR_BYTES / 8, 1).is_some()
    }
}

/// An input whose loads are of so many elements, from places so many bytes apart: in vectors where all of these lie at multiples of one.
fn read(
    index: usize,
    view: AnyView<'_>,
    each: Each,
    lies: Lies,
    elements: u64,
    apart: u64,
) -> Input {
    let vector = (elements * view.dtype.size() as u64).min(VECTOR_BYTES);
    let is_aligned = (view.address | apart).is_multiple_of(vector);
    let reads = match lies {
        Lies::Behind if is_aligned => Reads::Vectors,
        _ => Reads::Elements,
    };
    Input { index, reads, each, lies }
}

/// Where results, counts and faults of a launch go, and its options.
#[derive(Clone, Copy)]
struct To {
    out: u64,
    counts: u64,
    faults: u64,
    options: u64,
}

fn launch(kernel: &Kernel, grid: u64, words: Vec<u64>) -> BatchedLaunch {
    BatchedLaunch {
        entry: kernel.spliced.entry().into(),
        code: Code::Spliced(kernel.spliced.clone()),
        grid: grid as u32,
        block: THREADS as u32,
        shared_bytes: 0,
        words,
    }
}

fn fresh() -> [u64; COUNTS + FAULTS] {
    let mut fresh = [u64::MAX; COUNTS + FAULTS];
    fresh[2..COUNTS].fill(0);
    fresh
}

/// How many lanes share rows of so many steps, where so many warps run at once: as `lanes_of_rows` of the planner has it, whose figures are those of rows
/// without a map.
fn lanes(steps: u64, rows: u64, warps: u64) -> u64 {
    let least = match steps / STEPS_OF_A_LANE {
        0 => 1,
        lanes => 1 << lanes.ilog2(),
    };
    let least: u64 = least.clamp(steps.next_power_of_two().min(4), 32);
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
