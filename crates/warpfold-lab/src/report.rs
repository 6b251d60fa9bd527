//! What a benchmark run found: the evidence that is kept in `results/` and from which every table is made.

mod file;

use std::io;
use std::path::Path;

pub use file::{Header, json};
pub(crate) use file::{load, save};
use serde::{Deserialize, Serialize};
use warpfold::{DType, Op};

use crate::array::Data;
use crate::machine::Machine;
use crate::sampler::{Sampling, Timing};

/// The layout of the file; a reader refuses others.
pub const SCHEMA: u32 = 1;

/// One run of the CPU benchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Layout, version, revision, date.
    #[serde(flatten)]
    pub header: Header,
    /// Where it ran.
    pub machine: Machine,
    /// How it was timed.
    pub sampling: Sampling,
    /// The seed of all arrays.
    pub seed: u64,
    /// The fastest way found to read each working set.
    pub ceilings: Vec<Ceiling>,
    /// What was measured, in order.
    pub rows: Vec<Row>,
    /// What was not timed because its result was wrong or missing.
    pub failures: Vec<Failure>,
    /// Other libraries on the same arrays in the same run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub peers: Vec<Contest>,
}

/// The fastest way to read a buffer and nothing else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ceiling {
    /// Bytes of the buffer.
    pub bytes: u64,
    /// Threads that read it.
    pub threads: usize,
    /// Which reading loop won.
    pub variant: String,
    /// Seconds of one reading.
    pub seconds: Timing,
    /// Bytes over the median time.
    pub bytes_per_second: f64,
}

/// A figure to reach.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// At least this fraction of the read ceiling.
    OfCeiling(f64),
    /// At most so many seconds a call.
    Seconds(f64),
}

/// One reduction of one array.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The reduction.
    pub op: Op,
    /// The element type.
    pub dtype: DType,
    /// What the array holds.
    pub data: Data,
    /// Elements (pairs, for dot).
    pub n: u64,
    /// Bytes read, of both arrays for dot.
    pub bytes: u64,
    /// Threads that the plan took.
    pub threads: usize,
    /// Seconds of one call.
    pub seconds: Timing,
    /// Bytes over the median time.
    pub bytes_per_second: f64,
    /// Bytes per second of the fastest reading of the same buffer, sampled in alternation with this row; none for arrays so
    /// small that a call is not about reading.
    pub ceiling: Option<f64>,
    /// What the project wants of this row.
    pub target: Option<Target>,
}

impl Row {
    /// The rate as a fraction of the ceiling.
    pub fn of_ceiling(&self) -> Option<f64> {
        Some(self.bytes_per_second / self.ceiling?)
    }

    /// Whether the target is met; `None` without one.
    pub fn met(&self) -> Option<bool> {
        Some(match self.target? {
            Target::OfCeiling(fraction) => self.of_ceiling()? >= fraction,
            Target::Seconds(seconds) => self.seconds.median <= seconds,
        })
    }

    /// The name by which rows are filtered: `sum/f32/natural/256MiB`.
    pub fn name(&self) -> String {
        name(self.op, self.dtype, self.data, self.bytes)
    }
}

/// The name of a row before it is measured.
pub fn name(op: Op, dtype: DType, data: Data, bytes: u64) -> String {
    format!("{op}/{dtype}/{data}/{}", size(bytes))
}

/// Bytes in the largest binary unit that divides them.
pub fn size(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let whole = units.iter().find(|(shift, _)| bytes > 0 && bytes.is_multiple_of(1 << shift));
    whole.map_or_else(|| format!("{bytes}B"), |(shift, unit)| format!("{}{unit}", bytes >> shift))
}

/// A row that was not timed, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The row's name.
    pub name: String,
    /// What was wrong.
    pub error: String,
}

/// All contestants on one array.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Contest {
    /// The reduction.
    pub op: Op,
    /// The element type.
    pub dtype: DType,
    /// What the array holds.
    pub data: Data,
    /// Elements (pairs, for dot).
    pub n: u64,
    /// Bytes read, of both arrays for dot.
    pub bytes: u64,
    /// The exact result to about 16 digits.
    pub exact: String,
    /// Bytes per second of the fastest reading of the array, in the same run.
    pub ceiling: f64,
    /// Everyone who has this reduction for this type; ours is first.
    pub entries: Vec<Entry>,
}

/// One contestant's result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Library and version.
    pub library: String,
    /// What was called.
    pub call: String,
    /// Seconds of one call.
    pub seconds: Timing,
    /// Bytes over the median time.
    pub bytes_per_second: f64,
    /// The result as printed.
    pub value: String,
    /// The result's distance from the exact one.
    pub error: Deviation,
}

/// How far a result is from the exact one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Deviation {
    /// The correctly rounded result, or the exact integer.
    None,
    /// So many units in the last place of the result's type.
    Ulps(f64),
    /// An infinity or a NaN where the exact result is finite, or an integer that wrapped.
    Lost,
}

impl Report {
    /// Writes the report, a row a line, replacing the file in one step.
    ///
    /// # Errors
    /// If the folder or file cannot be written.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        save(path, self)
    }

    /// Reads a report.
    ///
    /// # Errors
    /// If the file cannot be read or is no report of this [`SCHEMA`].
    pub fn load(path: &Path) -> io::Result<Self> {
        load(path, SCHEMA)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_take_the_largest_unit_that_divides_them() {
        let names = [256 << 20, 1 << 20, 1 << 30, 3 << 10, 4000, 0].map(size);
        assert_eq!(names, ["256MiB", "1MiB", "1GiB", "3KiB", "4000B", "0B"]);
    }
}
