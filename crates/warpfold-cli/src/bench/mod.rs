//! `warpfold bench`: runs a benchmark of the lab and prints it.

mod cpu;
#[cfg_attr(not(feature = "cuda"), path = "cuda_absent.rs")]
mod cuda;

pub(crate) use cpu::cpu;
pub(crate) use cuda::{cuda, first_uses};

use std::io;
use std::path::Path;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::Failure;
use crate::error::system_message;

/// Shows on a terminal how far a benchmark is.
pub(crate) fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {eta} {wide_msg}")
        .expect("the template is well formed");
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    bar.set_style(style);
    bar
}

/// A report that could not be written.
pub(crate) fn unwritten(file: &Path, error: &io::Error) -> Failure {
    Failure::Output { what: file.display().to_string(), reason: system_message(error) }
}

/// Fails if results were wrong.
fn verdict(wrong: usize) -> Result<(), Failure> {
    match wrong {
        0 => Ok(()),
        wrong => Err(Failure::Output {
            what: format!("{wrong} rows"),
            reason: "their results were wrong, so they were not timed".into(),
        }),
    }
}
