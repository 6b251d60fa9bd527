//! `warpfold ladder --verify-all`: every rung, operation, element type, length and size of block.

use serde::Serialize;
use warpfold_ladder::Simulator;
use warpfold_ladder::verify::{Cell, Verified, every_cell, sample, verify as verify_cells};
use warpfold_simt::Settings;

use super::args::{Ladder, Step};
use super::backend::{Backend, tell};
use super::{gpu, verdict};
use crate::bench::bar;
use crate::sheet::Format;
use crate::{Failure, streams};

/// What was verified.
#[derive(Serialize)]
struct Verification {
    /// Cells: a rung over one array in blocks of one size.
    cells: usize,
    right: u64,
    /// Cells that the rung does not have.
    lacking: u64,
    /// What was wrong, a line each.
    wrong: Vec<String>,
    seed: u64,
}

/// Verifies and tells.
pub(super) fn verify(args: &Ladder, backend: Backend) -> Result<(), Failure> {
    let mut cells = every_cell();
    cells.retain(|cell| wants(args, cell));
    if let Some(count) = args.sample {
        cells = sample(cells, usize::try_from(count).unwrap_or(usize::MAX), args.seed);
    }
    if cells.is_empty() {
        let message = "nothing of what --verify-all verifies is left: widen --n, --type, --op, --block, --rung or --sample";
        return Err(Failure::Usage(message.into()));
    }
    let bar = bar();
    bar.set_length(cells.len() as u64);
    let each = |cell: &Cell| {
        bar.inc(1);
        bar.set_message(cell.to_string());
    };
    let verified = match &backend {
        Backend::Cuda(gpu) => gpu::verify(gpu, &cells, args.seed, each),
        Backend::Simt { why } => {
            tell(why.as_deref());
            let mut targets = [Simulator::new(Settings::default())];
            Ok(verify_cells(&mut targets, &cells, args.seed, each)?)
        }
        Backend::Cpu => Err(Failure::Usage(
            "--verify-all verifies kernels, which run on --device cuda or simt".into(),
        )),
    };
    bar.finish_and_clear();
    let Verified { right, lacking, wrong } = verified?;
    let verification = Verification { cells: cells.len(), right, lacking, wrong, seed: args.seed };
    let text = match args.format {
        Format::Json => serde_json::to_string(&verification).expect("plain values are JSON") + "\n",
        _ => text(&verification),
    };
    streams::print(text.as_bytes())?;
    match verification.wrong.len() {
        0 => Ok(()),
        wrong => verdict(&[&format!("{wrong} cells")]),
    }
}

fn wants(args: &Ladder, cell: &Cell) -> bool {
    let is_it = |step: &Step| matches!(step, Step::Rung(rung) if rung.name == cell.rung.name);
    args.n.is_none_or(|n| cell.case.n <= n)
        && args.dtype.is_none_or(|dtype| cell.case.dtype == dtype)
        && args.op.is_none_or(|op| cell.case.op == op)
        && args.block.is_none_or(|block| cell.case.block == block)
        && (args.rungs.is_empty() || args.rungs.iter().any(is_it))
}

fn text(verification: &Verification) -> String {
    let Verification { cells, right, lacking, wrong, seed } = verification;
    let mut out = format!(
        "{cells} cells: {right} right, {} wrong, {lacking} that the rung does not have (seed {seed})\n",
        wrong.len()
    );
    for line in wrong {
        out += line;
        out.push('\n');
    }
    out
}
