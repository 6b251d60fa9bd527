//! Memory: an allocation that fails ends the program with one line, not with an abort.
//!
//! Rust aborts where a vector cannot grow, and stable Rust lets nobody say otherwise, except the allocator itself. The program's is the system's, and
//! what that refuses is said in one line before the process ends with exit code 1. Whoever can do without the memory [asks fallibly](warpfold_io::memory::fallibly).

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;

use warpfold_io::ending;
use warpfold_io::memory::is_fallible;

/// Room that threads leave for buffers, where memory is limited: those of two inputs, and as much again.
pub(crate) const BUFFERS: usize = 96 << 20;

/// The system's allocator, which ends the process where it has no memory; for the program's own `#[global_allocator]`.
#[derive(Debug, Clone, Copy)]
pub struct Allocator;

/// Where address space is limited, keeps the C library from reserving 64 MiB of it for each thread.
pub(crate) fn keep_to_one_arena() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: both calls read and write what they are handed and settings of the C library, which has no other thread yet.
    unsafe {
        let mut limit =
            libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
        if libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) == 0
            && limit.rlim_cur != libc::RLIM_INFINITY
        {
            libc::mallopt(libc::M_ARENA_MAX, 1);
        }
    }
}

#[cold]
fn refused(layout: Layout) {
    if is_fallible() {
        return;
    }
    // Nothing may be allocated here.
    let mut line = [0; 200];
    let capacity = line.len();
    let mut rest = &mut line[..];
    let mebibytes = layout.size().div_ceil(1 << 20);
    let _ = writeln!(
        rest,
        "warpfold: there is no memory for {mebibytes} MiB more; raise the limit (ulimit -v), or take fewer --threads or a smaller input"
    );
    let length = capacity - rest.len();
    ending::end(std::str::from_utf8(&line[..length]).unwrap_or_default(), 1)
}

// SAFETY: every call goes to the system's allocator with the same arguments, and what that returns is returned; `refused` does not allocate.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's contract is the system allocator's.
        let memory = unsafe { System.alloc(layout) };
        if memory.is_null() {
            refused(layout);
        }
        memory
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract is the system allocator's.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's contract is the system allocator's.
        let memory = unsafe { System.alloc_zeroed(layout) };
        if memory.is_null() {
            refused(layout);
        }
        memory
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's contract is the system allocator's.
        let moved = unsafe { System.realloc(memory, layout, size) };
        if moved.is_null() {
            // What is missing is the difference, but the whole was asked for.
            refused(Layout::from_size_align(size, layout.align()).unwrap_or(layout));
        }
        moved
    }
}
