//! A report of the CUDA benchmark as text, for terminals.

use std::fmt::Write;

use warpfold::{Accuracy, DType, Op};

use super::data::Data;
use super::report::{Device, Latency, Report, Row, Temperature};
use crate::report::{Header, size};
use crate::table::{gigabytes, percent};

/// The working set that stands for memory.
pub const LARGE: u64 = 2 << 30;

/// The whole report.
pub fn text(report: &Report) -> String {
    let mut out = format!("{}\n", head(&report.device, &report.header));
    let _ = writeln!(out, "empty kernel {:.2} µs", report.limits.empty);
    for reading in &report.limits.readings {
        let (rate, bytes) = (gigabytes(reading.bytes_per_second), size(reading.bytes));
        let at = temperature(reading.temperature);
        let _ = writeln!(out, "read ceiling of {bytes}, {at}: {rate} GB/s ({})", reading.variant);
    }
    out.push_str("\nreduction  type        accuracy  data        size      where       µs      ±     GB/s  of ceiling  peer/ours\n");
    for row in &report.rows {
        out.push_str(&line(report, row));
    }
    for Latency { what, n, microseconds } in &report.latencies {
        let n = n.map_or(String::new(), |n| format!(" of {n}"));
        let _ = writeln!(out, "{what}{n}: {}", crate::table::time(microseconds * 1e-6));
    }
    for failure in &report.failures {
        let _ = writeln!(out, "FAILED {}: {}", failure.name, failure.error);
    }
    let _ = writeln!(out, "\n{} rows, {} failed", report.rows.len(), report.failures.len());
    out
}

/// Device, driver, clocks and date in one line.
pub fn head(device: &Device, header: &Header) -> String {
    let driver = device.driver.as_ref().map_or(String::new(), |d| format!(", driver {d}"));
    let cuda = match device.cuda {
        0 => String::new(),
        version => format!(", CUDA {}.{}", version / 1000, version % 1000 / 10),
    };
    let [clock, memory_clock] = device.clocks;
    format!(
        "{}{driver}{cuda}, clocks up to {clock} MHz (memory {memory_clock} MHz), {}",
        device.name,
        header.day()
    )
}

/// One row.
pub fn line(report: &Report, row: &Row) -> String {
    let spread = row
        .quartiles
        .map_or(String::new(), |[low, high]| percent((high - low) / 2.0 / row.microseconds));
    let of_ceiling = row.of_ceiling().map_or(String::new(), percent);
    let ratio = ratio(report, row).map_or(String::new(), |ratio| format!("{ratio:.2}"));
    let line = format!(
        "{:<10} {:<11} {:<9} {:<11} {:<9} {:<5} {:>9.2} {:>6} {:>8} {:>11} {:>10}",
        row.op,
        row.dtype,
        accuracy(row),
        if row.data == Data::Uniform { "" } else { row.data.name() },
        size(row.bytes),
        temperature(row.temperature),
        row.microseconds,
        spread,
        gigabytes(row.bytes_per_second),
        of_ceiling,
        ratio,
    );
    format!("{}\n", line.trim_end())
}

/// The peer's time over ours.
pub fn ratio(report: &Report, row: &Row) -> Option<f64> {
    Some(report.peer(row)?.us / row.microseconds)
}

/// The row of large arrays in device memory; the fast one for floats until there is an exact one.
pub fn large(report: &Report, op: Op, dtype: DType, accuracy: Accuracy) -> Option<&Row> {
    large_of(report, op, dtype, accuracy, Data::Uniform)
}

/// The same of other data.
pub fn large_of(
    report: &Report,
    op: Op,
    dtype: DType,
    accuracy: Accuracy,
    data: Data,
) -> Option<&Row> {
    let same = |row: &&Row| {
        (row.op, row.dtype, row.accuracy, row.temperature, row.data)
            == (op, dtype, accuracy, Temperature::Cold, data)
            && row.bytes / if op == Op::Dot { 2 } else { 1 } == LARGE
    };
    report.rows.iter().find(same)
}

/// Whether rows of the reduction differ by accuracy.
pub fn rounds(op: Op, dtype: DType) -> bool {
    dtype.is_float() && matches!(op, Op::Sum | Op::Var | Op::L1 | Op::L2 | Op::Dot)
}

fn accuracy(row: &Row) -> &'static str {
    match (rounds(row.op, row.dtype), row.accuracy) {
        (false, _) => "",
        (true, Accuracy::Exact) => "exact",
        (true, Accuracy::Fast) => "fast",
    }
}

fn temperature(at: Temperature) -> &'static str {
    match at {
        Temperature::Cold => "cold",
        Temperature::Hot => "hot",
    }
}
