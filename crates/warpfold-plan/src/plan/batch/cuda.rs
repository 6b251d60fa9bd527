//! Plans for many reductions at once on NVIDIA GPUs: which kernel, which way, how many blocks. Pure; knows no GPU library.

use std::fmt;

use super::batched_fold::BatchedFold;
use super::columns::{Columns, Lane};
use super::components::Components;
use super::cuda_fold::{fold_of, unsupported};
use super::rows::{lanes_of_rows, rows_per_multiprocessor};
use super::shares::{
    SEGMENT_THREADS, WARPS, block_fold, block_threads, block_type, grid_of_work,
    least_grid_of_segments, per_multiprocessor,
};
use super::strided::{LoopOrder, LoopTable, Strided};
use super::trees::{TREE_THREADS, TREE_WARPS, Trees};
use super::{Batch, BoundsKind, Partition};
use crate::plan::{CudaFacts, Fold};
use crate::shape::Form;
use crate::{DType, Nan, Op, Result};

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

/// Chooses how to do many reductions on a GPU.
///
/// # Errors
/// [`Error::Undefined`](crate::Error::Undefined) where the contract knows no such reduction for the type; [`Error::Unsupported`](crate::Error::Unsupported) where no kernel folds it as asked.
pub fn choose_cuda_batch(batch: Batch, gpu: CudaFacts) -> Result<CudaBatchPlan> {
    let (batch, components) = batch.of_parts();
    let fold = fold_of(&batch)?;
    let full = u64::from(gpu.multiprocessors) * per_multiprocessor(fold, batch.dtype);
    let narrow = batch.dtype.size() < 4;
    // Folds of which there are kernels for rows and columns in lanes.
    let taken = match fold {
        _ if batch.dtype.is_complex() || fold.is_of_squares() || fold.is_place() => false,
        BatchedFold::L2 | BatchedFold::Sumsq | BatchedFold::Prod => false,
        BatchedFold::Count => !narrow,
        _ if fold.is_extreme() => batch.dtype.size() >= 2,
        _ => !narrow || batch.dtype.is_float(),
    };
    let by_length = |length, outputs| {
        let lanes = taken
            .then(|| lanes_of_rows(fold, batch.dtype, length, outputs, gpu.multiprocessors))
            .flatten();
        lanes.map_or(CudaWay::Segments, |lanes| CudaWay::Rows { lanes })
    };
    let way = match &batch.partition {
        Partition::Groups { .. } => {
            let why = "groups are sorted first, and are segments then (`Gpu::group_by`)";
            return Err(unsupported(&batch, "groups on CUDA", why));
        }
        _ if fold == BatchedFold::Moments => CudaWay::Blocks,
        _ if fold == BatchedFold::Prod && batch.dtype.is_float() => {
            CudaWay::Trees(Trees::of(&batch, full * TREE_WARPS))
        }
        Partition::Segments { segments: outputs, bounds, .. } => match bounds {
            BoundsKind::Every(length) => by_length(*length, *outputs),
            _ => CudaWay::Segments,
        },
        Partition::Axes(form) if dense_rows(form).is_some() => {
            let length = dense_rows(form).unwrap_or(0);
            by_length(length, form.outputs)
        }
        Partition::Axes(form) => {
            let state_bytes = fold.state_bytes(batch.dtype);
            let lane = columns_of_lane(fold, batch.dtype);
            let columns =
                taken.then(|| Columns::of(form, batch.dtype, lane, full * WARPS, state_bytes));
            match columns.flatten() {
                Some(columns) => CudaWay::Columns(columns),
                None => CudaWay::Strided(Strided::of(form, full * WARPS)),
            }
        }
    };
    if fold == BatchedFold::Stats && matches!(way, CudaWay::Strided(_)) {
        let why = "kernels fold them in one pass in rows, columns and segments; ask for `columns`";
        return Err(unsupported(&batch, "CUDA", why));
    }
    let full = match &way {
        CudaWay::Rows { .. } => {
            u64::from(gpu.multiprocessors) * rows_per_multiprocessor(fold, batch.dtype)
        }
        _ => full,
    };
    let grid = match &way {
        CudaWay::Segments => grid_of_work(&batch),
        CudaWay::Rows { lanes } => match lanes {
            1 => grid_of_work(&batch),
            lanes => batch.outputs().saturating_mul(*lanes).div_ceil(SEGMENT_THREADS.into()),
        },
        CudaWay::Columns(columns) => columns.units().div_ceil(WARPS),
        CudaWay::Strided(strided) => strided.units().div_ceil(WARPS),
        CudaWay::Blocks => batch.outputs(),
        CudaWay::Trees(trees) => trees.units(batch.outputs()).div_ceil(TREE_WARPS),
    };
    let block = match &way {
        CudaWay::Blocks => {
            block_threads(batch.op, batch.dtype, batch.outputs(), gpu.multiprocessors)
        }
        CudaWay::Trees(_) => TREE_THREADS,
        _ => SEGMENT_THREADS,
    };
    let grid = grid.clamp(1, full) as u32;
    let rounding = Rounding::default();
    let plan =
        CudaBatchPlan { batch, components, fold, way, block, grid: 1, workspace: 0, rounding };
    Ok(plan.of_grid(grid))
}

/// Columns that a lane owns: those of a vector of 16 bytes, but of exact sums of squares four at most, whose windows fit its registers, and of stats one.
fn columns_of_lane(fold: BatchedFold, dtype: DType) -> Lane {
    let of_vector = 16 / dtype.size() as u64;
    match fold {
        BatchedFold::Stats => Lane::One,
        _ if fold.is_of_exact_squares() => Lane::Several(of_vector.min(4)),
        _ => Lane::Several(of_vector),
    }
}

/// Length of rows that lie one after another, outputs in their order.
pub fn dense_rows(form: &Form) -> Option<u64> {
    if form.inputs == 0 {
        return Some(0);
    }
    form.plain_rows()
        .and_then(|(length, pitch)| (length == pitch || form.outputs <= 1).then_some(length))
}

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
        let folded = if self.fold.is_place() { LoopOrder::Places } else { LoopOrder::Memory };
        Some(LoopTable::of(form, LoopOrder::Memory, folded))
    }

    /// The loops of blocks that fold outputs by their numbers.
    pub fn loops_of_blocks(&self) -> Option<LoopTable> {
        match (&self.batch.partition, self.again()) {
            (Partition::Axes(form), Fallback::Blocks(_)) if dense_rows(form).is_none() => {
                let folded = match self.way {
                    CudaWay::Trees(_) => LoopOrder::Places,
                    _ => LoopOrder::Memory,
                };
                Some(LoopTable::of(form, LoopOrder::Places, folded))
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
        if self.way == (CudaWay::Rows { lanes: 1 }) && !single {
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
        let round = match dtype {
            _ if self.rounding == Rounding::Element => dtype,
            DType::F16 | DType::BF16 | DType::F32 | DType::Complex64 => DType::F32,
            _ => DType::F64,
        };
        let sum = match dtype {
            complex if complex.is_complex() => complex,
            float if float.is_float() => round,
            DType::I8 | DType::I16 | DType::I32 | DType::I64 => DType::I64,
            _ => DType::U64,
        };
        match op {
            Op::Min | Op::Max => dtype,
            Op::ArgMin | Op::ArgMax | Op::Count => DType::U64,
            Op::Any | Op::All => DType::Bool,
            Op::Sum | Op::Prod => sum,
            Op::Sumsq if !dtype.is_complex() => sum,
            Op::Mean if dtype.is_complex() => dtype,
            Op::Linf if !dtype.is_float() => DType::U64,
            _ => round,
        }
    }

    /// The name of its kernel: the fold's, and the kind of elements that it tells apart.
    pub fn entry(&self) -> String {
        let dtype = self.batch.dtype;
        if self.fold == BatchedFold::Moments {
            return self.blocks_entry();
        }
        let kind = match (dtype.is_float() && self.fold.computes(), dtype.size()) {
            _ if dtype.is_complex() => dtype.name(),
            (true, 2) => "half",
            (true, 4) => "f32",
            (true, _) => "f64",
            (false, 1) => "8",
            (false, 2) => "16",
            (false, 4) => "32",
            (false, _) => "64",
        };
        format!("{}_{}_{kind}", self.way.name(), self.fold.kernels(dtype).0)
    }

    /// The kernel of everything that is rounded once.
    fn blocks_entry(&self) -> String {
        let Batch { op, dtype, .. } = self.batch;
        format!("segment_{}_{}", block_fold(op, dtype).0, block_type(dtype).name())
    }

    /// The kernel that folds again what an exact one has missed, or all there is.
    pub fn again(&self) -> Fallback {
        let dtype = self.batch.dtype;
        let strided = matches!(self.way, CudaWay::Strided(_));
        if self.fold == BatchedFold::ExactSum
            && matches!(dtype, DType::F32 | DType::F64)
            && !strided
        {
            let threads = Fold::ExactSum.most_threads(dtype);
            Fallback::Sums(format!("segment_fallback_{}", dtype.name()), threads)
        } else if matches!(self.way, CudaWay::Trees(_)) {
            Fallback::Blocks(self.entry())
        } else if self.fold == BatchedFold::Moments || self.fold.is_pair() {
            Fallback::Blocks(self.blocks_entry())
        } else {
            Fallback::No
        }
    }

    /// What the kernel is told beside sizes and addresses (`segments.cuh`).
    pub fn options(&self) -> u64 {
        let dtype = self.batch.dtype;
        let signed = matches!(dtype, DType::I8 | DType::I16 | DType::I32 | DType::I64);
        let narrow = self.rounding == Rounding::Element;
        let bits = [self.skips_nan(), signed, dtype.is_float(), dtype == DType::BF16, narrow];
        let bits = bits.iter().zip(0..).map(|(&bit, k)| u64::from(bit) << k).sum::<u64>();
        bits | u64::from(self.fold.kernels(dtype).1) << 8
    }
}

/// What is launched after a fold's own kernel, or in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fallback {
    /// Nothing.
    No,
    /// The kernel of sums of what was missed, of so many threads.
    Sums(String, u32),
    /// The kernel of everything that is rounded once, of what was missed or of all.
    Blocks(String),
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
            "; on cuda, as {}: {} by kernel {}, {} {blocks} of {} threads, {} bytes of workspace",
            self.way.why(),
            self.fold.name(),
            self.entry(),
            self.grid,
            self.block,
            self.workspace
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::BoundsKind;
    use crate::{Accuracy, Policy};

    const H200: CudaFacts = CudaFacts { compute: 90, multiprocessors: 132 };

    fn batch(op: Op, dtype: DType, elements: u64, segments: u64) -> Batch {
        let policy = Policy { accuracy: Accuracy::Fast, ..Policy::default() };
        let partition = Partition::Segments { elements, segments, bounds: BoundsKind::Offsets64 };
        Batch { op, dtype, partition, policy }
    }

    #[test]
    fn workspace_does_not_grow_with_the_array() {
        let plan = |n| choose_cuda_batch(batch(Op::Sum, DType::F32, n, n), H200).unwrap();
        assert_eq!(plan(1 << 28).workspace, plan(1 << 34).workspace);
        assert!(plan(1 << 28).workspace < 1 << 20);
        assert_eq!(plan(3).grid, 1);
        assert!(plan(1 << 40).of_grid(1).grid > 1);
    }

    #[test]
    fn rows_of_one_begin_anywhere_and_others_at_packs() {
        let way = |length| {
            let mut all = batch(Op::Sum, DType::F32, length << 20, 1 << 20);
            let bounds = BoundsKind::Every(length);
            all.partition =
                Partition::Segments { elements: length << 20, segments: 1 << 20, bounds };
            choose_cuda_batch(all, H200).unwrap().unaligned().way
        };
        assert_eq!(way(1), CudaWay::Rows { lanes: 1 });
        assert_eq!(way(2), CudaWay::Segments);
    }

    #[test]
    fn nothing_is_downgraded() {
        let fold = |op, dtype, nan| {
            let mut requested = batch(op, dtype, 10, 2);
            requested.policy = Policy { nan, ..Policy::default() };
            choose_cuda_batch(requested, H200).unwrap().fold
        };
        assert_eq!(fold(Op::Mean, DType::F64, Nan::Propagate), BatchedFold::ExactMean);
        assert_eq!(fold(Op::Mean, DType::F64, Nan::Ignore), BatchedFold::Moments);
        assert_eq!(fold(Op::L2, DType::F32, Nan::Ignore), BatchedFold::ExactL2);
        assert_eq!(fold(Op::L2, DType::F64, Nan::Propagate), BatchedFold::ExactL2);
        assert_eq!(fold(Op::Var, DType::BF16, Nan::Propagate), BatchedFold::ExactVar);
        // The NaNs that are skipped are counted by blocks alone.
        assert_eq!(fold(Op::Std, DType::F32, Nan::Ignore), BatchedFold::Moments);
    }

    #[test]
    fn a_plan_names_its_kernel_and_its_memory() {
        let text =
            choose_cuda_batch(batch(Op::Max, DType::I8, 1 << 20, 7), H200).unwrap().to_string();
        assert!(
            text.contains("segment_extremes_8") && text.contains("bytes of workspace"),
            "{text}"
        );
    }
}
