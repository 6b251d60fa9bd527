//! Signals: the first one [ends](warpfold_io::ending) the process at once, wherever it is, and leaves no unfinished file behind.
//!
//! Results reach their files whole, so there is nothing to wait for: not for the end of a piece, nor for who reads standard output, nor for who
//! opens the other end of a pipe.

#[cfg(not(unix))]
pub(crate) use other::listen;
#[cfg(unix)]
pub(crate) use unix::listen;

#[cfg(unix)]
mod unix {
    use std::ffi::c_int;
    use std::ptr;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
    use warpfold_io::ending::end;

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
}

/// A thread waits for Ctrl-C where there are no signals.
#[cfg(not(unix))]
mod other {
    use warpfold_io::ending::end;

    /// Starts to listen; without that, Ctrl-C still ends the process by the system's own default.
    pub(crate) fn listen() {
        let _ = ctrlc::set_handler(|| end("warpfold: interrupted\n", 130));
    }
}
