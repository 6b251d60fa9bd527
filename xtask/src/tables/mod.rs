//! `cargo xtask tables`: every figure of a document comes from a file in `results/`, between markers.
//!
//! A document says `<!-- table:NAME -->` and `<!-- /table -->`; what stands between is written by this task.

mod batches;
mod book;
mod build;
mod counters;
mod cpu;
mod cpu_parts;
mod cuda;
mod device_maps;
mod hard;
mod lacks;
mod maps;
mod parts;
mod predictions;
mod segments;
mod worlds;

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use warpfold_lab::cuda::report::Report as CudaReport;
use warpfold_lab::cuda::segments::Report as SegmentsReport;
use warpfold_lab::report::Report;
use warpfold_lab::segments::Report as CpuSegmentsReport;
use warpfold_ladder::Ladder;

use self::batches::Batches;
use self::build::Builds;
use self::counters::Counters;
use self::device_maps::DeviceMaps;
use self::hard::HardSums;
use self::maps::Maps;
use self::parts::Parts;
use self::worlds::{Devices, GpuTensors, Tensors, Worlds};
use crate::Outcome;

/// The documents that may have tables.
const DOCUMENTS: &[&str] = &[
    "README.md",
    "METHODOLOGY.md",
    "crates/warpfold-simt/README.md",
    "docs/distributed.md",
    "docs/gpu.md",
    "docs/hard-sums.md",
    "docs/lab-notes/maps.md",
    "docs/lab-notes/moments-of-parts.md",
    "docs/parts.md",
    "docs/performance.md",
    "docs/platforms.md",
    "docs/predictions.md",
    "docs/book/src/counts_to_time.md",
    "docs/book/src/index.md",
    "docs/book/src/work_and_steps.md",
    "docs/book/src/documents.md",
    "docs/book/src/measured.md",
];

#[derive(Args)]
pub(crate) struct Tables {
    /// Compares with the documents as they are instead of writing, and fails if a table is stale
    #[arg(long)]
    check: bool,
}

/// Everything that tables are made of.
struct Results {
    /// CPU reports, in the order of their machines' names.
    cpu: Vec<Report>,
    /// The same by kernels of one instruction set each.
    cpu_isa: Vec<Report>,
    /// CUDA reports, in the order of their devices' names.
    cuda: Vec<CudaReport>,
    /// Reports of segments and axes on GPUs, in the same order.
    segments: Vec<SegmentsReport>,
    /// Reports of groups on GPUs, in the same order.
    groups: Vec<SegmentsReport>,
    /// Reports of segments, axes and groups on processors, in the order of the machines' names.
    cpu_segments: Vec<CpuSegmentsReport>,
    /// Reports of reductions of rows and columns on processors, in the order of their files' names.
    cpu_parts: Vec<CpuSegmentsReport>,
    /// Reports of reductions by keys on processors, in the order of the machines' names.
    cpu_keys: Vec<CpuSegmentsReport>,
    /// Errors of hard sums, in the same order.
    hard: Vec<HardSums>,
    /// The simulator's counters beside the hardware's, in the same order.
    counters: Vec<Counters>,
    /// Reductions of rows and columns on GPUs, in the same order.
    parts: Vec<Parts>,
    /// Whether results depend on batches, in the same order.
    batches: Vec<Batches>,
    /// Reductions by several GPUs, in the same order.
    devices: Vec<Devices>,
    /// Exchanges between ranks, in the order of the machines' names.
    worlds: Vec<Worlds>,
    gpu_tensors: Vec<GpuTensors>,
    device_maps: Vec<DeviceMaps>,
    /// Sums of tensors over ranks, in the same order.
    tensors: Vec<Tensors>,
    /// First builds, in the order of the machines' names.
    builds: Vec<Builds>,
    /// Maps beside flat reductions, in the same order.
    maps: Vec<Maps>,
    /// Climbs of the ladder, in the same order.
    ladders: Vec<Ladder>,
}

impl Tables {
    pub(crate) fn run(&self) -> Outcome {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let results = Results::read(&root.join("results"))?;
        let mut stale = Vec::new();
        for document in DOCUMENTS {
            let path = root.join(document);
            let old = fs::read_to_string(&path).map_err(|e| format!("{document}: {e}"))?;
            let new =
                fill(&old, |name| results.table(name)).map_err(|e| format!("{document}: {e}"))?;
            if new != old && self.check {
                stale.push(*document);
            } else if new != old {
                fs::write(&path, new).map_err(|e| format!("{document}: {e}"))?;
                println!("{document}: written");
            }
        }
        match stale.is_empty() {
            true => Ok(()),
            false => Err(format!("stale tables in {}; run: cargo xtask tables", stale.join(", "))),
        }
    }
}

impl Results {
    fn read(folder: &Path) -> Outcome<Self> {
        let cpu = files(folder, "cpu.json");
        let cpu_isa = ["cpu-avx512.json", "cpu-avx2.json"].map(|name| files(folder, name)).concat();
        let cuda = files(folder, "cuda.json");
        // Processors and GPUs have files of that name; a device with a CUDA report is no processor.
        let (segments, cpu_segments): (Vec<_>, Vec<_>) = files(folder, "segments.json")
            .into_iter()
            .partition(|file| file.with_file_name("cuda.json").is_file());
        let groups = files(folder, "groups.json");
        let cpu_parts = ["parts-32MiB.json", "parts-256MiB.json", "parts-256MiB-avx2.json"];
        let cpu_parts = cpu_parts.map(|name| files(folder, name)).concat();
        let cpu_keys = files(folder, "keys.json");
        let hard = files(folder, "hard_sums.json");
        let counters = files(folder, "counters.json");
        let ladders =
            ["ladder_f32.json", "ladder_i32.json"].map(|name| files(folder, name)).concat();
        let wrong = |file: &Path, e: std::io::Error| format!("{}: {e}", file.display());
        let load = |file: &PathBuf| Report::load(file).map_err(|e| wrong(file, e));
        let load_cuda = |file: &PathBuf| CudaReport::load(file).map_err(|e| wrong(file, e));
        let load_segments = |file: &PathBuf| SegmentsReport::load(file).map_err(|e| wrong(file, e));
        let load_cpu_segments =
            |file: &PathBuf| CpuSegmentsReport::load(file).map_err(|e| wrong(file, e));
        let load_counters = |file: &PathBuf| Counters::load(file).map_err(|e| wrong(file, e));
        let load_hard = |file: &PathBuf| HardSums::load(file).map_err(|e| wrong(file, e));
        Ok(Results {
            cpu: cpu.iter().map(load).collect::<Outcome<_>>()?,
            cpu_isa: cpu_isa.iter().map(load).collect::<Outcome<_>>()?,
            cuda: cuda.iter().map(load_cuda).collect::<Outcome<_>>()?,
            segments: segments.iter().map(load_segments).collect::<Outcome<_>>()?,
            groups: groups.iter().map(load_segments).collect::<Outcome<_>>()?,
            cpu_segments: cpu_segments.iter().map(load_cpu_segments).collect::<Outcome<_>>()?,
            cpu_parts: cpu_parts.iter().map(load_cpu_segments).collect::<Outcome<_>>()?,
            cpu_keys: cpu_keys.iter().map(load_cpu_segments).collect::<Outcome<_>>()?,
            hard: hard.iter().map(load_hard).collect::<Outcome<_>>()?,
            counters: counters.iter().map(load_counters).collect::<Outcome<_>>()?,
            parts: Parts::load(&folder.join("parts"))?,
            batches: files(folder, "batches.json")
                .iter()
                .map(|file| Batches::load(file))
                .collect::<Outcome<_>>()?,
            devices: files(folder, "devices.jsonl")
                .iter()
                .map(|file| Devices::load(file))
                .collect::<Outcome<_>>()?,
            worlds: files(folder, "exchange.json")
                .iter()
                .map(|file| Worlds::load(file))
                .collect::<Outcome<_>>()?,
            tensors: files(folder, "worlds.jsonl")
                .iter()
                .map(|file| Tensors::load(file))
                .collect::<Outcome<_>>()?,
            device_maps: files(folder, "maps.jsonl")
                .iter()
                .filter(|file| file.with_file_name("maps-rows.jsonl").is_file())
                .map(|file| DeviceMaps::load(file))
                .collect::<Outcome<_>>()?,
            gpu_tensors: files(folder, "gpu_tensors.jsonl")
                .iter()
                .map(|file| GpuTensors::load(file))
                .collect::<Outcome<_>>()?,
            builds: files(folder, "build.json")
                .iter()
                .map(|file| Builds::load(file))
                .collect::<Outcome<_>>()?,
            maps: files(folder, "maps.json")
                .iter()
                .map(|file| Maps::load(file))
                .collect::<Outcome<_>>()?,
            ladders: ladders.iter().map(|file| book::load(file)).collect::<Outcome<_>>()?,
        })
    }

    /// The table of a name, for every machine.
    fn table(&self, name: &str) -> Option<String> {
        let cpu = |of_report: fn(&Report) -> String| {
            joined(&self.cpu, of_report, "bench/peers/cpu/run.sh")
        };
        let cuda = |of_report: fn(&CudaReport) -> String| {
            joined(&self.cuda, of_report, "bench/cuda/run.sh")
        };
        Some(match name {
            "cpu-speed" => cpu(cpu::speed),
            "cpu-cache" => cpu(cpu::cache),
            "cpu-peers" => cpu(cpu::peers),
            "cpu-targets" => {
                cpu(cpu::targets) + &self.cpu_isa.iter().map(cpu::targets).collect::<String>()
            }
            "cpu-segments" => {
                joined(&self.cpu_segments, segments::cases, "bench/peers/cpu/segments.sh")
            }
            "cpu-parts" => joined(&self.cpu_parts, cpu_parts::speeds, PARTS),
            "cpu-keys" => joined(&self.cpu_keys, cpu_parts::keys, PARTS),
            "cpu-machines" => cpu(cpu::machine),
            "cuda-speed" => cuda(cuda::speed),
            "cuda-sizes" => cuda(cuda::sizes),
            "cuda-data" => cuda(cuda::data),
            "cuda-segments" => joined(&self.segments, segments::cuts, "bench/cuda/run.sh segments"),
            "cuda-groups" => joined(&self.groups, segments::cuts, "bench/cuda/run.sh groups"),
            "cuda-parts" => joined(&self.parts, parts::speeds, "cuda_parts"),
            "batches" => joined(&self.batches, Batches::table, "python/bench/batches.py"),
            "cuda-devices" => joined(&self.devices, Devices::times, "cuda_devices"),
            "builds" => joined(&self.builds, Builds::table, "bench/build/first-run.sh"),
            "maps" => joined(
                &self.maps,
                Maps::table,
                "cargo run --release -p warpfold-engine --example maps",
            ),
            "exchanges" => joined(&self.worlds, Worlds::exchanges, "bench/dist/exchange.sh"),
            "scale" => joined(&self.worlds, Worlds::scale, "bench/dist/exchange.sh"),
            "tensors" => joined(&self.tensors, Tensors::times, "bench/dist/tensors.sh"),
            "device-maps" => joined(&self.device_maps, DeviceMaps::peers, "cuda_maps"),
            "device-rows" => joined(&self.device_maps, DeviceMaps::rows, "cuda_maps"),
            "gpu-tensors" => {
                joined(&self.gpu_tensors, GpuTensors::times, "bench/dist/gpu_tensors.py")
            }
            "worlds" => joined(&self.tensors, Tensors::threads, "bench/dist/tensors.sh"),
            "ranks" => joined(&self.worlds, Worlds::runs, "bench/dist/exchange.sh"),
            "hard-sums" => joined(&self.hard, hard::errors, "bench/cuda/run.sh hard"),
            "counters" => joined(&self.counters, counters::agreement, "bench/simt/counters.sh"),
            "cuda-latency" => cuda(cuda::latency),
            "cuda-lacks" => lacks::table(),
            "ladder-rungs" => book::ladder(),
            "ladder-formulas" => book::formulas(),
            "ladder-measured" => joined(&self.ladders, book::measured, "bench/cuda/run.sh ladder"),
            "documents" => book::published(),
            "prediction-errors" => predictions::summary(),
            "predictions" => predictions::every(),
            "prediction-devices" => predictions::devices(),
            "prediction-limits" => predictions::limits(),
            _ => return None,
        })
    }
}

/// What makes reports of many reductions of parts.
const PARTS: &str = "bench/peers/cpu/parts.sh";

/// The files of a name, one a machine, in the order of the machines' names.
fn files(folder: &Path, name: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path().join(name)).collect();
    files.retain(|file| file.is_file());
    files.sort();
    files
}

fn joined<R>(reports: &[R], of_report: fn(&R) -> String, maker: &str) -> String {
    match reports.is_empty() {
        true => format!("No results yet: `{maker}` makes them.\n"),
        false => reports.iter().map(of_report).collect::<Vec<_>>().join("\n"),
    }
}

/// A table on its way to Markdown.
struct Table {
    head: Vec<String>,
    lines: Vec<Vec<String>>,
}

impl Table {
    fn new(head: impl IntoIterator<Item = String>) -> Self {
        Table { head: head.into_iter().collect(), lines: Vec::new() }
    }

    fn markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let rule = format!("|{}\n", "---|".repeat(self.head.len()));
        let lines = self.lines.iter().map(|cells| line(cells));
        [line(&self.head), rule].into_iter().chain(lines).collect()
    }
}

/// Puts tables between the markers of a document.
fn fill(document: &str, table: impl Fn(&str) -> Option<String>) -> Outcome<String> {
    const OPEN: &str = "<!-- table:";
    const CLOSE: &str = "<!-- /table -->";
    let mut parts = document.split(OPEN);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once(" -->").ok_or("a table's marker does not end")?;
        let (_, after) = rest.split_once(CLOSE).ok_or_else(|| format!("{name} has no {CLOSE}"))?;
        let table = table(name).ok_or_else(|| format!("no table is called {name:?}"))?;
        out.push_str(&format!("{OPEN}{name} -->\n\n{table}\n{CLOSE}{after}"));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_between_markers_is_replaced_and_the_rest_is_kept() {
        let old = "a\n<!-- table:x -->\nold\n<!-- /table -->\nb\n<!-- table:y --><!-- /table -->";
        let table = |name: &str| Some(format!("| {name} |\n"));
        let new = fill(old, table).unwrap();
        assert_eq!(
            new,
            "a\n<!-- table:x -->\n\n| x |\n\n<!-- /table -->\nb\n<!-- table:y -->\n\n| y |\n\n<!-- /table -->"
        );
        assert_eq!(fill(&new, table).unwrap(), new, "a second time changes nothing");
    }

    #[test]
    fn unknown_names_and_open_ends_are_errors() {
        assert!(fill("<!-- table:x --><!-- /table -->", |_| None).is_err());
        assert!(fill("<!-- table:x -->", |_| Some(String::new())).is_err());
        assert!(fill("<!-- table:x", |_| Some(String::new())).is_err());
    }
}
