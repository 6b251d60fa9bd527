//! [`Trees`]: how products of floats, each along the canonical tree of its own elements, are shared out on a GPU.

use super::strided::Strided;
use super::{Batch, BoundsKind, Partition, dense_rows};

/// Lanes of an output, and the pieces that long outputs are cut into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Trees {
    /// Lanes that share an output or a piece: a power of two up to 32.
    pub lanes: u64,
    /// Pieces of each output, whose results a second kernel joins; 1 where their lengths are not known.
    pub pieces: u64,
    /// Elements of all pieces but the last: a power of two of the tree's blocks.
    pub span: u64,
}

/// Threads of a thread block, whose tiles of whole blocks lie in its shared memory (`tree_parts.cuh`), and its warps.
pub(super) const TREE_THREADS: u32 = 128;
pub(super) const TREE_WARPS: u64 = TREE_THREADS as u64 / 32;

/// Elements of a run, of a block, and the fewest that a piece has.
const RUN: u64 = 32;
const BLOCK: u64 = 1024;
const LEAST_SPAN: u64 = 8 * BLOCK;

impl Trees {
    pub(super) fn of(batch: &Batch, warps: u64) -> Trees {
        let outputs = batch.outputs().max(1);
        let each = batch.elements() / outputs;
        let (is_known, is_across) = match &batch.partition {
            Partition::Axes(form) => (true, dense_rows(form).is_none() && Strided::is_across(form)),
            Partition::Segments { bounds, .. } => (matches!(bounds, BoundsKind::Every(_)), false),
            Partition::Groups { .. } => (false, false),
        };
        // As many lanes as there are runs, but one where neighbours lie side by side.
        let lanes = match is_across && outputs >= RUN {
            true => 1,
            false => each.div_ceil(RUN).clamp(1, 32).next_power_of_two(),
        };
        let whole = Trees { lanes, pieces: 1, span: 0 };
        // So many pieces that each warp has two.
        let wanted = (2 * warps).div_ceil(whole.units(outputs));
        if !is_known || wanted < 4 || each < 2 * LEAST_SPAN {
            return whole;
        }
        let span = (each / wanted).max(LEAST_SPAN).next_power_of_two();
        Trees { pieces: each.div_ceil(span), span, ..whole }
    }

    /// What a warp takes at a time.
    pub(super) fn units(&self, outputs: u64) -> u64 {
        outputs.saturating_mul(self.pieces).div_ceil(32 / self.lanes)
    }

    /// Bytes of what pieces leave.
    pub(super) fn state_bytes(&self, batch: &Batch) -> u64 {
        let bytes = if batch.dtype.is_complex() { 40 } else { 32 };
        if self.pieces > 1 { batch.outputs() * self.pieces * bytes } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DType, Op, Policy};

    fn rows(outputs: u64, each: u64) -> Trees {
        let bounds = BoundsKind::Every(each);
        let partition = Partition::Segments { elements: outputs * each, segments: outputs, bounds };
        let batch = Batch { op: Op::Prod, dtype: DType::F32, partition, policy: Policy::default() };
        Trees::of(&batch, 3000)
    }

    #[test]
    fn short_rows_share_a_warp_and_few_long_ones_are_cut() {
        assert_eq!(rows(1 << 20, 4), Trees { lanes: 1, pieces: 1, span: 0 });
        assert_eq!(rows(1 << 20, 65).lanes, 4);
        assert_eq!(rows(1 << 14, 1 << 14).pieces, 1);
        let few = rows(2, 1 << 27);
        assert!(few.span.is_power_of_two() && few.span >= LEAST_SPAN, "{few:?}");
        assert!((1500..6000).contains(&few.pieces), "{few:?}");
        assert_eq!(rows(2, 100_000).pieces, 100_000u64.div_ceil(LEAST_SPAN));
    }
}
