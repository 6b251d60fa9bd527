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
    /// Whose MPI it is, where several were measured.
    #[serde(default)]
    by: String,
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
        let head = [
            "MPI",
            "ranks",
            "partial",
            "bytes",
            "gather µs",
            "exchange µs",
            "ratio",
            "all_merge µs",
        ];
        let mut table = Table::new(head.map(str::to_owned));
        for row in &self.exchanges {
            table.lines.push(vec![
                if row.by.is_empty() { &self.mpi } else { &row.by }.clone(),
                row.ranks.to_string(),
                format!("{} of {}", row.op, row.dtype),
                row.bytes.to_string(),
                format!("{:.2}", row.gather_us),
                format!("{:.2}", row.exchange_us),
                format!("{:.2}", row.exchange_us / row.gather_us),
                format!("{:.2}", row.merge_us),
            ]);
        }
        format!("{}.\n\n{}", self.cpu, table.markdown())
    }

    /// Seconds of the program by ranks, and what the launcher takes of them.
    pub(super) fn runs(&self) -> String {
        let seconds = |array: &str, processes: &str| {
            let found = |run: &&Run| run.array == array && run.processes == processes;
            self.seconds.iter().find(found).map(|run| run.seconds)
        };
        let mut arrays: Vec<&str> = self.seconds.iter().map(|run| run.array.as_str()).collect();
        arrays.dedup();
        arrays.retain(|&array| array != "tiny");
        let head = ["processes of one thread", "start s"].map(str::to_owned).into_iter();
        let mut table = Table::new(head.chain(arrays.iter().flat_map(|array| {
            [format!("{array} s"), "times as fast, without the start".to_owned()]
        })));
        for run in self.seconds.iter().filter(|run| run.array == "tiny") {
            let mut line = vec![run.processes.clone(), format!("{:.3}", run.seconds)];
            for array in &arrays {
                let alone = seconds(array, "1 without MPI").unwrap_or(f64::NAN);
                let all = seconds(array, &run.processes).unwrap_or(f64::NAN);
                let ratio = alone / (all - run.seconds);
                line.extend([format!("{all:.2}"), format!("{ratio:.2}")]);
            }
            table.lines.push(line);
        }
        format!("{}; {}.\n\n{}", self.cpu, self.mpi, table.markdown())
    }

    /// What the model of docs/distributed.md makes of this machine's exchanges: microseconds of one sum of f64 beyond the slowest share, by ranks.
    pub(super) fn scale(&self) -> String {
        let Some(model) = Model::of(&self.exchanges) else { return String::new() };
        let head = ["ranks", "gathered µs", "summed as digits µs", "share of 1 s a rank %"];
        let mut table = Table::new(head.map(str::to_owned));
        for ranks in [2u32, 8, 16, 100, 1000, 10_000] {
            let (gathered, summed) = (model.gathered(ranks), model.summed(ranks));
            let taken = if ranks > 16 { summed } else { gathered };
            table.lines.push(vec![
                ranks.to_string(),
                format!("{gathered:.1}"),
                format!("{summed:.1}"),
                format!("{:.4}", taken / 1e4),
            ]);
        }
        format!(
            "{}; {}: α {:.2} µs, β {:.3} ns a byte, μ {:.2} µs.\n\n{}",
            self.cpu,
            self.mpi,
            model.step,
            1e3 * model.byte,
            model.merge,
            table.markdown()
        )
    }
}

/// Latency of a step, time of a byte, and time of one merge, in microseconds.
struct Model {
    step: f64,
    byte: f64,
    merge: f64,
}

impl Model {
    /// From the exchanges of the largest world and the shortest gather of two ranks; of several MPIs, from the first.
    fn of(rows: &[Exchange]) -> Option<Model> {
        let first = rows.first()?;
        let ours = || rows.iter().filter(|row| row.by == first.by);
        let most = ours().map(|row| row.ranks).max()?;
        let largest = || ours().filter(|row| row.ranks == most);
        let short = largest().min_by_key(|row| row.bytes)?;
        let long = largest().max_by_key(|row| row.bytes)?;
        let sum = largest().find(|row| row.op == "sum" && row.dtype == "f64")?;
        let step = ours().filter(|row| row.ranks == 2).map(|row| row.gather_us).reduce(f64::min)?;
        let bytes = (most * (long.bytes - short.bytes)) as f64;
        let byte = ((long.gather_us - short.gather_us) / bytes).max(0.0);
        Some(Model { step, byte, merge: (sum.merge_us - sum.exchange_us).max(0.0) / most as f64 })
    }

    /// One gather of frames, each of which is read and merged.
    fn gathered(&self, ranks: u32) -> f64 {
        let (ranks, frame) = (f64::from(ranks), 256.0);
        self.step * ranks.log2().ceil() + (frame * self.byte + self.merge) * ranks
    }

    /// One sum of digits, there and back, and one merge.
    fn summed(&self, ranks: u32) -> f64 {
        let digits = 2048.0;
        2.0 * (self.step * f64::from(ranks).log2().ceil() + digits * self.byte) + self.merge
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

/// Sums of tensors over ranks, a line each of `bench/dist/tensors.sh`, behind a line that names the machine.
pub(super) struct Tensors(Vec<serde_json::Value>);

impl Tensors {
    pub(super) fn load(path: &Path) -> Outcome<Tensors> {
        let text = fs::read_to_string(path).map_err(|e| wrong(path, e))?;
        let rows = text.lines().map(|line| serde_json::from_str(line).map_err(|e| wrong(path, e)));
        Ok(Tensors(rows.collect::<Outcome<_>>()?))
    }

    fn text<'a>(row: &'a serde_json::Value, key: &str) -> &'a str {
        row[key].as_str().unwrap_or_default()
    }

    /// Beside MPI's own sum, whose bits depend on the number of ranks.
    pub(super) fn times(&self) -> String {
        let Tensors(rows) = self;
        let head = [
            "MPI",
            "ranks",
            "elements",
            "all_reduce µs",
            "MPI_Allreduce µs",
            "ratio",
            "MPI's that differ",
        ];
        let mut table = Table::new(head.map(str::to_owned));
        for row in rows.iter().filter(|row| row.get("mpi_us").is_some()) {
            let number = |key: &str| row[key].as_f64().unwrap_or(f64::NAN);
            let (ours, theirs) = (number("all_reduce_us"), number("mpi_us"));
            table.lines.push(vec![
                Self::text(row, "by").to_owned(),
                row["ranks"].to_string(),
                format!("{} of {}", row["elements"], Self::text(row, "dtype")),
                format!("{ours:.1}"),
                format!("{theirs:.1}"),
                format!("{:.2}", ours / theirs),
                row["differ"].to_string(),
            ]);
        }
        let machine = rows.first().map_or("", |row| Self::text(row, "machine"));
        format!("{machine}.\n\n{}", table.markdown())
    }

    /// Worlds of threads, every rank of which was compared.
    pub(super) fn threads(&self) -> String {
        let Tensors(rows) = self;
        let mut table =
            Table::new(["ranks", "right on every rank", "one merge, µs"].map(str::to_owned));
        for row in rows.iter().filter(|row| Self::text(row, "by") == "threads") {
            let time = format!("{:.0}", row["merge_us"].as_f64().unwrap_or(f64::NAN));
            table.lines.push(vec![row["ranks"].to_string(), row["right"].to_string(), time]);
        }
        let machine = rows.first().map_or("", |row| Self::text(row, "machine"));
        format!("{machine}.\n\n{}", table.markdown())
    }
}

/// Sums of tensors on GPUs over ranks: a line of `bench/dist/gpu_tensors.py` each, behind one that names the GPUs.
pub(super) struct GpuTensors(Vec<serde_json::Value>);

impl GpuTensors {
    pub(super) fn load(path: &Path) -> Outcome<GpuTensors> {
        let Tensors(rows) = Tensors::load(path)?;
        Ok(GpuTensors(rows))
    }

    /// Beside NCCL's own sum, of every sixteenfold length.
    pub(super) fn times(&self) -> String {
        let GpuTensors(rows) = self;
        let head = ["elements", "all_reduce µs", "GB/s of a ring", "NCCL's µs", "GB/s", "ratio"];
        let mut table = Table::new(head.map(str::to_owned));
        let is_shown = |row: &&serde_json::Value| {
            row["log2"].as_u64().is_some_and(|log2| log2 % 4 == 0 || log2 == 30)
        };
        for row in rows.iter().filter(is_shown) {
            let number = |key: &str| row[key].as_f64().unwrap_or(f64::NAN);
            table.lines.push(vec![
                format!("2^{} of {}", row["log2"], Tensors::text(row, "dtype")),
                format!("{:.0}", number("exact_us")),
                format!("{:.1}", number("exact_bus_GB_s")),
                format!("{:.0}", number("nccl_us")),
                format!("{:.1}", number("nccl_bus_GB_s")),
                format!("{:.2}", number("ratio")),
            ]);
        }
        let of = |key: &str| rows.first().map_or("", |row| Tensors::text(row, key));
        let ranks = rows.first().map_or(0, |row| row["ranks"].as_u64().unwrap_or(0));
        let (gpu, torch, nccl) = (of("gpu"), of("torch"), of("nccl"));
        format!("{ranks} × {gpu}, torch {torch}, NCCL {nccl}.\n\n{}", table.markdown())
    }
}
