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
pub(crate) fn page(args: &Page) -> Result<(), Failure> {
    for file in [Some(&args.out), args.export.as_ref()].into_iter().flatten() {
        outfile::check(file)?;
        outfile::refuse_inputs(file, args.from.iter().map(PathBuf::as_path))?;
    }
    let found = Gathered::of(args)?;
    if let Some(file) = &args.export {
        gather::export(&found, file)?;
    }
    let page = html::render(&found, args.predict)?;
    outfile::replace(&args.out, page.as_bytes())?;
    let explanation = format!("{}: {} bytes\n", args.out.display(), page.len());
    streams::print(explanation.as_bytes())
}
