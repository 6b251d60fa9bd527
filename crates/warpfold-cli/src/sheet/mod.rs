//! Tables as plain values, and the formats that they are printed in: one format a file, behind one trait.

mod csv;
mod markdown;
mod text;

use clap::ValueEnum;
use serde::Serialize;

/// A table, with what is said above and below it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Sheet {
    pub(crate) title: String,
    /// Paragraphs above the table.
    pub(crate) above: Vec<String>,
    /// Empty where there is no table.
    pub(crate) head: Vec<String>,
    pub(crate) lines: Vec<Vec<String>>,
    /// Remarks below.
    pub(crate) below: Vec<String>,
}

impl Sheet {
    /// An empty one with titles of columns.
    pub(crate) fn new<const N: usize>(title: impl Into<String>, head: [&str; N]) -> Sheet {
        let head = head.map(str::to_owned).into();
        Sheet { title: title.into(), head, ..Sheet::default() }
    }

    /// One more line.
    pub(crate) fn line<const N: usize>(&mut self, cells: [String; N]) {
        debug_assert_eq!(cells.len(), self.head.len(), "a cell a column");
        self.lines.push(cells.into());
    }

    /// Whether a column holds words, which stand to the left, and not figures.
    pub(crate) fn is_text(&self, column: usize) -> bool {
        let figure = |cell: &String| {
            let first = cell.split(' ').next().unwrap_or_default();
            let digit = |c: char| c.is_ascii_digit() || ".,e^+-−±<>≤≥×%".contains(c);
            first == "–" || first.chars().all(digit)
        };
        !self.lines.iter().all(|line| figure(&line[column]))
    }

    /// Leaves out columns in which no line has anything.
    pub(crate) fn without_empty_columns(mut self) -> Sheet {
        let used = |column: usize| self.lines.iter().any(|line| !line[column].is_empty());
        let kept: Vec<usize> = (0..self.head.len()).filter(|&column| used(column)).collect();
        let of = |line: &[String]| kept.iter().map(|&column| line[column].clone()).collect();
        let lines = self.lines.iter().map(|line| of(line)).collect();
        (self.head, self.lines) = (of(&self.head), lines);
        self
    }
}

/// Turns tables into bytes.
trait Render {
    fn render(sheets: &[Sheet]) -> String;
}

/// How to print tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Tables for a terminal
    Text,
    /// Everything that was found, as one object
    Json,
    /// For programs that read tables: a header and lines; where there are several tables, each line begins with its table's title
    Csv,
    /// Tables for a document
    Markdown,
}

impl Format {
    /// Tables, or in JSON what they are made from.
    pub(crate) fn print(self, sheets: &[Sheet], found: &impl Serialize) -> String {
        match self {
            Format::Text => text::Text::render(sheets),
            Format::Markdown => markdown::Markdown::render(sheets),
            Format::Csv => csv::Csv::render(sheets),
            Format::Json => json(found),
        }
    }
}

/// What was found, as one object.
pub(crate) fn json(found: &impl Serialize) -> String {
    serde_json::to_string(found).expect("names and finite numbers are JSON") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheets() -> [Sheet; 2] {
        let mut one = Sheet::new("One", ["name", "GB/s", "empty"]);
        one.above.push("Above.".into());
        one.line(["a|b".into(), "12.5".into(), String::new()]);
        one.line(["longer, \"quoted\"".into(), "7".into(), String::new()]);
        one.below.push("Below.".into());
        let two =
            Sheet { title: "Two".into(), above: vec!["No table.".into()], ..Sheet::default() };
        [one.without_empty_columns(), two]
    }

    #[test]
    fn every_format_says_the_same() {
        let sheets = sheets();
        assert_eq!(
            Format::Text.print(&sheets, &()),
            "One\n\nAbove.\n\nname              GB/s\na|b               12.5\nlonger, \"quoted\"     7\n\n  Below.\n\nTwo\n\nNo table.\n"
        );
        assert_eq!(
            Format::Markdown.print(&sheets, &()),
            "## One\n\nAbove.\n\n| name | GB/s |\n| --- | ---: |\n| a\\|b | 12.5 |\n| longer, \"quoted\" | 7 |\n\n- Below.\n\n## Two\n\nNo table.\n"
        );
        assert_eq!(
            Format::Csv.print(&sheets[..1], &()),
            "name,GB/s\na|b,12.5\n\"longer, \"\"quoted\"\"\",7\n"
        );
        let both = [sheets[0].clone(), sheets[0].clone()];
        assert!(Format::Csv.print(&both, &()).starts_with("table,name,GB/s\nOne,a|b,12.5\n"));
        assert_eq!(Format::Json.print(&sheets, &[1, 2]), "[1,2]\n");
    }
}
