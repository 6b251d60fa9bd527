//! Numbers of groups, as executors see them: one for each element.

use std::fmt::Debug;
use std::ops::Range;

/// A group's number for each element, all below the number of groups and the same whenever they are asked for: what is sorted by them is written without another look (`cpu/batch/sort`).
pub trait Numbered: Debug + Send + Sync {
    /// Writes the numbers of the elements from `first` on, as many as there is room for.
    fn numbers(&self, first: usize, out: &mut [u32]);
}

/// Numbers that are looked up at a time.
const BLOCK: usize = 2048;

/// Elements from one to that whose group is told with it: as many misses as a core has under way at once.
const AHEAD: usize = 24;

/// Calls with each element of a range and its group.
pub fn for_each(
    numbers: &dyn Numbered,
    elements: Range<usize>,
    mut visit: impl FnMut(usize, usize),
) {
    for_each_and_later(numbers, elements, |at, group, _| visit(at, group));
}

/// The same, and the group of a later element, whose memory can be asked for.
pub fn for_each_and_later(
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
pub fn nth_of_each(numbers: &dyn Numbered, n: usize, places: &[u64]) -> Vec<u64> {
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
