//! Elements copied group by group, each group's in their order: a counting sort, in slices that threads take at once.

use std::ops::Range;

use crate::cpu::crew::each;
use crate::cpu::memory::room;
use crate::group::{Numbered, for_each};

/// Elements of a slice at least: fewer are sorted before another thread has begun.
const SLICE: usize = 1 << 16;

/// Elements in the order of their groups' numbers.
pub(super) struct Sorted<T> {
    pub(super) elements: Vec<T>,
    /// Where each group begins, then the end.
    pub(super) offsets: Vec<u64>,
}

/// Where threads write at once.
struct Places<T>(*mut T);

// SAFETY: threads write different places, as `by_group` shares them out.
unsafe impl<T: Send> Sync for Places<T> {}

impl<T> Places<T> {
    /// # Safety
    /// The place is in the allocation, and no other thread writes it.
    unsafe fn write(&self, place: usize, element: T) {
        // SAFETY: as the caller says.
        unsafe { self.0.add(place).write(element) };
    }
}

/// Sorts elements by group.
pub(super) fn by_group<T: Copy + Send + Sync>(
    x: &[T],
    numbers: &dyn Numbered,
    groups: usize,
    threads: usize,
) -> Sorted<T> {
    let mut offsets = vec![0u64; groups + 1];
    if x.is_empty() || groups == 0 {
        return Sorted { elements: Vec::new(), offsets };
    }
    // A slice has a count for each group. Slices are so few that all counts together are no more than the elements, or than the groups where
    // these are more: then one slice is all.
    let slices = threads.min(x.len() / groups.max(SLICE)).max(1);
    let length = x.len().div_ceil(slices);
    let slice = |k: usize| -> Range<usize> { k * length..x.len().min((k + 1) * length) };
    let mut counts = vec![0u64; slices * groups];
    each(threads, counts.chunks_mut(groups).enumerate(), |(k, counts)| {
        for_each(numbers, slice(k), |_, group| counts[group] += 1);
    });
    // From how many to where they go: a group's elements lie together, those of earlier slices first.
    let mut end = 0;
    for group in 0..groups {
        offsets[group] = end;
        for k in 0..slices {
            let next = &mut counts[k * groups + group];
            end += std::mem::replace(next, end);
        }
    }
    offsets[groups] = end;
    let mut elements = room(x.len()).expect("memory for the elements in order");
    let places = Places(elements.as_mut_ptr());
    each(threads, counts.chunks_mut(groups).enumerate(), |(k, next)| {
        for_each(numbers, slice(k), |at, group| {
            // SAFETY: slices and groups share out the places from 0 to the number of elements, as many to each pair as it has elements, which
            // are counted as they are written: numbers are the same both times (`Numbered`).
            unsafe { places.write(next[group] as usize, x[at]) };
            next[group] += 1;
        });
    });
    // SAFETY: the places that were shared out are all that there are, and each was written.
    unsafe { elements.set_len(x.len()) };
    Sorted { elements, offsets }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::Dense;

    #[test]
    fn groups_lie_together_and_keep_their_order() {
        let n = 5 * SLICE + 3;
        for (n, groups) in [(0, 3), (1, 1), (1000, 7), (n, 1), (n, 1000), (n, 3 * SLICE)] {
            let keys: Vec<u32> =
                (0..n as u64).map(|at| (at * at % 100_003 % groups as u64) as u32).collect();
            let x: Vec<u32> = (0..n as u32).collect();
            let mut expected = x.clone();
            expected.sort_by_key(|at| keys[*at as usize]);
            for threads in [1, 2, 3, 64] {
                let numbers = Dense::check(&keys, groups as u64, threads).unwrap();
                let Sorted { elements, offsets } = by_group(&x, &numbers, groups, threads);
                assert_eq!(elements, expected, "{n} in {groups} groups by {threads} threads");
                assert_eq!((offsets.len(), offsets[groups]), (groups + 1, n as u64));
                for group in 0..groups {
                    let part = &elements[offsets[group] as usize..offsets[group + 1] as usize];
                    assert!(part.iter().all(|at| keys[*at as usize] as usize == group));
                }
            }
        }
    }
}
