//! What a run of the benchmark of segments and axes found.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use warpfold::{Accuracy, DType};

use crate::cuda::report::{Device, Peer, Reading};
use crate::report::{Failure, Header, load, save};

/// The layout of the file; a reader refuses others.
pub const SCHEMA: u32 = 1;

/// One run: sums of f32, cut in every way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Layout, version, revision, date.
    #[serde(flatten)]
    pub header: Header,
    /// The GPU.
    pub device: Device,
    /// How rows were timed, in words.
    pub method: String,
    /// The fastest reading of as much and nothing else.
    pub ceiling: Reading,
    /// What was measured, in order.
    pub rows: Vec<Row>,
    /// What was not timed because its result was wrong or missing.
    pub failures: Vec<Failure>,
    /// Other libraries in the same run.
    pub peers: Vec<Peer>,
}

/// Sums of one array.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// How it was cut, as [`Shape::name`](super::Shape::name) says.
    pub shape: String,
    /// The element type.
    pub dtype: DType,
    /// Whether the sums were correctly rounded.
    pub accuracy: Accuracy,
    /// Elements folded.
    pub n: u64,
    /// Results.
    pub outputs: u64,
    /// Bytes of input, offsets and results.
    pub bytes: u64,
    /// Microseconds of device time, median; of groups the sort's and the reduction's.
    pub microseconds: f64,
    /// Those of the reduction alone, where values were sorted by keys first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reduction_microseconds: Option<f64>,
    /// The quartiles.
    pub quartiles: [f64; 2],
    /// Bytes over the median time.
    pub bytes_per_second: f64,
    /// That rate over the ceiling.
    pub of_ceiling: f64,
    /// Which fraction of the ceiling the project asks of it, if it asks any.
    pub aim: Option<f64>,
    /// The way that was taken, and why.
    pub plan: String,
}

impl Row {
    /// The name by which rows are filtered: `sum/f32/exact/every 16`.
    pub fn name(&self) -> String {
        name(self.dtype, self.accuracy, &self.shape)
    }
}

/// The name of a row before it is measured.
pub(super) fn name(dtype: DType, accuracy: Accuracy, shape: &str) -> String {
    let accuracy = match accuracy {
        Accuracy::Exact => "exact",
        Accuracy::Fast => "fast",
    };
    format!("sum/{dtype}/{accuracy}/{shape}")
}

impl Report {
    /// Other libraries' figures for the same sums.
    pub fn peers_of(&self, row: &Row) -> impl Iterator<Item = &Peer> {
        let same = (row.dtype.name(), row.n, Some(row.shape.clone()));
        self.peers.iter().filter(move |p| {
            p.op == "sum" && p.dtype == same.0 && p.n == same.1 && p.shape == same.2
        })
    }

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
