//! `warpfold report`: one page of everything, measured here or read from files.
//!
//! ```text
//! args -> gather (ladder, sweeps, roofline, replays: measured, or read with --from) -> html (tables, charts, rungs, gains) -> one file
//! ```

mod args;
mod gains;
mod gather;
mod html;
mod rung;

pub(crate) use args::Page;
use gather::Gathered;

use crate::{Failure, report};

/// Makes the page.
pub(crate) fn page(asked: &Page) -> Result<(), Failure> {
    for file in [Some(&asked.out), asked.export.as_ref()].into_iter().flatten() {
        report::check_target(file)?;
    }
    let found = Gathered::of(asked)?;
    if let Some(file) = &asked.export {
        gather::export(&found, file)?;
    }
    let page = html::render(&found)?;
    report::replace(&asked.out, page.as_bytes())?;
    let told = format!("{}: {} bytes\n", asked.out.display(), page.len());
    report::print(told.as_bytes())
}
