//! What was found, as tables: rounded for people, every figure as it is for programs; and what is to be said beside them.

use warpfold_ladder::found::DeviceKind;
use warpfold_ladder::{Divergence, Ladder};

use super::columns::{columns, table};
use crate::sheet::Sheet;

/// The ladder's table, and the demonstration where it ran.
pub(crate) fn sheets(ladder: &Ladder) -> Vec<Sheet> {
    let Ladder { op, dtype, n, block, device, .. } = ladder;
    let mut lines = table(ladder).into_iter();
    let head = lines.next().unwrap_or_default();
    let rungs = Sheet {
        title: format!(
            "{op} of {n} {dtype} ({}), blocks of {block}, on {}",
            ladder.data, device.name
        ),
        head,
        lines: lines.collect(),
        below: remarks(ladder),
        ..Sheet::default()
    };
    std::iter::once(rungs).chain(ladder.divergence.as_ref().map(pair)).collect()
}

/// A row a rung with every figure as it is.
pub(super) fn tidy(ladder: &Ladder) -> Sheet {
    let columns: Vec<_> = columns().into_iter().filter(|column| !column.name.is_empty()).collect();
    Sheet {
        head: columns.iter().map(|column| column.name.to_owned()).collect(),
        lines: ladder
            .rungs
            .iter()
            .map(|row| columns.iter().map(|c| c.exact(row)).collect())
            .collect(),
        ..Sheet::default()
    }
}

/// What the table does not say.
fn remarks(ladder: &Ladder) -> Vec<String> {
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
    let counted = match ladder.device.kind {
        DeviceKind::Simt => {
            "W and S as counted: operations that fold two values, and the longest chain of them"
        }
        _ => "W and S by the rungs' formulas",
    };
    let processors = ladder.device.processors;
    remarks
        .push(format!("{counted}; W/P + S with P = {processors} lanes (1 for the host's loops)"));
    remarks
}

/// The demonstration.
fn pair(found: &Divergence) -> Sheet {
    let kernel = |kernel: &warpfold_ladder::Branching| {
        let right = if kernel.verified { "right" } else { "WRONG" };
        let cost = match (kernel.time, kernel.longest_warp) {
            (Some(time), _) => format!("{:.2} µs ± {:.2}", time.mean, time.standard_error),
            (None, Some(longest)) => format!("the busiest warp issues {longest} instructions"),
            (None, None) => String::new(),
        };
        format!("{:<16}{right}, {cost}", kernel.name)
    };
    Sheet {
        title: format!(
            "Divergence: the same four branches of {} rounds, by four lanes of one warp and by four warps",
            found.rounds
        ),
        below: found.kernels.iter().map(kernel).collect(),
        ..Sheet::default()
    }
}
