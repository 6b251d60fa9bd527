//! Which way a GPU does a batch of reductions, and in how many blocks.

use super::batched_fold::BatchedFold;
use super::columns::{Columns, Lane};
use super::components::Components;
use super::cuda::{CudaBatchPlan, CudaWay, Rounding};
use super::cuda_fold::{fold_of, unsupported};
use super::rows::{lane_blocks_per_multiprocessor, lanes_of_rows, waves_of_rows};
use super::shares::{SEGMENT_THREADS, WARPS, block_threads, grid_of_work, per_multiprocessor};
use super::strided::Strided;
use super::trees::{TREE_THREADS, TREE_WARPS, TreeWalk, Trees};
use super::{Batch, BoundsKind, Partition};
use crate::plan::CudaFacts;
use crate::shape::Form;
use crate::{DType, Op, Result};

/// Grids of products of lanes' own outputs that follow each other: blocks go to whoever is done.
const WAVES_OF_OWN_TREES: u64 = 16;

/// Chooses how to do many reductions on a GPU.
///
/// # Errors
/// [`Error::Undefined`](crate::Error::Undefined) where the contract knows no such reduction for the type; [`Error::Unsupported`](crate::Error::Unsupported) where no kernel folds it as asked.
pub fn choose_cuda_batch(batch: Batch, gpu: CudaFacts) -> Result<CudaBatchPlan> {
    match column_of_stats(&batch) {
        Some(fold) => choose_for(fold, batch, Components::Whole, gpu),
        None => choose_cuda_parts(batch, gpu),
    }
}

/// The same of an array of complex numbers that begins at any of their parts, as the kernels of stats, which read vectors of whole elements, do not take.
///
/// # Errors
/// As [`choose_cuda_batch`].
pub fn choose_cuda_parts(batch: Batch, gpu: CudaFacts) -> Result<CudaBatchPlan> {
    let (batch, components) = batch.of_parts();
    let fold = match fold_of(&batch)? {
        fold if fold.is_alone_of_stats() => BatchedFold::Moments,
        fold => fold,
    };
    if let Some(exact) = exact_norm(fold, &batch) {
        let plan = choose_for(exact, batch.clone(), components, gpu)?;
        if matches!(plan.way, CudaWay::Rows { .. } | CudaWay::Columns(_)) {
            return Ok(plan);
        }
    }
    choose_for(fold, batch, components, gpu)
}

/// The exact fold of a fast norm, which has kernels for rows and columns where the fast one has none.
///
/// Measured on an H100, GB/s, fast and exact: l2 of f16 in rows of 4 1034 and 1264, of 64 1807 and 2559, of 1024 1757 and 2830, 4 x n 604 and 1150, 2048 x n 638 and 2227; of f32 in rows of 4 1739 and 1902,
/// of 1024 2607 and 2860, 4 x n 983 and 2194.
fn exact_norm(fold: BatchedFold, batch: &Batch) -> Option<BatchedFold> {
    match fold {
        _ if batch.dtype.is_complex() => None,
        BatchedFold::L2 => Some(BatchedFold::ExactL2),
        BatchedFold::Sumsq => Some(BatchedFold::ExactSumsq),
        _ => None,
    }
}

/// What of complex numbers is a column of stats of them: moments and norms of what has no parts of its own, and what is slower by these.
///
/// Measured on an H100, GB/s of complex64 by parts and by stats: sums of rows of 16 1663 and 1300, of 64 1338 and 1742, of 1024 1089 and 2004, of 16384 2534 and 2148; of complex128 of 4 93 and 1240, of
/// 4096 2647 and 1730; l2 of 4 x n 764 and 706, of 64 x n 340 and 1869, of complex128 652 and 1703.
fn column_of_stats(batch: &Batch) -> Option<BatchedFold> {
    if !batch.dtype.is_complex() {
        return None;
    }
    let (rows, columns) = match &batch.partition {
        Partition::Axes(form) => (dense_rows(form), dense_rows(form).is_none()),
        Partition::Segments { bounds: BoundsKind::Every(length), .. } => (Some(*length), false),
        _ => (None, false),
    };
    let has_parts = batch.clone().of_parts().1 != Components::Whole;
    let fold = match (batch.op, batch.dtype, rows) {
        (Op::Sum, DType::Complex64, Some(32..16384)) => BatchedFold::ComplexSum,
        (Op::Mean, DType::Complex64, Some(32..16384)) => BatchedFold::ComplexMean,
        (Op::Sum, DType::Complex128, Some(..4096)) => BatchedFold::ComplexSum,
        (Op::Mean, DType::Complex128, Some(..4096)) => BatchedFold::ComplexMean,
        (Op::L2, _, _) if columns && batch.elements() >= batch.outputs().saturating_mul(16) => {
            BatchedFold::ComplexL2
        }
        _ if has_parts => return None,
        _ => fold_of(batch).ok()?,
    };
    fold.is_alone_of_stats().then_some(fold)
}

/// The plan of a fold.
fn choose_for(
    fold: BatchedFold,
    batch: Batch,
    components: Components,
    gpu: CudaFacts,
) -> Result<CudaBatchPlan> {
    let full = u64::from(gpu.multiprocessors) * per_multiprocessor(fold, batch.dtype);
    let full_of_lanes =
        u64::from(gpu.multiprocessors) * lane_blocks_per_multiprocessor(fold, batch.dtype);
    // Folds of which there are kernels for rows and columns in lanes.
    let taken = match fold {
        BatchedFold::L2 | BatchedFold::Sumsq | BatchedFold::Prod => false,
        _ if fold.is_of_stats() => true,
        _ => !batch.dtype.is_complex() && batch.dtype.size() >= 2,
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
            // Lanes count rows as they lie in memory: a backward axis would have its indices counted from the wrong end.
            let counts = fold.is_index() || fold == BatchedFold::Stats;
            let is_backward = form.folded.iter().any(|folded| folded.position < 0);
            let columns = (taken && !(counts && is_backward))
                .then(|| Columns::of(form, batch.dtype, lane, full_of_lanes * WARPS, state_bytes));
            match columns.flatten() {
                Some(columns) => CudaWay::Columns(columns),
                None => CudaWay::Strided(Strided::of(form, full * WARPS)),
            }
        }
    };
    if fold.is_alone_of_stats() && matches!(way, CudaWay::Strided(_)) {
        return choose_cuda_parts(batch, gpu);
    }
    if fold == BatchedFold::Stats && matches!(way, CudaWay::Strided(_)) {
        let why = "kernels fold them in one pass in rows, columns and segments; ask for `columns`";
        return Err(unsupported(&batch, "CUDA", why));
    }
    let full = match &way {
        CudaWay::Rows { lanes } => {
            let length = batch.elements() / batch.outputs().max(1);
            let waves = waves_of_rows(fold, batch.dtype, length, *lanes);
            full_of_lanes * waves
        }
        CudaWay::Columns(_) => full_of_lanes,
        CudaWay::Trees(trees) if trees.walk != TreeWalk::Parts => full * WAVES_OF_OWN_TREES,
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
        CudaWay::Trees(trees) => trees.units(&batch).div_ceil(TREE_WARPS),
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

/// Columns that a lane owns: those of a vector of 16 bytes, but of exact sums of squares, whose windows fit its registers, and of indices four at most, and of stats one.
pub(super) fn columns_of_lane(fold: BatchedFold, dtype: DType) -> Lane {
    let of_vector = 16 / dtype.size() as u64;
    match fold {
        _ if fold.is_of_stats() => Lane::One,
        _ if fold.is_of_exact_squares() || fold.is_index() => Lane::Several(of_vector.min(4)),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::BoundsKind;
    use crate::{Accuracy, Nan, Op, Policy};

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
    fn moments_of_complex_numbers_are_columns_of_stats() {
        let plan = |op, dtype, nan, bounds| {
            let partition = Partition::Segments { elements: 1 << 20, segments: 1 << 10, bounds };
            let policy = Policy { nan, ..Policy::default() };
            choose_cuda_batch(Batch { op, dtype, partition, policy }, H200).unwrap()
        };
        for bounds in [BoundsKind::Every(1 << 10), BoundsKind::Offsets64] {
            for (op, dtype, nan, fold) in [
                (Op::Var, DType::Complex64, Nan::Propagate, BatchedFold::ComplexVar),
                (Op::Std, DType::Complex128, Nan::Ignore, BatchedFold::ComplexStd),
                (Op::L1, DType::Complex64, Nan::Ignore, BatchedFold::ComplexL1),
                (Op::Mean, DType::Complex64, Nan::Ignore, BatchedFold::ComplexMean),
                (Op::L2, DType::Complex128, Nan::Ignore, BatchedFold::ComplexL2),
            ] {
                let plan = plan(op, dtype, nan, bounds);
                assert_eq!(plan.fold, fold, "{op} of {dtype} by {bounds:?}");
                assert!(!matches!(plan.way, CudaWay::Blocks), "{op} of {dtype} by {bounds:?}");
                assert_eq!(plan.stats_columns(), Vec::new());
            }
        }
        // Sums of rows, where parts would be columns of two.
        let sum = |length| {
            plan(Op::Sum, DType::Complex64, Nan::Propagate, BoundsKind::Every(length)).fold
        };
        assert_eq!([sum(1 << 10), sum(16)], [BatchedFold::ComplexSum, BatchedFold::ExactSum]);
        // Parts of a number that an array begins within are folded by blocks.
        let bounds = BoundsKind::Offsets64;
        let batch = plan(Op::Var, DType::Complex64, Nan::Propagate, bounds).batch;
        assert!(matches!(choose_cuda_parts(batch, H200).unwrap().way, CudaWay::Blocks));
    }

    #[test]
    fn fast_norms_of_rows_and_columns_are_exact() {
        let fold = |op, bounds| {
            let segments =
                if let BoundsKind::Every(length) = bounds { (1 << 20) / length } else { 9 };
            let partition = Partition::Segments { elements: 1 << 20, segments, bounds };
            choose_cuda_batch(Batch { partition, ..batch(op, DType::F16, 0, 0) }, H200)
                .unwrap()
                .fold
        };
        assert_eq!(fold(Op::L2, BoundsKind::Every(64)), BatchedFold::ExactL2);
        assert_eq!(fold(Op::Sumsq, BoundsKind::Every(64)), BatchedFold::ExactSumsq);
        assert_eq!(fold(Op::Sum, BoundsKind::Every(64)), BatchedFold::Sum);
        assert_eq!(fold(Op::L2, BoundsKind::Offsets64), BatchedFold::L2);
        assert_eq!(fold(Op::L2, BoundsKind::Every(1 << 20)), BatchedFold::L2);
    }

    #[test]
    fn segments_of_some_length_have_lanes_of_their_own() {
        let suffix = |op, dtype, mean: u64| {
            let all = Batch { policy: Policy::default(), ..batch(op, dtype, mean << 16, 1 << 16) };
            choose_cuda_batch(all, H200).unwrap().entry_suffix()
        };
        for (op, dtype) in [(Op::Sum, DType::F16), (Op::L2, DType::F32), (Op::Var, DType::I64)] {
            let found = [64, 256, 4096, 1 << 14].map(|mean| suffix(op, dtype, mean));
            assert_eq!(found, ["", "_lanes", "_lanes", ""], "{op} of {dtype}");
        }
        // Of these there is one kernel.
        for (op, dtype) in [
            (Op::Var, DType::F16),
            (Op::Sum, DType::F64),
            (Op::Sum, DType::Complex64),
            (Op::Var, DType::I8),
            (Op::Max, DType::F32),
        ] {
            assert_eq!(suffix(op, dtype, 1024), "", "{op} of {dtype}");
        }
    }

    #[test]
    fn rows_of_one_begin_anywhere_and_others_at_vectors() {
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
    fn squares_of_narrow_integers_are_of_as_many_elements_as_their_states_hold() {
        let choose = |dtype, bounds| {
            let (elements, segments) = (1 << 33, 8);
            let partition = Partition::Segments { elements, segments, bounds };
            choose_cuda_batch(
                Batch { partition, ..batch(Op::Var, dtype, elements, segments) },
                H200,
            )
        };
        assert!(choose(DType::U16, BoundsKind::Every(1 << 30)).is_ok());
        assert!(choose(DType::I64, BoundsKind::Offsets64).is_ok());
        let refused = choose(DType::U16, BoundsKind::Offsets64).unwrap_err().to_string();
        assert!(refused.contains("2^32 elements at most"), "{refused}");
        assert!(choose(DType::U8, BoundsKind::Offsets64).is_ok());
    }

    #[test]
    fn integers_and_places_have_lanes_of_their_own() {
        let way = |op, dtype| {
            let mut all = batch(op, dtype, 1 << 30, 1 << 20);
            let bounds = BoundsKind::Every(1 << 10);
            all.partition = Partition::Segments { elements: 1 << 30, segments: 1 << 20, bounds };
            choose_cuda_batch(all, H200).unwrap().entry()
        };
        assert_eq!(way(Op::Std, DType::I32), "row_squares_32");
        assert_eq!(way(Op::ArgMin, DType::BF16), "row_arg_extremes_16");
        assert_eq!(way(Op::Count, DType::F16), "row_totals_16");
        // Bytes have none.
        assert_eq!(way(Op::Count, DType::I8), "segment_totals_8");
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
