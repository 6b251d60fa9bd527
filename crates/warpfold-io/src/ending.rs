//! How a process ends at once, wherever it is: with a line on standard error, and without an unfinished file left behind.
//!
//! What must be removed first, a file that has its name before it is complete, is kept by path.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a progress bar stands in the last line of the terminal.
static BAR: AtomicBool = AtomicBool::new(false);

/// Says whether a progress bar is shown, which a last message takes the place of.
pub fn show_bar(is_shown: bool) {
    BAR.store(is_shown, Ordering::Relaxed);
}

#[cfg(not(unix))]
pub use other::end;
#[cfg(unix)]
pub use unix::end;

/// A file that is removed should the process end before this is dropped. There is one at a time.
#[derive(Debug)]
pub(crate) struct Unfinished(());

impl Unfinished {
    /// Will have the file removed.
    pub(crate) fn file(path: &Path) -> Unfinished {
        #[cfg(unix)]
        unix::keep(Some(path));
        #[cfg(not(unix))]
        other::keep(Some(path));
        Unfinished(())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        #[cfg(unix)]
        unix::keep(None);
        #[cfg(not(unix))]
        other::keep(None);
    }
}

#[cfg(unix)]
mod unix {
    use std::ffi::{CString, c_char, c_int};
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;
    use std::ptr;
    use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

    use super::BAR;

    /// The path of the unfinished file, if there is one. Paths are never freed, as a handler may be reading one.
    static UNFINISHED: AtomicPtr<c_char> = AtomicPtr::new(ptr::null_mut());

    /// Keeps the path of an unfinished file in place of the one before.
    pub(super) fn keep(path: Option<&Path>) {
        // A path that holds a zero byte names no file.
        let path = path.and_then(|path| CString::new(path.as_os_str().as_bytes()).ok());
        UNFINISHED.store(path.map_or(ptr::null_mut(), CString::into_raw), Ordering::Release);
    }

    /// Ends the process with a line on standard error, after the unfinished file was removed. Safe in handlers of signals, and allocates nothing.
    pub fn end(line: &str, code: c_int) -> ! {
        static ENDS: AtomicBool = AtomicBool::new(false);
        if ENDS.swap(true, Ordering::AcqRel) {
            // Another thread is at it, or this one when a signal came: it is given the time to say why.
            // SAFETY: no descriptor is polled, for a time; and see below.
            unsafe {
                libc::poll(ptr::null_mut(), 0, 50);
                libc::_exit(code)
            }
        }
        let path = UNFINISHED.swap(ptr::null_mut(), Ordering::AcqRel);
        if !path.is_null() {
            // SAFETY: `keep` stored a string that ends in zero and is never freed.
            unsafe { libc::unlink(path) };
        }
        if BAR.load(Ordering::Relaxed) {
            tell("\r\x1b[2K");
        }
        tell(line);
        // SAFETY: it ends the process without running anything more of it, as another thread may be in the middle of anything.
        unsafe { libc::_exit(code) }
    }

    /// Writes to standard error, unless that would have to wait.
    fn tell(text: &str) {
        let mut stderr = libc::pollfd { fd: 2, events: libc::POLLOUT, revents: 0 };
        // SAFETY: one descriptor is polled without waiting, and bytes of a string are written.
        unsafe {
            if libc::poll(&raw mut stderr, 1, 0) == 1 && stderr.revents & libc::POLLOUT != 0 {
                libc::write(2, text.as_ptr().cast(), text.len());
            }
        }
    }
}

/// Elsewhere the process ends by the standard library's means.
#[cfg(not(unix))]
mod other {
    use std::path::{Path, PathBuf};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Mutex, PoisonError};

    static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);

    pub(super) fn keep(path: Option<&Path>) {
        *UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner) = path.map(Path::to_owned);
    }

    /// Ends the process with a line on standard error, after the unfinished file was removed.
    pub fn end(line: &str, code: i32) -> ! {
        static ENDS: AtomicBool = AtomicBool::new(false);
        if ENDS.swap(true, Ordering::AcqRel) {
            std::process::abort();
        }
        let path = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(path) = path {
            let _ = std::fs::remove_file(path);
        }
        if super::BAR.load(Ordering::Relaxed) {
            eprint_quietly("\r\x1b[2K");
        }
        eprint_quietly(line);
        std::process::exit(code)
    }

    fn eprint_quietly(text: &str) {
        use std::io::Write;
        let _ = std::io::stderr().write_all(text.as_bytes());
    }
}
