//! Runs of equal keys in an array in a machine's memory: where they begin, and what their keys are.

use super::GivenKeys;
use super::sort::launch;
use crate::Result;
use crate::kernel::many::ManyLaunch;
use crate::kernel::{Buffer, Machine, Memory};
use crate::plan::CudaGroupPlan;

/// Finds runs once `before` has run; the labels are keys again, of which the given ones differ by `base`.
pub(super) fn runs<M: Machine>(
    machine: &M,
    plan: &CudaGroupPlan,
    keys: GivenKeys,
    mut before: Vec<ManyLaunch>,
    after: &[&M::Stream],
) -> Result<(Buffer<M, u64>, M::Memory)> {
    let (n, width) = (plan.elements, plan.keys.size());
    if n == 0 {
        return Ok((machine.upload(&[0])?, machine.copy_of(&[])?));
    }
    let counts = machine.unwritten(8 * plan.warps() as usize)?;
    let total = machine.unwritten(8)?;
    let walk = |starts: u64, labels: u64, runs: u64| {
        let counts = counts.address();
        let label = [labels, width as u64, keys.base, runs];
        let words = [&[keys.address, n, plan.share(), counts, starts], &label[..]].concat();
        launch("groups", &format!("groups_runs_{}", 8 * keys.bytes), plan.walkers(), words)
    };
    before.push(walk(0, 0, 0));
    let scan = vec![counts.address(), 1, plan.warps(), total.address()];
    before.push(launch("groups", "groups_scan", 1, scan));
    machine.run_many(&before, after)?;
    let mut word = [0; 8];
    total.read(&mut word)?;
    let runs = u64::from_le_bytes(word) as usize;
    let starts = Buffer::new(machine.unwritten(8 * (runs + 1))?, runs + 1);
    let labels = machine.unwritten(runs * width)?;
    machine.run_many(&[walk(starts.address(), labels.address(), runs as u64)], &[])?;
    Ok((starts, labels))
}
