//! Standard streams as they are given: a descriptor that was closed when the process started is an error and not an empty stream.
//!
//! Rust's own handles take the place of closed descriptors with `/dev/null` and pass over descriptors of the wrong direction. What is read from or
//! written to either would be lost without a word, so bytes go through duplicates of the descriptors, and which were closed is found out before `main`.

use std::io::{self, Read, Write};

#[cfg(unix)]
use crate::stamp::MonitoredFile;

/// Standard input; a regular file that changes while it is read is an error at its end.
///
/// # Errors
/// Where it was closed when the program started, or there are no more descriptors.
pub fn input() -> io::Result<Box<dyn Read + Send>> {
    open(0)?;
    #[cfg(unix)]
    return Ok(Box::new(MonitoredFile::from_here(duplicate(io::stdin())?)?));
    #[cfg(not(unix))]
    Ok(Box::new(io::stdin()))
}

/// Standard output, without a buffer.
///
/// # Errors
/// Where it was closed when the program started, or there are no more descriptors.
pub fn output() -> io::Result<Box<dyn Write + Send>> {
    open(1)?;
    #[cfg(unix)]
    return Ok(Box::new(duplicate(io::stdout())?));
    #[cfg(not(unix))]
    Ok(Box::new(io::stdout()))
}

/// Fails before any work where nothing could be written to standard output.
///
/// # Errors
/// It was closed when the program started.
pub fn check_output() -> io::Result<()> {
    open(1)
}

#[cfg(unix)]
fn duplicate(stream: impl std::os::fd::AsFd) -> io::Result<std::fs::File> {
    Ok(stream.as_fd().try_clone_to_owned()?.into())
}

/// Fails for a descriptor that was closed when the program started.
fn open(descriptor: usize) -> io::Result<()> {
    match closed::at_start(descriptor) {
        true => Err(io::Error::other("it is closed")),
        false => Ok(()),
    }
}

/// Which standard descriptors were closed, seen before Rust's runtime opens `/dev/null` in their place.
#[cfg(any(
    target_os = "linux",
    target_os = "android",
    target_os = "freebsd",
    target_vendor = "apple"
))]
mod closed {
    use std::sync::atomic::{AtomicBool, Ordering};

    static CLOSED: [AtomicBool; 3] = [const { AtomicBool::new(false) }; 3];

    pub(super) fn at_start(descriptor: usize) -> bool {
        CLOSED[descriptor].load(Ordering::Relaxed)
    }

    extern "C" fn look() {
        for (descriptor, closed) in (0..).zip(&CLOSED) {
            // SAFETY: F_GETFD reads a flag of a descriptor, whether it is open or not, and changes nothing.
            let is_closed = unsafe { libc::fcntl(descriptor, libc::F_GETFD) } == -1;
            closed.store(is_closed, Ordering::Relaxed);
        }
    }

    // SAFETY: the loader calls the functions of this section once, before `main`, on the only thread there is; `look` needs nothing of Rust's
    // runtime: it calls one function of C's and stores to atomics.
    #[used]
    #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
    #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
    static BEFORE_MAIN: extern "C" fn() = look;
}

/// Elsewhere no descriptor is known to have been closed.
#[cfg(not(any(
    target_os = "linux",
    target_os = "android",
    target_os = "freebsd",
    target_vendor = "apple"
)))]
mod closed {
    pub(super) fn at_start(_: usize) -> bool {
        false
    }
}
