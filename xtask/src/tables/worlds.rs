//! Tables of reductions by several GPUs, and by several ranks.

use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::Table;
use crate::Outcome;

/// A line of the example `cuda_devices`.
#[derive(Deserialize)]
struct Device {
    op: String,
    log2_n: u32,
    gpus: usize,
    right: bool,
    us: f64,
    of_ideal: f64,
    gpu: String,
}

/// What was measured of ranks on one machine.
#[derive(Deserialize)]
pub(super) struct Worlds {
    cpu: String,
    mpi: String,
    exchanges: Vec<Exchange>,
    seconds: Vec<Run>,
}

#[derive(Deserialize)]
struct Exchange {
    ranks: usize,
    op: String,
    dtype: String,
    bytes: usize,
    gather_us: f64,
    exchange_us: f64,
    merge_us: f64,
}

#[derive(Deserialize)]
struct Run {
    array: String,
    processes: String,
    seconds: f64,
}

fn wrong(path: &Path, e: impl std::fmt::Display) -> String {
    format!("{}: {e}", path.display())
}

impl Worlds {
    pub(super) fn load(path: &Path) -> Outcome<Worlds> {
        let text = fs::read_to_string(path).map_err(|e| wrong(path, e))?;
        serde_json::from_str(&text).map_err(|e| wrong(path, e))
    }

    /// Microseconds of an exchange and of the gather of as many bytes.
    pub(super) fn exchanges(&self) -> String {
        let head =
            ["ranks", "partial", "bytes", "gather µs", "exchange µs", "ratio", "all_merge µs"];
        let mut table = Table::new(head.map(str::to_owned));
        for row in &self.exchanges {
            table.lines.push(vec![
                row.ranks.to_string(),
                format!("{} of {}", row.op, row.dtype),
                row.bytes.to_string(),
                format!("{:.2}", row.gather_us),
                format!("{:.2}", row.exchange_us),
                format!("{:.2}", row.exchange_us / row.gather_us),
                format!("{:.2}", row.merge_us),
            ]);
        }
        format!("{}; {}.\n\n{}", self.cpu, self.mpi, table.markdown())
    }

    /// Seconds of the program by ranks, and what the launcher takes of them.
    pub(super) fn runs(&self) -> String {
        let arrays = ["4GiB", "32GiB"];
        let seconds = |array: &str, processes: &str| {
            let found = |run: &&Run| run.array == array && run.processes == processes;
            self.seconds.iter().find(found).map(|run| run.seconds)
        };
        let head = ["processes of one thread", "start s"].map(str::to_owned).into_iter();
        let mut table = Table::new(head.chain(arrays.iter().flat_map(|array| {
            [format!("{array} s"), "times as fast, without the start".to_owned()]
        })));
        for run in self.seconds.iter().filter(|run| run.array == "tiny") {
            let mut line = vec![run.processes.clone(), format!("{:.3}", run.seconds)];
            for array in arrays {
                let alone = seconds(array, "1 without MPI").unwrap_or(f64::NAN);
                let all = seconds(array, &run.processes).unwrap_or(f64::NAN);
                let ratio = alone / (all - run.seconds);
                line.extend([format!("{all:.2}"), format!("{ratio:.2}")]);
            }
            table.lines.push(line);
        }
        table.markdown()
    }
}

/// Reductions by 1, 2, … GPUs of one computer.
pub(super) struct Devices(Vec<Device>);

impl Devices {
    pub(super) fn load(path: &Path) -> Outcome<Devices> {
        let text = fs::read_to_string(path).map_err(|e| wrong(path, e))?;
        let rows = text.lines().map(|line| serde_json::from_str(line).map_err(|e| wrong(path, e)));
        Ok(Devices(rows.collect::<Outcome<_>>()?))
    }

    /// Every row of more than one GPU.
    pub(super) fn times(&self) -> String {
        let Devices(rows) = self;
        let right = rows.iter().filter(|row| row.right).count();
        let head = ["elements of f32", "reduction", "one GPU µs", "GPUs", "µs", "of ideal"];
        let mut table = Table::new(head.map(str::to_owned));
        for row in rows.iter().filter(|row| row.gpus > 1) {
            let is_alone = |other: &&Device| {
                other.gpus == 1 && other.op == row.op && other.log2_n == row.log2_n
            };
            let alone = rows.iter().find(is_alone).map_or(f64::NAN, |one| one.us);
            table.lines.push(vec![
                format!("2^{}", row.log2_n),
                row.op.clone(),
                format!("{alone:.1}"),
                row.gpus.to_string(),
                format!("{:.1}", row.us),
                format!("{:.1} %", 100.0 * row.of_ideal),
            ]);
        }
        let name = rows.first().map_or("", |row| &row.gpu);
        let all = rows.len();
        let equal = format!(
            "{right} of {all} results equal one GPU's, and to 2^28 elements the processor's"
        );
        format!("{name}; {equal}.\n\n{}", table.markdown())
    }
}
