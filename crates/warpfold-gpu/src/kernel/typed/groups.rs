//! Values grouped by keys, with the types of both.

use std::marker::PhantomData;

use super::batched::ReduceBatched;
use super::buffer::{Buffer, View};
use super::machine::Machine;
use crate::group::Key;
use crate::kernel::AnyGroups;
use crate::plan::CudaGroupPlan;
use crate::{Element, Result};

/// Values grouped by keys, in a machine's memory: values of equal keys lie next to each other, in the order in which they were given. Made by
/// [`Machine::group_by`], [`Machine::group_dense`] and [`Machine::reduce_by_key`]; any number of reductions share what that took.
pub struct Groups<'a, M: Machine, K, T> {
    groups: AnyGroups<'a>,
    of: PhantomData<(&'a M, K, T)>,
}

impl<'a, M: Machine, K: Key + Element, T: Element> Groups<'a, M, K, T> {
    /// Of keys and values of the types.
    pub(super) fn new(groups: AnyGroups<'a>) -> Self {
        Groups { groups, of: PhantomData }
    }

    /// Groups.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// How the values were brought together.
    pub fn plan(&self) -> &CudaGroupPlan {
        self.groups.plan()
    }

    /// Where groups begin among [`values`](Self::values), then where the last one ends.
    pub fn offsets(&self) -> &Buffer<M, u64> {
        Buffer::of(self.groups.offsets())
    }

    /// The values in the order of groups; those of a group in the order in which they were given.
    pub fn values(&self) -> View<'_, M, T> {
        View::new(self.groups.values())
    }

    /// The same where they were moved for that: not if they lay in that order.
    pub fn moved(&self) -> Option<&Buffer<M, T>> {
        self.groups.moved().map(Buffer::of)
    }

    /// The keys, one a group: ascending of [`Machine::group_by`], numbers from 0 of [`Machine::group_dense`], as they come of
    /// [`Machine::reduce_by_key`].
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    pub fn keys(&self) -> Result<Vec<K>> {
        match (self.keys_on_device(), self.groups.numbers()) {
            (Some(labels), _) => labels.download(),
            (None, groups) => Ok((0..groups.unwrap_or(0)).filter_map(K::from_id).collect()),
        }
    }

    /// The keys where they are in the machine's memory; numbers are not.
    pub fn keys_on_device(&self) -> Option<&Buffer<M, K>> {
        self.groups.keys_on_device().map(Buffer::of)
    }

    /// Starts reductions of the groups, in the order of the keys; as often as is liked. Indices count the group's own elements.
    pub fn reduce(&self) -> ReduceBatched<'_, M, T> {
        ReduceBatched::new(self.groups.reduce())
    }
}
