//! `warpfold ladder`: climbs the lab's ladder and prints what was found; with `--verify-all`, verifies every cell of it.
//!
//! ```text
//! args -> Place (GPU | simulator | processor) -> the lab's climb, watched by a progress bar -> text | json | csv | markdown
//! ```

mod args;
mod columns;
mod csv;
#[cfg_attr(not(feature = "cuda"), path = "gpu_absent.rs")]
mod gpu;
mod place;
mod text;
mod verify;

use std::fs;

use indicatif::ProgressBar;
use warpfold_lab::ladder::{self as lab, Ladder as Found, Row, Rung};

use args::Format;
pub(crate) use args::Ladder;
pub(crate) use columns::table;
pub(crate) use gpu::on_gpu;
pub(crate) use place::{Place, fits, tell};

use crate::bench::{bar, unwritten};
use crate::{Failure, report};

/// Climbs and prints, or verifies.
pub(crate) fn ladder(asked: &Ladder) -> Result<(), Failure> {
    let place = Place::of(asked.device)?;
    if asked.verify_all {
        return verify::verify(asked, place);
    }
    let options = place::options(asked, &place)?;
    let bar = bar();
    bar.set_length(options.rungs.len() as u64);
    let found = place.climb(asked, options, &mut Watch(bar.clone()));
    bar.finish_and_clear();
    let found = found?;
    if let Some(file) = &asked.export {
        fs::write(file, json(&found)).map_err(|error| unwritten(file, &error))?;
    }
    let text = match asked.format {
        Format::Text => text::text(&found).into_bytes(),
        Format::Markdown => text::markdown(&found).into_bytes(),
        Format::Json => json(&found).into_bytes(),
        Format::Csv => csv::csv(&found),
    };
    report::print(&text)?;
    let wrong: Vec<&str> =
        found.rungs.iter().filter(|row| row.failed()).map(|row| &*row.name).collect();
    verdict(&wrong)
}

fn json(found: &Found) -> String {
    serde_json::to_string(found).expect("names and finite numbers are JSON") + "\n"
}

/// Fails if results were wrong.
fn verdict(wrong: &[&str]) -> Result<(), Failure> {
    match wrong {
        [] => Ok(()),
        wrong => Err(Failure::Output {
            what: wrong.join(", "),
            reason: "the results are wrong, so they were not timed".into(),
        }),
    }
}

/// Shows on a terminal how far the climb is.
struct Watch(ProgressBar);

impl lab::Observer for Watch {
    fn next(&mut self, rung: &Rung) {
        self.0.set_message(rung.name);
    }

    fn row(&mut self, _: &Row) {
        self.0.inc(1);
    }
}
