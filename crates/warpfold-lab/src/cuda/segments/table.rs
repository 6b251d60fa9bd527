//! A report of segments and axes as text, for terminals.

use std::fmt::Write;

use warpfold::Accuracy;

use super::report::{Report, Row};
use crate::cuda::table::head;
use crate::table::{gigabytes, percent};

/// The whole report.
pub fn text(report: &Report) -> String {
    let mut out = format!("{}\n", head(&report.device, &report.header));
    let (rate, variant) = (gigabytes(report.ceiling.bytes_per_second), &report.ceiling.variant);
    let _ = writeln!(out, "read ceiling: {rate} GB/s ({variant})\n");
    let _ = writeln!(
        out,
        "{:<39} {:<8} {:>10} {:>10} {:>6} {:>8} {:>10} {:>6}  peers, GB/s",
        "sums of f32", "accuracy", "outputs", "µs", "±", "GB/s", "of ceiling", "aim"
    );
    for row in &report.rows {
        let peers: Vec<String> =
            report.peers_of(row).map(|peer| format!("{} {:.0}", peer.peer, peer.gb_s)).collect();
        let _ = writeln!(out, "{}  {}", line(row), peers.join(", "));
        if let Some(reduction) = row.reduction_microseconds {
            let sort = row.microseconds - reduction;
            let _ = writeln!(out, "{:>59} {reduction:>10.2} to reduce, {sort:.2} to sort", "");
        }
    }
    for failure in &report.failures {
        let _ = writeln!(out, "FAILED {}: {}", failure.name, failure.error);
    }
    let missed = report.rows.iter().filter(|row| row.aim.is_some_and(|aim| row.of_ceiling < aim));
    let (rows, missed, failed) = (report.rows.len(), missed.count(), report.failures.len());
    let _ = writeln!(out, "\n{rows} rows, {missed} below their aim, {failed} failed");
    out
}

/// One row, without peers.
pub fn line(row: &Row) -> String {
    let [low, high] = row.quartiles;
    format!(
        "{:<39} {:<8} {:>10} {:>10.2} {:>6} {:>8} {:>10} {:>6}",
        row.shape,
        if row.accuracy == Accuracy::Exact { "exact" } else { "fast" },
        row.outputs,
        row.microseconds,
        percent((high - low) / 2.0 / row.microseconds),
        gigabytes(row.bytes_per_second),
        percent(row.of_ceiling),
        row.aim.map_or(String::new(), percent),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::report::{Device, Reading, Temperature, peers};
    use crate::cuda::segments::SCHEMA;
    use crate::report::Header;
    use warpfold::DType;

    #[test]
    fn peers_stand_beside_the_sums_that_they_are_of() {
        let row = Row {
            shape: "every 16".into(),
            dtype: DType::F32,
            accuracy: Accuracy::Fast,
            n: 32,
            outputs: 2,
            bytes: 136,
            microseconds: 2.0,
            reduction_microseconds: Some(0.5),
            quartiles: [1.9, 2.1],
            bytes_per_second: 68e6,
            of_ceiling: 0.5,
            aim: Some(0.8),
            plan: String::new(),
        };
        let ceiling = Reading {
            bytes: 128,
            temperature: Temperature::Hot,
            variant: "one way".into(),
            microseconds: 1.0,
            bytes_per_second: 136e6,
        };
        let line = |shape| {
            format!(
                r#"{{"peer":"cub","op":"sum","type":"f32","n":32,"shape":"{shape}","us":4,"gb_s":34}}"#
            )
        };
        let report = Report {
            header: Header::now(SCHEMA, None),
            device: Device::example(),
            method: String::new(),
            ceiling,
            rows: vec![row],
            failures: Vec::new(),
            peers: peers(&format!("{}\n{}", line("every 16"), line("every 3"))).unwrap(),
        };
        assert_eq!(report.peers_of(&report.rows[0]).count(), 1);
        let text = text(&report);
        assert!(text.contains("0.50 to reduce, 1.50 to sort"), "{text}");
        assert!(text.contains("cub 34\n") && text.contains("1 below their aim"), "{text}");
        let json = serde_json::to_string(&report).unwrap();
        assert_eq!(serde_json::from_str::<Report>(&json).unwrap(), report);
    }
}
