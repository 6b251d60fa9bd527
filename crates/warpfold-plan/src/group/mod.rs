//! Keys: which group each element of an array belongs to.
//!
//! Groups have numbers, from 0. Dense keys are such numbers; keys of any value are numbered first, in ascending order; keys in sorted runs
//! need no numbers, because a run is a segment.

mod key;
mod numbers;

pub use key::Key;
pub use numbers::{Block, Numbered, for_each, nth_of_each};

use crate::{Error, Result};

/// Groups at most: their numbers have 32 bits.
pub const MOST_GROUPS: u64 = 1 << 32;

/// One entry a group: its key, and what became of its elements.
#[derive(Debug, Clone, PartialEq)]
pub struct Groups<K, R> {
    /// The keys.
    pub keys: Vec<K>,
    /// The result of each group, in the order of the keys.
    pub values: Vec<R>,
}

/// Refuses more groups of dense keys than 32 bits number.
pub fn check_groups(keys: usize, groups: u64) -> Result<()> {
    if groups <= MOST_GROUPS {
        return Ok(());
    }
    Err(Error::Keys {
        requested: request(keys, groups),
        obstacle: "there can be 2^32 groups at most".into(),
        remedy: "number the keys (group_by), or take them a part at a time",
    })
}

/// The error of a dense key that is no group's number.
pub fn outside<K: Key>(keys: usize, groups: u64, at: usize, key: K) -> Error {
    Error::Keys {
        requested: request(keys, groups),
        obstacle: format!("key {at} is {key}"),
        remedy: "dense keys go from 0 to the number of groups less one; group_by takes any",
    }
}

fn request(keys: usize, groups: u64) -> String {
    format!("{groups} groups of {keys} elements by dense keys")
}

/// Whether there is a key for each element.
pub fn check_lengths(keys: usize, values: usize) -> Result<()> {
    if keys == values {
        return Ok(());
    }
    Err(Error::Keys {
        requested: format!("groups of {values} elements by {keys} keys"),
        obstacle: "there is not one key for each element".into(),
        remedy: "cut the longer one",
    })
}
