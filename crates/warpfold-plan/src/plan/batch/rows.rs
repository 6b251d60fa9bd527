//! How rows of one length, which lie one after another, are shared out on a GPU (`rows.cuh`).

use super::batched_fold::BatchedFold;
use super::shares::{WARPS, per_multiprocessor};
use crate::DType;

/// Bytes of the rows that a lane folds alone.
const BYTES_OF_A_LANE: u64 = 128;

/// The lanes that share a row: at most a block's threads.
const MOST_LANES: u64 = 8 * 32;

/// The longest rows: positions in them have 32 bits, and so has what the last step reaches beyond them.
const MOST_LENGTH: u64 = 1 << 30;

/// Elements that a lane of more than a warp should have at least: what joins its warp's states with the others' costs as much as some of them.
const LEAST_OF_A_LANE: u64 = 16;

/// The part of the warps that should have work at any time.
const BUSY: f64 = 0.9;

/// The part of them below which the shares of segments, which are equal, are faster.
const HARDLY_BUSY: f64 = 0.6;

/// Blocks of rows or columns that a multiprocessor holds at once, by the registers that kernels are compiled for.
pub(super) const fn lane_blocks_per_multiprocessor(fold: BatchedFold, dtype: DType) -> u64 {
    if is_light(fold, dtype) { 3 } else { per_multiprocessor(fold, dtype) }
}

/// How many times the blocks that a GPU holds at once a grid of rows has: blocks that wait go to the multiprocessor that is done first, and each begins and ends once
/// more, with results that fewer lanes finish side by side.
///
/// Measured on an H100, 256 MiB, GB/s with 1, 2, 4 and 8 times as many: sums of rows of 1024, 4096 and 16384 bf16 2833, 2842, 2880, 2901; 2853, 2852, 2882, 2906; 2839, 2821,
/// 2869, 2893. Maxima of rows of 1024 bf16 2763, 2805, 2799, 2745, of 4 1606, 1684, 1752, 1739, of 1024 f32 2953, 2963, 2975, 2980. Variances of rows of 4 bf16 457, 482, 502,
/// 520, of f32 713, 749, 782, 814; of rows of 16 1072, 1070, 1071, 1054, of 1024 2691, 2690, 2680, 2635, of 16384 2571, 2575, 2586, 2608. Sums of rows of 16 bf16 2670, 2628,
/// 2579, 2547, of f32 2586, 2636, 2653, 2703; variances of rows of 4096 f32, by several warps each, 2693 and with 8 times as many 2584. L2 of rows of 1024 bf16 2796, 2766, 2769, 2736, stats of f32 1719, 1656, 1563, 1430.
pub(super) fn waves_of_rows(fold: BatchedFold, dtype: DType, length: u64, lanes: u64) -> u64 {
    let is_narrow = dtype.size() == 2;
    match fold {
        _ if fold.is_extreme() => 4,
        BatchedFold::ExactSum | BatchedFold::ExactMean | BatchedFold::ExactL1 => {
            let gains = if lanes > 1 { is_narrow } else { dtype == DType::F32 };
            if gains { 8 } else { 1 }
        }
        BatchedFold::ExactVar | BatchedFold::ExactStd
            if length < 8 || (is_narrow && lanes > 32) =>
        {
            8
        }
        _ => 1,
    }
}

/// Exact folds of 16 bits but stats, whose kernels load more at once.
const fn is_light(fold: BatchedFold, dtype: DType) -> bool {
    dtype.size() == 2 && fold.is_pair() && !matches!(fold, BatchedFold::Stats)
}

/// What the entry of the kernel of rows of a length ends with: rows that are a lane's own go through shared memory, if it reads them alone.
///
/// Measured on an H100, GB/s of bf16 through shared memory and straight from it: variances of rows of 64 1641 and 2413, of 32 1263 and 1191; l2 2136 and 2569, 1639 and 1305;
/// sums of 64 2694 and 2642; stats of 64 618 and 1076, of 32 609 and 1065, of 16 627 and 569.
pub(super) fn entry_of_rows(fold: BatchedFold, dtype: DType, length: u64) -> &'static str {
    let least = match fold {
        BatchedFold::Stats => 32,
        _ if fold.is_of_exact_squares() => 40,
        _ => u64::MAX,
    };
    let is_straight = dtype.size() == 2 && length >= least && length.is_multiple_of(8);
    if length * dtype.size() as u64 <= BYTES_OF_A_LANE && !is_straight { "_own" } else { "" }
}

/// How many lanes share a row of a length, of which there are so many; `None` where each is better divided among warps, whatever its length.
///
/// Measured on an H100, in percent of the read ceiling, sums of bf16 with 32, 64 and 128 elements a lane: rows of 1024 76, 85 and 86, of 4096 45, 84 and 86; variances,
/// of which a lane has fewer at once, 61, 71 and 71; sums of f32 with 16 to 128 elements a lane 94. Where warps have one row each or two, the more of them the better.
/// In GB/s, bf16 by two lanes and by four, whose steps have more room than such rows fill: sums of rows of 100 2055 and 1056, of 192 2570 and 2451, variances 1573 and 816,
/// 1913 and 1817. Rows of 16384, of which 8192 are 2.6 rounds of a lane's warps, by 32 lanes and by 128: variances 2505 and 2649, sums 2781 and 2902.
pub(super) fn lanes_of_rows(
    fold: BatchedFold,
    dtype: DType,
    length: u64,
    outputs: u64,
    multiprocessors: u32,
) -> Option<u64> {
    let size = dtype.size() as u64;
    if length > 0 && length * size <= BYTES_OF_A_LANE {
        return Some(1);
    }
    if size < 2 || length == 0 || length > MOST_LENGTH {
        return None;
    }
    let is_narrow = size == 2 && (is_light(fold, dtype) || fold == BatchedFold::Stats);
    let elements = if is_narrow { 128 } else { 64 };
    let fewest = if is_narrow && length < 256 { 2 } else { 4 };
    let least = (length / elements).clamp(fewest, 32).next_power_of_two();
    let least = if least > length / elements { (least / 2).max(fewest) } else { least };
    let warps = u64::from(multiprocessors) * lane_blocks_per_multiprocessor(fold, dtype) * WARPS;
    let busy = |lanes: u64| {
        let rounds = (outputs * lanes) as f64 / 32.0 / warps as f64;
        rounds / rounds.ceil()
    };
    let all = std::iter::successors(Some(least), |lanes| Some(lanes * 2));
    let possible =
        |lanes: &u64| *lanes <= MOST_LANES && (*lanes <= 32 || length / lanes >= LEAST_OF_A_LANE);
    let lanes: Vec<u64> = all.take_while(possible).collect();
    let enough = lanes.iter().copied().find(|&lanes| busy(lanes) >= BUSY);
    let busiest = lanes.into_iter().max_by(|&a, &b| busy(a).total_cmp(&busy(b)));
    enough.or(busiest.filter(|&lanes| busy(lanes) >= HARDLY_BUSY))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lanes(fold: BatchedFold, dtype: DType, length: u64, outputs: u64) -> Option<u64> {
        lanes_of_rows(fold, dtype, length, outputs, 132)
    }

    #[test]
    fn lanes_have_some_elements_each() {
        for (fold, dtype, length, expected) in [
            (BatchedFold::ExactSum, DType::BF16, 64, 1),
            (BatchedFold::ExactSum, DType::BF16, 128, 2),
            (BatchedFold::ExactSum, DType::BF16, 256, 4),
            (BatchedFold::ExactSum, DType::BF16, 1024, 8),
            (BatchedFold::ExactSum, DType::BF16, 4096, 32),
            (BatchedFold::ExactVar, DType::F16, 1024, 8),
            (BatchedFold::Stats, DType::F16, 1024, 8),
            (BatchedFold::ExactSum, DType::F32, 1500, 16),
            (BatchedFold::ExactSum, DType::F32, 1 << 20, 32),
        ] {
            assert_eq!(
                lanes(fold, dtype, length, 1 << 20),
                Some(expected),
                "{fold:?} {dtype} {length}"
            );
        }
    }

    #[test]
    fn grids_of_what_gains_by_it_are_larger_than_the_machine() {
        let waves = |fold, dtype, length, lanes| waves_of_rows(fold, dtype, length, lanes);
        assert_eq!(waves(BatchedFold::ExactSum, DType::BF16, 4096, 32), 8);
        assert_eq!(waves(BatchedFold::ExactSum, DType::BF16, 16, 1), 1);
        assert_eq!(waves(BatchedFold::Max, DType::F16, 4, 1), 4);
        assert_eq!(waves(BatchedFold::ExactVar, DType::F32, 4, 1), 8);
        assert_eq!(waves(BatchedFold::ExactVar, DType::F32, 16384, 64), 1);
        assert_eq!(waves(BatchedFold::ExactL2, DType::BF16, 1024, 8), 1);
    }

    #[test]
    fn few_rows_are_several_warps_each_and_fewer_still_are_divided() {
        let sum = |length, outputs| lanes(BatchedFold::ExactSum, DType::BF16, length, outputs);
        // 3168 warps at once: in one round, and not in one and a bit.
        assert_eq!(sum(4096, 3168), Some(32));
        assert_eq!(sum(16384, 1024), Some(256));
        assert_eq!(sum(16384, 792), Some(128));
        assert_eq!(sum(1 << 20, 100), None);
        assert_eq!(sum(1 << 20, 1), None);
        // Bytes have no such kernels.
        assert_eq!(lanes(BatchedFold::Max, DType::I8, 4096, 1 << 20), None);
    }
}
