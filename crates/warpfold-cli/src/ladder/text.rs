//! What was found, for people: tables for a terminal and for a document, and what is to be said beside them.

use std::fmt::Write as _;

use warpfold_lab::ladder::found::Kind;
use warpfold_lab::ladder::{Divergence, Ladder};

use super::columns::table;

/// A table for a terminal.
pub(super) fn text(ladder: &Ladder) -> String {
    let mut out = title(ladder) + "\n";
    if !ladder.rungs.is_empty() {
        out.push('\n');
        let lines = table(ladder);
        let width = |column: usize| {
            lines.iter().map(|line| line[column].chars().count()).max().unwrap_or_default()
        };
        let widths: Vec<usize> = (0..lines[0].len()).map(width).collect();
        for line in &lines {
            for (column, cell) in line.iter().enumerate() {
                let width = widths[column];
                match column {
                    0 => write!(out, "{cell:<width$}"),
                    _ => write!(out, "  {cell:>width$}"),
                }
                .expect("strings take text");
            }
            out.truncate(out.trim_end().len());
            out.push('\n');
        }
    }
    out + &remarks(ladder, "  ")
}

/// A table for a document.
pub(super) fn markdown(ladder: &Ladder) -> String {
    let mut out = title(ladder) + "\n";
    if !ladder.rungs.is_empty() {
        out.push('\n');
        let lines = table(ladder);
        for (k, line) in lines.iter().enumerate() {
            writeln!(out, "| {} |", line.join(" | ")).expect("strings take text");
            if k == 0 {
                let rules =
                    line.iter().enumerate().map(|(k, _)| if k == 0 { "---" } else { "---:" });
                writeln!(out, "| {} |", rules.collect::<Vec<_>>().join(" | "))
                    .expect("strings take text");
            }
        }
    }
    out + &remarks(ladder, "- ")
}

fn title(ladder: &Ladder) -> String {
    let Ladder { op, dtype, n, block, device, .. } = ladder;
    format!("{op} of {n} {dtype} ({}), blocks of {block}, on {}", ladder.data, device.name)
}

/// What the table does not say.
fn remarks(ladder: &Ladder, bullet: &str) -> String {
    let mut remarks = Vec::new();
    for row in &ladder.rungs {
        if let Some(obstacle) = &row.obstacle {
            remarks.push(format!("{}: {obstacle}", row.name));
        } else if row.n != ladder.n {
            remarks.push(format!("{} folds {} elements, no more fit a block", row.name, row.n));
        }
        if let (Some(false), Some(value), Some(exact)) = (row.verified, &row.value, &row.exact) {
            let bound = row.bound.unwrap_or(0.0);
            remarks.push(format!(
                "{} gave {value}, and {exact} is right to within {bound:e}",
                row.name
            ));
        }
    }
    if let Some(method) = &ladder.method {
        remarks.push(format!("times: {method}"));
    }
    if let Some(peak) = &ladder.peak {
        remarks.push(format!(
            "peak: {:.0} GB/s, the fastest reading of this run ({})",
            peak.bytes_per_second / 1e9,
            peak.how
        ));
    }
    remarks.push(
        match ladder.device.kind {
            Kind::Simt => {
                "W and S as counted: operations that fold two values, and the longest chain of them"
                    .to_owned()
            }
            _ => "W and S by the rungs' formulas".to_owned(),
        } + &format!(
            "; W/P + S with P = {} lanes (1 for the host's loops)",
            ladder.device.processors
        ),
    );
    let mut out = String::from("\n");
    for remark in remarks {
        writeln!(out, "{bullet}{remark}").expect("strings take text");
    }
    if let Some(divergence) = &ladder.divergence {
        out += &pair(divergence, bullet);
    }
    out
}

/// The demonstration.
fn pair(found: &Divergence, bullet: &str) -> String {
    let mut out = format!(
        "\nDivergence: the same four branches of {} rounds, by four lanes of one warp and by four warps\n\n",
        found.rounds
    );
    for kernel in &found.kernels {
        let right = if kernel.verified { "right" } else { "WRONG" };
        let cost = match (kernel.time, kernel.longest_warp) {
            (Some(time), _) => format!("{:.2} µs ± {:.2}", time.mean, time.standard_error),
            (None, Some(longest)) => format!("the busiest warp issues {longest} instructions"),
            (None, None) => String::new(),
        };
        writeln!(out, "{bullet}{:<16}{right}, {cost}", kernel.name).expect("strings take text");
    }
    out
}
