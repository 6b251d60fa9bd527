//! `warpfold report`: one page of everything, measured here or read from files.
//!
//! ```text
//! args -> gather (ladder, sweeps, roofline, replays: measured, or read with --from) -> html (tables, charts, rungs, gains) -> one file
//! ```

mod args;
mod gains;
mod gather;
mod html;
mod predicted;
mod rung;

pub(crate) use args::Page;
use gather::Gathered;

use std::path::PathBuf;

use crate::{Failure, outfile, streams};

/// Makes the page.
pub(crate) fn page(asked: &Page) -> Result<(), Failure> {
    for file in [Some(&asked.out), asked.export.as_ref()].into_iter().flatten() {
        outfile::check(file)?;
        outfile::refuse_inputs(file, asked.from.iter().map(PathBuf::as_path))?;
    }
    let found = Gathered::of(asked)?;
    if let Some(file) = &asked.export {
        gather::export(&found, file)?;
    }
    let page = html::render(&found, asked.predict)?;
    outfile::replace(&asked.out, page.as_bytes())?;
    let told = format!("{}: {} bytes\n", asked.out.display(), page.len());
    streams::print(told.as_bytes())
}
