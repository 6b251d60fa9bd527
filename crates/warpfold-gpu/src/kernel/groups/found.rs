//! [`LabelledGroups`]: the groups of keys, whatever the types of keys and values.

use super::sort::Sort;
use super::{GivenKeys, runs, uploaded};
use crate::Result;
use crate::group;
use crate::kernel::{AnyBuffer, AnyView, Executor, Memory};
use crate::plan::{CudaGroupPlan, GroupWay};

/// Groups that have a label each.
pub(super) struct LabelledGroups {
    /// The values in the order of groups, if they were moved.
    pub(super) sorted: Option<Memory>,
    /// One more than groups.
    pub(super) offsets: AnyBuffer,
    /// A key a group.
    pub(super) labels: AnyBuffer,
    pub(super) plan: CudaGroupPlan,
}

/// The keys that there are, by their ranks.
pub(super) struct Range {
    pub(super) least: u64,
    pub(super) greatest: u64,
    /// What is taken from the bits of a key for its ordinal.
    pub(super) base: u64,
}

/// Groups of keys in any order: `[keys, values]`. `only` is the bytes of the least key, the label where all are equal.
pub(super) fn sorted(
    machine: &dyn Executor,
    [keys, values]: [AnyView<'_>; 2],
    Range { least, greatest, base }: Range,
    only: &[u8],
) -> Result<LabelledGroups> {
    let n = keys.len as u64;
    let (types, range) = ([keys.dtype, values.dtype], greatest - least);
    let plan = CudaGroupPlan::new(n, types, GroupWay::Ranks, range, machine.facts());
    if n > 0 && range == 0 {
        let labels = AnyBuffer::upload(machine, keys.dtype, only)?;
        let offsets = uploaded(machine, &[0, n])?;
        return Ok(LabelledGroups { sorted: None, offsets, labels, plan });
    }
    let sort = Sort::new(machine, &plan, GivenKeys::of(keys, base), values.address, None)?;
    let address = sort.last().map_or(0, |(ordinals, _)| ordinals);
    let ordinals = GivenKeys { address, bytes: plan.ordinal_bytes(), base };
    let after = [keys.ready, values.ready];
    let before = sort.launches.clone();
    let (offsets, labels) = runs::runs(machine, &plan, ordinals, before, &after)?;
    Ok(LabelledGroups { sorted: sort.into_values(), offsets, labels, plan })
}

/// Groups of keys in runs: `[keys, values]`.
pub(super) fn in_runs(
    machine: &dyn Executor,
    [keys, values]: [AnyView<'_>; 2],
) -> Result<LabelledGroups> {
    group::check_lengths(keys.len, values.len)?;
    let types = [keys.dtype, values.dtype];
    let plan = CudaGroupPlan::new(keys.len as u64, types, GroupWay::Runs, 0, machine.facts());
    let after = [keys.ready];
    let (offsets, labels) = runs::runs(machine, &plan, GivenKeys::of(keys, 0), Vec::new(), &after)?;
    Ok(LabelledGroups { sorted: None, offsets, labels, plan })
}
