//! Standard streams as they are given: a result that cannot be written is an error, a message that cannot be written is not.
//!
//! Rust's own handles take the place of closed descriptors with `/dev/null` and pass over descriptors of the wrong direction. A result written to
//! either would be lost without a word, so results go through duplicates of the descriptors, and which were closed is found out before `main`.

use std::fmt;
use std::io::{self, Read, Write};
use std::process::ExitCode;

use crate::Failure;
#[cfg(unix)]
use crate::input::stamp::Watched;

/// Writes a line to standard error. Where that fails nobody can be told, and the program goes on as if it had not.
macro_rules! say {
    ($($message:tt)*) => { $crate::streams::write_line(format_args!($($message)*)) };
}
pub(crate) use say;

/// The function behind [`say!`].
pub(crate) fn write_line(message: fmt::Arguments<'_>) {
    let line = format!("{message}\n");
    let _ = anstream::stderr().write_all(line.as_bytes());
}

/// Standard input; a regular file that changes while it is read is an error at its end.
///
/// # Errors
/// Where it was closed when the program started, or there are no more descriptors.
pub(crate) fn input() -> io::Result<Box<dyn Read + Send>> {
    open(0)?;
    #[cfg(unix)]
    return Ok(Box::new(Watched::from_here(duplicate(io::stdin())?)?));
    #[cfg(not(unix))]
    Ok(Box::new(io::stdin()))
}

/// Standard output, without a buffer.
///
/// # Errors
/// Where it was closed when the program started, or there are no more descriptors.
pub(crate) fn output() -> io::Result<Box<dyn Write + Send>> {
    open(1)?;
    #[cfg(unix)]
    return Ok(Box::new(duplicate(io::stdout())?));
    #[cfg(not(unix))]
    Ok(Box::new(io::stdout()))
}

/// Fails before any work where no result could be printed.
pub(crate) fn check_output() -> Result<(), Failure> {
    open(1).map_err(Failure::stdout)
}

/// Writes to standard output, all of it; colours are stripped where they are not wanted.
pub(crate) fn print(bytes: &[u8]) -> Result<(), Failure> {
    let plain = anstream::AutoStream::choice(&io::stdout()) == anstream::ColorChoice::Never;
    let written = output().and_then(|mut out| {
        match plain {
            true => out.write_all(&anstream::adapter::strip_bytes(bytes).into_vec())?,
            false => out.write_all(bytes)?,
        }
        out.flush()
    });
    written.map_err(Failure::stdout)
}

/// Ends as other tools end whose reader has left: by SIGPIPE, which shells show as 141, and without a word.
pub(crate) fn end_by_broken_pipe() -> ExitCode {
    #[cfg(unix)]
    let _ = signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGPIPE);
    ExitCode::from(Failure::ReaderGone.exit_code())
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
