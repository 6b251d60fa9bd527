//! Many results as a table: one row each, with what tells them apart; one format a file.

mod aligned;
mod cells;
#[cfg(feature = "parquet")]
pub(crate) mod columns;
mod csv;
mod json;
mod npy;
mod npz;
mod text;

use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

use warpfold::{Accuracy, Op};

use crate::device::Device;
use crate::format::{FileFormat, Format};
use crate::left_out::TextNotes;
use crate::{Failure, outfile, streams};
#[cfg(feature = "parquet")]
pub(crate) use cells::Typed;
pub(crate) use cells::{Cells, Printed, columns_of};
use text::Extent;

/// What tells results apart.
pub(crate) enum Labels {
    /// Their indices in an array of a shape.
    Axes(Vec<u64>),
    /// The numbers of segments.
    Segments,
    /// The numbers of groups.
    Numbers,
    /// Keys, and what they are called.
    Keys(Vec<(String, Cells)>),
    /// The columns of files that they are results of.
    Columns(Vec<String>),
}

impl Labels {
    /// One key for each result.
    pub(crate) fn key(keys: impl Into<Cells>) -> Labels {
        Labels::Keys(vec![("key".into(), keys.into())])
    }
}

/// What columns of results are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Titles {
    /// By the reduction: `sum`, or `min` and `max`.
    Results,
    /// By the columns of the input that they are results of: `price`, or `price_min` and `price_max`.
    Columns,
}

impl Titles {
    /// The title of a result of a column, of which there are so many.
    pub(crate) fn of(self, column: &str, field: &str, fields: usize) -> String {
        match self {
            Titles::Results => field.into(),
            Titles::Columns if fields <= 1 => column.into(),
            Titles::Columns => format!("{column}_{field}"),
        }
    }
}

/// Finished reductions and how they went.
pub(crate) struct Table {
    pub(crate) op: Op,
    /// The name of the elements' type.
    pub(crate) dtype: String,
    /// Elements read.
    pub(crate) n: u64,
    /// Their bytes.
    pub(crate) bytes: u64,
    pub(crate) labels: Labels,
    pub(crate) titles: Titles,
    pub(crate) columns: Vec<(String, Cells)>,
    pub(crate) accuracy: Accuracy,
    pub(crate) device: Device,
    /// From the first read to the results.
    pub(crate) seconds: f64,
    /// Of these, the time spent folding.
    pub(crate) fold_seconds: f64,
    /// What was found in inputs that are texts.
    pub(crate) texts: Vec<TextNotes>,
}

impl Table {
    /// What a row of results along one axis is called; `-` where a key is missing.
    pub(crate) fn shown_label(&self, row: usize) -> String {
        match &self.labels {
            Labels::Keys(_) => self.shown_labels(row).join(" "),
            _ => self.label(row).join(" "),
        }
    }

    /// The same, one by one.
    fn shown_labels(&self, row: usize) -> Vec<String> {
        match &self.labels {
            Labels::Keys(all) => all.iter().map(|(_, keys)| keys.shown(row)).collect(),
            _ => self.label(row),
        }
    }

    /// The names of the columns that the results are of, where they are such.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let names = match &self.labels {
            Labels::Columns(names) => names.as_slice(),
            _ => &[],
        };
        names.iter().map(String::as_str)
    }

    /// Whether its columns take a line of names to be told apart.
    fn is_wide(&self) -> bool {
        let is_of_columns = matches!(self.labels, Labels::Columns(_)) && self.columns.len() > 1;
        self.op == Op::Stats || self.titles == Titles::Columns || is_of_columns
    }

    fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, column)| column.len())
    }

    /// The shape of the results; one axis where they have none of their own.
    fn shape(&self) -> Vec<u64> {
        match &self.labels {
            Labels::Axes(shape) => shape.clone(),
            _ => vec![self.rows() as u64],
        }
    }

    /// The times in one line.
    pub(crate) fn timing(&self) -> String {
        let rate = self.bytes as f64 / self.fold_seconds.max(1e-9) / 1e9;
        format!(
            "{:.3} s in all, {:.3} s of it folding ({rate:.2} GB/s)",
            self.seconds, self.fold_seconds
        )
    }

    /// The names of the labels' columns.
    pub(crate) fn label_names(&self) -> Vec<String> {
        match &self.labels {
            Labels::Axes(shape) => (0..shape.len()).map(|axis| format!("index{axis}")).collect(),
            Labels::Segments => vec!["segment".into()],
            Labels::Numbers => vec!["group".into()],
            Labels::Keys(all) => {
                let mut names: Vec<String> = Vec::with_capacity(all.len());
                for (name, _) in all {
                    let mut name = name.clone();
                    // No two columns of a table have one name.
                    while names.contains(&name) || self.columns.iter().any(|(n, _)| *n == name) {
                        name.push_str("_key");
                    }
                    names.push(name);
                }
                names
            }
            Labels::Columns(_) => vec!["column".into()],
        }
    }

    /// The labels of a row.
    fn label(&self, row: usize) -> Vec<String> {
        match &self.labels {
            Labels::Axes(shape) => {
                let mut rest = row as u64;
                let digit = |length: &u64| {
                    let digit = rest % length.max(&1);
                    rest /= length.max(&1);
                    digit.to_string()
                };
                let mut digits: Vec<_> = shape.iter().rev().map(digit).collect();
                digits.reverse();
                digits
            }
            Labels::Segments | Labels::Numbers => vec![row.to_string()],
            Labels::Keys(all) => all.iter().map(|(_, keys)| keys.text(row)).collect(),
            Labels::Columns(names) => vec![names[row].clone()],
        }
    }
}

/// Prints a table. On a terminal, text is cut where it is long, unless it is wanted in full; every other reader gets all of it.
pub(crate) fn print(format: Format, table: &Table, full: bool) -> Result<(), Failure> {
    let extent = if full || !io::stdout().is_terminal() { Extent::Full } else { Extent::Ends };
    let mut out = BufWriter::new(warpfold_io::standard::output().map_err(Failure::stdout)?);
    let written = match format {
        Format::Text if table.is_wide() => aligned::write(table, extent, &mut out),
        Format::Text => text::write(table, extent, &mut out),
        Format::Json => json::write(table, &mut out),
        Format::Csv => csv::write(table, &mut out),
    };
    written.and_then(|()| out.flush()).map_err(Failure::stdout)
}

/// Prints one line that says what is in a file.
pub(crate) fn print_summary(table: &Table, path: &Path) -> Result<(), Failure> {
    let rows = table.rows();
    let results = if rows == 1 { "result" } else { "results" };
    let (op, dtype, path) = (table.op, &table.dtype, path.display());
    streams::print(format!("{op} of {dtype}: {rows} {results} in {path}\n").as_bytes())
}

/// Writes a table to a file, which is replaced as a whole or not at all.
pub(crate) fn replace_file(path: &Path, format: FileFormat, table: &Table) -> Result<(), Failure> {
    npy::check(format, table)?;
    #[cfg(feature = "parquet")]
    if let FileFormat::Columns(written) = format {
        let results = columns::of_table(table)?;
        return Ok(outfile::replace_with(path, |file| {
            columns::write(results, written, &mut BufWriter::new(file))
        })?);
    }
    Ok(outfile::replace_with(path, |file| {
        let mut out = BufWriter::new(file);
        match format {
            FileFormat::Npy => npy::write(table, &mut out)?,
            FileFormat::Npz => npz::write(table, &mut out)?,
            FileFormat::Printed(Format::Json) => json::write(table, &mut out)?,
            FileFormat::Printed(_) => csv::write(table, &mut out)?,
            #[cfg(feature = "parquet")]
            FileFormat::Columns(_) => unreachable!("written above"),
        }
        out.flush()
    })?)
}

/// Writes what is between the items of a list.
fn between(out: &mut dyn Write, k: usize, separator: &str) -> io::Result<()> {
    if k > 0 { out.write_all(separator.as_bytes()) } else { Ok(()) }
}
