//! The `warpfold` program as a library, for its tests and examples.
//!
//! ```text
//! args (clap) -> run -> warpfold_io (files, streams, random numbers -> pieces of native bytes)
//!                    -> warpfold::Stream (folds the pieces)
//!                    -> report (text, json, csv, npy)
//!      or, for many results:
//!                    -> many  (inputs as a whole -> warpfold::ReduceMany)
//!                    -> table (text, json, csv, npy, npz)
//!      or, for several columns of text:
//!                    -> several (one reading -> a fold for each column), by keys many::columns -> table
//!      or, for columns of Parquet and Arrow files (feature `parquet`):
//!                    -> data  (warpfold-arrow) -> report, or table
//!      or, for an expression:
//!                    -> mapped (inputs side by side -> warpfold::map::Map)
//! ```
//!
//! Results go to standard output and everything else to standard error. Exit codes: 0 for a result, 1 for bad data, 2 for bad
//! usage, 130 and 143 when ended by Ctrl-C (SIGINT) or SIGTERM; by SIGPIPE when the reader of standard output has left.

mod args;
mod bench;
mod chart;
#[cfg_attr(not(feature = "parquet"), path = "data_absent.rs")]
mod data;
mod device;
mod error;
mod explain;
mod ladder;
mod left_out;
mod many;
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

fn run_command(asked: args::Asked) -> Result<(), Failure> {
    match &asked {
        args::Asked::Text(_) => {}
        args::Asked::Reduction(reduction) => {
            plot::check(reduction)?;
            threads::start_pool(reduction.threads())?;
        }
        _ => threads::start_pool(None)?,
    }
    match asked {
        args::Asked::Reduction(reduction) if data::takes(&reduction) => data::reduction(&reduction),
        args::Asked::Reduction(reduction) if overview::takes(&reduction) => {
            overview::reduction(&reduction)
        }
        args::Asked::Reduction(reduction) if several::takes(&reduction) => {
            several::reduction(&reduction)
        }
        args::Asked::Reduction(reduction) if reduction.world.is_some() => {
            world::reduction(&reduction)
        }
        args::Asked::Reduction(reduction) => run::reduction(&reduction),
        args::Asked::Text(text) => streams::print(&text),
        args::Asked::Bench(asked) => bench::cpu(&asked),
        args::Asked::BenchCuda(asked) => bench::cuda(&asked),
        args::Asked::BenchSegments(asked) => bench::segments(&asked),
        args::Asked::FirstUses(asked) => bench::first_uses(&asked),
        args::Asked::Tune(asked) => tune::tune(&asked),
        args::Asked::Devices(format) => streams::print(&device::list(format)),
        args::Asked::Explain(asked) => explain::explain(&asked),
        args::Asked::Ladder(asked) => ladder::ladder(&asked),
        args::Asked::Sweep(asked) => sweep::sweep(&asked),
        args::Asked::Replay(asked) => replay::replay(&asked),
        args::Asked::Roofline(asked) => roofline::roofline(&asked),
        args::Asked::Page(asked) => page::page(&asked),
    }
}
