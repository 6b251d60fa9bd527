//! The sizes of aligned spans by their level: leaves, runs, blocks, and pairs of those.

/// Leaves of a run.
pub const RUN: u64 = 32;
/// Leaves of a block.
pub const BLOCK: u64 = 1024;

/// The level of runs; leaves are below, blocks above.
pub(super) const RUN_LEVEL: u32 = 1;
/// The level of blocks, from which on two make one of the next level.
pub(super) const BLOCK_LEVEL: u32 = 2;
/// Beyond it spans are larger than all indices.
const TOP: u32 = BLOCK_LEVEL + 53;

/// Leaves of a span of a level.
pub const fn size(level: u32) -> u64 {
    match level {
        0 => 1,
        RUN_LEVEL => RUN,
        _ => BLOCK << (level - BLOCK_LEVEL),
    }
}

/// The level of the largest aligned span that begins at `start` and ends no later than `end`.
pub(super) fn largest(start: u64, end: u64) -> u32 {
    let fits = |level: &u32| start.is_multiple_of(size(*level)) && end - start >= size(*level);
    (0..=TOP).take_while(fits).last().unwrap_or(0)
}
