//! Text with a line of names: a row for each column of a file, or for each group, where there is more than one result for it.

use std::io::{self, Write};

use super::Table;
use super::text::{Extent, LINES, Shown, cut, without_controls};
use crate::format::WIDEST;

/// Writes the table, each column as wide as its widest cell; labels to the left, results to the right. Of nothing it writes nothing.
pub(super) fn write(table: &Table, extent: Extent, out: &mut dyn Write) -> io::Result<()> {
    if table.rows() == 0 {
        return Ok(());
    }
    let names = table.label_names();
    let labels = names.len();
    let titles = names.into_iter().chain(table.columns.iter().map(|(title, _)| title.clone()));
    let titles: Vec<String> = titles.map(without_controls).collect();
    let shown = Shown::of(table.rows(), LINES, extent);
    // Cells are made twice, so that a long table takes no memory.
    let cells = |row: usize| {
        let results = table.columns.iter().map(move |(_, cells)| cells.shown(row));
        table.shown_labels(row).into_iter().chain(results).map(without_controls)
    };
    let mut widths: Vec<usize> = titles.iter().map(|title| title.chars().count()).collect();
    for row in shown.first().chain(shown.last()) {
        let wider =
            |(width, cell): (&mut usize, String)| *width = (*width).max(cell.chars().count());
        widths.iter_mut().zip(cells(row)).for_each(wider);
    }
    let mut line = |cells: &mut dyn Iterator<Item = String>| {
        let mut text = String::new();
        for (at, (cell, &width)) in cells.zip(&widths).enumerate() {
            let width = width.min(WIDEST);
            let between = if at == 0 { "" } else { "  " };
            match at < labels {
                true => text.push_str(&format!("{between}{cell:<width$}")),
                false => text.push_str(&format!("{between}{cell:>width$}")),
            }
        }
        writeln!(out, "{}", text.trim_end())
    };
    line(&mut titles.iter().cloned())?;
    for row in shown.first() {
        line(&mut cells(row))?;
    }
    if shown.is_cut() {
        line(&mut [cut(table)].into_iter())?;
    }
    for row in shown.last() {
        line(&mut cells(row))?;
    }
    Ok(())
}
