//! Runs the CPU benchmark: `cargo run --release -p warpfold-lab --example bench_cpu -- [FILTER] [FILE.json]`.

use std::error::Error;
use std::path::Path;

use warpfold_lab::report::{Ceiling, Failure, Row};
use warpfold_lab::{Regex, cpu, table};

/// Prints each row when it is there.
struct Print;

impl cpu::Observer for Print {
    fn preparing(&mut self, what: &str) {
        eprintln!("preparing {what}");
    }

    fn ceiling(&mut self, ceiling: &Ceiling) {
        eprintln!(
            "ceiling {} GB/s: {}",
            table::gigabytes(ceiling.bytes_per_second),
            ceiling.variant
        );
    }

    fn row(&mut self, row: &Row) {
        eprint!("{}", table::line(row));
    }

    fn failed(&mut self, failure: &Failure) {
        eprintln!("FAILED {}: {}", failure.name, failure.error);
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut options =
        cpu::Options { revision: std::env::var("WARPFOLD_REVISION").ok(), ..Default::default() };
    if let Some(filter) = arguments.next() {
        options.filter = Regex::new(&filter)?;
    }
    let report = cpu::run(&options, &mut Print)?;
    print!("{}", table::text(&report));
    if let Some(file) = arguments.next() {
        report.save(Path::new(&file))?;
    }
    match report.failures.len() {
        0 => Ok(()),
        failures => Err(format!("{failures} rows gave wrong results and were not timed").into()),
    }
}
