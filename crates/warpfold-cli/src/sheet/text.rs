//! Tables for a terminal.

use std::fmt::Write as _;

use super::{Render, Sheet};

pub(super) struct Text;

impl Render for Text {
    fn render(sheets: &[Sheet]) -> String {
        let mut out = String::new();
        for (number, sheet) in sheets.iter().enumerate() {
            if number > 0 {
                out.push('\n');
            }
            writeln!(out, "{}", sheet.title).expect("strings take text");
            for paragraph in &sheet.above {
                writeln!(out, "\n{paragraph}").expect("strings take text");
            }
            if !sheet.lines.is_empty() {
                out.push('\n');
                table(sheet, &mut out);
            }
            for (number, remark) in sheet.below.iter().enumerate() {
                let gap = if number == 0 { "\n" } else { "" };
                writeln!(out, "{gap}  {remark}").expect("strings take text");
            }
        }
        out
    }
}

fn table(sheet: &Sheet, out: &mut String) {
    let lines = || std::iter::once(&sheet.head).chain(&sheet.lines);
    let width =
        |column: usize| lines().map(|line| line[column].chars().count()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..sheet.head.len()).map(width).collect();
    for line in lines() {
        for (column, cell) in line.iter().enumerate() {
            let width = widths[column];
            match column {
                0 => write!(out, "{cell:<width$}"),
                _ if is_text(sheet, column) => write!(out, "  {cell:<width$}"),
                _ => write!(out, "  {cell:>width$}"),
            }
            .expect("strings take text");
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
    }
}

/// Whether a column holds words, which stand to the left, and not figures.
pub(super) fn is_text(sheet: &Sheet, column: usize) -> bool {
    let figure = |cell: &String| {
        let first = cell.split(' ').next().unwrap_or_default();
        first.is_empty()
            || first == "–"
            || first.chars().all(|c| c.is_ascii_digit() || ".,e^+-−±<>≤≥×%".contains(c))
    };
    !sheet.lines.iter().all(|line| figure(&line[column]))
}
