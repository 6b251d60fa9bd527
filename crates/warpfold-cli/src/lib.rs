//! The `warpfold` program as a library, for its tests and examples.
//!
//! ```text
//! args (clap) -> run -> warpfold_io (files, streams, random numbers -> pieces of native bytes)
//!                    -> warpfold::Stream (folds the pieces)
//!                    -> report (text, json, csv, npy)
//!      or, for many results:
//!                    -> batched  (inputs as a whole -> warpfold::ReduceBatched)
//!                    -> table (text, json, csv, npy, npz)
//!      or, for several columns of text:
//!                    -> several (one reading -> a fold for each column), by keys batched::columns -> table
//!      or, for columns of Parquet and Arrow files (feature `parquet`):
//!                    -> data  (warpfold-arrow) -> report, or table
//!      or, for an expression:
//!                    -> mapped (inputs side by side -> warpfold::map::Map)
//! ```
//!
//! Results go to standard output and everything else to standard error. Exit codes: 0 for a result, 1 for bad data, 2 for bad
//! usage, 130 and 143 when ended by Ctrl-C (SIGINT) or SIGTERM; by SIGPIPE when the reader of standard output has left.

mod args;
mod batched;
mod bench;
mod chart;
#[cfg_attr(not(feature = "parquet"), path = "data_absent.rs")]
mod data;
mod device;
mod error;
mod explain;
mod ladder;
mod left_out;
mod mapped;
mod memory;
mod overview;
mod page;
mod plot;
mod predict;
mod progress;
mod replay;
mod report;
mod roofline;
mod run;
mod several;
mod sheet;
mod signals;
mod stage;
mod streams;
mod sweep;
mod table;
mod threads;
#[cfg_attr(not(feature = "cuda"), path = "tune_absent.rs")]
mod tune;
mod tuning;
mod world;

pub use error::Failure;
pub use memory::Allocator;
pub(crate) use streams::say;
pub(crate) use warpfold_io::{self as input, outfile};

use std::process::ExitCode;

/// Runs the program on the arguments of this process.
pub fn main() -> ExitCode {
    signals::listen();
    let outcome = streams::check_output().and_then(|()| args::parse()).and_then(run_command);
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::ReaderGone) => streams::end_by_broken_pipe(),
        Err(failure) => {
            failure.print();
            ExitCode::from(failure.exit_code())
        }
    }
}

fn run_command(args: args::Invocation) -> Result<(), Failure> {
    match &args {
        args::Invocation::Text(_) => {}
        args::Invocation::Reduction(reduction) => {
            plot::check(reduction)?;
            threads::start_pool(reduction.threads())?;
        }
        _ => threads::start_pool(None)?,
    }
    match args {
        args::Invocation::Reduction(reduction) if data::takes(&reduction) => {
            data::reduction(&reduction)
        }
        args::Invocation::Reduction(reduction)
            if reduction.world.is_none() && overview::takes(&reduction) =>
        {
            overview::reduction(&reduction)
        }
        args::Invocation::Reduction(reduction) if several::takes(&reduction) => {
            several::reduction(&reduction)
        }
        args::Invocation::Reduction(reduction) if reduction.world.is_some() => {
            world::reduction(&reduction)
        }
        args::Invocation::Reduction(reduction) => run::reduction(&reduction),
        args::Invocation::Text(text) => streams::print(&text),
        args::Invocation::Bench(args) => bench::cpu(&args),
        args::Invocation::BenchCuda(args) => bench::cuda(&args),
        args::Invocation::BenchSegments(args) => bench::segments(&args),
        args::Invocation::FirstUses(args) => bench::first_uses(&args),
        args::Invocation::Tune(args) => tune::tune(&args),
        args::Invocation::Devices(format) => streams::print(&device::list(format)),
        args::Invocation::Explain(args) => explain::explain(&args),
        args::Invocation::Ladder(args) => ladder::ladder(&args),
        args::Invocation::Sweep(args) => sweep::sweep(&args),
        args::Invocation::Replay(args) => replay::replay(&args),
        args::Invocation::Roofline(args) => roofline::roofline(&args),
        args::Invocation::Page(args) => page::page(&args),
    }
}
