//! How the work of many reductions is shared out on a GPU: threads of a block, blocks of a grid.

use super::Batch;
use super::batched_fold::BatchedFold;
use crate::plan::DeviceFold;
use crate::{DType, Op};

/// Threads of a block of segments.
pub(super) const SEGMENT_THREADS: u32 = 256;

/// Its warps.
pub(super) const WARPS: u64 = SEGMENT_THREADS as u64 / 32;

/// Elements and ends that a warp should have before another block starts.
const WORK_PER_WARP: u64 = 512;

/// What an end weighs at least, in elements, and what the share of a warp is at most (`segment_warp.cuh`).
const LEAST_WEIGHT: u64 = 32;
const MOST_SHARE: u64 = 1 << 31;

/// Blocks for which there is enough work.
pub(super) fn grid_of_work(batch: &Batch) -> u64 {
    batch.elements().saturating_add(batch.outputs()).div_ceil(WARPS * WORK_PER_WARP)
}

/// Blocks without which a warp's share of the segments would be more than it counts to.
pub(super) fn least_grid_of_segments(batch: &Batch) -> u32 {
    // An end weighs 32 elements; if more, all together an eighth of the elements.
    let elements = batch.elements();
    let work = elements.saturating_add(elements / 8);
    let work = work.saturating_add(batch.outputs().saturating_mul(LEAST_WEIGHT));
    work.div_ceil(WARPS * MOST_SHARE).clamp(1, u32::MAX.into()) as u32
}

/// What blocks that fold an output alone gather floats as: f16 and bf16 widened.
pub(super) const fn block_type(dtype: DType) -> DType {
    match dtype {
        DType::F16 | DType::BF16 => DType::F32,
        other => other,
    }
}

/// What such blocks do with an output, as a whole array is folded: its kernel's name has this, and it says how many threads they may have.
pub(super) const fn block_fold(op: Op, dtype: DType) -> (&'static str, DeviceFold) {
    match op {
        Op::L1 if dtype.is_complex() => ("norm1", DeviceFold::ExactL1),
        _ => ("moments", DeviceFold::ExactMoments),
    }
}

/// Threads of such a block: as many as a multiprocessor has for its part of the outputs.
pub fn block_threads(op: Op, dtype: DType, outputs: u64, multiprocessors: u32) -> u32 {
    let most = block_fold(op, dtype).1.most_threads(block_type(dtype));
    let part = u64::from(multiprocessors) * 512 / outputs.max(1);
    (part as u32).clamp(BATCHED_BLOCK.min(most), most).next_multiple_of(32)
}

/// Threads of a block where outputs are many: four such blocks fit a multiprocessor.
const BATCHED_BLOCK: u32 = 128;

/// Blocks that a multiprocessor holds at once, by the registers that kernels are compiled for.
pub(super) const fn per_multiprocessor(fold: BatchedFold, dtype: DType) -> u64 {
    let product = matches!(fold, BatchedFold::Prod) && dtype.is_float();
    if fold.is_of_stats() {
        2
    } else if !product && (fold.takes_ddof() || fold.is_index() || dtype.is_complex()) {
        3
    } else {
        4
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Policy;
    use crate::plan::{BoundsKind, Partition};

    #[test]
    fn no_grid_leaves_a_warp_more_than_it_counts_to() {
        let least = |elements, segments| {
            let bounds = BoundsKind::Offsets64;
            let partition = Partition::Segments { elements, segments, bounds };
            let policy = Policy::default();
            least_grid_of_segments(&Batch { op: Op::Sum, dtype: DType::U8, partition, policy })
        };
        assert_eq!(least(1 << 33, 5), 1);
        // Nine eighths of 2^38 elements and a few ends; 2^35 ends of 32 each.
        assert_eq!(least(1 << 38, 5), 19);
        assert_eq!(least(0, 1 << 35), 64);
        assert_eq!(least(u64::MAX, u64::MAX), 1 << 30);
    }

    #[test]
    fn blocks_of_many_outputs_are_small_and_none_is_larger_than_its_kernel_takes() {
        let threads = |outputs| block_threads(Op::Var, DType::F64, outputs, 132);
        assert_eq!([0, 1, 132, 264, 528, 1 << 40].map(threads), [512, 512, 512, 256, 128, 128]);
        for (op, dtype) in [(Op::Var, DType::F16), (Op::Std, DType::Complex64)] {
            let most = block_fold(op, dtype).1.most_threads(block_type(dtype));
            for outputs in [1, 200, 1 << 20] {
                let threads = block_threads(op, dtype, outputs, 132);
                assert!(
                    threads <= most && threads.is_multiple_of(32),
                    "{threads} of {most}, {dtype}"
                );
            }
        }
    }
}
