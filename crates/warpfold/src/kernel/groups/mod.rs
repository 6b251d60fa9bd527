//! Values grouped by keys on a [`Machine`]: those of equal keys next to each other, so that groups are segments.

mod dense;
mod runs;
mod sort;

pub use dense::DenseSort;

use super::buffer::{Buffer, View};
use super::machine::Machine;
use super::many::{DeviceSegments, ReduceMany};
use crate::error::At;
use crate::group::{self, Key};
use crate::plan::{CudaGroupPlan, GroupWay};
use crate::{Element, Ordered, Result};
use sort::Sort;

/// Keys in a machine's memory as kernels know them: integers of so many bytes, of which the least is `base`.
#[derive(Debug, Clone, Copy)]
struct GivenKeys {
    address: u64,
    bytes: u64,
    base: u64,
}

impl GivenKeys {
    fn of<M: Machine, K>(keys: View<'_, M, K>, base: u64) -> Self {
        GivenKeys { address: keys.address, bytes: size_of::<K>() as u64, base }
    }
}

/// Values grouped by keys, in a machine's memory: values of equal keys lie next to each other, in the order in which they were given. Made by
/// [`Machine::group_by`], [`Machine::group_dense`] and [`Machine::reduce_by_key`]; any number of reductions share what that took.
pub struct Groups<'a, M: Machine, K, T> {
    machine: &'a M,
    values: Values<'a, M, T>,
    /// One more than groups.
    offsets: Buffer<M, u64>,
    labels: Labels<M, K>,
    plan: CudaGroupPlan,
}

/// Values in the order of groups.
enum Values<'a, M: Machine, T> {
    /// As they were given.
    Given(View<'a, M, T>),
    Sorted(Buffer<M, T>),
}

/// What groups are called.
enum Labels<M: Machine, K> {
    /// A key a group.
    Keys(Buffer<M, K>),
    /// Their numbers.
    Numbers(u64),
}

impl<'a, M: Machine, K: Key + Ordered, T: Element> Groups<'a, M, K, T> {
    /// Of keys in any order.
    pub(super) fn by(machine: &'a M, keys: View<'a, M, K>, values: View<'a, M, T>) -> Result<Self> {
        group::check_lengths(keys.len, values.len)?;
        let (least, greatest) = match keys.len {
            0 => (0, 0),
            _ => {
                let (least, greatest) = machine.reduce(keys).minmax()?;
                (least.rank(), greatest.rank())
            }
        };
        let zero = K::from_id(0).map_or(0, Key::rank);
        let base = least.wrapping_sub(zero);
        let types = [<K as Key>::DTYPE, T::DTYPE];
        let (n, range) = (keys.len as u64, greatest - least);
        let plan = CudaGroupPlan::new(n, types, GroupWay::Ranks, range, machine.facts());
        if keys.len > 0 && range == 0 {
            let labels = machine.upload(&[K::from_rank(least)])?;
            let offsets = machine.upload(&[0, n])?;
            return Ok(Groups::new(machine, Values::Given(values), offsets, labels, plan));
        }
        let sort = Sort::new(machine, &plan, GivenKeys::of(keys, base), values.address, None)?;
        let address = sort.ordinals().unwrap_or(0);
        let ordinals = GivenKeys { address, bytes: plan.ordinal_bytes(), base };
        let after: Vec<_> = [keys.ready, values.ready].into_iter().flatten().collect();
        let before = sort.launches.clone();
        let (offsets, labels) = runs::runs(machine, &plan, ordinals, before, &after)?;
        let values = match sort.into_values() {
            Some(sorted) => Values::Sorted(Buffer::new(sorted, values.len)),
            None => Values::Given(values),
        };
        Ok(Groups::new(machine, values, offsets, labels, plan))
    }

    /// Of keys in runs.
    pub(super) fn runs(
        machine: &'a M,
        keys: View<'a, M, K>,
        values: View<'a, M, T>,
    ) -> Result<Self> {
        group::check_lengths(keys.len, values.len)?;
        let types = [<K as Key>::DTYPE, T::DTYPE];
        let plan = CudaGroupPlan::new(keys.len as u64, types, GroupWay::Runs, 0, machine.facts());
        let after: Vec<_> = keys.ready.into_iter().collect();
        let given = GivenKeys::of(keys, 0);
        let (offsets, labels) = runs::runs(machine, &plan, given, Vec::new(), &after)?;
        Ok(Groups::new(machine, Values::Given(values), offsets, labels, plan))
    }

    fn new(
        machine: &'a M,
        values: Values<'a, M, T>,
        offsets: Buffer<M, u64>,
        labels: Buffer<M, K>,
        plan: CudaGroupPlan,
    ) -> Self {
        Groups { machine, values, offsets, labels: Labels::Keys(labels), plan }
    }
}

impl<M: Machine, K: Key + Element, T: Element> Groups<'_, M, K, T> {
    /// Groups.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How the values were brought together.
    pub fn plan(&self) -> &CudaGroupPlan {
        &self.plan
    }

    /// Where groups begin among [`values`](Self::values), then where the last one ends.
    pub fn offsets(&self) -> &Buffer<M, u64> {
        &self.offsets
    }

    /// The values in the order of groups; those of a group in the order in which they were given.
    pub fn values(&self) -> View<'_, M, T> {
        match &self.values {
            Values::Given(view) => *view,
            Values::Sorted(buffer) => buffer.view(),
        }
    }

    /// The same where they were moved for that: not if they lay in that order.
    pub fn moved(&self) -> Option<&Buffer<M, T>> {
        match &self.values {
            Values::Given(_) => None,
            Values::Sorted(buffer) => Some(buffer),
        }
    }

    /// The keys, one a group: ascending of [`Machine::group_by`], numbers from 0 of [`Machine::group_dense`], as they come of
    /// [`Machine::reduce_by_key`].
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    pub fn keys(&self) -> Result<Vec<K>> {
        match &self.labels {
            Labels::Keys(labels) => labels.download(),
            Labels::Numbers(groups) => Ok((0..*groups).filter_map(K::from_id).collect()),
        }
    }

    /// The keys where they are in the machine's memory; numbers are not.
    pub fn keys_on_device(&self) -> Option<&Buffer<M, K>> {
        match &self.labels {
            Labels::Keys(labels) => Some(labels),
            Labels::Numbers(_) => None,
        }
    }

    /// Starts reductions of the groups, in the order of the keys; as often as is liked. Indices count the group's own elements.
    pub fn reduce(&self) -> ReduceMany<'_, M, T> {
        let segments = DeviceSegments::from(&self.offsets);
        // Only a group without a result is asked for its name.
        self.machine.reduce_segments(self.values(), segments).named(|group| {
            let name = match &self.labels {
                Labels::Numbers(_) => Some(group.to_string()),
                Labels::Keys(labels) => {
                    let keys = labels.download().ok();
                    keys.and_then(|keys| keys.get(group as usize).map(K::to_string))
                }
            };
            name.map_or(At::Segment(group), At::Group)
        })
    }
}
