//! Signals: the first one ends the process at once, wherever it is, and leaves no unfinished file behind.
//!
//! Results reach their files whole, so there is nothing to wait for: not for the end of a piece, nor for who reads standard output, nor for who
//! opens the other end of a pipe. What must be removed first, a file that has its name before it is complete, is [kept](Unfinished) by path.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a progress bar stands in the last line of the terminal.
static BAR: AtomicBool = AtomicBool::new(false);

/// Says whether a progress bar is shown, which a last message takes the place of.
pub(crate) fn show_bar(is_shown: bool) {
    BAR.store(is_shown, Ordering::Relaxed);
}

#[cfg(unix)]
pub(crate) use unix::{end, listen};

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
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};

    use super::BAR;

    /// The path of the unfinished file, if there is one. Paths are never freed, as a handler may be reading one.
    static UNFINISHED: AtomicPtr<c_char> = AtomicPtr::new(ptr::null_mut());

    /// Keeps the path of an unfinished file in place of the one before.
    pub(super) fn keep(path: Option<&Path>) {
        // A path that holds a zero byte names no file.
        let path = path.and_then(|path| CString::new(path.as_os_str().as_bytes()).ok());
        UNFINISHED.store(path.map_or(ptr::null_mut(), CString::into_raw), Ordering::Release);
    }

    /// Starts to listen. SIGHUP stays ignored where it is (`nohup`). A write beyond the limit on file sizes becomes an error.
    pub(crate) fn listen() {
        let last_words: [(c_int, &'static str); 4] = [
            (SIGINT, "warpfold: interrupted\n"),
            (SIGTERM, "warpfold: terminated\n"),
            (SIGQUIT, "warpfold: quit\n"),
            (SIGHUP, "warpfold: the terminal was closed\n"),
        ];
        for (signal, line) in last_words {
            if signal == SIGHUP && is_ignored(signal) {
                continue;
            }
            // SAFETY: `end` calls only functions that are safe in handlers of signals: poll, write, unlink, _exit, and atomics.
            let registered = unsafe {
                signal_hook::low_level::register(signal, move || end(line, 128 + signal))
            };
            // Without a handler the signal still ends the process, by the system's own default.
            drop(registered);
        }
        // Handled at all, this signal no longer ends the process, and the write returns EFBIG.
        drop(signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false))));
    }

    fn is_ignored(signal: c_int) -> bool {
        // SAFETY: zeros are a value of the struct, which the call overwrites; with no new action it changes nothing else.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, ptr::null(), &raw mut action) == 0
                && action.sa_sigaction == libc::SIG_IGN
        }
    }

    /// Ends the process with a line on standard error, after the unfinished file was removed. Safe in handlers of signals, and allocates nothing.
    pub(crate) fn end(line: &str, code: c_int) -> ! {
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

#[cfg(not(unix))]
pub(crate) use other::{end, listen};

/// A thread waits for Ctrl-C where there are no signals.
#[cfg(not(unix))]
mod other {
    use std::path::{Path, PathBuf};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Mutex, PoisonError};

    static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);

    pub(super) fn keep(path: Option<&Path>) {
        *UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner) = path.map(Path::to_owned);
    }

    /// Starts to listen; without that, Ctrl-C still ends the process by the system's own default.
    pub(crate) fn listen() {
        let _ = ctrlc::set_handler(|| end("warpfold: interrupted\n", 130));
    }

    /// Ends the process with a line on standard error, after the unfinished file was removed.
    fn end(line: &str, code: i32) -> ! {
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
