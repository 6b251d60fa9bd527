//! Keys: which group each element of an array belongs to.
//!
//! Groups have numbers, from 0. Dense keys are such numbers; keys of any value are numbered first, in ascending order; keys in sorted runs
//! need no numbers, because a run is a segment.

mod given;
mod key;
mod number;
mod runs;
#[cfg(test)]
mod threads;

pub(crate) use given::Given;
pub use key::Key;
pub(crate) use number::{Dense, Numbered, for_each, for_each_and_later, nth_of_each};
#[cfg(any(feature = "cuda", feature = "simt"))]
pub(crate) use number::{check_groups, outside};
pub(crate) use runs::{check_lengths, runs};

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
