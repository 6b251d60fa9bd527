//! From many reductions and a machine to a plan: pure.

use super::{Batch, BatchPlan, BoundsKind, Partition, Way};
use crate::Op;
use crate::plan::{CpuFacts, tuning};
use crate::shape::{Case, Form};

/// Chooses how to do many reductions on a CPU.
pub fn choose_batch(batch: Batch, cpu: CpuFacts) -> BatchPlan {
    let policy = batch.policy;
    let allowed = policy.threads.unwrap_or(cpu.threads).min(cpu.threads).max(1) as u64;
    let work = batch.bytes().saturating_add(batch.outputs().saturating_mul(8));
    let threads = allowed.min(work / tuning::BYTES_PER_THREAD + 1) as usize;
    let way = way(&batch);
    BatchPlan {
        way,
        isa: policy.isa.map_or(cpu.isa, |isa| isa.min(cpu.isa)),
        threads,
        grain: (tuning::GRAIN_BYTES / batch.dtype.size() as u64).max(1),
        long: (tuning::LONG_SEGMENT_BYTES / batch.dtype.size() as u64).max(1),
        workspace: 0,
        batch,
    }
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
        Partition::Groups { .. } => Way::Cells,
    }
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
