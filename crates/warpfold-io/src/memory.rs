//! Memory: who can do without some of it asks [fallibly], and whoever allocates for the process may ask whether that is so.

use std::cell::Cell;

thread_local! {
    /// Whether this thread is ready to be refused.
    static FALLIBLE: Cell<bool> = const { Cell::new(false) };
}

/// Runs something that takes a refusal of memory as an answer.
pub fn fallibly<R>(ask: impl FnOnce() -> R) -> R {
    let before = FALLIBLE.replace(true);
    let answer = ask();
    FALLIBLE.set(before);
    answer
}

/// Whether this thread takes a refusal of memory as an answer now. It allocates nothing, so that an allocator may ask.
pub fn is_fallible() -> bool {
    FALLIBLE.try_with(Cell::get).unwrap_or(false)
}

/// Whether so many bytes of address space could be had now.
pub fn has_room(bytes: usize) -> bool {
    memmap2::MmapMut::map_anon(bytes).is_ok()
}
