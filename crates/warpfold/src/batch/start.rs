//! Reductions that begin with their policy, as looking at offsets and keys takes threads before any reduction is asked for.

use std::borrow::Cow;

use super::{ByGroups, ByNumbers, BySegments, How, ReduceMany};
use crate::cpu;
use crate::element::Element;
use crate::group::{self, Key};
use crate::plan::KeysKind;
use crate::segment::{Bounds, Segments};
use crate::{Policy, Result};

impl Policy {
    /// [`reduce_segments`](crate::reduce_segments) under this policy from the start.
    ///
    /// # Errors
    /// [`Error::Segments`](crate::Error::Segments): these are no segments of the slice.
    pub fn reduce_segments<'a, T: Element>(
        self,
        x: &'a [T],
        segments: Segments<'a>,
    ) -> Result<ReduceMany<'a, T, BySegments>> {
        let bounds = segments.check_on(self.allowed(), x.len() as u64)?;
        Ok(ReduceMany::new(x, How::Segments(bounds), BySegments::new()).policy(self))
    }

    /// [`reduce_by_key`](crate::reduce_by_key) under this policy from the start.
    ///
    /// # Errors
    /// [`Error::Keys`](crate::Error::Keys): there is not one key for each element.
    pub fn reduce_by_key<'a, K: Key, T: Element>(
        self,
        keys: &'a [K],
        x: &'a [T],
    ) -> Result<ReduceMany<'a, T, ByGroups<K>>> {
        group::check_lengths(keys.len(), x.len())?;
        let (offsets, keys) = group::runs(keys, self.allowed());
        let bounds = Bounds::Offsets64(Cow::Owned(offsets));
        Ok(ReduceMany::new(x, How::Segments(bounds), ByGroups::new(keys)).policy(self))
    }

    /// [`group_by`](crate::group_by) under this policy from the start: keys are numbered by no more threads than it allows.
    ///
    /// ```
    /// use warpfold::Policy;
    /// let one_thread = Policy { threads: Some(1), ..Policy::default() };
    /// assert_eq!(one_thread.group_by(&[7i64, -1, 7], &[1u8, 2, 3])?.sum()?.values, [2, 4]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Keys`](crate::Error::Keys): there is not one key for each element, or more than 2^32 different ones.
    pub fn group_by<'a, K: Key, T: Element>(
        self,
        keys: &[K],
        x: &'a [T],
    ) -> Result<ReduceMany<'a, T, ByGroups<K>>> {
        group::check_lengths(keys.len(), x.len())?;
        let (numbers, keys) = group::Given::number(keys, self.allowed())?;
        let groups = keys.len() as u64;
        let how = How::Groups { numbers: Box::new(numbers), groups, keys: KeysKind::Numbered };
        Ok(ReduceMany::new(x, how, ByGroups::new(keys)).policy(self))
    }

    /// [`group_dense`](crate::group_dense) under this policy from the start.
    ///
    /// # Errors
    /// [`Error::Keys`](crate::Error::Keys): there is not one key for each element, or one is not below `groups`.
    pub fn group_dense<'a, K: Key, T: Element>(
        self,
        keys: &'a [K],
        groups: u64,
        x: &'a [T],
    ) -> Result<ReduceMany<'a, T, ByNumbers>> {
        group::check_lengths(keys.len(), x.len())?;
        let numbers = Box::new(group::Dense::check(keys, groups, self.allowed())?);
        let how = How::Groups { numbers, groups, keys: KeysKind::Dense };
        Ok(ReduceMany::new(x, how, ByNumbers::new()).policy(self))
    }

    /// Threads that may be used here.
    fn allowed(self) -> usize {
        let there = cpu::facts().threads;
        self.threads.unwrap_or(there).clamp(1, there)
    }
}
