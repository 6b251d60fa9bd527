//! The one rule for counters of elements: they stop at the top, and never wrap round to small numbers.

/// Adds to a counter, which stays at `u64::MAX` once it is there: 2^64 - 1 stands for that many elements or more.
///
/// Counts of arrays never come near; those that merged or resumed partials bring with them may.
#[inline(always)]
pub fn tally(counter: &mut u64, more: u64) {
    *counter = counter.saturating_add(more);
}
