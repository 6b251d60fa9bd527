//! What a run of the CUDA benchmark found: the evidence kept in `results/<device>/cuda.json`.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use warpfold::{Accuracy, DType, Op};

use super::data::Data;
use crate::report::{Failure, Header, load, save, size};

/// The layout of the file; a reader refuses others.
pub const SCHEMA: u32 = 1;

/// One run of the CUDA benchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Layout, version, revision, date.
    #[serde(flatten)]
    pub header: Header,
    /// The GPU.
    pub device: Device,
    /// How rows were timed, in words.
    pub method: String,
    /// What no kernel can be faster than.
    pub limits: Limits,
    /// What was measured, in order.
    pub rows: Vec<Row>,
    /// What it takes on the host.
    pub latencies: Vec<Latency>,
    /// What was not timed because its result was wrong or missing.
    pub failures: Vec<Failure>,
    /// Other libraries in the same run, timed in the same way.
    pub peers: Vec<Peer>,
}

/// The GPU that was measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// What NVIDIA calls it.
    pub name: String,
    /// Compute capability times ten.
    pub compute: u32,
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Bytes of its memory; 0 where an old run did not keep it.
    pub memory: u64,
    /// Bytes of its L2 cache; 0 where an old run did not keep it.
    pub l2: u64,
    /// The release of its driver, where the system told it.
    pub driver: Option<String>,
    /// The version of CUDA that the driver knows: 13000 is 13.0; 0 where an old run did not keep it.
    pub cuda: i32,
    /// The highest clocks of multiprocessors and memory, in MHz.
    pub clocks: [u32; 2],
}

/// What no kernel can be faster than, in the same run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Microseconds of a kernel that does nothing, back to back.
    pub empty: f64,
    /// The fastest reading kernels.
    pub readings: Vec<Reading>,
}

/// The fastest way found to read arrays and nothing else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// Bytes of an array.
    pub bytes: u64,
    /// Where the array was.
    pub temperature: Temperature,
    /// The kernel and its launch.
    pub variant: String,
    /// Microseconds, median.
    pub microseconds: f64,
    /// Bytes over the median time.
    pub bytes_per_second: f64,
}

/// Where an array is before it is reduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Temperature {
    /// In device memory: arrays in rotation through a pool many times the L2 cache.
    Cold,
    /// In the L2 cache, where it fits: the same array again and again.
    Hot,
}

/// One reduction of arrays of one length.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The reduction; others that share its kernel have no row.
    pub op: Op,
    /// The element type.
    pub dtype: DType,
    /// Whether float sums were exact.
    pub accuracy: Accuracy,
    /// Elements (pairs, for dot).
    pub n: u64,
    /// Bytes read, of both arrays for dot.
    pub bytes: u64,
    /// Where the arrays were.
    pub temperature: Temperature,
    /// What they held; uniform in the oldest runs, which measured nothing else.
    #[serde(default)]
    pub data: Data,
    /// Microseconds of device time, median.
    pub microseconds: f64,
    /// The quartiles; none in the oldest runs.
    pub quartiles: Option<[f64; 2]>,
    /// Bytes over the median time.
    pub bytes_per_second: f64,
    /// Bytes per second of the fastest reading of as much, close in time; none for arrays so small that a launch is not about reading.
    pub ceiling: Option<f64>,
}

/// Something that takes time on the host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// What.
    pub what: String,
    /// Elements, where it depends on them.
    pub n: Option<u64>,
    /// Microseconds, median where there are several.
    pub microseconds: f64,
}

/// Another library's figure. Its operations are those of the benchmark or `read` and `empty`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Peer {
    /// Library and version.
    pub peer: String,
    /// What it computed.
    pub op: String,
    /// The element type.
    #[serde(rename = "type")]
    pub dtype: String,
    /// Elements.
    pub n: u64,
    /// What the arrays held.
    #[serde(default)]
    pub data: Data,
    /// How the array was cut, as [rows of segments](super::segments::Row::shape) say it; none for one reduction of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<String>,
    /// Whether it promises the same bits on every GPU.
    #[serde(default)]
    pub reproducible: bool,
    /// Microseconds, median.
    pub us: f64,
    /// 10^9 bytes over the median time.
    pub gb_s: f64,
}

impl Row {
    /// The rate as a fraction of the ceiling.
    pub fn of_ceiling(&self) -> Option<f64> {
        Some(self.bytes_per_second / self.ceiling?)
    }

    /// The name by which rows are filtered: `sum/f32/fast/2GiB/cold`.
    pub fn name(&self) -> String {
        name(self.op, self.dtype, self.accuracy, self.bytes, self.temperature, self.data)
    }
}

/// The name of a row before it is measured; what is not uniform data says so.
pub fn name(
    op: Op,
    dtype: DType,
    accuracy: Accuracy,
    bytes: u64,
    at: Temperature,
    data: Data,
) -> String {
    let accuracy = match accuracy {
        Accuracy::Exact => "exact",
        Accuracy::Fast => "fast",
    };
    let at = match at {
        Temperature::Cold => "cold",
        Temperature::Hot => "hot",
    };
    let uniform = format!("{op}/{dtype}/{accuracy}/{}/{at}", size(bytes));
    match data {
        Data::Uniform => uniform,
        other => format!("{uniform}/{}", other.name()),
    }
}

impl Report {
    /// The figure of another library for the same reduction of as many elements.
    pub fn peer(&self, row: &Row) -> Option<&Peer> {
        self.beside(row, false)
    }

    /// The figure of another library that promises the same bits on every GPU.
    pub fn reproducible_peer(&self, row: &Row) -> Option<&Peer> {
        self.beside(row, true)
    }

    fn beside(&self, row: &Row, reproducible: bool) -> Option<&Peer> {
        let what = (row.op.name(), row.dtype.name(), row.n, row.data, reproducible);
        let same = |p: &&Peer| {
            p.shape.is_none() && (&*p.op, &*p.dtype, p.n, p.data, p.reproducible) == what
        };
        self.peers.iter().find(same).filter(|_| row.temperature == Temperature::Cold)
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

/// Reads a peer's figures: a JSON object a line.
///
/// # Errors
/// If a line is none.
pub fn peers(text: &str) -> io::Result<Vec<Peer>> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| serde_json::from_str(line).map_err(io::Error::from)).collect()
}

#[cfg(test)]
impl Device {
    /// A made-up one, for tests of reports.
    pub(crate) fn example() -> Self {
        Device {
            name: "a GPU".into(),
            compute: 90,
            multiprocessors: 132,
            memory: 0,
            l2: 0,
            driver: None,
            cuda: 13000,
            clocks: [1980, 3201],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_stand_beside_rows_and_a_report_is_read_as_it_was_written() {
        let row = Row {
            op: Op::Sum,
            dtype: DType::F32,
            accuracy: Accuracy::Fast,
            n: 1 << 29,
            bytes: 2 << 30,
            temperature: Temperature::Cold,
            data: Data::Uniform,
            microseconds: 464.1,
            quartiles: Some([463.9, 464.3]),
            bytes_per_second: 4.6e12,
            ceiling: Some(4.7e12),
        };
        assert_eq!(row.name(), "sum/f32/fast/2GiB/cold");
        let line =
            r#"{"peer":"cub 1","op":"sum","type":"f32","n":536870912,"us":470.0,"gb_s":4.5}"#;
        let report = Report {
            header: Header::now(SCHEMA, None),
            device: Device::example(),
            method: String::new(),
            limits: Limits { empty: 2.8, readings: Vec::new() },
            rows: vec![row.clone(), row],
            latencies: Vec::new(),
            failures: Vec::new(),
            peers: peers(&format!("{line}\n\n")).unwrap(),
        };
        assert_eq!(report.peer(&report.rows[0]).unwrap().us, 470.0);
        assert_eq!(report.reproducible_peer(&report.rows[0]), None);
        let text = serde_json::to_string(&report).unwrap();
        assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
        assert!(peers("no json").is_err());
    }
}
