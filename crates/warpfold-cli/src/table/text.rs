//! Text: of axes the values, rows of the last axis in a line each; else a line for each result, its label first.

use std::io::{self, Write};

use super::{Labels, Table};

/// How much of a table is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// All of it.
    Full,
    /// Its ends, where it is long.
    Ends,
}

/// Lines, and values in a line, that are shown at either end of what is long.
pub(super) const LINES: usize = 10;
const VALUES: usize = 5;

/// What is four times as long as its ends, or less, is shown whole.
const MOST_UNCUT: usize = 4;

/// Writes plain numbers, and how many there are where not all are shown.
pub(super) fn write(table: &Table, extent: Extent, out: &mut dyn Write) -> io::Result<()> {
    let width = match (&table.labels, &table.columns[..]) {
        // One axis reads best as a column.
        (Labels::Axes(shape), [_]) if shape.len() >= 2 => shape.last().map_or(1, |n| *n as usize),
        _ => 1,
    };
    let has_labels = !matches!((&table.labels, &table.columns[..]), (Labels::Axes(_), [_]));
    let lines = table.rows() / width.max(1);
    let shown_lines = Shown::of(lines, LINES, extent);
    let shown_values = Shown::of(width, VALUES, extent);
    let mut value = |row: usize, out: &mut dyn Write| -> io::Result<()> {
        let mut fields = match &table.labels {
            _ if !has_labels => Vec::new(),
            Labels::Keys(_) => vec![table.shown_label(row)],
            _ => table.label(row),
        };
        fields.extend(table.columns.iter().map(|(_, column)| column.shown(row)));
        out.write_all(without_controls(fields.join(" ")).as_bytes())
    };
    for line in shown_lines.first() {
        write_line(line * width, shown_values, &mut value, out)?;
    }
    if shown_lines.is_cut() || shown_values.is_cut() {
        writeln!(out, "{}", cut(table))?;
    }
    for line in shown_lines.last() {
        write_line(line * width, shown_values, &mut value, out)?;
    }
    Ok(())
}

/// What stands for what is not shown.
pub(super) fn cut(table: &Table) -> String {
    format!("… {} results; --full prints all of them, --out keeps them", table.rows())
}

/// Words of a file may hold line breaks and what terminals obey.
pub(super) fn without_controls(line: String) -> String {
    if !line.contains(char::is_control) {
        return line;
    }
    let one = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    line.chars().map(one).collect()
}

fn write_line(
    start: usize,
    shown: Shown,
    value: &mut impl FnMut(usize, &mut dyn Write) -> io::Result<()>,
    out: &mut dyn Write,
) -> io::Result<()> {
    for k in shown.first() {
        super::between(out, k, " ")?;
        value(start + k, out)?;
    }
    if shown.is_cut() {
        out.write_all(" …".as_bytes())?;
    }
    for k in shown.last() {
        out.write_all(b" ")?;
        value(start + k, out)?;
    }
    out.write_all(b"\n")
}

/// Which of some items are shown: all, or so many at either end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shown {
    items: usize,
    ends: Option<usize>,
}

impl Shown {
    pub(super) fn of(items: usize, end: usize, extent: Extent) -> Shown {
        let ends = (extent == Extent::Ends && items > MOST_UNCUT * end).then_some(end);
        Shown { items, ends }
    }

    pub(super) fn is_cut(self) -> bool {
        self.ends.is_some()
    }

    pub(super) fn first(self) -> std::ops::Range<usize> {
        0..self.ends.unwrap_or(self.items)
    }

    /// None where the first are all.
    pub(super) fn last(self) -> std::ops::Range<usize> {
        self.items - self.ends.unwrap_or(0)..self.items
    }
}
