//! Numbers for groups: those that dense keys are, and those that other keys get.

use std::collections::HashMap;
use std::fmt::Debug;

use rayon::prelude::*;

use super::{Key, MOST_GROUPS};
use crate::{Error, Result};

/// A group's number for each element, all below the number of groups.
pub(crate) trait Numbered: Debug + Send + Sync {
    /// Writes the numbers of the elements from `first` on, as many as there is room for.
    fn numbers(&self, first: usize, out: &mut [u32]);
}

/// Keys that are numbers themselves, all of them checked.
#[derive(Debug, Clone)]
pub(crate) struct Dense<'a, K>(&'a [K]);

impl<'a, K: Key> Dense<'a, K> {
    /// Checks that all keys are below `groups`.
    pub(crate) fn check(keys: &'a [K], groups: u64) -> Result<Self> {
        let refused = |obstacle, remedy| {
            let asked = format!("{groups} groups of {} elements by dense keys", keys.len());
            Err(Error::Keys { asked, obstacle, remedy })
        };
        if groups > MOST_GROUPS {
            return refused(
                "there can be 2^32 groups at most".into(),
                "number the keys (group_by), or take them a part at a time",
            );
        }
        let outside = |key: &K| key.id().is_none_or(|id| id >= groups);
        if let Some(at) = keys.par_iter().position_first(outside) {
            return refused(
                format!("key {at} is {}", keys[at]),
                "dense keys go from 0 to the number of groups less one; group_by takes any",
            );
        }
        Ok(Dense(keys))
    }
}

impl<K: Key> Numbered for Dense<'_, K> {
    fn numbers(&self, first: usize, out: &mut [u32]) {
        for (number, key) in out.iter_mut().zip(&self.0[first..]) {
            *number = key.id().unwrap_or(0) as u32;
        }
    }
}

/// Numbers that were given to keys.
#[derive(Debug, Clone)]
pub(crate) struct Given(Vec<u32>);

impl Given {
    /// Numbers keys by their order; returns the keys, ascending, too.
    pub(crate) fn number<K: Key>(keys: &[K]) -> Result<(Self, Vec<K>)> {
        let mut met = HashMap::new();
        for &key in keys {
            met.entry(key).or_insert(0u32);
        }
        if met.len() as u64 > MOST_GROUPS {
            return Err(Error::Keys {
                asked: format!("groups of {} elements", keys.len()),
                obstacle: format!("there are {} different keys, more than 2^32", met.len()),
                remedy: "take them a part at a time",
            });
        }
        let mut found: Vec<K> = met.keys().copied().collect();
        found.sort_unstable();
        for (number, key) in found.iter().enumerate() {
            met.insert(*key, number as u32);
        }
        Ok((Given(keys.iter().map(|key| met[key]).collect()), found))
    }
}

impl Numbered for Given {
    fn numbers(&self, first: usize, out: &mut [u32]) {
        out.copy_from_slice(&self.0[first..first + out.len()]);
    }
}

/// Numbers that are looked up at a time.
const BLOCK: usize = 2048;

/// Calls with each of `n` elements and its group.
pub(crate) fn for_each(numbers: &dyn Numbered, n: usize, mut visit: impl FnMut(usize, usize)) {
    let mut block = [0u32; BLOCK];
    for first in (0..n).step_by(BLOCK) {
        let block = &mut block[..BLOCK.min(n - first)];
        numbers.numbers(first, block);
        for (at, &group) in block.iter().enumerate() {
            visit(first + at, group as usize);
        }
    }
}

/// The index of the element that stands at a place among those of its group, for each group.
pub(crate) fn nth_of_each(numbers: &dyn Numbered, n: usize, places: &[u64]) -> Vec<u64> {
    let mut left = places.to_vec();
    let mut found = vec![0; places.len()];
    for_each(numbers, n, |at, group| {
        if left[group] == 0 {
            found[group] = at as u64;
        }
        left[group] = left[group].wrapping_sub(1);
    });
    found
}
