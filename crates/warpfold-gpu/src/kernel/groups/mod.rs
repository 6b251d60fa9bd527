//! Values grouped by keys on a machine: those of equal keys next to each other, so that groups are segments.

mod dense;
mod found;
mod keys;
mod reduce;
mod runs;
mod scatter;
mod sort;
mod tables;

pub use dense::AnyDenseSort;
pub use reduce::AnyReduceDense;
pub use tables::AnyDenseTables;

use super::array::{AnyBuffer, AnyView};
use super::batched::{AnyReduceBatched, AnySegments};
use super::executor::{Executor, Memory};
use super::reduce::AnyReduce;
use crate::error::At;
use crate::partial::{Finish, Output};
use crate::plan::CudaGroupPlan;
use crate::{Column, DType, Op, Result};
use found::{LabelledGroups, Range};

/// Keys in a machine's memory as kernels know them: integers of so many bytes, of which the least is `base`.
#[derive(Debug, Clone, Copy)]
struct GivenKeys {
    address: u64,
    bytes: u64,
    base: u64,
}

impl GivenKeys {
    fn of(keys: AnyView<'_>, base: u64) -> Self {
        GivenKeys { address: keys.address, bytes: keys.dtype.size() as u64, base }
    }
}

/// Copies offsets to a machine.
fn uploaded(machine: &dyn Executor, offsets: &[u64]) -> Result<AnyBuffer> {
    AnyBuffer::upload(machine, DType::U64, bytemuck::cast_slice(offsets))
}

/// Values grouped by keys, in a machine's memory: values of equal keys lie next to each other, in the order in which they were given. Any number
/// of reductions share what that took.
pub struct AnyGroups<'a> {
    machine: &'a dyn Executor,
    values: Values<'a>,
    /// One more than groups.
    offsets: AnyBuffer,
    labels: Labels,
    plan: CudaGroupPlan,
}

/// Values in the order of groups.
enum Values<'a> {
    /// As they were given.
    Given(AnyView<'a>),
    Sorted(AnyBuffer),
}

impl<'a> Values<'a> {
    /// Values of which a sort left these, if there was one.
    fn of(given: AnyView<'a>, sorted: Option<Memory>) -> Self {
        let buffer = |sorted| Values::Sorted(AnyBuffer::new(sorted, given.dtype, given.len));
        sorted.map_or(Values::Given(given), buffer)
    }
}

/// What groups are called.
pub(super) enum Labels {
    /// A key a group.
    Keys(AnyBuffer),
    /// Their numbers.
    Numbers(u64),
}

impl Labels {
    /// The keys, where groups have some.
    pub(super) fn keys(&self) -> Result<Option<Column>> {
        match self {
            Labels::Numbers(_) => Ok(None),
            Labels::Keys(labels) => labels.column().map(Some),
        }
    }

    /// What a group is called.
    pub(super) fn name(&self, group: u64) -> At {
        let name = match self {
            Labels::Numbers(_) => Some(group.to_string()),
            Labels::Keys(_) => {
                let keys = self.keys().ok().flatten();
                let keys = keys.filter(|keys| (group as usize) < keys.len());
                keys.map(|keys| keys.get(group as usize).to_string())
            }
        };
        name.map_or(At::Segment(group), At::Group)
    }
}

impl<'a> AnyGroups<'a> {
    /// Brings values of equal keys together, keys in any order; groups by ascending keys.
    ///
    /// # Errors
    /// [`Error::Keys`](crate::Error::Keys): there is not one key for each value, or keys are no integers; [`Error::Device`](crate::Error::Device).
    pub fn by(machine: &'a dyn Executor, keys: AnyView<'a>, values: AnyView<'a>) -> Result<Self> {
        keys::check(machine, keys, values)?;
        let (least, greatest) = match keys.len {
            0 => (0, 0),
            _ => match AnyReduce::new(machine, keys).output(Op::MinMax, Finish::default())? {
                Output::Pair(least, greatest) => (keys::rank(least), keys::rank(greatest)),
                other => unreachable!("minmax has two numbers, not {other:?}"),
            },
        };
        let base = least.wrapping_sub(keys::rank_of_zero(keys.dtype));
        let only = keys::bytes_of_rank(keys.dtype, least);
        let range = Range { least, greatest, base };
        let found = found::sorted(machine, [keys, values], range, &only)?;
        Ok(AnyGroups::of(machine, values, found))
    }

    /// Brings values of equal keys together, keys being numbers of groups from 0 to below `groups`; every number has a group, if an empty one.
    ///
    /// # Errors
    /// [`Error::Keys`](crate::Error::Keys): there is not one key for each value, keys are no integers, or one is not below `groups`;
    /// [`Error::Device`](crate::Error::Device).
    pub fn dense(
        machine: &'a dyn Executor,
        keys: AnyView<'a>,
        groups: u64,
        values: AnyView<'a>,
    ) -> Result<Self> {
        AnyDenseSort::new(machine, keys, groups, values)?.run()
    }

    /// Finds the runs of equal keys, each of which is a group; values stay where they are.
    ///
    /// # Errors
    /// [`Error::Keys`](crate::Error::Keys): there is not one key for each value, or keys are no integers; [`Error::Device`](crate::Error::Device).
    pub fn runs(machine: &'a dyn Executor, keys: AnyView<'a>, values: AnyView<'a>) -> Result<Self> {
        keys::check(machine, keys, values)?;
        let found = found::in_runs(machine, [keys, values])?;
        Ok(AnyGroups::of(machine, values, found))
    }

    fn of(machine: &'a dyn Executor, values: AnyView<'a>, found: LabelledGroups) -> Self {
        let LabelledGroups { sorted, offsets, labels, plan } = found;
        let (values, labels) = (Values::of(values, sorted), Labels::Keys(labels));
        AnyGroups { machine, values, offsets, labels, plan }
    }

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
    pub fn offsets(&self) -> &AnyBuffer {
        &self.offsets
    }

    /// The values in the order of groups; those of a group in the order in which they were given.
    pub fn values(&self) -> AnyView<'_> {
        match &self.values {
            Values::Given(view) => *view,
            Values::Sorted(buffer) => buffer.view(),
        }
    }

    /// The same where they were moved for that: not if they lay in that order.
    pub fn moved(&self) -> Option<&AnyBuffer> {
        match &self.values {
            Values::Given(_) => None,
            Values::Sorted(buffer) => Some(buffer),
        }
    }

    /// The keys, one a group, where groups have keys: ascending of [`by`](Self::by), as they come of [`runs`](Self::runs). Those of
    /// [`dense`](Self::dense) are called by their numbers.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    pub fn keys(&self) -> Result<Option<Column>> {
        self.labels.keys()
    }

    /// The keys where they are in the machine's memory; numbers are not.
    pub fn keys_on_device(&self) -> Option<&AnyBuffer> {
        match &self.labels {
            Labels::Keys(labels) => Some(labels),
            Labels::Numbers(_) => None,
        }
    }

    /// How many groups are called by their numbers.
    pub(super) fn numbers(&self) -> Option<u64> {
        match self.labels {
            Labels::Keys(_) => None,
            Labels::Numbers(groups) => Some(groups),
        }
    }

    /// Starts reductions of the groups, in the order of the keys; as often as is liked. Indices count the group's own elements.
    pub fn reduce(&self) -> AnyReduceBatched<'_> {
        let segments = AnySegments::Offsets(self.offsets.view());
        // Only a group without a result is asked for its name.
        AnyReduceBatched::segments(self.machine, self.values(), segments)
            .named(|group| self.labels.name(group))
    }

    /// The values in the order of groups where they were moved for that, the offsets, and what groups are called.
    pub(super) fn into_parts(self) -> (Option<AnyBuffer>, AnyBuffer, Labels) {
        let moved = match self.values {
            Values::Given(_) => None,
            Values::Sorted(buffer) => Some(buffer),
        };
        (moved, self.offsets, self.labels)
    }
}
