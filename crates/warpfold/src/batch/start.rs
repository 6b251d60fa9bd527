//! Reductions that begin with their policy, as looking at offsets and keys takes threads before any reduction is asked for.

use std::sync::Arc;

use warpfold_engine as engine;

use super::{ByGroups, ByNumbers, BySegments, ReduceBatched};
use crate::element::Element;
use crate::group::Key;
use crate::segment::Segments;
use crate::{Policy, Result};

/// Reductions that begin with their policy: [`Policy`] has these methods where this trait is in scope.
pub trait UnderPolicy: sealed::Sealed + Sized {
    /// [`reduce_segments`](crate::reduce_segments) under this policy from the start.
    ///
    /// # Errors
    /// [`Error::Segments`](crate::Error::Segments): these are no segments of the slice.
    fn reduce_segments<'a, T: Element>(
        self,
        x: &'a [T],
        segments: Segments<'a>,
    ) -> Result<ReduceBatched<'a, T, BySegments>>;

    /// [`reduce_by_key`](crate::reduce_by_key) under this policy from the start.
    ///
    /// # Errors
    /// [`Error::Keys`](crate::Error::Keys): there is not one key for each element.
    fn reduce_by_key<'a, K: Key, T: Element>(
        self,
        keys: &'a [K],
        x: &'a [T],
    ) -> Result<ReduceBatched<'a, T, ByGroups<K>>>;

    /// [`group_by`](crate::group_by) under this policy from the start: keys are numbered by no more threads than it allows.
    ///
    /// ```
    /// use warpfold::{Policy, UnderPolicy};
    /// let one_thread = Policy { threads: Some(1), ..Policy::default() };
    /// assert_eq!(one_thread.group_by(&[7i64, -1, 7], &[1u8, 2, 3])?.sum()?.values, [2, 4]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Keys`](crate::Error::Keys): there is not one key for each element, or more than 2^32 different ones.
    fn group_by<'a, K: Key, T: Element>(
        self,
        keys: &[K],
        x: &'a [T],
    ) -> Result<ReduceBatched<'a, T, ByGroups<K>>>;

    /// [`group_dense`](crate::group_dense) under this policy from the start.
    ///
    /// # Errors
    /// [`Error::Keys`](crate::Error::Keys): there is not one key for each element, or one is not below `groups`.
    fn group_dense<'a, K: Key, T: Element>(
        self,
        keys: &'a [K],
        groups: u64,
        x: &'a [T],
    ) -> Result<ReduceBatched<'a, T, ByNumbers>>;
}

impl UnderPolicy for Policy {
    fn reduce_segments<'a, T: Element>(
        self,
        x: &'a [T],
        segments: Segments<'a>,
    ) -> Result<ReduceBatched<'a, T, BySegments>> {
        let parts = Arc::new(engine::segments(segments, x.len() as u64, self)?);
        Ok(ReduceBatched::new(x, parts, BySegments::new()).policy(self))
    }

    fn reduce_by_key<'a, K: Key, T: Element>(
        self,
        keys: &'a [K],
        x: &'a [T],
    ) -> Result<ReduceBatched<'a, T, ByGroups<K>>> {
        let parts = Arc::new(engine::runs_by_key(keys, x.len(), self)?);
        Ok(ReduceBatched::new(x, parts.clone(), ByGroups::new(parts)).policy(self))
    }

    fn group_by<'a, K: Key, T: Element>(
        self,
        keys: &[K],
        x: &'a [T],
    ) -> Result<ReduceBatched<'a, T, ByGroups<K>>> {
        let parts = Arc::new(engine::group_by(keys, x.len(), self)?);
        Ok(ReduceBatched::new(x, parts.clone(), ByGroups::new(parts)).policy(self))
    }

    fn group_dense<'a, K: Key, T: Element>(
        self,
        keys: &'a [K],
        groups: u64,
        x: &'a [T],
    ) -> Result<ReduceBatched<'a, T, ByNumbers>> {
        let parts = Arc::new(engine::group_dense(keys, groups, x.len(), self)?);
        Ok(ReduceBatched::new(x, parts, ByNumbers::new()).policy(self))
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Policy {}
}
