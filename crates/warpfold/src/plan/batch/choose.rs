//! From many reductions and a machine to a plan: pure.

use super::{Batch, BatchPlan, BoundsKind, KeysKind, Partition, Way};
use crate::plan::{CpuFacts, tuning};
use crate::shape::{Case, Form};
use crate::{DType, Op};

/// Chooses how to do many reductions on a CPU.
pub fn choose_batch(batch: Batch, cpu: CpuFacts) -> BatchPlan {
    let policy = batch.policy;
    let allowed = policy.threads.unwrap_or(cpu.threads).min(cpu.threads).max(1) as u64;
    let work = batch.bytes().saturating_add(batch.outputs().saturating_mul(8));
    let threads = allowed.min(work / tuning::BYTES_PER_THREAD + 1) as usize;
    let way = way(&batch);
    let workspace = match way {
        Way::Cells => threads as u64 * batch.outputs().saturating_mul(cell_bytes(batch.dtype)),
        _ => workspace(&batch, threads as u64),
    };
    BatchPlan {
        way,
        isa: policy.isa.map_or(cpu.isa, |isa| isa.min(cpu.isa)),
        threads,
        grain: (tuning::GRAIN_BYTES / batch.dtype.size() as u64).max(1),
        long: (tuning::LONG_SEGMENT_BYTES / batch.dtype.size() as u64).max(1),
        workspace,
        batch,
    }
}

/// What sorting takes: a copy of the elements, where each group begins, a count of each for every thread, and numbers of 32 bits for keys that
/// are none.
fn workspace(batch: &Batch, threads: u64) -> u64 {
    let Partition::Groups { elements, groups, keys } = batch.partition else { return 0 };
    let numbers = if keys == KeysKind::Numbered { 4 } else { 0 };
    let copies = elements.saturating_mul(batch.dtype.size() as u64 + numbers);
    copies.saturating_add(groups.saturating_mul(8 * (1 + threads)))
}

fn way(batch: &Batch) -> Way {
    let long = |elements: u64| {
        elements.saturating_mul(batch.dtype.size() as u64) >= tuning::LONG_SEGMENT_BYTES
    };
    match &batch.partition {
        Partition::Axes(form) => axes(batch.op, form, long(form.inputs)),
        Partition::Segments { bounds: BoundsKind::Every(length), .. } if long(*length) => {
            Way::OneByOne
        }
        Partition::Segments { .. } => Way::Runs,
        Partition::Groups { elements, groups, .. } => {
            let is_table = groups.saturating_mul(cell_bytes(batch.dtype)) <= tuning::TABLE_BYTES;
            match has_cells(batch.op, batch.dtype) && is_table && groups <= elements {
                true => Way::Cells,
                false => Way::Sorted,
            }
        }
    }
}

/// Whether what a group holds can take one element after another.
fn has_cells(op: Op, dtype: DType) -> bool {
    match op {
        Op::Sum | Op::Mean | Op::Any | Op::All | Op::Count => true,
        Op::L1 => !dtype.is_complex(),
        _ => false,
    }
}

/// Bytes of a group's cell: an exact sum and a count.
fn cell_bytes(dtype: DType) -> u64 {
    if dtype.is_complex() { 40 } else { 32 }
}

fn axes(op: Op, form: &Form, long: bool) -> Way {
    // Places that fall where memory rises: an index would count from the wrong end.
    let backwards = form.folded.iter().any(|l| l.place < 0);
    match form.case() {
        _ if backwards && matches!(op, Op::ArgMin | Op::ArgMax) => Way::Gathered,
        Case::Rows if form.folded.len() > 1 => Way::Gathered,
        Case::Rows if long => Way::OneByOne,
        Case::Rows => Way::Runs,
        Case::Columns => Way::Columns,
        Case::Scattered => Way::Gathered,
    }
}
