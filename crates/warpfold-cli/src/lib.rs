//! The `warpfold` program as a library, for its tests and examples.
//!
//! ```text
//! command (clap) -> run -> opening, warpfold_io (files, streams, random numbers -> pieces of native bytes)
//!                    -> device (folds the pieces)
//!                    -> report (text, json, csv, npy) -> deliver
//!      or, for many results:
//!                    -> batched  (inputs as a whole -> warpfold_engine)
//!                    -> table (text, json, csv, npy, npz) -> deliver
//!      or, for several columns of text:
//!                    -> several (one reading -> a fold for each column), by keys batched::columns -> table
//!      or, for columns of Parquet and Arrow files (feature `parquet`):
//!                    -> data  (warpfold-arrow) -> report, or table
//!      or, for an expression:
//!                    -> mapped (inputs side by side -> warpfold::map::Map)
//!      or, by an operator of one's own:
//!                    -> batched::operator (inputs as a whole -> warpfold_engine::operator)
//! ```
//!
//! Results go to standard output and everything else to standard error. Exit codes: 0 for a result, 1 for bad data, 2 for bad
//! usage, 130 and 143 when ended by Ctrl-C (SIGINT) or SIGTERM; by SIGPIPE when the reader of standard output has left.

mod args;
mod arrays;
mod batched;
mod bench;
mod chart;
mod command;
#[cfg_attr(not(feature = "parquet"), path = "data_absent.rs")]
mod data;
mod deliver;
mod device;
mod error;
mod explain;
#[cfg_attr(not(feature = "parquet"), path = "folders_absent.rs")]
mod folders;
mod format;
mod ladder;
mod left_out;
mod mapped;
mod memory;
mod one_array;
mod opening;
mod operator;
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

use command::Invocation;

/// Runs the program on the arguments of this process.
pub fn main() -> ExitCode {
    signals::listen();
    let outcome = streams::check_output().and_then(|()| command::parse()).and_then(run_command);
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::ReaderGone) => streams::end_by_broken_pipe(),
        Err(failure) => {
            failure.print();
            ExitCode::from(failure.exit_code())
        }
    }
}

fn run_command(command: Invocation) -> Result<(), Failure> {
    match &command {
        Invocation::Text(_) => {}
        Invocation::Reduction(reduction) => {
            let is_table = several::takes(reduction) || arrays::takes(reduction);
            plot::check(reduction, data::takes(reduction) || is_table)?;
            threads::start_pool(reduction.threads())?;
        }
        _ => threads::start_pool(None)?,
    }
    match command {
        Invocation::Reduction(reduction) => {
            reduce(&reduction).map_err(|failure| failure.of(reduction.op()))
        }
        Invocation::Text(text) => streams::print(&text),
        Invocation::Bench(args) => bench::cpu(&args),
        Invocation::BenchCuda(args) => bench::cuda(&args),
        Invocation::BenchSegments(args) => bench::segments(&args),
        Invocation::FirstUses(args) => bench::first_uses(&args),
        Invocation::Tune(args) => tune::tune(&args),
        Invocation::Devices(format) => streams::print(&device::list(format)),
        Invocation::Explain(args) => explain::explain(&args),
        Invocation::Ladder(args) => ladder::ladder(&args),
        Invocation::Sweep(args) => sweep::sweep(&args),
        Invocation::Replay(args) => replay::replay(&args),
        Invocation::Roofline(args) => roofline::roofline(&args),
        Invocation::Page(args) => page::page(&args),
    }
}

/// Runs a reduction by the way that its inputs and options ask for.
fn reduce(reduction: &args::Reduction) -> Result<(), Failure> {
    match reduction {
        _ if data::takes(reduction) => match reduction.world {
            Some(_) if cfg!(feature = "parquet") => world::reduction(reduction),
            _ => data::reduction(reduction),
        },
        _ if reduction.world.is_none() && overview::takes(reduction) => {
            overview::reduction(reduction)
        }
        _ if several::takes(reduction) => match reduction.parts.by.is_empty() {
            true => several::reduction(reduction),
            false => batched::columns(reduction),
        },
        _ if arrays::takes(reduction) => arrays::reduction(reduction),
        _ if reduction.world.is_some() => world::reduction(reduction),
        _ => run::reduction(reduction),
    }
}
