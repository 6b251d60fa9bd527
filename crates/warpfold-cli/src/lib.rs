//! The `warpfold` program as a library, so that tests and fuzz targets reach its readers.
//!
//! ```text
//! args (clap) -> run -> input (files, streams, random numbers -> pieces of native bytes)
//!                    -> warpfold::Stream (folds the pieces)
//!                    -> report (text, json, csv, npy)
//! ```
//!
//! Results go to standard output and everything else to standard error. Exit codes: 0 for a result, 1 for bad data, 2 for bad
//! usage, 130 when interrupted.

mod args;
mod bench;
mod chart;
mod device;
mod error;
mod explain;
pub mod input;
mod interrupt;
mod ladder;
mod narrow;
mod page;
mod progress;
mod replay;
mod report;
mod roofline;
mod run;
mod sheet;
mod stage;
mod sweep;
#[cfg_attr(not(feature = "cuda"), path = "tune_absent.rs")]
mod tune;
mod tuning;

pub use error::Failure;

use std::process::ExitCode;

/// Runs the program on the arguments of this process.
pub fn main() -> ExitCode {
    let outcome = match args::parse() {
        Ok(args::Asked::Reduction(reduction)) => run::reduction(&reduction),
        Ok(args::Asked::Text(text)) => report::print(&text),
        Ok(args::Asked::Bench(asked)) => bench::cpu(&asked),
        Ok(args::Asked::BenchCuda(asked)) => bench::cuda(&asked),
        Ok(args::Asked::BenchSegments(asked)) => bench::segments(&asked),
        Ok(args::Asked::FirstUses(asked)) => bench::first_uses(&asked),
        Ok(args::Asked::Tune(asked)) => tune::tune(&asked),
        Ok(args::Asked::Devices(format)) => report::print(&device::list(format)),
        Ok(args::Asked::Explain(asked)) => explain::explain(&asked),
        Ok(args::Asked::Ladder(asked)) => ladder::ladder(&asked),
        Ok(args::Asked::Sweep(asked)) => sweep::sweep(&asked),
        Ok(args::Asked::Replay(asked)) => replay::replay(&asked),
        Ok(args::Asked::Roofline(asked)) => roofline::roofline(&asked),
        Ok(args::Asked::Page(asked)) => page::page(&asked),
        Err(failure) => Err(failure),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.print();
            ExitCode::from(failure.exit_code())
        }
    }
}
