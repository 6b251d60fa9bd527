//! Tables for a document.

use std::fmt::Write as _;

use super::{Render, Sheet};

pub(super) struct Markdown;

impl Render for Markdown {
    fn render(sheets: &[Sheet]) -> String {
        let mut out = String::new();
        for (number, sheet) in sheets.iter().enumerate() {
            write(sheet, number, &mut out).expect("strings take text");
        }
        out
    }
}

fn write(sheet: &Sheet, number: usize, out: &mut String) -> std::fmt::Result {
    let gap = if number > 0 { "\n" } else { "" };
    writeln!(out, "{gap}## {}", sheet.title)?;
    for paragraph in &sheet.above {
        writeln!(out, "\n{paragraph}")?;
    }
    if !sheet.lines.is_empty() {
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
            format!("| {} |", cells.join(" | "))
        };
        let rule = |column: usize| match column > 0 && !sheet.is_text(column) {
            true => "---:",
            false => "---",
        };
        let rules: Vec<&str> = (0..sheet.head.len()).map(rule).collect();
        writeln!(out, "\n{}\n| {} |", line(&sheet.head), rules.join(" | "))?;
        for cells in &sheet.lines {
            writeln!(out, "{}", line(cells))?;
        }
    }
    for (number, remark) in sheet.below.iter().enumerate() {
        let gap = if number == 0 { "\n" } else { "" };
        writeln!(out, "{gap}- {remark}")?;
    }
    Ok(())
}
