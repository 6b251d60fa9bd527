//! Elements copied group by group, each group's in their order: a counting sort.

use crate::group::Numbered;

/// Elements whose numbers are looked up at a time.
pub(super) const BLOCK: usize = 2048;

/// Elements in the order of their groups' numbers.
pub(super) struct Sorted<T> {
    pub(super) elements: Vec<T>,
    /// Where each group begins, then the end.
    pub(super) offsets: Vec<u64>,
}

/// Sorts elements by group.
pub(super) fn by_group<T: Copy>(x: &[T], numbers: &dyn Numbered, groups: usize) -> Sorted<T> {
    let mut block = [0u32; BLOCK];
    let mut each = |visit: &mut dyn FnMut(usize, usize)| {
        for first in (0..x.len()).step_by(BLOCK) {
            let block = &mut block[..BLOCK.min(x.len() - first)];
            numbers.numbers(first, block);
            for (at, &group) in block.iter().enumerate() {
                visit(first + at, group as usize);
            }
        }
    };
    let mut offsets = vec![0u64; groups + 1];
    each(&mut |_, group| offsets[group + 1] += 1);
    for group in 0..groups {
        offsets[group + 1] += offsets[group];
    }
    let mut next = offsets.clone();
    let mut elements = x.to_vec();
    each(&mut |at, group| {
        elements[next[group] as usize] = x[at];
        next[group] += 1;
    });
    Sorted { elements, offsets }
}
