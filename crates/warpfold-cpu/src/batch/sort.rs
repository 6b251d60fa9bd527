//! Elements copied group by group, each group's in their order: a counting sort, in slices that threads take at once.
//!
//! Where groups are many, every element would go to a line of memory that no near cache has. So elements go to buckets of neighbouring groups first, and each
//! bucket, which a near cache holds, is sorted by itself.

use std::ops::Range;

use crate::memory::{LARGE, make, with_capacity};
use crate::threads::each;
use warpfold_plan::group::{Numbered, for_each};
use warpfold_plan::plan::SCATTERED_GROUPS;

/// Elements of a slice at least: fewer are sorted before another thread has begun.
const SLICE: usize = 1 << 16;

/// Elements in the order of their groups' numbers.
pub(super) struct Sorted<T> {
    pub(super) elements: Vec<T>,
    /// Where each group begins, then the end.
    pub(super) offsets: Vec<u64>,
}

/// Where threads write at once.
struct SharedSlots<T>(*mut T);

// SAFETY: threads write different slots, as `by_group` shares them out.
unsafe impl<T: Send> Sync for SharedSlots<T> {}

impl<T> SharedSlots<T> {
    /// # Safety
    /// The slot is in the allocation, and no other thread writes it.
    unsafe fn write(&self, slot: usize, element: T) {
        // SAFETY: as the caller says.
        unsafe { self.0.add(slot).write(element) };
    }
}

/// Sorts elements by group.
pub(super) fn by_group<T: Copy + Send + Sync>(
    x: &[T],
    numbers: &dyn Numbered,
    groups: usize,
    threads: usize,
) -> Sorted<T> {
    let mut offsets = vec![0; groups + 1];
    if x.is_empty() || groups == 0 {
        return Sorted { elements: Vec::new(), offsets };
    }
    let mut elements = made(x.len(), threads);
    let slots = SharedSlots(elements.as_mut_ptr());
    if groups as u64 <= SCATTERED_GROUPS {
        slot(x.len(), numbers, &mut offsets, 0, threads, |slot, at, _| {
            // SAFETY: `slot` names each slot below the number of elements once.
            unsafe { slots.write(slot, x[at]) };
        });
        // SAFETY: the capacity is the number of elements, and each slot was written.
        unsafe { elements.set_len(x.len()) };
        return Sorted { elements, offsets };
    }
    let shift = (groups - 1).ilog2() + 1 - BUCKETS.ilog2();
    let each_has = 1 << shift;
    let mut starts = vec![0; groups.div_ceil(each_has) + 1];
    let mut within: Vec<u32> = made(x.len(), threads);
    let places_within = SharedSlots(within.as_mut_ptr());
    slot(x.len(), numbers, &mut starts, shift, threads, |slot, at, group| {
        // SAFETY: `slot` names each slot below the number of elements once.
        unsafe {
            slots.write(slot, x[at]);
            places_within.write(slot, (group % each_has) as u32);
        }
    });
    // SAFETY: of both the capacity is the number of elements, and each slot was written.
    unsafe {
        elements.set_len(x.len());
        within.set_len(x.len());
    }
    offsets[groups] = x.len() as u64;
    let (mut elements_left, mut within_left) = (&mut elements[..], &within[..]);
    let mut buckets = Vec::new();
    for (bounds, offsets) in starts.windows(2).zip(offsets[..groups].chunks_mut(each_has)) {
        let length = (bounds[1] - bounds[0]) as usize;
        let elements = elements_left.split_off_mut(..length).expect("buckets have all elements");
        let within = within_left.split_off(..length).expect("as many as elements");
        buckets.push(Bucket { start: bounds[0], elements, within, offsets });
    }
    // Of one that has more than a thread's share all threads take a part.
    let share = x.len() / threads;
    let (long, short): (Vec<_>, Vec<_>) =
        buckets.into_iter().partition(|bucket| threads > 1 && bucket.elements.len() > share);
    each(threads, short.into_iter(), Bucket::sort);
    long.into_iter().for_each(|bucket| bucket.sort_by(threads));
    Sorted { elements, offsets }
}

/// Buckets of neighbouring groups at most, to whose ends a thread writes in turn: as many lines as the nearest cache has room for.
const BUCKETS: usize = 256;

/// The elements of some neighbouring groups, in the order in which they stood.
struct Bucket<'b, T> {
    start: u64,
    elements: &'b mut [T],
    /// Each element's group among those of the bucket.
    within: &'b [u32],
    /// Where each group begins, to be written.
    offsets: &'b mut [u64],
}

impl<T: Copy> Bucket<'_, T> {
    fn sort(self) {
        let mut next = vec![0; self.offsets.len()];
        self.within.iter().for_each(|group| next[*group as usize] += 1);
        let mut end = 0;
        for (offset, next) in self.offsets.iter_mut().zip(&mut next) {
            *offset = self.start + end as u64;
            end += std::mem::replace(next, end);
        }
        let unsorted = self.elements.to_vec();
        for (element, group) in unsorted.into_iter().zip(self.within) {
            let next = &mut next[*group as usize];
            self.elements[*next] = element;
            *next += 1;
        }
    }
}

impl<T: Copy + Send + Sync> Bucket<'_, T> {
    /// The same by several threads.
    fn sort_by(self, threads: usize) {
        let Bucket { start, elements, within, offsets } = self;
        let unsorted = elements.to_vec();
        let slots = SharedSlots(elements.as_mut_ptr());
        let mut starts = vec![0; offsets.len() + 1];
        slot(unsorted.len(), &Within(within), &mut starts, 0, threads, |slot, at, _| {
            // SAFETY: `slot` names each slot below the number of elements once, and the bucket has as many.
            unsafe { slots.write(slot, unsorted[at]) };
        });
        offsets.iter_mut().zip(starts).for_each(|(offset, first)| *offset = start + first);
    }
}

/// Groups among those of a bucket.
#[derive(Debug)]
struct Within<'b>(&'b [u32]);

impl Numbered for Within<'_> {
    fn numbers(&self, first: usize, out: &mut [u32]) {
        out.copy_from_slice(&self.0[first..first + out.len()]);
    }
}

/// An empty vector with capacity for what threads are about to scatter.
fn made<T: Send + Sync>(len: usize, threads: usize) -> Vec<T> {
    const BYTES: usize = 2 << 20;
    let mut sorted = with_capacity(len).expect("memory for the elements in order");
    if size_of::<T>() * len >= LARGE {
        let pages = sorted.spare_capacity_mut()[..len].chunks_mut(BYTES / size_of::<T>());
        each(threads, pages, |page| make(page));
    }
    sorted
}

/// Calls with a slot, an element and its group for all elements. Those of `1 << shift` neighbouring groups have neighbouring slots and keep their order;
/// returns where their slots begin, then the end. Each slot below the number of elements is named once, by any thread.
fn slot(
    n: usize,
    numbers: &dyn Numbered,
    offsets: &mut [u64],
    shift: u32,
    threads: usize,
    write: impl Fn(usize, usize, usize) + Sync,
) {
    // A slice has a count for each group. Slices are so few that all counts together are no more than the elements, or than the groups where
    // these are more: then one slice is all.
    let groups = offsets.len() - 1;
    let slices = threads.min(n / groups.max(SLICE)).max(1);
    let length = n.div_ceil(slices);
    let slice = |k: usize| -> Range<usize> { k * length..n.min((k + 1) * length) };
    let mut counts = vec![0u64; slices * groups];
    each(threads, counts.chunks_mut(groups).enumerate(), |(k, counts)| {
        for_each(numbers, slice(k), |_, group| counts[group >> shift] += 1);
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
    // Slices and groups share out the slots, as many to each pair as it has elements, which are counted as they are named: numbers are the
    // same both times (`Numbered`).
    each(threads, counts.chunks_mut(groups).enumerate(), |(k, next)| {
        for_each(numbers, slice(k), |at, group| {
            let next = &mut next[group >> shift];
            write(*next as usize, at, group);
            *next += 1;
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Dense;

    #[test]
    fn groups_lie_together_and_keep_their_order() {
        let n = 5 * SLICE + 3;
        // Of the last ones most elements are in one bucket, or all.
        for (n, groups, spread) in [
            (0, 3, 3),
            (1, 1, 1),
            (1000, 7, 7),
            (n, 1, 1),
            (n, 1000, 1000),
            (n, 4097, 4097),
            (n, 70_001, 70_001),
            (5000, 9000, 9000),
            (n, 70_001, 300),
            (n, 70_001, 100),
        ] {
            let keys: Vec<u32> =
                (0..n as u64).map(|at| (at * at % 100_003 % spread) as u32).collect();
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
