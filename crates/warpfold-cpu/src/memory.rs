//! Reading memory at its speed: several streams at once, each a little ahead of itself; and large pages for what is written.
//!
//! One stream of cache lines can leave a core waiting: its hardware prefetcher stops at each page, and a kernel's own instructions
//! push the next misses out of the reorder window. Four streams, asked for 2 KiB ahead into the second-level cache, were the choice of
//! trials with a few kernels on two threads of one Xeon with AVX512-FP16, 256 MiB at a time; other machines may choose otherwise.

use std::collections::TryReserveError;

/// Streams at once, over all arrays.
const STREAMS: usize = 4;

/// Bytes of a line of the cache.
pub(super) const LINE: usize = 64;

/// Bytes ahead at which a stream's lines are asked for.
pub(super) const AHEAD: usize = 2 << 10;

/// The numbers `0..len` as `RUNS` runs in turn: of four, 0, q, 2q, 3q, 1, q + 1, …; what does not divide comes last.
pub(super) struct Streamed<const RUNS: usize> {
    len: usize,
    next: usize,
    run: usize,
}

/// The order in which to visit `len` groups of a block, for folds that do not mind the order.
#[inline(always)]
pub(super) fn streamed(len: usize) -> Streamed<STREAMS> {
    Streamed { len, next: 0, run: len / STREAMS }
}

/// The order in which to visit `len` groups of a block of two arrays.
#[inline(always)]
pub(super) fn streamed_in_pairs(len: usize) -> Streamed<{ STREAMS / 2 }> {
    Streamed { len, next: 0, run: len / (STREAMS / 2) }
}

/// The same order: where that is asked by fours, a group of each stream, and all others one by one. Which groups, and how many of them.
#[inline(always)]
pub(super) fn streamed_by(
    fours: bool,
    len: usize,
) -> impl Iterator<Item = ([usize; STREAMS], usize)> {
    let run = len / STREAMS;
    let skipped = if fours { (STREAMS - 1) * run } else { 0 };
    (0..len - skipped).map(move |step| match fours && step < run {
        true => (std::array::from_fn(|stream| stream * run + step), STREAMS),
        false => ([Streamed::<STREAMS>::at(run, step + skipped); STREAMS], 1),
    })
}

impl<const RUNS: usize> Streamed<RUNS> {
    #[inline(always)]
    fn at(run: usize, k: usize) -> usize {
        if k < RUNS * run { k % RUNS * run + k / RUNS } else { k }
    }
}

impl<const RUNS: usize> Iterator for Streamed<RUNS> {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        let k = self.next;
        if k >= self.len {
            return None;
        }
        self.next += 1;
        Some(Self::at(self.run, k))
    }
}

/// Asks for the cache lines that lie [`AHEAD`] of a group.
#[inline(always)]
pub(super) fn prefetch<G>(group: &G) {
    prefetch_at(group, AHEAD);
}

/// Asks for the cache lines that lie so many bytes ahead of a group, into the second-level cache.
#[inline(always)]
pub(super) fn prefetch_at<G>(group: &G, ahead: usize) {
    prefetch_bytes(std::ptr::from_ref(group), size_of::<G>(), ahead);
}

/// Asks for the cache lines that lie so many bytes ahead of some memory, into the second-level cache.
#[inline(always)]
pub(super) fn prefetch_bytes<T>(start: *const T, bytes: usize, ahead: usize) {
    let start = start.cast::<i8>();
    for line in (0..bytes).step_by(LINE) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a prefetch may name any address; it neither reads nor faults.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T1>(start.wrapping_add(ahead + line));
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (start, line, ahead);
    }
}

/// Asks for the lines of a slice that will be read soon, into the second-level cache.
#[inline]
pub fn ask_for<T>(x: &[T]) {
    prefetch_bytes(x.as_ptr(), size_of_val(x), 0);
}

/// Bytes from which on memory that is written once asks for large pages.
pub(super) const LARGE: usize = 4 << 20;

/// An empty vector with capacity for `len` elements, in large pages where there are many of them and the system has such: the first write to each page costs
/// as much as writing it, and large ones are 512 times fewer.
///
/// # Errors
/// There is no memory for them.
pub fn with_capacity<T>(len: usize) -> Result<Vec<T>, TryReserveError> {
    let mut memory = Vec::new();
    memory.try_reserve_exact(len)?;
    #[cfg(target_os = "linux")]
    if len.saturating_mul(size_of::<T>()) >= LARGE {
        // SAFETY: the advice changes nothing that can be read.
        unsafe { advise(memory.as_mut_ptr(), len, libc::MADV_HUGEPAGE) };
    }
    Ok(memory)
}

/// Has the system make the pages of memory that is about to be written, as a write to each would; what is there stays, whoever writes meanwhile.
pub(super) fn make<T>(x: &[T]) {
    #[cfg(target_os = "linux")]
    // SAFETY: making a page changes nothing that can be read. Systems before Linux 5.14 do not know the advice, and the first write makes the page.
    unsafe {
        advise(x.as_ptr().cast_mut(), x.len(), libc::MADV_POPULATE_WRITE);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = x;
}

/// Gives advice for the small pages that begin in a range. It is of no consequence if it is not taken.
///
/// # Safety
/// The range lies in one allocation, and the advice changes nothing that can be read.
#[cfg(target_os = "linux")]
unsafe fn advise<T>(start: *mut T, len: usize, advice: libc::c_int) {
    const PAGE: usize = 4096;
    let skipped = start.addr().next_multiple_of(PAGE) - start.addr();
    let bytes = (len * size_of::<T>()).saturating_sub(skipped);
    // SAFETY: as the caller says.
    unsafe { libc::madvise(start.cast::<u8>().wrapping_add(skipped).cast(), bytes, advice) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_comes_once() {
        for len in 0..50 {
            let order: Vec<_> = streamed(len).collect();
            for fours in [false, true] {
                let groups = streamed_by(fours, len);
                let found = groups.flat_map(|(at, count)| at.into_iter().take(count));
                assert!(found.eq(order.iter().copied()), "{fours} {len}");
            }
            for mut seen in [order, streamed_in_pairs(len).collect()] {
                seen.sort_unstable();
                assert!(seen.into_iter().eq(0..len));
            }
        }
    }
}
