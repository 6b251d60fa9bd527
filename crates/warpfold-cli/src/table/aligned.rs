//! Text with a line of names: a row for each column of a file, where there is more than one result for it.

use std::io::{self, Write};

use super::Table;
use super::text::without_controls;

/// Writes the table, each column as wide as its widest cell; names to the left, numbers to the right.
pub(super) fn write(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    let mut lines = vec![vec!["column".to_string()]];
    lines[0].extend(table.columns.iter().map(|(name, _)| (*name).to_string()));
    for row in 0..table.rows() {
        let mut line = vec![without_controls(table.shown_label(row))];
        line.extend(table.columns.iter().map(|(_, cells)| cells.shown(row)));
        lines.push(line);
    }
    let wide = |at: usize| lines.iter().map(|line| line[at].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..lines[0].len()).map(wide).collect();
    for line in &lines {
        let mut text = format!("{:<width$}", line[0], width = widths[0]);
        for (cell, &width) in line.iter().zip(&widths).skip(1) {
            text.push_str(&format!("  {cell:>width$}"));
        }
        writeln!(out, "{}", text.trim_end())?;
    }
    Ok(())
}
