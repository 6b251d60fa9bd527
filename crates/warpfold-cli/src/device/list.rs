//! `warpfold devices`: what there is to compute on, and why what there is not.

use std::fmt::Write;

use serde::Serialize;
use warpfold_lab::machine::Machine;
use warpfold_lab::report::size;

use super::cuda;

/// How to print a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ListFormat {
    /// A line each
    Text,
    /// One object
    Json,
}

/// The processor, the GPUs, and why none can be used.
#[derive(Serialize)]
struct Devices {
    cpu: Machine,
    gpus: Vec<Gpu>,
    /// Why no GPU is listed.
    obstacle: Option<String>,
}

/// One GPU.
#[derive(Serialize)]
struct Gpu {
    device: String,
    name: String,
    multiprocessors: u32,
    /// In bytes.
    memory: u64,
    /// Bytes of the L2 cache.
    l2: u64,
    compute_capability: String,
    /// The highest clocks in MHz.
    clock: u32,
    memory_clock: u32,
    /// The driver's release, where the system tells it.
    driver: Option<String>,
    /// The version of CUDA that the driver knows.
    driver_cuda: String,
    /// The link to the host in bytes per second one way, at most.
    link: Option<f64>,
    /// Why no kernel runs on it.
    obstacle: Option<String>,
}

/// The listing.
pub(crate) fn list(format: ListFormat) -> Vec<u8> {
    let (gpus, obstacle) = match gpus() {
        Ok(gpus) => (gpus, None),
        Err(error) => (Vec::new(), Some(error.to_string())),
    };
    let devices = Devices { cpu: Machine::here(), gpus, obstacle };
    let mut text = match format {
        ListFormat::Text => text(&devices),
        ListFormat::Json => {
            serde_json::to_string(&devices).expect("names and finite numbers are JSON")
        }
    };
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text.into_bytes()
}

#[cfg(feature = "cuda")]
fn gpus() -> warpfold::Result<Vec<Gpu>> {
    let gpus: Vec<Gpu> = cuda::devices()?.into_iter().map(described).collect();
    if gpus.is_empty() { Err(cuda::none_shown()) } else { Ok(gpus) }
}

#[cfg(not(feature = "cuda"))]
fn gpus() -> warpfold::Result<Vec<Gpu>> {
    cuda::available().map(|()| Vec::new())
}

#[cfg(feature = "cuda")]
fn described(gpu: cuda::Description) -> Gpu {
    Gpu {
        device: format!("cuda:{}", gpu.ordinal),
        obstacle: gpu.obstacle(),
        compute_capability: format!("{}.{}", gpu.compute / 10, gpu.compute % 10),
        driver_cuda: format!("{}.{}", gpu.driver / 1000, gpu.driver % 1000 / 10),
        link: gpu.link.map(|link| link.bytes_per_second()),
        name: gpu.name,
        multiprocessors: gpu.multiprocessors,
        memory: gpu.memory,
        l2: gpu.l2,
        clock: gpu.clocks[0],
        memory_clock: gpu.clocks[1],
        driver: gpu.release,
    }
}

fn text(devices: &Devices) -> String {
    let Machine { cpu, cores, isa, caches, memory, .. } = &devices.cpu;
    let caches: Vec<_> = caches.iter().map(|&bytes| size(bytes)).collect();
    let caches = if caches.is_empty() { "unknown".into() } else { caches.join(" + ") };
    let mut out = format!(
        "cpu     {cpu}, {cores} cores, {isa} kernels, caches {caches}, {} of memory\n",
        gibibytes(*memory)
    );
    for gpu in &devices.gpus {
        let link =
            gpu.link.map_or("unknown".into(), |rate| format!("{:.0} GB/s at most", rate / 1e9));
        let release = gpu.driver.as_ref().map_or(String::new(), |release| format!("{release} "));
        let _ = writeln!(
            out,
            "{:<7} {}, {} of memory, {} multiprocessors, compute capability {}, L2 cache {}, clocks {} and {} MHz, driver {release}for CUDA {}, link {link}",
            gpu.device,
            gpu.name,
            gibibytes(gpu.memory),
            gpu.multiprocessors,
            gpu.compute_capability,
            size(gpu.l2),
            gpu.clock,
            gpu.memory_clock,
            gpu.driver_cuda,
        );
        if let Some(obstacle) = &gpu.obstacle {
            let _ = writeln!(out, "        cannot be used: {obstacle}");
        }
    }
    if let Some(obstacle) = &devices.obstacle {
        let _ = writeln!(out, "cuda    none: {obstacle}");
    }
    out
}

fn gibibytes(bytes: u64) -> String {
    format!("{:.0} GiB", bytes as f64 / 2f64.powi(30))
}
