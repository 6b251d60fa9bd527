//! Tables for a terminal.

use std::fmt::Write as _;

use super::{Render, Sheet};
use crate::format::WIDEST;

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
            let width = widths[column].min(WIDEST);
            match column {
                0 => write!(out, "{cell:<width$}"),
                _ if sheet.is_text(column) => write!(out, "  {cell:<width$}"),
                _ => write!(out, "  {cell:>width$}"),
            }
            .expect("strings take text");
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
    }
}
