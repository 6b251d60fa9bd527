//! `warpfold bench cuda`: runs the lab's benchmark of a GPU and prints it.

use std::process::Command;

use indicatif::ProgressBar;
use warpfold_lab::cuda::report::{Latency, Report, Row};
use warpfold_lab::cuda::{self as lab, table};
use warpfold_lab::report::Failure as Wrong;

use super::{bar, export, read_peers, verdict};
use crate::args::{BenchCuda, FirstUses};
use crate::device::{self, Device};
use crate::{Failure, streams};
use warpfold_io::system_message;

/// Shows on a terminal how far the benchmark is.
struct ProgressObserver(ProgressBar);

impl lab::Observer for ProgressObserver {
    fn planned(&mut self, rows: usize) {
        self.0.set_length(rows as u64);
    }

    fn preparing(&mut self, what: &str) {
        self.0.set_message(format!("preparing {what}"));
    }

    fn row(&mut self, row: Option<&Row>) {
        self.0.inc(1);
        if let Some(row) = row {
            self.0.set_message(format!("{} {:.2} µs", row.name(), row.microseconds));
        }
    }

    fn failed(&mut self, failure: &Wrong) {
        self.0.inc(1);
        self.0.suspend(|| crate::say!("warpfold: {}: {}", failure.name, failure.error));
    }
}

/// Measures a GPU.
pub(crate) fn cuda(args: &BenchCuda) -> Result<(), Failure> {
    super::check(args.export.as_deref())?;
    let gpu = device::open_gpu(args.device, None)?;
    let peers = args.peers.as_deref().map_or(Ok(Vec::new()), read_peers)?;
    let options = lab::Options {
        filter: args.filter.clone(),
        revision: std::env::var("WARPFOLD_REVISION").ok(),
        first_uses: in_processes_of_their_own(args.device)?,
        peers,
        ..lab::Options::default()
    };
    let bar = bar();
    let outcome = lab::run(&gpu, &options, &mut ProgressObserver(bar.clone()));
    bar.finish_and_clear();
    let measured: Report = outcome?;
    export(args.export.as_deref(), &measured)?;
    streams::print(table::text(&measured).as_bytes())?;
    verdict(measured.failures.len())
}

/// First uses without the driver's cache, then with one that another process has filled: the driver reads its environment once.
fn in_processes_of_their_own(device: Device) -> Result<Vec<Latency>, Failure> {
    let failed = |reason: String| Failure::Output { what: "first uses of kernels".into(), reason };
    let cache = tempfile::tempdir().map_err(|error| failed(system_message(&error)))?;
    let program = std::env::current_exe().map_err(|error| failed(system_message(&error)))?;
    let uses = |cached: &str,
                variable: (&str, &std::ffi::OsStr)|
     -> Result<Vec<Latency>, Failure> {
        let mut command = Command::new(&program);
        command.args(["bench", "first-uses", "--cache", cached, "--device", &device.to_string()]);
        command.env_remove("CUDA_CACHE_DISABLE").env(variable.0, variable.1);
        let output = command.output().map_err(|error| failed(system_message(&error)))?;
        let text = String::from_utf8_lossy(&output.stderr);
        match output.status.success() {
            true => {
                serde_json::from_slice(&output.stdout).map_err(|error| failed(error.to_string()))
            }
            false => Err(failed(text.trim().to_owned())),
        }
    };
    let mut all = uses("driver's cache off", ("CUDA_CACHE_DISABLE", "1".as_ref()))?;
    let filled = ("CUDA_CACHE_PATH", cache.path().as_os_str());
    uses("driver's cache empty", filled)?;
    all.extend(uses("driver's cache filled", filled)?);
    Ok(all)
}

/// Measures first uses in this process and prints them for the one that started it.
pub(crate) fn first_uses(args: &FirstUses) -> Result<(), Failure> {
    let found =
        lab::first_uses(device::ordinal(args.device)?, &args.cache).map_err(Failure::NoDevice)?;
    let mut line = serde_json::to_vec(&found).expect("names and finite numbers are JSON");
    line.push(b'\n');
    streams::print(&line)
}
