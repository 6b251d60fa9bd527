//! Plans for many reductions at once on NVIDIA GPUs: which kernel, which way, how many blocks. Pure; knows no GPU library.

use std::fmt;

use super::batched_fold::BatchedFold;
use super::columns::{Columns, Lane};
use super::components::Components;
use super::cuda_choose::{columns_of_lane, dense_rows};
use super::cuda_entry::Fallback;
use super::shares::{WARPS, least_grid_of_segments};
use super::strided::{LoopOrder, LoopTable, Strided};
use super::trees::Trees;
use super::{Batch, BoundsKind, Partition};
use crate::{DType, Nan};

/// The ways of a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum CudaWay {
    /// Every warp an equal share of elements and ends of segments, whatever the lengths.
    Segments,
    /// Segments of one length, side by side in lanes: `lanes` of them share one.
    Rows {
        /// 1, or a power of two from 4 to 256.
        lanes: u64,
    },
    /// Neighbouring columns side by side in lanes, rows shared out among warps.
    Columns(Columns),
    /// Loops over memory, outputs in lanes or warps.
    Strided(Strided),
    /// A block an output, or a few, one after another.
    Blocks,
    /// Products of floats, each along the tree of its own elements.
    Trees(Trees),
}

impl CudaWay {
    /// Why it was taken.
    pub const fn why(self) -> &'static str {
        match self {
            CudaWay::Segments => "each output's elements are contiguous",
            CudaWay::Rows { .. } => "outputs' elements are contiguous, and as many of each",
            CudaWay::Columns(_) => "neighbouring elements belong to neighbouring outputs",
            CudaWay::Strided(_) => "an output's elements lie apart",
            CudaWay::Blocks => "each result is rounded once, from sums that take a block to hold",
            CudaWay::Trees(_) => "each product goes along the tree of its own elements",
        }
    }

    /// The first part of its kernels' names.
    pub const fn name(self) -> &'static str {
        match self {
            CudaWay::Segments | CudaWay::Blocks | CudaWay::Trees(_) => "segment",
            CudaWay::Rows { .. } => "row",
            CudaWay::Columns(_) => "column",
            CudaWay::Strided(_) => "strided",
        }
    }
}

/// What a result of floats is rounded to, once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Rounding {
    /// The type that elements are added in: `f32` for those of 16 bits.
    #[default]
    Accumulator,
    /// The elements' own type, of 16 bits.
    Element,
}

/// How a GPU will do many reductions.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CudaBatchPlan {
    /// What was asked, of the parts of elements where these are folded.
    pub batch: Batch,
    /// What the batch's elements are of those that were given.
    pub components: Components,
    /// The kernel.
    pub fold: BatchedFold,
    /// The way.
    pub way: CudaWay,
    /// Threads of a block.
    pub block: u32,
    /// Blocks of the grid.
    pub grid: u32,
    /// Bytes of device memory beside input and output.
    pub workspace: u64,
    /// What results of floats are rounded to.
    #[cfg_attr(feature = "serde", serde(default))]
    pub rounding: Rounding,
}

/// Bytes before the first block's state, or piece, in a workspace that must be zero at first: the ticket, alone in its sector, and what exact folds add up.
pub const WORKSPACE_HEADER: u64 = 128 + 8 * 296;

impl CudaBatchPlan {
    /// The same in so many blocks.
    #[must_use]
    pub fn of_grid(mut self, blocks: u32) -> Self {
        let least = match self.way {
            CudaWay::Segments => least_grid_of_segments(&self.batch),
            _ => 1,
        };
        self.grid = blocks.max(least);
        let states = match &self.way {
            // A block leaves two states, a segment's number and a mark.
            CudaWay::Segments => {
                let piece = 2 * self.fold.state_bytes(self.batch.dtype) + 16;
                WORKSPACE_HEADER + u64::from(self.grid) * piece
            }
            CudaWay::Columns(columns) => columns.states() * self.fold.state_bytes(self.batch.dtype),
            CudaWay::Strided(strided) => strided.states() * self.fold.state_bytes(self.batch.dtype),
            CudaWay::Trees(trees) => trees.state_bytes(&self.batch),
            CudaWay::Rows { .. } | CudaWay::Blocks => 0,
        };
        self.workspace = states + 8 * self.tables().len() as u64;
        self
    }

    /// What the last words of the workspace must hold before the first launch: the loops of views.
    pub fn tables(&self) -> Vec<u64> {
        let loops = self.loops().into_iter().flat_map(|table| table.words);
        loops.chain(self.loops_of_blocks().into_iter().flat_map(|table| table.words)).collect()
    }

    /// The loops of the strided way.
    pub fn loops(&self) -> Option<LoopTable> {
        let (CudaWay::Strided(_), Partition::Axes(form)) = (&self.way, &self.batch.partition)
        else {
            return None;
        };
        let folded = if self.fold.is_index() { LoopOrder::Indices } else { LoopOrder::Memory };
        Some(LoopTable::of(form, LoopOrder::Memory, folded))
    }

    /// The loops of blocks that fold outputs by their numbers.
    pub fn loops_of_blocks(&self) -> Option<LoopTable> {
        match (&self.batch.partition, self.fallback()) {
            (Partition::Axes(form), Fallback::Blocks(_)) if dense_rows(form).is_none() => {
                let folded = match self.way {
                    CudaWay::Trees(_) => LoopOrder::Indices,
                    _ => LoopOrder::Memory,
                };
                Some(LoopTable::of(form, LoopOrder::Indices, folded))
            }
            _ => None,
        }
    }

    /// The same for an array that does not begin at a multiple of 16 bytes.
    #[must_use]
    pub fn unaligned(mut self) -> Self {
        // Rows of one element are read by elements, wherever they begin.
        let single = matches!(
            self.batch.partition,
            Partition::Segments { bounds: BoundsKind::Every(1), .. }
        );
        if self.entry_suffix() == "_own" && !single {
            self.way = CudaWay::Segments;
        }
        if let (CudaWay::Columns(columns), Partition::Axes(form)) =
            (&mut self.way, &self.batch.partition)
        {
            let warps = u64::from(self.grid) * WARPS;
            let dtype = self.batch.dtype;
            let states = self.fold.state_bytes(dtype);
            let lane = match columns_of_lane(self.fold, dtype) {
                Lane::Several(_) => Lane::Several(1),
                Lane::One => Lane::One,
            };
            *columns = Columns::of(form, dtype, lane, warps, states).unwrap_or(*columns);
        }
        let grid = self.grid;
        self.of_grid(grid)
    }

    /// The same with results of a type; `None` where its kernels leave no such ones.
    #[must_use]
    pub fn rounded_to(mut self, to: DType) -> Option<Self> {
        let is_own = to == self.batch.dtype && matches!(to, DType::F16 | DType::BF16);
        if is_own && self.output() == DType::F32 {
            self.rounding = Rounding::Element;
        }
        (self.output() == to).then_some(self)
    }

    /// Whether NaNs are skipped.
    pub fn skips_nan(&self) -> bool {
        self.batch.policy.nan == Nan::Ignore && self.batch.dtype.is_float()
    }

    /// Outputs, of elements as they were given.
    pub fn outputs(&self) -> u64 {
        self.output_of(self.batch.outputs())
    }

    /// The output of one of the batch's.
    pub fn output_of(&self, output: u64) -> u64 {
        if self.components == Components::Apart { output / 2 } else { output }
    }

    /// Elements, as they were given, that are read.
    pub fn elements(&self) -> u64 {
        let each = if self.components == Components::Whole { 1 } else { 2 };
        self.batch.elements() / each
    }

    /// The element type of the results.
    pub fn output(&self) -> DType {
        match (self.output_of_batch(), self.components) {
            (DType::F32, Components::Apart) => DType::Complex64,
            (DType::F64, Components::Apart) => DType::Complex128,
            (dtype, _) => dtype,
        }
    }

    fn output_of_batch(&self) -> DType {
        let Batch { op, dtype, .. } = self.batch;
        let round_to = (self.rounding == Rounding::Element).then_some(dtype);
        op.result_dtype(dtype, round_to).unwrap_or(round_to.unwrap_or(dtype.round()))
    }
}

impl fmt::Display for CudaBatchPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Batch { op, dtype, partition, policy } = &self.batch;
        let parts = match self.components {
            Components::Whole => "",
            Components::Apart => ", parts of complex numbers,",
            Components::Together => ", parts of complex numbers folded together,",
        };
        write!(f, "{op} of {dtype}{parts} ({} bytes): {partition}{policy}", self.batch.bytes())?;
        let blocks = if self.grid == 1 { "block" } else { "blocks" };
        write!(
            f,
            "; on a device, as {}: {} by kernel {}, {} {blocks} of {} threads, {} bytes of workspace",
            self.way.why(),
            self.fold.name(),
            self.entry(),
            self.grid,
            self.block,
            self.workspace
        )
    }
}
