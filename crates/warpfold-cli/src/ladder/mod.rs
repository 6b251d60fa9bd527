//! `warpfold ladder`: climbs the lab's ladder and prints what was found; with `--verify-all`, verifies every cell of it.
//!
//! ```text
//! args -> Backend (GPU | simulator | processor) -> the lab's climb, watched by a progress bar -> sheets (text | json | csv | markdown)
//! ```

mod args;
mod backend;
mod columns;
#[cfg_attr(not(feature = "cuda"), path = "gpu_absent.rs")]
mod gpu;
mod sheets;
mod verify;

use indicatif::ProgressBar;
use warpfold::{DType, Op};
use warpfold_lab::cuda::report::Temperature;
use warpfold_ladder::model::{Device as Gpu, measured};
use warpfold_ladder::{Case, MOST_THREADS, Row, Rung, defined};

pub(crate) use args::Ladder;
use args::Step;
pub(crate) use backend::{Backend, fits, tell};
pub(crate) use gpu::on_gpu;
pub(crate) use sheets::sheets;

use crate::args::block::whole_warps;
use crate::bench::bar;
use crate::sheet::{Format, json};
use crate::{Failure, outfile, streams};

/// Climbs and prints, or verifies.
pub(crate) fn ladder(args: &Ladder) -> Result<(), Failure> {
    if let Some(gpu) = args.predict {
        return predict(args, gpu);
    }
    let backend = Backend::of(args.device)?;
    if args.verify_all {
        return verify::verify(args, backend);
    }
    if let Some(file) = &args.export {
        outfile::check(file)?;
    }
    let options = backend::options(args, &backend)?;
    let bar = bar();
    bar.set_length(options.rungs.len() as u64);
    let found = backend.climb(args, options, &mut ProgressObserver(bar.clone()));
    bar.finish_and_clear();
    let found = found?;
    if let Some(file) = &args.export {
        outfile::replace(file, json(&found).as_bytes())?;
    }
    let sheets = if args.format == Format::Csv {
        vec![sheets::tidy(&found)]
    } else {
        sheets::sheets(&found)
    };
    streams::print(args.format.print(&sheets, &found).as_bytes())?;
    let wrong: Vec<&str> =
        found.rungs.iter().filter(|row| row.failed()).map(|row| &*row.name).collect();
    verdict(&wrong)
}

/// Predicts and prints.
fn predict(args: &Ladder, gpu: &'static Gpu) -> Result<(), Failure> {
    let (op, dtype) = (args.op.unwrap_or(Op::Sum), args.dtype.unwrap_or(DType::F32));
    defined(op, dtype).map_err(Failure::Usage)?;
    let block = args.block.unwrap_or(256);
    whole_warps(block, MOST_THREADS, "a block")?;
    if let Some(file) = &args.export {
        outfile::check(file)?;
    }
    let case = Case { op, dtype, n: args.n.unwrap_or(1 << 25), block };
    let given = args.rungs.iter().filter_map(|step| match step {
        Step::Rung(rung) => Some(*rung),
        Step::Divergence => None,
    });
    let all = || warpfold_ladder::rungs().iter().collect();
    let wanted: Vec<&'static Rung> = if args.rungs.is_empty() { all() } else { given.collect() };
    let temperature = if args.hot { Temperature::Hot } else { Temperature::Cold };
    let backend = |rung| crate::predict::Scenario {
        temperature,
        measured: measured(gpu, rung, case, temperature),
        ..crate::predict::Scenario::cold(rung, case)
    };
    let places: Vec<_> = wanted.into_iter().map(backend).collect();
    let found = crate::predict::predicted(gpu, &places);
    if let Some(file) = &args.export {
        outfile::replace(file, json(&found).as_bytes())?;
    }
    let title =
        format!("{op} of {} {dtype}, blocks of {block}, predicted for {}", case.n, gpu.name);
    let sheet = crate::predict::sheet_for(args.format, &found, title);
    streams::print(args.format.print(&[sheet], &found).as_bytes())
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
struct ProgressObserver(ProgressBar);

impl warpfold_ladder::Observer for ProgressObserver {
    fn next(&mut self, rung: &Rung) {
        self.0.set_message(rung.name);
    }

    fn row(&mut self, _: &Row) {
        self.0.inc(1);
    }
}
