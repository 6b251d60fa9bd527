//! `warpfold tune`: measures launches on the GPU at hand and keeps the better ones in the tuning file.

use std::fmt::Write;
use std::time::{Instant, SystemTime};

use warpfold::plan::{Shape, TUNING_SCHEMA, TunedGpu, Tuning};
use warpfold_lab::cuda::tune as lab;
use warpfold_lab::report::size;

use crate::args::Tune;
use crate::bench::{self, bar};
use crate::tuning::{self, Source};
use crate::{Failure, device, outfile, streams};

/// Measures, writes the file, tells what was gained.
pub(crate) fn tune(args: &Tune) -> Result<(), Failure> {
    let start = Instant::now();
    bench::check(args.export.as_deref())?;
    let gpu = device::open_gpu(args.device, None)?;
    let open = start.elapsed();
    let path = args.tuning.clone().or_else(tuning::default_path).ok_or_else(|| {
        Failure::Usage("neither XDG_CONFIG_HOME nor HOME says where the tuning file goes; name one with --tuning FILE".into())
    })?;
    // Before the work: a file that cannot be read is not written over.
    let before = if path.exists() { Source::File(path.clone()).load()? } else { None };
    let bar = bar();
    let measured = lab::tune(&gpu, open, |step, steps, row| {
        bar.set_length(steps as u64);
        bar.set_position(step as u64);
        if let Some(row) = row {
            bar.set_message(format!(
                "{}_{} of {} gains",
                row.fold.name(),
                row.dtype,
                size(row.bytes)
            ));
        }
    });
    bar.finish_and_clear();
    let (tuned, trials) = measured?;
    if let Some(file) = &args.export {
        let lines: Vec<String> = trials
            .iter()
            .map(|trial| serde_json::to_string(trial).expect("names and finite numbers are JSON"))
            .collect();
        let text = format!("[\n{}\n]\n", lines.join(",\n"));
        outfile::replace(file, text.as_bytes())?;
    }
    let text = gains(&tuned, trials.len());
    let mut gpus = before.map_or(Vec::new(), |tuning| tuning.gpus);
    gpus.retain(|gpu| (&gpu.name, gpu.facts) != (&tuned.name, tuned.facts));
    gpus.insert(0, tuned);
    let tuning = Tuning {
        schema: TUNING_SCHEMA,
        warpfold: warpfold_lab::VERSION.to_owned(),
        date: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        gpus,
    };
    tuning::write(&path, &tuning)?;
    streams::print(format!("{text}written to {}\n", path.display()).as_bytes())
}

/// What was gained, a line a row.
fn gains(tuned: &TunedGpu, trials: usize) -> String {
    let mut out = format!("{}: {trials} launches timed\n", tuned.name);
    for row in &tuned.rows {
        let Shape { block, per_multiprocessor, vectors, alone } = row.shape;
        let _ = writeln!(
            out,
            "{:<8} {:<5} {:>8} {:>9.2} µs, by the rule {:>9.2}: {:.1} % less with {block} threads, {per_multiprocessor} blocks, {vectors} packs, {alone} alone",
            row.fold.name(),
            row.dtype,
            size(row.bytes),
            row.microseconds,
            row.rule_microseconds,
            (1.0 - row.microseconds / row.rule_microseconds) * 100.0,
        );
    }
    if tuned.rows.is_empty() {
        out.push_str("the rule's launches are the best everywhere\n");
    }
    if let Some(link) = tuned.link {
        let (gpu, cpu) = (link.gpu / 1e9, link.cpu / 1e9);
        let _ =
            writeln!(out, "host data: {gpu:.1} GB/s over the link, {cpu:.1} GB/s on the processor");
    }
    out
}
