//! The progress bar: on a terminal, for work over a second, on standard error.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar as Bar, ProgressDrawTarget, ProgressStyle};

use warpfold_io::ending;

use crate::args::ProgressBar;

/// Work that takes less shows no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// Whether anybody would see a bar.
pub(crate) fn is_visible(mode: ProgressBar) -> bool {
    mode == ProgressBar::Auto && std::io::stderr().is_terminal()
}

/// Shows how far the work is.
pub(crate) struct Progress {
    started: Instant,
    /// `None` where nobody would see it.
    bar: Option<Bar>,
    shown: bool,
}

impl Progress {
    /// Starts the clock; `total` is the work in bytes, where it is known.
    pub(crate) fn start(mode: ProgressBar, total: Option<u64>) -> Progress {
        let bar = is_visible(mode).then(|| {
            let bar = Bar::with_draw_target(total, ProgressDrawTarget::hidden());
            let template = match total {
                Some(_) => "{wide_bar} {binary_bytes}/{binary_total_bytes} {binary_bytes_per_sec}, {eta} left",
                None => "{spinner} {binary_bytes} {binary_bytes_per_sec}, {elapsed}",
            };
            bar.set_style(ProgressStyle::with_template(template).expect("the template is a constant"));
            bar
        });
        Progress { started: Instant::now(), bar, shown: false }
    }

    /// Says how many bytes are done.
    pub(crate) fn set(&mut self, done: u64) {
        let Some(bar) = &self.bar else { return };
        if !self.shown && self.started.elapsed() >= PATIENCE {
            bar.set_draw_target(ProgressDrawTarget::stderr());
            self.shown = true;
            ending::show_bar(true);
        }
        bar.set_position(done);
    }

    /// Time since the start.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}

impl Drop for Progress {
    /// Leaves the terminal as it was, however the work ended.
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
            ending::show_bar(false);
        }
    }
}
