//! [`Trees`]: how products of floats, each along the canonical tree of its own elements, are shared out on a GPU.

use super::strided::Strided;
use super::{Batch, BoundsKind, Partition, dense_rows};
use crate::shape::Form;

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
    /// Pieces that a launch joins at once; where an output has more, another one joins what these come to.
    pub group: u64,
    /// What lanes take.
    pub walk: TreeWalk,
}

/// What plans know of the kernels of products; a test of `warpfold-gpu` compares it with the device code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeSizes {
    /// Elements of a run.
    pub run: u64,
    /// Elements of a block of runs.
    pub block: u64,
    /// Warps of a thread block.
    pub warps: u64,
    /// Blocks of the longest piece of a column; a lane can join twice as many.
    pub piece_blocks: u64,
    /// Bytes of the longest rows that warps take some of.
    pub row_bytes: u64,
}

impl TreeSizes {
    /// Those of the kernels that ship.
    pub const KERNELS: TreeSizes =
        TreeSizes { run: 32, block: 1024, warps: 4, piece_blocks: 1024, row_bytes: 4096 };
}

/// What a lane takes of products along trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum TreeWalk {
    /// Runs of an output that several share, wherever its elements lie.
    Parts,
    /// Columns of its own.
    Columns,
    /// Runs of rows of up to a block, one after another in memory, some rows a warp.
    Rows,
    /// Runs of segments by offsets, most of them of up to a block, up to 32 segments a warp.
    Offsets,
}

/// Threads of a thread block, whose tiles of whole blocks lie in its shared memory (`tree_parts.cuh`), and its warps.
pub(super) const TREE_THREADS: u32 = 32 * TREE_WARPS as u32;
pub(super) const TREE_WARPS: u64 = TreeSizes::KERNELS.warps;

/// Elements of a run, of a block, and the fewest that a piece has.
const RUN: u64 = TreeSizes::KERNELS.run;
const BLOCK: u64 = TreeSizes::KERNELS.block;
const LEAST_SPAN: u64 = 8 * BLOCK;

/// The longest piece of a column.
const LONGEST_OF_COLUMN: u64 = TreeSizes::KERNELS.piece_blocks * BLOCK;

/// Lanes that columns should give each warp there is room for: half more than its own.
const LANES_OF_COLUMNS: u64 = 48;

/// About what a warp takes of rows of up to a block.
const BYTES_OF_WARP: u64 = 4096;

/// Pieces that one launch joins.
const JOINED_AT_ONCE: u64 = 64;

impl Trees {
    pub(super) fn of(batch: &Batch, warps: u64) -> Trees {
        let outputs = batch.outputs().max(1);
        let each = batch.elements() / outputs;
        let (is_known, is_across) = match &batch.partition {
            Partition::Axes(form) => (true, dense_rows(form).is_none() && Strided::is_across(form)),
            Partition::Segments { bounds, .. } => (matches!(bounds, BoundsKind::Every(_)), false),
            Partition::Groups { .. } => (false, false),
        };
        if let Some(columns) = Trees::of_columns(batch, each, warps) {
            return columns;
        }
        // As many lanes as there are runs, but one where neighbours lie side by side.
        let lanes = match is_across && outputs >= RUN {
            true => 1,
            false => each.div_ceil(RUN).clamp(1, 32).next_power_of_two(),
        };
        let whole = Trees { lanes, pieces: 1, span: 0, group: 1, walk: TreeWalk::Parts };
        let is_rows = match &batch.partition {
            Partition::Axes(form) => dense_rows(form).is_some(),
            _ => is_known,
        };
        let is_short =
            each <= BLOCK && each * batch.dtype.size() as u64 <= TreeSizes::KERNELS.row_bytes;
        if is_rows && is_short && each > 0 {
            return Trees { walk: TreeWalk::Rows, ..whole };
        }
        if is_short && matches!(batch.partition, Partition::Segments { .. }) && !is_known {
            return Trees { walk: TreeWalk::Offsets, ..whole };
        }
        // So many pieces that each warp has two.
        let wanted = (2 * warps).div_ceil(whole.units(batch).max(1));
        if !is_known || wanted < 4 || each < 2 * LEAST_SPAN {
            return whole;
        }
        let span = (each / wanted).max(LEAST_SPAN).next_power_of_two();
        whole.cut(each, span)
    }

    /// Of columns of matrices, if that leaves no multiprocessor with little to do.
    fn of_columns(batch: &Batch, each: u64, warps: u64) -> Option<Trees> {
        let Partition::Axes(form) = &batch.partition else { return None };
        if dense_rows(form).is_some() || !is_columns(form) {
            return None;
        }
        let whole = Trees { lanes: 1, pieces: 1, span: 0, group: 1, walk: TreeWalk::Columns };
        let lanes = form.outputs.div_ceil(columns_of_lane(batch));
        let span = (each.saturating_mul(lanes) / (warps * LANES_OF_COLUMNS))
            .next_power_of_two()
            .clamp(BLOCK, LONGEST_OF_COLUMN);
        let all = if span < each { whole.cut(each, span) } else { whole };
        (form.outputs >= RUN || lanes * all.pieces >= BLOCK).then_some(all)
    }

    /// The same in pieces.
    fn cut(self, each: u64, span: u64) -> Trees {
        let pieces = each.div_ceil(span);
        let group = match pieces <= JOINED_AT_ONCE {
            true => pieces,
            false => pieces.isqrt().next_power_of_two().max(32),
        };
        Trees { pieces, span, group, ..self }
    }

    /// What warps take at a time, in all.
    pub(super) fn units(&self, batch: &Batch) -> u64 {
        let of_lane = match self.walk {
            TreeWalk::Rows => return batch.bytes().div_ceil(BYTES_OF_WARP),
            TreeWalk::Offsets => {
                let of_bytes = batch.bytes().div_ceil(BYTES_OF_WARP).min(batch.outputs());
                return batch.outputs().div_ceil(32).max(of_bytes);
            }
            TreeWalk::Columns => columns_of_lane(batch),
            TreeWalk::Parts => 1,
        };
        batch.outputs().div_ceil(of_lane).saturating_mul(self.pieces).div_ceil(32 / self.lanes)
    }

    /// Bytes of what pieces leave, and their groups.
    pub(super) fn state_bytes(&self, batch: &Batch) -> u64 {
        let groups = if self.groups() > 1 { self.groups() } else { 0 };
        let states = batch.outputs() * (self.pieces + groups) * Trees::node_bytes(batch);
        if self.pieces > 1 { states } else { 0 }
    }

    /// Bytes of what a piece leaves.
    pub fn node_bytes(batch: &Batch) -> u64 {
        if batch.dtype.is_complex() { 40 } else { 32 }
    }

    /// Groups of an output's pieces.
    pub fn groups(&self) -> u64 {
        self.pieces.div_ceil(self.group)
    }
}

/// Columns that a lane takes together.
fn columns_of_lane(batch: &Batch) -> u64 {
    if batch.dtype.size() == 2 { 2 } else { 1 }
}

/// Whether outputs are columns of matrices in their order, whose elements follow each other by one step.
fn is_columns(form: &Form) -> bool {
    let (outer, inner) = match form.kept[..] {
        [inner] => (None, inner),
        [outer, inner] => (Some(outer), inner),
        _ => return false,
    };
    let is_next = outer.is_none_or(|outer| outer.position == inner.length as i64);
    form.folded.len() == 1 && inner.stride == 1 && inner.position == 1 && is_next
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::{Folding, Layout};
    use crate::{DType, Op, Policy};

    fn of(partition: Partition) -> Trees {
        let batch = Batch { op: Op::Prod, dtype: DType::F32, partition, policy: Policy::default() };
        Trees::of(&batch, 3000)
    }

    fn segments(outputs: u64, each: u64, bounds: BoundsKind) -> Trees {
        of(Partition::Segments { elements: outputs * each, segments: outputs, bounds })
    }

    fn rows(outputs: u64, each: u64) -> Trees {
        segments(outputs, each, BoundsKind::Every(each))
    }

    fn axes(shape: &[u64], axis: i64) -> Trees {
        let folding = Folding::of(Layout::c(shape).unwrap(), &[axis]).unwrap();
        of(Partition::Axes(folding.form().unwrap()))
    }

    #[test]
    fn short_rows_share_a_warp_and_few_long_ones_are_cut() {
        assert_eq!(rows(1 << 20, 4).walk, TreeWalk::Rows);
        assert_eq!(axes(&[1 << 20, 1024], 1).walk, TreeWalk::Rows);
        assert_eq!(rows(1 << 20, 1025).walk, TreeWalk::Parts);
        let by_offsets = segments(1 << 20, 65, BoundsKind::Offsets64);
        assert_eq!((by_offsets.walk, by_offsets.lanes), (TreeWalk::Offsets, 4));
        assert_eq!(segments(1 << 20, 1025, BoundsKind::Offsets64).walk, TreeWalk::Parts);
        assert_eq!(rows(1 << 14, 1 << 14).pieces, 1);
        let few = rows(2, 1 << 27);
        assert!(few.span.is_power_of_two() && few.span >= LEAST_SPAN, "{few:?}");
        assert!((1500..6000).contains(&few.pieces), "{few:?}");
        assert_eq!(rows(2, 100_000).pieces, 100_000u64.div_ceil(LEAST_SPAN));
        assert_eq!(segments(0, 0, BoundsKind::Offsets64).pieces, 1);
    }

    #[test]
    fn columns_are_lanes_own_where_there_are_enough() {
        let many = axes(&[100, 64, 1000], 1);
        assert_eq!((many.walk, many.pieces), (TreeWalk::Columns, 1));
        let few = axes(&[1 << 24, 4], 0);
        assert_eq!((few.walk, few.span, few.pieces), (TreeWalk::Columns, BLOCK, 1 << 14));
        assert_eq!((few.group, few.groups()), (128, 128));
        // Two lanes would have all of it.
        assert_eq!(axes(&[5000, 2], 0).walk, TreeWalk::Parts);
        let long = axes(&[1 << 30, 1 << 10], 0);
        assert_eq!((long.span, long.pieces), (LONGEST_OF_COLUMN, 1 << 10));
    }
}
