//! What a report measured, a cell each, and the tables of them.

use std::collections::HashSet;

use warpfold_lab::segments::{Peer, Report, Row};

use super::cut;
use crate::tables::Table;

/// One reduction of one element type over one way of cutting.
pub(super) struct Cell<'a> {
    /// Such as `sum`, or `sum, fast`.
    pub(super) reduction: String,
    pub(super) dtype: &'a str,
    /// By its shape, whatever the array's length.
    pub(super) cut: String,
    pub(super) row: &'a Row,
}

impl Cell<'_> {
    fn of(row: &Row) -> Cell<'_> {
        let mut name = row.name.splitn(4, '/');
        let mut next = || name.next().unwrap_or_default();
        let (op, dtype, accuracy) = (next(), next(), next());
        let word = if accuracy == "fast" { ", fast" } else { "" };
        Cell { reduction: format!("{op}{word}"), dtype, cut: cut::name(next()), row }
    }
}

/// The cells of a report in its order. Of rows that have one name the first counts, in every table and sum.
pub(super) fn cells(report: &Report) -> Vec<Cell<'_>> {
    let mut names = HashSet::new();
    let first = report.rows.iter().filter(|row| names.insert(&row.name));
    first.map(Cell::of).collect()
}

/// The fastest call of another library.
pub(super) fn peer(row: &Row) -> Option<&Peer> {
    row.peers.iter().min_by(|a, b| a.microseconds.total_cmp(&b.microseconds))
}

/// A table for each element type.
pub(super) fn tables(cells: &[Cell<'_>], unit: &str, text: impl Fn(&Row) -> String) -> String {
    let types = distinct(cells.iter().map(|cell| cell.dtype));
    let tables = types.into_iter().map(|dtype| {
        let cells: Vec<&Cell<'_>> = cells.iter().filter(|cell| cell.dtype == dtype).collect();
        format!("\n{}", table(&cells, &format!("{dtype}: {unit}"), &text))
    });
    tables.collect()
}

/// A line a cut, a column a reduction, each in the order in which they appear first; what was not measured is empty.
fn table(cells: &[&Cell<'_>], corner: &str, text: impl Fn(&Row) -> String) -> String {
    let reductions = distinct(cells.iter().map(|cell| &*cell.reduction));
    let cuts = distinct(cells.iter().map(|cell| &*cell.cut));
    let text = |reduction: &str, cut: &str| {
        let cell = cells.iter().find(|cell| (&*cell.reduction, &*cell.cut) == (reduction, cut));
        cell.map_or(String::new(), |cell| match cell.row.wrong {
            Some(_) => "wrong".into(),
            None => text(cell.row),
        })
    };
    let mut table = Table::new([corner].iter().chain(&reductions).map(|&name| name.to_owned()));
    for cut in cuts {
        let cells = reductions.iter().map(|reduction| text(reduction, cut));
        table.lines.push([cut.to_owned()].into_iter().chain(cells).collect());
    }
    table.markdown()
}

/// Each name once, in the order of first appearance.
fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut known = HashSet::new();
    names.filter(|name| known.insert(*name)).collect()
}
