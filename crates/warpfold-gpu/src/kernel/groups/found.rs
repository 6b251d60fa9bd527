//! [`Found`]: the groups of keys, whatever the types of keys and values.

use super::sort::Sort;
use super::{GivenKeys, runs};
use crate::Result;
use crate::group;
use crate::kernel::{Buffer, Machine, Untyped};
use crate::plan::{CudaGroupPlan, GroupWay};

/// Groups that have a label each.
pub(super) struct Found<M: Machine> {
    /// The values in the order of groups, if they were moved.
    pub(super) sorted: Option<M::Memory>,
    /// One more than groups.
    pub(super) offsets: Buffer<M, u64>,
    /// A key a group.
    pub(super) labels: M::Memory,
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
pub(super) fn sorted<M: Machine>(
    machine: &M,
    [keys, values]: [Untyped<'_, M>; 2],
    Range { least, greatest, base }: Range,
    only: &[u8],
) -> Result<Found<M>> {
    let n = keys.len as u64;
    let (types, range) = ([keys.dtype, values.dtype], greatest - least);
    let plan = CudaGroupPlan::new(n, types, GroupWay::Ranks, range, machine.facts());
    if n > 0 && range == 0 {
        let (labels, offsets) = (machine.copy_of(only)?, machine.upload(&[0, n])?);
        return Ok(Found { sorted: None, offsets, labels, plan });
    }
    let sort = Sort::new(machine, &plan, GivenKeys::of(keys, base), values.address, None)?;
    let address = sort.last().map_or(0, |(ordinals, _)| ordinals);
    let ordinals = GivenKeys { address, bytes: plan.ordinal_bytes(), base };
    let after: Vec<_> = [keys.ready, values.ready].into_iter().flatten().collect();
    let before = sort.launches.clone();
    let (offsets, labels) = runs::runs(machine, &plan, ordinals, before, &after)?;
    Ok(Found { sorted: sort.into_values(), offsets, labels, plan })
}

/// Groups of keys in runs: `[keys, values]`.
pub(super) fn in_runs<M: Machine>(
    machine: &M,
    [keys, values]: [Untyped<'_, M>; 2],
) -> Result<Found<M>> {
    group::check_lengths(keys.len, values.len)?;
    let types = [keys.dtype, values.dtype];
    let plan = CudaGroupPlan::new(keys.len as u64, types, GroupWay::Runs, 0, machine.facts());
    let after: Vec<_> = keys.ready.into_iter().collect();
    let (offsets, labels) = runs::runs(machine, &plan, GivenKeys::of(keys, 0), Vec::new(), &after)?;
    Ok(Found { sorted: None, offsets, labels, plan })
}
