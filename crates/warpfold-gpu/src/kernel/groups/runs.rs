//! Runs of equal keys in an array in a machine's memory: where they begin, and what their keys are.

use warpfold_kernels::arguments::{RunArguments, ScanArguments};

use super::sort::launch;
use super::{GivenKeys, uploaded};
use crate::kernel::{AnyBuffer, BatchedLaunch, Executor, Ready};
use crate::plan::CudaGroupPlan;
use crate::{DType, Result};

/// Finds runs once `before` has run; the labels are keys again, of which the given ones differ by `base`.
pub(super) fn runs(
    machine: &dyn Executor,
    plan: &CudaGroupPlan,
    keys: GivenKeys,
    mut before: Vec<BatchedLaunch>,
    after: &[Ready<'_>],
) -> Result<(AnyBuffer, AnyBuffer)> {
    let (n, width) = (plan.elements, plan.keys.size());
    if n == 0 {
        return Ok((uploaded(machine, &[0])?, AnyBuffer::upload(machine, plan.keys, &[])?));
    }
    let counts = machine.unwritten(8 * plan.warps() as usize)?;
    let total = machine.unwritten(8)?;
    let walk = |starts: u64, labels: u64, runs: u64| {
        let arguments = RunArguments {
            keys: keys.address,
            n,
            share: plan.share(),
            counts: counts.address(),
            starts,
            labels,
            bytes: width as u64,
            base: keys.base,
            runs,
        };
        let entry = format!("groups_runs_{}", 8 * keys.bytes);
        launch("groups", &entry, plan.walkers(), arguments.words().into())
    };
    before.push(walk(0, 0, 0));
    let (table, totals) = (counts.address(), total.address());
    let scan = ScanArguments { table, rows: 1, columns: plan.warps(), totals };
    before.push(launch("groups", "groups_scan", 1, scan.words().into()));
    machine.run_batched(&before, after)?;
    let mut word = [0; 8];
    total.read(&mut word)?;
    let runs = u64::from_le_bytes(word) as usize;
    let starts = AnyBuffer::new(machine.unwritten(8 * (runs + 1))?, DType::U64, runs + 1);
    let labels = AnyBuffer::new(machine.unwritten(runs * width)?, plan.keys, runs);
    machine.run_batched(&[walk(starts.address(), labels.address(), runs as u64)], &[])?;
    Ok((starts, labels))
}
