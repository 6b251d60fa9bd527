//! A report as text, for terminals.

use std::fmt::Write;

use crate::report::Target;
use crate::report::{Ceiling, Deviation, Report, Row, size};

/// The whole report: machine, ceilings, a line a row, failures.
pub fn text(report: &Report) -> String {
    let mut out = machine(report);
    for ceiling in &report.ceilings {
        let rate = gigabytes(ceiling.bytes_per_second);
        let Ceiling { bytes, threads, variant, .. } = ceiling;
        let plural = if *threads == 1 { "" } else { "s" };
        let _ = writeln!(
            out,
            "ceiling of {}: {rate} GB/s, {threads} thread{plural} ({variant})",
            size(*bytes)
        );
    }
    out.push('\n');
    out.push_str(HEADER);
    for row in &report.rows {
        out.push_str(&line(row));
    }
    for failure in &report.failures {
        let _ = writeln!(out, "FAILED {}: {}", failure.name, failure.error);
    }
    let met = report.rows.iter().filter_map(Row::met);
    let (met, missed): (Vec<_>, Vec<_>) = met.partition(|met| *met);
    let _ = writeln!(
        out,
        "\n{} rows, {} failed; {} of {} targets met",
        report.rows.len(),
        report.failures.len(),
        met.len(),
        met.len() + missed.len()
    );
    out
}

/// What was measured where, and with what.
pub fn machine(report: &Report) -> String {
    let machine = &report.machine;
    let caches: Vec<_> = machine.caches.iter().map(|bytes| size(*bytes)).collect();
    let revision = report.header.revision.as_deref().map_or(String::new(), |r| format!(" ({r})"));
    format!(
        "warpfold {}{revision}, {}, {} build, {}\n{}, {} cores, {} kernels, {} of memory, caches {}, {}\n",
        report.header.warpfold,
        machine.rustc,
        machine.profile,
        report.header.date,
        machine.cpu,
        machine.cores,
        machine.isa,
        memory(machine.memory),
        caches.join(" + "),
        machine.os,
    )
}

/// The names of the columns of [`line`](fn@line).
pub const HEADER: &str = "reduction  type        data        size      threads    median      ±    GB/s  of ceiling  target\n";

/// One row.
pub fn line(row: &Row) -> String {
    let of_ceiling = of_ceiling(row).unwrap_or_default();
    let target = match (row.target, row.met()) {
        (Some(target), Some(met)) => {
            format!("{}, {}", wanted(target), if met { "met" } else { "not met" })
        }
        _ => String::new(),
    };
    let line = format!(
        "{:<10} {:<11} {:<11} {:<9} {:>7} {:>9} {:>6} {:>7} {:>11}  {target}",
        row.op,
        row.dtype,
        row.data,
        size(row.bytes),
        row.threads,
        time(row.seconds.median),
        percent(row.seconds.spread()),
        gigabytes(row.bytes_per_second),
        of_ceiling,
    );
    format!("{}\n", line.trim_end())
}

/// What a row reaches of its ceiling, in percent.
pub fn of_ceiling(row: &Row) -> Option<String> {
    let aim = match row.target {
        Some(Target::OfCeiling(aim)) => Some(aim),
        _ => None,
    };
    row.of_ceiling().map(|reached| percent_beside(reached, aim))
}

/// A target in words.
pub fn wanted(target: Target) -> String {
    match target {
        Target::OfCeiling(fraction) => format!("≥ {:.0} %", fraction * 100.0),
        Target::Seconds(seconds) => format!("≤ {}", time(seconds)),
    }
}

/// A fraction in percent, with a digit after the point below ten.
pub fn percent(fraction: f64) -> String {
    let percent = fraction * 100.0;
    if percent < 9.95 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// A fraction in percent; where it misses an aim by so little that both would read alike, rounded down with a digit more.
pub fn percent_beside(fraction: f64, aim: Option<f64>) -> String {
    match aim {
        Some(aim) if fraction < aim && percent(fraction) == percent(aim) => {
            format!("{:.1} %", (fraction * 1000.0).floor() / 10.0)
        }
        _ => percent(fraction),
    }
}

/// 10^9 bytes per second, to three digits.
pub fn gigabytes(rate: f64) -> String {
    let rate = rate / 1e9;
    match rate {
        ..9.995 => format!("{rate:.2}"),
        ..99.95 => format!("{rate:.1}"),
        _ => format!("{rate:.0}"),
    }
}

/// Seconds with a unit, to three digits.
pub fn time(seconds: f64) -> String {
    let units = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs")];
    let unit = units.iter().find(|(unit, _)| seconds >= *unit).unwrap_or(&(1e-9, "ns"));
    let value = seconds / unit.0;
    let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.digits$} {}", unit.1)
}

/// A deviation in words.
pub fn error(error: Deviation) -> String {
    match error {
        Deviation::None => "exact".into(),
        Deviation::Ulps(ulps) if ulps < 10.0 => format!("{ulps:.1} ulp"),
        Deviation::Ulps(ulps) if ulps < 1e6 => format!("{ulps:.0} ulp"),
        Deviation::Ulps(ulps) => format!("{ulps:.0e} ulp"),
        Deviation::Lost => "lost".into(),
    }
}

fn memory(bytes: u64) -> String {
    format!("{:.0} GiB", bytes as f64 / 2f64.powi(30))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_and_units() {
        assert_eq!(
            [1.5, 0.0123, 45.6e-6, 7.8e-8].map(time),
            ["1.50 s", "12.3 ms", "45.6 µs", "78.0 ns"]
        );
        assert_eq!([1.234e9, 23.46e9, 123.4e9].map(gigabytes), ["1.23", "23.5", "123"]);
        assert_eq!([0.014, 0.5, 1.034].map(percent), ["1.4 %", "50 %", "103 %"]);
    }

    #[test]
    fn what_misses_an_aim_does_not_read_as_it() {
        let beside = |fraction| percent_beside(fraction, Some(0.8));
        assert_eq!([0.7999, 0.8, 0.804, 0.79].map(beside), ["79.9 %", "80 %", "80 %", "79 %"]);
        assert_eq!(percent_beside(0.7999, None), "80 %");
    }
}
