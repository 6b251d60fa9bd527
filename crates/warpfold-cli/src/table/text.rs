//! Text: of axes the values, rows of the last axis in a line each; else a line for each result, its label first.

use std::io::{self, Write};

use super::{Labels, Table, between};
use crate::report::plain;

/// Writes plain numbers.
pub(super) fn write(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    if let (Labels::Axes(shape), [(_, column)]) = (&table.labels, &table.columns[..]) {
        // One axis reads best as a column.
        let length = if shape.len() < 2 { 1 } else { *shape.last().unwrap_or(&1) as usize };
        for row in 0..table.rows() {
            between(out, row, if row % length == 0 { "\n" } else { " " })?;
            out.write_all(plain(column.get(row)).as_bytes())?;
        }
        return if table.rows() > 0 { out.write_all(b"\n") } else { Ok(()) };
    }
    for row in 0..table.rows() {
        let mut fields = table.label(row);
        fields.extend(table.columns.iter().map(|(_, column)| plain(column.get(row))));
        writeln!(out, "{}", fields.join(" "))?;
    }
    Ok(())
}
