//! `warpfold bench`: runs a benchmark of the lab and prints it.

mod cpu;
#[cfg_attr(not(feature = "cuda"), path = "cuda_absent.rs")]
mod cuda;
mod segments;
#[cfg_attr(not(feature = "cuda"), path = "segments_cuda_absent.rs")]
mod segments_cuda;

pub(crate) use cpu::cpu;
pub(crate) use cuda::{cuda, first_uses};
pub(crate) use segments::segments;

use std::fs;
use std::path::Path;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use warpfold::plan::Isa;
use warpfold_lab::Regex;
use warpfold_lab::cuda::report::{Peer, peers};
use warpfold_lab::report::json;

use crate::{Failure, outfile};
use warpfold_io::system_message;

/// Shows on a terminal how far a benchmark is.
pub(crate) fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {eta} {wide_msg}")
        .expect("the template is well formed");
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    bar.set_style(style);
    bar
}

/// Other libraries' figures, for `--peers`.
pub(crate) fn read_peers(file: &Path) -> Result<Vec<Peer>, Failure> {
    let text = fs::read_to_string(file).and_then(|text| peers(&text));
    text.map_err(|error| {
        let what = file.display();
        Failure::Usage(format!(
            "--peers {what}: {}; it takes a JSON object a line",
            system_message(&error)
        ))
    })
}

/// Fails before anything is measured where a report could not be written.
pub(crate) fn check(file: Option<&Path>) -> Result<(), Failure> {
    Ok(file.map_or(Ok(()), outfile::check)?)
}

/// Writes a report to a file, if one is named.
fn export(file: Option<&Path>, report: &impl Serialize) -> Result<(), Failure> {
    let Some(file) = file else { return Ok(()) };
    let text = json(report).map_err(|error| Failure::Output {
        what: file.display().to_string(),
        reason: system_message(&error),
    })?;
    Ok(outfile::replace(file, text.as_bytes())?)
}

/// Fails where `--filter` leaves nothing of the rows that there are: says what their names are made of.
fn some_match(filter: &Regex, names: &[String]) -> Result<(), Failure> {
    if names.iter().any(|name| filter.is_match(name)) {
        return Ok(());
    }
    // The last part of a name may have a stroke of its own.
    let mut parts: [Vec<&str>; 4] = Default::default();
    for name in names {
        for (known, part) in parts.iter_mut().zip(name.splitn(4, '/')) {
            if !known.contains(&part) {
                known.push(part);
            }
        }
    }
    let parts = parts.map(|known| known.join(", "));
    Err(Failure::Usage(format!(
        "--filter {filter} matches none of the {} rows, whose names are such as {}; with / between they have: {}",
        names.len(),
        names.first().map_or("", String::as_str),
        parts.join(" / ")
    )))
}

/// Fails if this machine does not have a chosen instruction set.
fn available(isa: Option<Isa>) -> Result<(), Failure> {
    match isa {
        Some(isa) if isa > Isa::widest() => Err(Failure::Usage(format!(
            "--isa {isa}: this machine has no more than {}",
            Isa::widest()
        ))),
        _ => Ok(()),
    }
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
