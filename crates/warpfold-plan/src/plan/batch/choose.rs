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
    BatchPlan {
        way,
        isa: policy.isa.map_or(cpu.isa, |isa| isa.min(cpu.isa)),
        threads,
        grain: (tuning::GRAIN_BYTES / batch.dtype.size() as u64).max(1),
        long: (tuning::LONG_SEGMENT_BYTES / batch.dtype.size() as u64).max(1),
        workspace: workspace(&batch, way, threads as u64),
        batch,
    }
}

/// What groups take: for keys that are no numbers, a number for each, in as few bytes as hold all; sorted, a copy of the elements (with 32 bits more of each where groups are many), where each group begins, and a count of each for every thread; by
/// cells, a table for every thread and one of all.
fn workspace(batch: &Batch, way: Way, threads: u64) -> u64 {
    let Partition::Groups { elements, groups, keys } = batch.partition else { return 0 };
    let numbers = match keys {
        KeysKind::Numbered => elements.saturating_mul(number_bytes(groups)),
        KeysKind::Dense => 0,
    };
    let (copied, of_group) = match way {
        Way::Cells => (0, cell_bytes(batch.op, batch.dtype)),
        _ => {
            let position = if groups > tuning::SCATTERED_GROUPS { 4 } else { 0 };
            (elements.saturating_mul(batch.dtype.size() as u64 + position), 8)
        }
    };
    numbers.saturating_add(copied).saturating_add(groups.saturating_mul(of_group * (1 + threads)))
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
        Partition::Segments { bounds: BoundsKind::Every(1), .. } => Way::Singles,
        Partition::Segments { .. } => Way::Runs,
        Partition::Groups { elements, groups, .. } => {
            let table = groups.saturating_mul(cell_bytes(batch.op, batch.dtype));
            let is_table = table <= tuning::TABLE_BYTES && groups <= elements;
            match has_cells(batch.op, batch.dtype) && is_table {
                true => Way::Cells,
                false => Way::Sorted,
            }
        }
    }
}

/// Bytes that hold the numbers of so many groups.
pub fn number_bytes(groups: u64) -> u64 {
    match groups.saturating_sub(1) {
        0..0x100 => 1,
        0x100..0x1_0000 => 2,
        _ => 4,
    }
}

/// Whether single elements can be added to what an output holds.
pub fn adds_singly(op: Op, dtype: DType) -> bool {
    match op {
        Op::Sum | Op::Mean | Op::Any | Op::All | Op::Count => true,
        Op::L1 => !dtype.is_complex(),
        _ => false,
    }
}

/// Whether what an accumulator of the reduction holds fits a group's cell.
fn has_cells(op: Op, dtype: DType) -> bool {
    adds_singly(op, dtype) || op.is_of_squares()
}

/// Bytes of a group's cell at most: an exact sum or double-doubles of the sums and the sum of squares, and a count.
fn cell_bytes(op: Op, dtype: DType) -> u64 {
    match (adds_singly(op, dtype), dtype.is_complex()) {
        (true, false) => 32,
        (true, true) => 40,
        (false, false) => 40,
        (false, true) => 56,
    }
}

fn axes(op: Op, form: &Form, long: bool) -> Way {
    // Indices that fall where memory rises: an index would count from the wrong end.
    let backwards = form.folded.iter().any(|l| l.position < 0);
    match form.case() {
        _ if form.inputs == 1 && form.plain_rows() == Some((1, 1)) => Way::Singles,
        _ if backwards && matches!(op, Op::ArgMin | Op::ArgMax) => Way::Gathered,
        Case::Rows if form.folded.len() > 1 => Way::Gathered,
        Case::Rows if long => Way::OneByOne,
        Case::Rows => Way::Runs,
        Case::Columns => Way::Columns,
        Case::Scattered => Way::Gathered,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Policy;
    use crate::plan::Isa;

    fn groups(op: Op, groups: u64, keys: KeysKind) -> BatchPlan {
        let partition = Partition::Groups { elements: 1 << 26, groups, keys };
        let batch = Batch { op, dtype: DType::F32, partition, policy: Policy::default() };
        choose_batch(batch, CpuFacts { isa: Isa::Baseline, threads: 2 })
    }

    #[test]
    fn groups_name_the_memory_that_they_take() {
        for (op, outputs, way, of_dense, of_numbers) in [
            (Op::Sum, 256, Way::Cells, 3 * 256 * 32, 1 << 26),
            (Op::Sum, 1 << 20, Way::Sorted, (8 << 26) + (3 << 23), 4 << 26),
            (Op::Max, 257, Way::Sorted, (4 << 26) + 3 * 257 * 8, 2 << 26),
        ] {
            let dense = groups(op, outputs, KeysKind::Dense);
            assert_eq!((dense.way, dense.workspace), (way, of_dense), "{dense}");
            let numbered = groups(op, outputs, KeysKind::Numbered);
            assert_eq!(numbered.workspace, of_dense + of_numbers, "{numbered}");
        }
    }
}
