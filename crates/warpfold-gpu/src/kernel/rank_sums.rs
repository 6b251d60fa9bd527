//! [`RankSums`]: columns of one element of every rank, each summed and rounded once, where tensors are summed over ranks.

use warpfold_kernels::arguments::RankSumArguments;
use warpfold_kernels::catalog::RANK_SUMS;

use super::batched::{BatchedLaunch, Code};
use crate::{DType, Error, Op, Result};

/// Threads of a block (`rank_sums.cu`).
const THREADS: u64 = 256;
/// Blocks for each multiprocessor at most: more than it runs at once, so that all end at about the same time.
const BLOCKS: u64 = 12;

/// Rows of one rank's elements each, and where the sums of their columns go. Addresses are of a machine's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankSums {
    /// f16, bf16, f32 or f64; of complex numbers, their parts.
    pub dtype: DType,
    /// Where the first row begins.
    pub rows: u64,
    /// Elements from the beginning of a row to that of the next.
    pub pitch: u64,
    /// Rows, at least one.
    pub ranks: u64,
    /// Elements of a row.
    pub columns: u64,
    /// The row that lies elsewhere, and where.
    pub own: Option<(u64, u64)>,
    /// Where the sums go, which may be where the row of its own lies.
    pub out: u64,
}

impl RankSums {
    /// The launch for a machine of so many multiprocessors: everything must be aligned to its elements, and is read fastest where it is to 16 bytes.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for elements that are no real floats.
    pub fn launch(&self, multiprocessors: u32) -> Result<BatchedLaunch> {
        let RankSums { dtype, rows, pitch, ranks, columns, own, out } = *self;
        let entry = format!("{}_{dtype}", RANK_SUMS.name);
        if !RANK_SUMS.entries.contains(&entry.as_str()) {
            return Err(Error::Unsupported {
                option: "a sum over ranks on a GPU",
                op: Op::Sum,
                dtype,
                why: "kernels sum real floats there; give complex numbers as their parts, and sum integers by NCCL itself, which is exact",
            });
        }
        // None of the rows, where none lies elsewhere.
        let (own_rank, own) = own.unwrap_or((u64::MAX, 0));
        // What a thread sums side by side (`EACH`).
        let tile = THREADS * if dtype.size() == 8 { 2 } else { 4 };
        let most = u64::from(multiprocessors) * BLOCKS;
        let grid = columns.div_ceil(tile).clamp(1, most) as u32;
        let words =
            RankSumArguments { rows, pitch, ranks, columns, own, own_rank, out }.words().into();
        let code = Code::Shipped(RANK_SUMS.name.into());
        Ok(BatchedLaunch { code, entry, grid, block: THREADS as u32, shared_bytes: 0, words })
    }
}
