//! `warpfold bench segments --device cuda`: runs the lab's benchmark of segments and axes on a GPU and prints it.

use warpfold_lab::cuda::segments::{self as lab, Progress};

use super::{bar, export, read_peers, verdict};
use crate::args::BenchSegments;
use crate::sheet::{Format, json};
use crate::{Failure, device, streams};

/// Elements that a benchmark takes.
const ELEMENTS: std::ops::RangeInclusive<u64> = 1 << 24..=1 << 30;

/// Measures a GPU.
pub(crate) fn segments(args: &BenchSegments) -> Result<(), Failure> {
    let n = args.n.unwrap_or(lab::ELEMENTS);
    if !ELEMENTS.contains(&n) {
        return Err(Failure::Usage(format!("--n {n} is not from 2^24 to 2^30, which a GPU takes")));
    }
    if !matches!(args.format, Format::Text | Format::Json) {
        return Err(Failure::Usage("--format of a GPU's rows is text or json".into()));
    }
    super::check(args.export.as_deref())?;
    let gpu = device::open_gpu(args.device, None)?;
    let peers = args.peers.as_deref().map_or(Ok(Vec::new()), read_peers)?;
    let options = lab::Options {
        filter: args.filter.clone(),
        elements: n,
        revision: std::env::var("WARPFOLD_REVISION").ok(),
        peers,
        ..lab::Options::default()
    };
    let bar = bar();
    let outcome = lab::run(&gpu, &options, |progress| match progress {
        Progress::Planned(rows) => bar.set_length(rows as u64),
        Progress::Preparing(what) => bar.set_message(format!("preparing {what}")),
        Progress::Row(row) => {
            bar.inc(1);
            bar.set_message(lab::line(row));
            // Where there is no bar, the lines of a run that is cut short are there all the same.
            if bar.is_hidden() {
                crate::say!("{}", lab::line(row));
            }
        }
        Progress::Failed(failure) => {
            bar.inc(1);
            bar.suspend(|| crate::say!("warpfold: {}: {}", failure.name, failure.error));
        }
    });
    bar.finish_and_clear();
    let measured = outcome?;
    if measured.rows.is_empty() && measured.failures.is_empty() {
        return Err(Failure::Usage(format!(
            "--filter {} matches no row; without it all are measured, and their names printed",
            args.filter
        )));
    }
    let printed = match args.format {
        Format::Json => json(&measured),
        _ => lab::text(&measured),
    };
    export(args.export.as_deref(), &measured)?;
    streams::print(printed.as_bytes())?;
    verdict(measured.failures.len())
}
