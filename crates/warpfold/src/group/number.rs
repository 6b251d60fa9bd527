//! Numbers for groups, and those that dense keys are by themselves.

use std::fmt::Debug;
use std::ops::Range;

use super::{Key, MOST_GROUPS};
use crate::cpu::crew::find;
use crate::{Error, Result};

/// A group's number for each element, all below the number of groups and the same whenever they are asked for: what is sorted by them is written without another look (`cpu/batch/sort`).
pub(crate) trait Numbered: Debug + Send + Sync {
    /// Writes the numbers of the elements from `first` on, as many as there is room for.
    fn numbers(&self, first: usize, out: &mut [u32]);
}

/// Keys that a thread looks at at a time.
const CHUNK: usize = 1 << 16;

/// Refuses more groups of dense keys than 32 bits number.
pub(crate) fn check_groups(keys: usize, groups: u64) -> Result<()> {
    if groups <= MOST_GROUPS {
        return Ok(());
    }
    Err(Error::Keys {
        asked: asked(keys, groups),
        obstacle: "there can be 2^32 groups at most".into(),
        remedy: "number the keys (group_by), or take them a part at a time",
    })
}

/// The error of a dense key that is no group's number.
pub(crate) fn outside<K: Key>(keys: usize, groups: u64, at: usize, key: K) -> Error {
    Error::Keys {
        asked: asked(keys, groups),
        obstacle: format!("key {at} is {key}"),
        remedy: "dense keys go from 0 to the number of groups less one; group_by takes any",
    }
}

fn asked(keys: usize, groups: u64) -> String {
    format!("{groups} groups of {keys} elements by dense keys")
}

/// Keys that are numbers themselves, all of them checked.
#[derive(Debug, Clone)]
pub(crate) struct Dense<'a, K>(&'a [K]);

impl<'a, K: Key> Dense<'a, K> {
    /// Checks that all keys are below `groups`.
    pub(crate) fn check(keys: &'a [K], groups: u64, threads: usize) -> Result<Self> {
        check_groups(keys.len(), groups)?;
        let is_outside = |key: &K| key.id().is_none_or(|id| id >= groups);
        let chunks = keys.chunks(CHUNK).enumerate();
        let found =
            find(threads, chunks, |(k, keys)| Some(k * CHUNK + keys.iter().position(is_outside)?));
        match found {
            Some(at) => Err(outside(keys.len(), groups, at, keys[at])),
            None => Ok(Dense(keys)),
        }
    }
}

impl<K: Key> Numbered for Dense<'_, K> {
    fn numbers(&self, first: usize, out: &mut [u32]) {
        for (number, key) in out.iter_mut().zip(&self.0[first..]) {
            *number = key.id().unwrap_or(0) as u32;
        }
    }
}

/// Numbers that are looked up at a time.
const BLOCK: usize = 2048;

/// Elements from one to that whose group is told with it: as many misses as a core has under way at once.
const AHEAD: usize = 24;

/// Calls with each element of a range and its group.
pub(crate) fn for_each(
    numbers: &dyn Numbered,
    elements: Range<usize>,
    mut visit: impl FnMut(usize, usize),
) {
    for_each_and_later(numbers, elements, |at, group, _| visit(at, group));
}

/// The same, and the group of a later element, whose memory can be asked for.
pub(crate) fn for_each_and_later(
    numbers: &dyn Numbered,
    elements: Range<usize>,
    mut visit: impl FnMut(usize, usize, usize),
) {
    let mut block = [0u32; BLOCK];
    for first in elements.clone().step_by(BLOCK) {
        let block = &mut block[..BLOCK.min(elements.end - first)];
        numbers.numbers(first, block);
        for (at, &group) in block.iter().enumerate() {
            let later = block[(at + AHEAD).min(block.len() - 1)];
            visit(first + at, group as usize, later as usize);
        }
    }
}

/// The index of the element that stands at a place among those of its group, for each group.
pub(crate) fn nth_of_each(numbers: &dyn Numbered, n: usize, places: &[u64]) -> Vec<u64> {
    let mut left = places.to_vec();
    let mut found = vec![0; places.len()];
    for_each(numbers, 0..n, |at, group| {
        if left[group] == 0 {
            found[group] = at as u64;
        }
        left[group] = left[group].wrapping_sub(1);
    });
    found
}
