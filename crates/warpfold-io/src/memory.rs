//! Memory: who can do without some of it asks [fallibly], and whoever allocates for the process may ask whether that is so.

use std::cell::Cell;

thread_local! {
    /// Whether this thread is ready to be refused.
    static FALLIBLE: Cell<bool> = const { Cell::new(false) };
}

/// Runs something that takes a refusal of memory as an answer.
pub fn fallibly<R>(allocate: impl FnOnce() -> R) -> R {
    let before = FALLIBLE.replace(true);
    let answer = allocate();
    FALLIBLE.set(before);
    answer
}

/// Whether this thread takes a refusal of memory as an answer now. It allocates nothing, so that an allocator may ask.
pub fn is_fallible() -> bool {
    FALLIBLE.try_with(Cell::get).unwrap_or(false)
}

/// Whether so many bytes of address space could be had now.
pub fn is_available(bytes: usize) -> bool {
    // Nothing is kept of it, so no swap has to stand for it: that tells it from memory that is wanted.
    memmap2::MmapOptions::new().len(bytes).no_reserve_swap().map_anon().is_ok()
}
