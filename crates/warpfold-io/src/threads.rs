//! A thread that is started where there is room for it: one that finds no memory for its signal stack would abort the process.

use std::io;
use std::sync::mpsc::sync_channel;
use std::thread::{Builder, JoinHandle};

use crate::memory::is_available;

/// The stack of a thread, as Rust has it by default.
pub const STACK: usize = 2 << 20;

/// What a thread takes beside its stack before it runs: guard pages, a stack for signals, the allocator's first page.
pub const BESIDE: usize = 1 << 20;

/// Starts a thread and waits until it runs.
///
/// # Errors
/// There is no room for it, or the system grants no more.
pub fn start(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    if !is_available(STACK + BESIDE) {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    let (runs, running) = sync_channel(1);
    let thread = Builder::new().name(name.into()).stack_size(STACK).spawn(move || {
        let _ = runs.send(());
        work();
    })?;
    let _ = running.recv();
    Ok(thread)
}
