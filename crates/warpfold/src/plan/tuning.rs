//! The tuned numbers, each with its evidence. What was not measured has no row.

/// Bytes a thread takes at a time: large enough that taking is free (a few ns in 8 µs at 30 GB/s), small enough that threads
/// finish together.
pub(super) const GRAIN_BYTES: u64 = 256 << 10;

/// Bytes below which another thread costs more than it brings.
pub(super) const BYTES_PER_THREAD: u64 = 512 << 10;
