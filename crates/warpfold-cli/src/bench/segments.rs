//! `warpfold bench segments`: runs the lab's benchmark of segments, axes and keys on the processor and prints it.

use std::time::Duration;

use indicatif::ProgressBar;
use warpfold::{DType, Op};
use warpfold_lab::Regex;
use warpfold_lab::report::size;
use warpfold_lab::segments::{self as lab, Report, Row};
use warpfold_lab::table::{gigabytes, percent, percent_beside, time};

use super::{bar, export, segments_cuda, some_match, verdict};
use crate::args::BenchSegments;
use crate::device::Device;
use crate::sheet::{Format, Sheet};
use crate::{Failure, streams};

/// Elements that a benchmark takes: offsets and keys have 32 bits.
const ELEMENTS: std::ops::RangeInclusive<u64> = 1 << 13..=1 << 31;

/// Elements unless asked for: more than any cache holds.
const UNASKED: u64 = 1 << 26;

/// Shows on a terminal how far the benchmark is.
struct ProgressObserver(ProgressBar);

impl lab::Observer for ProgressObserver {
    fn planned(&mut self, rows: usize) {
        self.0.set_length(rows as u64);
    }

    fn preparing(&mut self, what: &str) {
        self.0.set_message(format!("preparing {what}"));
    }

    fn row(&mut self, row: &Row) {
        self.0.inc(1);
        if let Some(wrong) = &row.wrong {
            self.0.suspend(|| crate::say!("warpfold: {}: {wrong}", row.name));
        }
    }
}

/// Measures the processor, or a GPU where one is asked for.
pub(crate) fn segments(args: &BenchSegments) -> Result<(), Failure> {
    match args.device {
        Device::Cpu if args.peers.is_some() => Err(Failure::Usage(
            "--peers are those of a GPU; bench/peers/cpu/segments.sh puts the processor's beside its rows".into(),
        )),
        Device::Cpu => processor(args),
        Device::Auto | Device::Simt => Err(Failure::Usage(format!(
            "--device {} is not measured; this takes --device cpu, cuda or cuda:N",
            args.device
        ))),
        _ if args.threads.is_some() || args.isa.is_some() || args.time.is_some() || args.into => {
            Err(Failure::Usage(
                "--threads, --isa, --time and --into are the processor's; leave them out on a GPU"
                    .into(),
            ))
        }
        _ if (&args.ops[..], &args.dtypes[..]) != (&[Op::Sum], &[DType::F32]) => {
            Err(Failure::Usage("of a GPU's rows, --ops is sum and --dtypes is f32".into()))
        }
        _ => segments_cuda::segments(args),
    }
}

fn processor(args: &BenchSegments) -> Result<(), Failure> {
    let n = args.n.unwrap_or(UNASKED);
    if !ELEMENTS.contains(&n) {
        return Err(Failure::Usage(format!(
            "--n {n} is not from 2^13 to 2^31; choose as many elements as fit into memory twice"
        )));
    }
    super::check(args.export.as_deref())?;
    super::available(args.isa)?;
    let mut options = lab::Options {
        n,
        ops: args.ops.clone(),
        types: args.dtypes.clone(),
        isa: args.isa,
        into: args.into,
        filter: args.filter.clone(),
        threads: args.threads.map(|threads| threads as usize),
        revision: std::env::var("WARPFOLD_REVISION").ok(),
        ..lab::Options::default()
    };
    if let Some(time) = args.time {
        options.sampling.budget = Duration::from_millis(time);
    }
    for &dtype in &options.types {
        let elements = options.elements(dtype);
        if !lab::ELEMENTS.contains(&elements) {
            return Err(Failure::Usage(format!(
                "--n {n} of f32 has as many bytes as {elements} elements of {dtype}, and a benchmark takes 6144 and more, below 2^32; choose another --n or measure the type by itself"
            )));
        }
    }
    something(&options)?;
    let bar = bar();
    let outcome = lab::run(&options, &mut ProgressObserver(bar.clone()));
    bar.finish_and_clear();
    let found = outcome.map_err(|error| Failure::Output {
        what: "the benchmark's array".into(),
        reason: error.to_string(),
    })?;
    export(args.export.as_deref(), &found)?;
    let sheet = match args.format {
        Format::Csv => plain(&found),
        _ => sheet(&found, options.threads),
    };
    streams::print(args.format.print(&[sheet], &found).as_bytes())?;
    verdict(found.wrong())
}

/// Fails where there is nothing to measure.
fn something(options: &lab::Options) -> Result<(), Failure> {
    let all = lab::Options {
        filter: Regex::new("").expect("the empty expression matches everything"),
        ..options.clone()
    }
    .names();
    if all.is_empty() {
        let list = |names: Vec<&str>| names.join(",");
        return Err(Failure::Usage(format!(
            "--ops {} --dtypes {} leave nothing to measure: dot, of two arrays, is not measured by parts, and complex numbers have no order for min, max, minmax, argmin and argmax",
            list(options.ops.iter().map(|op| op.name()).collect()),
            list(options.types.iter().map(|dtype| dtype.name()).collect())
        )));
    }
    some_match(&options.filter, &all)
}

/// A line a row, for readers.
fn sheet(found: &Report, threads: Option<usize>) -> Sheet {
    let machine = &found.machine;
    let title = format!("Segments, axes and keys on {}, {} cores", machine.cpu, machine.cores);
    let head = ["case", "parts", "time", "±", "GB/s", "of flat", "target", "how"];
    let mut sheet = Sheet::new(title, head);
    sheet.above.push(format!(
        "warpfold {}, {}, {} kernels. Arrays of {}: {} elements of f32, of other types as many bytes; {}. Bytes are those of input, offsets or keys, and results{}; the fraction is of input alone, beside {}.",
        found.header.warpfold,
        found.header.date,
        machine.isa,
        size(4 * found.n),
        found.n,
        up_to(threads.unwrap_or(machine.cores)),
        if found.into_kept_memory { ", which go to memory that is used again and again" } else { "" },
        found.baseline
    ));
    for row in &found.rows {
        let target = match (row.target, row.met()) {
            (Some(target), Some(met)) => {
                format!("≥ {}, {}", percent(target), if met { "met" } else { "not met" })
            }
            _ => String::new(),
        };
        let [time, spread, rate, of_flat] = match &row.wrong {
            Some(_) => ["wrong".into(), String::new(), String::new(), String::new()],
            None => [
                time(row.microseconds / 1e6),
                percent(row.spread),
                gigabytes(row.bytes_per_second),
                percent_beside(row.of_baseline(), row.target),
            ],
        };
        let (name, parts) = (row.name.clone(), row.segments.to_string());
        sheet.line([name, parts, time, spread, rate, of_flat, target, how(row)]);
    }
    let met: Vec<_> = found.rows.iter().filter_map(Row::met).collect();
    let reached = met.iter().filter(|met| **met).count();
    sheet.below.push(format!(
        "{} rows, {} wrong; {reached} of {} targets met",
        found.rows.len(),
        found.wrong(),
        met.len()
    ));
    sheet.without_empty_columns()
}

/// A line a row, for programs: plain numbers, their units in the head.
fn plain(found: &Report) -> Sheet {
    let head = [
        "case",
        "parts",
        "elements",
        "bytes",
        "time_us",
        "spread_percent",
        "gb_per_s",
        "percent_of_flat",
        "target_percent",
        "met",
        "how",
        "wrong",
    ];
    let mut sheet = Sheet::new("", head);
    for row in &found.rows {
        let timed = |number: f64| match row.wrong {
            Some(_) => String::new(),
            None => number.to_string(),
        };
        sheet.line([
            row.name.clone(),
            row.segments.to_string(),
            row.elements.to_string(),
            row.bytes.to_string(),
            timed(row.microseconds),
            timed(100.0 * row.spread),
            timed(row.bytes_per_second / 1e9),
            timed(100.0 * row.of_baseline()),
            row.target.map_or(String::new(), |target| (100.0 * target).to_string()),
            row.met().map_or(String::new(), |met| met.to_string()),
            how(row),
            row.wrong.clone().unwrap_or_default(),
        ]);
    }
    sheet
}

/// The way of the plan.
fn how(row: &Row) -> String {
    let way = row.plan.split("; on cpu ").nth(1).and_then(|way| way.split(',').next());
    way.unwrap_or(&row.plan).to_owned()
}

fn up_to(threads: usize) -> String {
    match threads {
        1 => "1 thread".into(),
        threads => format!("up to {threads} threads"),
    }
}
