//! The tables of reductions of rows, columns, segments and keys on processors: one an element type, a line a way of cutting, a column a reduction.

mod behind;
mod cells;
mod cut;
#[cfg(test)]
mod tests;

use warpfold_lab::segments::{Report, Row};
use warpfold_lab::table::percent_beside;

use cells::{Cell, cells, peer, tables};

/// GB/s of input and percent of the flat reduction, beside NumPy's; then what misses its aim, and where NumPy is faster.
pub(super) fn speeds(report: &Report) -> String {
    let cells = cells(report);
    let rate = |microseconds: f64, row: &Row| short(row.input_rate(microseconds) / 1e9);
    let tables = tables(&cells, "GB/s (of flat) / peer", |row| {
        let peer = peer(row).map_or("–".into(), |peer| rate(peer.microseconds, row));
        let mark = if row.met() == Some(true) { " ✓" } else { "" };
        let of_flat = percent_beside(row.of_baseline(), row.target);
        format!("{} ({of_flat}{mark}) / {peer}", rate(row.microseconds, row))
    });
    format!("{}{tables}\n{}{}", head(report), aims(&cells), behind::summary(&cells))
}

/// Millions of rows a second, by keys, beside Polars.
pub(super) fn keys(report: &Report) -> String {
    let cells = cells(report);
    let rate = |microseconds: f64, row: &Row| short(row.elements as f64 / microseconds);
    let tables = tables(&cells, "million rows/s / peer", |row| {
        let peer = peer(row).map_or("–".into(), |peer| rate(peer.microseconds, row));
        format!("{} / {peer}", rate(row.microseconds, row))
    });
    format!("{}{tables}\n{}", head(report), behind::summary(&cells))
}

/// What was measured where, beside which libraries.
fn head(report: &Report) -> String {
    let (machine, header) = (&report.machine, &report.header);
    let revision = header.revision.as_ref().map_or(String::new(), |r| format!(", revision {r}"));
    let mut libraries: Vec<&str> = Vec::new();
    for peer in report.rows.iter().flat_map(|row| &row.peers) {
        if !libraries.contains(&&*peer.library) {
            libraries.push(&peer.library);
        }
    }
    let beside = match libraries.is_empty() {
        true => String::new(),
        false => format!(", beside {}", libraries.join(" and ")),
    };
    format!(
        "**{}, {} cores, {} kernels, arrays of {} MiB** each; {}{revision}{beside}:\n",
        machine.cpu,
        machine.cores,
        machine.isa,
        (report.n * 4) >> 20,
        header.day()
    )
}

/// How many cells meet their aims, and the one that is farthest from it.
fn aims(cells: &[Cell<'_>]) -> String {
    let met: Vec<bool> = cells.iter().filter_map(|cell| cell.row.met()).collect();
    let reached = met.iter().filter(|met| **met).count();
    let all = met.len();
    format!("- {reached} of the {all} cells that have an aim meet it (✓).{}\n", farthest(cells))
}

fn farthest(cells: &[Cell<'_>]) -> String {
    let share = |row: &Row| row.target.map(|target| row.of_baseline() / target);
    let measured = cells.iter().filter(|cell| cell.row.wrong.is_none());
    let shares = measured.filter_map(|cell| Some((share(cell.row)?, cell)));
    let farthest = shares.min_by(|a, b| a.0.total_cmp(&b.0)).filter(|(share, _)| *share < 1.0);
    farthest.map_or(String::new(), |(_, cell)| {
        let aim = cell.row.target.unwrap_or_default();
        let found = percent_beside(cell.row.of_baseline(), Some(aim));
        format!(
            " Farthest from it: {} of {}, {}: {found} of flat where {} is the aim.",
            cell.reduction,
            cell.dtype,
            cell.cut,
            percent_beside(aim, None)
        )
    })
}

/// Three digits that count.
fn short(number: f64) -> String {
    match number {
        _ if number >= 99.95 => format!("{number:.0}"),
        _ if number >= 9.995 => format!("{number:.1}"),
        _ if number >= 0.9995 => format!("{number:.2}"),
        _ => format!("{number:.3}"),
    }
}
