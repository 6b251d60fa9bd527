//! Values grouped by keys on a [`Machine`]: those of equal keys next to each other, so that groups are segments.

mod dense;
mod found;
mod reduce;
mod runs;
mod scatter;
mod sort;
mod tables;

pub use dense::DenseSort;
pub use reduce::ReduceDense;
pub use tables::DenseTables;

use super::buffer::{Buffer, Untyped, View};
use super::machine::Machine;
use super::many::{DeviceSegments, ReduceMany};
use crate::error::At;
use crate::group::{self, Key};
use crate::plan::CudaGroupPlan;
use crate::{Element, Ordered, Result};
use found::{Found, Range};

/// Keys in a machine's memory as kernels know them: integers of so many bytes, of which the least is `base`.
#[derive(Debug, Clone, Copy)]
struct GivenKeys {
    address: u64,
    bytes: u64,
    base: u64,
}

impl GivenKeys {
    fn of<M: Machine>(keys: Untyped<'_, M>, base: u64) -> Self {
        GivenKeys { address: keys.address, bytes: keys.dtype.size() as u64, base }
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

impl<'a, M: Machine, T: Element> Values<'a, M, T> {
    /// Values of which a sort left these, if there was one.
    fn of(given: View<'a, M, T>, sorted: Option<M::Memory>) -> Self {
        sorted.map_or(Values::Given(given), |sorted| Values::Sorted(Buffer::new(sorted, given.len)))
    }
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
        let range = Range { least, greatest, base: least.wrapping_sub(zero) };
        let only = K::from_rank(least);
        let untyped = [keys.untyped(), values.untyped()];
        let found = found::sorted(machine, untyped, range, bytemuck::bytes_of(&only))?;
        Ok(Groups::of(machine, values, found))
    }

    /// Of keys in runs.
    pub(super) fn runs(
        machine: &'a M,
        keys: View<'a, M, K>,
        values: View<'a, M, T>,
    ) -> Result<Self> {
        let found = found::in_runs(machine, [keys.untyped(), values.untyped()])?;
        Ok(Groups::of(machine, values, found))
    }

    fn of(machine: &'a M, values: View<'a, M, T>, found: Found<M>) -> Self {
        let Found { sorted, offsets, labels, plan } = found;
        let values = Values::of(values, sorted);
        let labels = Labels::Keys(Buffer::new(labels, offsets.len() - 1));
        Groups { machine, values, offsets, labels, plan }
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
