//! What the benchmark of parts found.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::machine::Machine;
use crate::report::{Header, load, save};

/// The layout of the file.
pub(super) const SCHEMA: u32 = 1;

/// One run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Layout, version, revision, date.
    #[serde(flatten)]
    pub header: Header,
    /// The machine; the processor is what ran it unless a device is named.
    pub machine: Machine,
    /// The machine's name as a folder of `results/`.
    pub slug: String,
    /// Elements of the arrays of f32 that were cut; those of other types have as many bytes.
    pub n: u64,
    /// The GPU that ran it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Whether results were written to memory that is used again and again, and not to new memory each time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub into_kept_memory: bool,
    /// What rows are compared with, in words.
    pub baseline: String,
    /// What was measured, in order.
    pub rows: Vec<Row>,
}

/// A case that was measured, or why its results were wrong.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Such as `sum/f32/fast/every 16`.
    pub name: String,
    /// Elements.
    pub elements: u64,
    /// Segments, or outputs of an axis, or groups.
    pub segments: u64,
    /// Bytes of input, of offsets or keys, and of results.
    pub bytes: u64,
    /// Bytes of input alone, which rates are compared by; reports before there was this field compare by all bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_bytes: Option<u64>,
    /// Microseconds, the median.
    pub microseconds: f64,
    /// Half the distance between the quartiles over the median.
    pub spread: f64,
    /// Bytes over the median time.
    pub bytes_per_second: f64,
    /// Bytes per second of what the report compares with, measured in alternation with this row.
    pub baseline: f64,
    /// The fraction of the baseline that the project wants.
    pub target: Option<f64>,
    /// How it ran.
    pub plan: String,
    /// What was wrong; then nothing was timed.
    pub wrong: Option<String>,
    /// Other libraries on the same arrays in the same run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub peers: Vec<Peer>,
}

/// Another library's time for the same case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Peer {
    /// Library and version.
    pub library: String,
    /// What was called.
    pub call: String,
    /// Microseconds, the median.
    pub microseconds: f64,
    /// The row's bytes over that time.
    pub bytes_per_second: f64,
    /// The largest distance of a result from the exact one, in ulps of its own type, where that was looked at.
    pub ulps: Option<f64>,
}

impl Row {
    /// The rate as a fraction of the baseline's; 0 of a row that was wrong.
    pub fn of_baseline(&self) -> f64 {
        if self.baseline > 0.0 { self.input_rate(self.microseconds) / self.baseline } else { 0.0 }
    }

    /// Bytes of input per second if the row takes so many microseconds.
    pub fn input_rate(&self, microseconds: f64) -> f64 {
        self.input_bytes.unwrap_or(self.bytes) as f64 / microseconds * 1e6
    }

    /// Whether the target is met; `None` without one.
    pub fn met(&self) -> Option<bool> {
        self.target.map(|target| self.of_baseline() >= target)
    }
}

impl Report {
    /// Reads a report.
    ///
    /// # Errors
    /// If the file cannot be read or is no report of this schema.
    pub fn load(path: &Path) -> io::Result<Self> {
        load(path, SCHEMA)
    }

    /// How many rows were wrong.
    pub fn wrong(&self) -> usize {
        self.rows.iter().filter(|row| row.wrong.is_some()).count()
    }

    /// Writes the report, a row a line, replacing the file in one step.
    ///
    /// # Errors
    /// If the folder or file cannot be written.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        save(path, self)
    }
}
