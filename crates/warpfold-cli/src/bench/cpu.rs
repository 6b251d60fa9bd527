//! `warpfold bench cpu`: runs the lab's benchmark of the processor and prints it.

use indicatif::ProgressBar;
use warpfold_lab::report::{Ceiling, Failure as Wrong, Row};
use warpfold_lab::{cpu, table};

use super::{bar, export, some_match, verdict};
use crate::args::Bench;
use crate::{Failure, streams};

/// Shows on a terminal how far a benchmark is.
struct ProgressObserver(ProgressBar);

impl cpu::Observer for ProgressObserver {
    fn planned(&mut self, rows: usize) {
        self.0.set_length(rows as u64);
    }

    fn preparing(&mut self, what: &str) {
        self.0.set_message(format!("preparing {what}"));
    }

    fn ceiling(&mut self, ceiling: &Ceiling) {
        let rate = table::gigabytes(ceiling.bytes_per_second);
        self.0.set_message(format!("read ceiling {rate} GB/s"));
    }

    fn row(&mut self, row: &Row) {
        self.0.inc(1);
        self.0.set_message(table::line(row).trim_end().to_owned());
    }

    fn failed(&mut self, failure: &Wrong) {
        self.0.inc(1);
        self.0.suspend(|| crate::say!("warpfold: {}: {}", failure.name, failure.error));
    }
}

/// Measures the processor.
pub(crate) fn cpu(args: &Bench) -> Result<(), Failure> {
    super::check(args.export.as_deref())?;
    super::available(args.isa)?;
    let options = cpu::Options {
        filter: args.filter.clone(),
        threads: args.threads.map(|threads| threads as usize),
        isa: args.isa,
        ..cpu::Options::default()
    };
    if options.cases().is_empty() {
        let all = cpu::Options::default().cases();
        let names: Vec<String> = all.into_iter().map(|case| case.name()).collect();
        some_match(&args.filter, &names)?;
    }
    let bar = bar();
    let outcome = cpu::run(&options, &mut ProgressObserver(bar.clone()));
    bar.finish_and_clear();
    let measured = outcome.map_err(|error| Failure::Output {
        what: "the benchmark's arrays".into(),
        reason: error.to_string(),
    })?;
    export(args.export.as_deref(), &measured)?;
    streams::print(table::text(&measured).as_bytes())?;
    verdict(measured.failures.len())
}
