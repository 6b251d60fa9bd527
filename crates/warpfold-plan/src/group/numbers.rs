//! Numbers of groups, as executors see them: one for each element.

use std::fmt::Debug;
use std::ops::Range;

/// A group's number for each element, all below the number of groups and the same whenever they are asked for: what is sorted by them is written without another look (`cpu/batch/sort`).
pub trait Numbered: Debug + Send + Sync {
    /// Writes the numbers of the elements from `first` on, as many as the slice holds.
    fn numbers(&self, first: usize, out: &mut [u32]);
}

/// Numbers that are looked up at a time.
pub struct Block {
    numbers: [u32; Block::LENGTH],
    len: usize,
}

impl Default for Block {
    fn default() -> Self {
        Self::new()
    }
}

impl Block {
    /// How many there are at most.
    pub const LENGTH: usize = 2048;

    /// Elements from one to that whose group is told with it: as many misses as a core has under way at once.
    const AHEAD: usize = 24;

    /// None yet.
    pub fn new() -> Self {
        Block { numbers: [0; Block::LENGTH], len: 0 }
    }

    /// Looks up those of the first of some elements.
    pub fn fill(&mut self, numbers: &dyn Numbered, elements: Range<usize>) {
        self.len = elements.len().min(Self::LENGTH);
        numbers.numbers(elements.start, &mut self.numbers[..self.len]);
    }

    /// How many there are.
    #[inline(always)]
    #[allow(clippy::len_without_is_empty, reason = "a block that was filled is never empty")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// The group of the `k`-th.
    #[inline(always)]
    pub fn group(&self, k: usize) -> usize {
        self.numbers[k] as usize
    }

    /// The group of a later element, whose memory can be asked for.
    #[inline(always)]
    pub fn later(&self, k: usize) -> usize {
        self.numbers[(k + Self::AHEAD).min(self.len - 1)] as usize
    }
}

/// Calls with each element of a range and its group.
pub fn for_each(
    numbers: &dyn Numbered,
    elements: Range<usize>,
    mut visit: impl FnMut(usize, usize),
) {
    let mut block = Block::new();
    for first in elements.clone().step_by(Block::LENGTH) {
        block.fill(numbers, first..elements.end);
        (0..block.len()).for_each(|k| visit(first + k, block.group(k)));
    }
}

/// The index of the nth element of its group, for each group.
pub fn nth_of_each(numbers: &dyn Numbered, n: usize, nths: &[u64]) -> Vec<u64> {
    let mut remaining = nths.to_vec();
    let mut found = vec![0; nths.len()];
    for_each(numbers, 0..n, |at, group| {
        if remaining[group] == 0 {
            found[group] = at as u64;
        }
        remaining[group] = remaining[group].wrapping_sub(1);
    });
    found
}
