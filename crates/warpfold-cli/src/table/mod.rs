//! Many results as a table: one row each, with what tells them apart; one format a file.

mod csv;
mod json;
mod npy;
mod npz;
mod text;

use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

use warpfold::{Accuracy, Column, Columns, DType, Op};

use crate::device::Device;
use crate::left_out::TextNotes;
use crate::report::{self, FileFormat, Format};
use crate::streams;
use crate::{Failure, outfile};
use text::Extent;

/// What tells results apart.
pub(crate) enum Labels {
    /// Their indices in an array of a shape.
    Axes(Vec<u64>),
    /// The numbers of segments.
    Segments,
    /// The numbers of groups.
    Numbers,
    /// Keys.
    Keys(Column),
}

/// Finished reductions and how they went.
pub(crate) struct Table {
    pub(crate) op: Op,
    pub(crate) dtype: DType,
    /// Elements read.
    pub(crate) n: u64,
    pub(crate) labels: Labels,
    pub(crate) columns: Columns,
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
        let bytes = self.n * self.dtype.size() as u64;
        let rate = bytes as f64 / self.fold_seconds.max(1e-9) / 1e9;
        format!(
            "{:.3} s in all, {:.3} s of it folding ({rate:.2} GB/s)",
            self.seconds, self.fold_seconds
        )
    }

    /// The names of the labels' columns.
    fn label_names(&self) -> Vec<String> {
        match &self.labels {
            Labels::Axes(shape) => (0..shape.len()).map(|axis| format!("index{axis}")).collect(),
            Labels::Segments => vec!["segment".into()],
            Labels::Numbers => vec!["group".into()],
            Labels::Keys(_) => vec!["key".into()],
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
            Labels::Keys(keys) => vec![report::plain(keys.get(row))],
        }
    }
}

/// Prints a table. On a terminal, text is cut where it is long, unless it is wanted in full; every other reader gets all of it.
pub(crate) fn print(format: Format, table: &Table, full: bool) -> Result<(), Failure> {
    let extent = if full || !io::stdout().is_terminal() { Extent::Full } else { Extent::Ends };
    let mut out = BufWriter::new(streams::output().map_err(Failure::stdout)?);
    let written = match format {
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
    let (op, dtype, path) = (table.op, table.dtype, path.display());
    streams::print(format!("{op} of {dtype}: {rows} {results} in {path}\n").as_bytes())
}

/// Writes a table to a file, which is replaced as a whole or not at all.
pub(crate) fn replace_file(path: &Path, format: FileFormat, table: &Table) -> Result<(), Failure> {
    npy::check(format, table)?;
    outfile::replace_with(path, |file| {
        let mut out = BufWriter::new(file);
        match format {
            FileFormat::Npy => npy::write(table, &mut out)?,
            FileFormat::Npz => npz::write(table, &mut out)?,
            FileFormat::Printed(Format::Json) => json::write(table, &mut out)?,
            FileFormat::Printed(_) => csv::write(table, &mut out)?,
        }
        out.flush()
    })
}

/// Writes what is between the items of a list.
fn between(out: &mut dyn Write, k: usize, separator: &str) -> io::Result<()> {
    if k > 0 { out.write_all(separator.as_bytes()) } else { Ok(()) }
}
