//! Elements copied group by group, each group's in their order: a counting sort.

use crate::group::{Numbered, for_each};

/// Elements in the order of their groups' numbers.
pub(super) struct Sorted<T> {
    pub(super) elements: Vec<T>,
    /// Where each group begins, then the end.
    pub(super) offsets: Vec<u64>,
}

/// Sorts elements by group.
pub(super) fn by_group<T: Copy>(x: &[T], numbers: &dyn Numbered, groups: usize) -> Sorted<T> {
    let mut offsets = vec![0u64; groups + 1];
    for_each(numbers, x.len(), |_, group| offsets[group + 1] += 1);
    for group in 0..groups {
        offsets[group + 1] += offsets[group];
    }
    let mut next = offsets.clone();
    let mut elements = x.to_vec();
    for_each(numbers, x.len(), |at, group| {
        elements[next[group] as usize] = x[at];
        next[group] += 1;
    });
    Sorted { elements, offsets }
}
