//! Results as bytes: one format a file, behind one trait.

mod csv;
mod file;
mod json;
mod npy;
mod number;
mod text;

pub(crate) use file::{FileFormat, check_target, replace_file};

use std::io::Write;

use warpfold::partial::Output;
use warpfold::{Accuracy, DType, Op, Value};

use crate::Failure;

/// A finished reduction and how it went.
pub(crate) struct Report {
    pub(crate) op: Op,
    pub(crate) dtype: DType,
    /// Elements (pairs, for dot).
    pub(crate) n: u64,
    pub(crate) output: Output,
    pub(crate) accuracy: Accuracy,
    /// From the first read to the result.
    pub(crate) seconds: f64,
    /// Of these, the time spent folding.
    pub(crate) fold_seconds: f64,
}

/// The one device there is, so far.
const DEVICE: &str = "cpu";

impl Report {
    /// Bytes of the elements, of both arrays for dot.
    fn bytes(&self) -> u64 {
        let arrays = if self.op == Op::Dot { 2 } else { 1 };
        self.n * self.dtype.size() as u64 * arrays
    }

    fn bytes_per_second(&self) -> f64 {
        if self.seconds > 0.0 { self.bytes() as f64 / self.seconds } else { 0.0 }
    }

    /// The times in one line.
    pub(crate) fn timing(&self) -> String {
        let rate = |seconds: f64| self.bytes() as f64 / seconds.max(1e-9) / 1e9;
        format!(
            "{:.3} s in all ({:.2} GB/s), {:.3} s of it folding ({:.2} GB/s)",
            self.seconds,
            rate(self.seconds),
            self.fold_seconds,
            rate(self.fold_seconds)
        )
    }

    /// The numbers of the result by name, in order; `None` where one has no value.
    fn fields(&self) -> Vec<(&'static str, Option<Value>)> {
        match &self.output {
            Output::One(value) => vec![("value", Some(*value))],
            Output::Pair(min, max) => vec![("min", Some(*min)), ("max", Some(*max))],
            Output::Summary(s) => vec![
                ("count", Some(s.count.into())),
                ("nan_count", Some(s.nan_count.into())),
                ("sum", Some(s.sum)),
                ("mean", s.mean),
                ("var", s.var),
                ("std", s.std),
                ("min", s.min),
                ("max", s.max),
                ("argmin", s.argmin.map(Value::from)),
                ("argmax", s.argmax.map(Value::from)),
                ("l1", Some(s.l1)),
                ("l2", Some(s.l2)),
            ],
        }
    }

    fn accuracy(&self) -> &'static str {
        match self.accuracy {
            Accuracy::Exact => "exact",
            Accuracy::Fast => "fast",
        }
    }
}

/// A way to write a report.
trait Render {
    /// Appends the whole report.
    fn render(report: &Report, out: &mut Vec<u8>) -> Result<(), Failure>;
}

/// How to print a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// The number alone; two lines for minmax, a table for stats
    Text,
    /// One object on one line, with type, bits and time
    Json,
    /// A header and a row
    Csv,
}

impl Format {
    /// The report in this format.
    pub(crate) fn bytes(self, report: &Report) -> Result<Vec<u8>, Failure> {
        let mut out = Vec::new();
        match self {
            Format::Text => text::Text::render(report, &mut out)?,
            Format::Json => json::Json::render(report, &mut out)?,
            Format::Csv => csv::Csv::render(report, &mut out)?,
        }
        Ok(out)
    }
}

/// Writes to standard output, all of it; colours are stripped where they are not wanted.
pub(crate) fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(Failure::stdout)
}
