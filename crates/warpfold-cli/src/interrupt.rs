//! Ctrl-C: the first one ends the work between two pieces, so that nothing is left half written; a second one ends it at once.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::Failure;

static ASKED: AtomicBool = AtomicBool::new(false);

/// Starts to listen for Ctrl-C; without effect if the process already does.
pub(crate) fn listen() {
    static LISTENING: OnceLock<()> = OnceLock::new();
    LISTENING.get_or_init(|| {
        let handler = || {
            if ASKED.swap(true, Ordering::Relaxed) {
                std::process::exit(i32::from(Failure::Interrupted.exit_code()));
            }
        };
        // Without a handler Ctrl-C still ends the process, by the system's own default.
        let _ = ctrlc::set_handler(handler);
    });
}

/// Fails once the user has asked to stop.
pub(crate) fn check() -> Result<(), Failure> {
    if ASKED.load(Ordering::Relaxed) { Err(Failure::Interrupted) } else { Ok(()) }
}
