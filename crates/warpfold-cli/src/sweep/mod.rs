//! `warpfold sweep`: rungs over many blocks, sizes, types, or elements a thread, as tables and charts.
//!
//! ```text
//! args -> Stage -> the lab's sweep -> sheets (text | json | csv | markdown), files (json | csv | svg)
//! ```

mod args;
mod charts;
mod sheets;

use std::time::Duration;

pub(crate) use args::Sweep;
use args::{Export, ExportFormat};
pub(crate) use charts::charts;
pub(crate) use sheets::sheets;
use warpfold_lab::cuda::report::Temperature;
use warpfold_ladder::found::DeviceKind;
use warpfold_ladder::model::Device as Gpu;
use warpfold_ladder::sweep::{self as lab, Over};
use warpfold_ladder::{
    Case, LadderRequest, MOST_THREADS, Rung, Runs, Setting, defined, find, natural_data,
};

use crate::args::block::whole_warps;
use crate::bench::bar;
use crate::chart::Chart;
use crate::ladder::fits;
use crate::predict::Scenario;
use crate::sheet::{Format, Sheet, json};
use crate::{Failure, outfile, stage, streams};

/// Sweeps, prints and writes.
pub(crate) fn sweep(args: &Sweep) -> Result<(), Failure> {
    let over = Over::from(args.over);
    defined(args.op, args.dtype).map_err(Failure::Usage)?;
    whole_warps(args.block, MOST_THREADS, "a block")?;
    for Export { path, .. } in &args.export {
        outfile::check(path)?;
    }
    if let Some(gpu) = args.predict {
        return predict(args, over, gpu);
    }
    let setting = Setting {
        seed: args.seed,
        revision: std::env::var("WARPFOLD_REVISION").ok(),
        ..Setting::default()
    };
    let mut stage = stage::open(args.device, &setting)?;
    let kind = stage.device().kind;
    let case = Case {
        op: args.op,
        dtype: args.dtype,
        n: args.n.unwrap_or(default_n(over, kind)),
        block: args.block,
    };
    fits(largest(over, case), stage.free()?, case, "with what the rungs need")?;
    let request = LadderRequest {
        case,
        rungs: if args.rungs.is_empty() { some_rungs(over, kind) } else { args.rungs.clone() },
        data: natural_data(args.op, args.dtype),
        runs: args.runs.map_or(Runs::Within(Duration::from_millis(200), 100), Runs::Exactly),
        temperature: args.temperatures()[0],
        grid: None,
    };
    let bar = bar();
    let mut progress = |what: &str| bar.set_message(what.to_owned());
    let found = lab::sweep(stage.as_mut(), over, &request, &args.temperatures(), &mut progress);
    bar.finish_and_clear();
    let found = found?;
    for Export { path, kind } in &args.export {
        let text = match kind {
            ExportFormat::Json => json(&found),
            ExportFormat::Csv => Format::Csv.print(&tidy(&found), &found),
            ExportFormat::Svg => Chart::stacked(&charts(&found)),
        };
        outfile::replace(path, text.as_bytes())?;
    }
    let sheets = if args.format == Format::Csv { tidy(&found) } else { sheets(&found) };
    streams::print(args.format.print(&sheets, &found).as_bytes())?;
    let wrong = found.points.iter().filter(|point| point.verified == Some(false)).count();
    match wrong {
        0 => Ok(()),
        wrong => Err(Failure::Output {
            what: format!("{wrong} places of the sweep"),
            reason: "their results are wrong, so they were not timed".into(),
        }),
    }
}

/// Predicts each place of a sweep, and prints.
fn predict(args: &Sweep, over: Over, gpu: &'static Gpu) -> Result<(), Failure> {
    let kind = DeviceKind::Cuda;
    let case = Case {
        op: args.op,
        dtype: args.dtype,
        n: args.n.unwrap_or(default_n(over, kind)),
        block: args.block,
    };
    let rungs = if args.rungs.is_empty() { some_rungs(over, kind) } else { args.rungs.clone() };
    let scenarios = predicted_places(over, case, &rungs, &args.temperatures(), gpu);
    let found = crate::predict::predicted(gpu, &scenarios);
    let title = format!("{} by {}, predicted for {}", args.op, over.axis(), gpu.name);
    let sheet = crate::predict::sheet_for(args.format, &found, title);
    streams::print(args.format.print(&[sheet], &found).as_bytes())
}

/// What a sweep predicts on a GPU: every rung at every place of it, from cold arrays and, where its cache holds them, hot ones.
pub(crate) fn predicted_places(
    over: Over,
    case: Case,
    rungs: &[&'static Rung],
    temperatures: &[Temperature],
    gpu: &Gpu,
) -> Vec<Scenario> {
    let places_of = |rung: &&'static Rung| -> Vec<Scenario> {
        match lab::cases(over, case, DeviceKind::Cuda) {
            Some(cases) => cases.into_iter().map(|case| Scenario::cold(rung, case)).collect(),
            None if lab::strides(rung) => {
                let of = |grid| Scenario { grid: Some(grid), ..Scenario::cold(rung, case) };
                lab::grids(case).into_iter().map(of).collect()
            }
            None => vec![Scenario::cold(rung, case)],
        }
    };
    let mut all = Vec::new();
    for rung in rungs {
        for &temperature in temperatures {
            let bytes = |case: &Case| case.n.saturating_mul(case.dtype.size() as u64);
            // A hot array is one that the cache holds.
            let fits = |scenario: &Scenario| {
                temperature == Temperature::Cold || bytes(&scenario.case) <= gpu.l2
            };
            let scenarios = places_of(rung).into_iter().filter(fits);
            all.extend(scenarios.map(|scenario| Scenario { temperature, ..scenario }));
        }
    }
    all
}

/// One table that programs can read.
fn tidy(found: &lab::Sweep) -> Vec<Sheet> {
    vec![sheets::tidy(found)]
}

/// Elements, unless told: what a GPU reads in well under a millisecond, what the simulator runs in a second.
fn default_n(over: Over, kind: DeviceKind) -> u64 {
    match (kind, over) {
        (DeviceKind::Simt, Over::Size) => 1 << 16,
        (DeviceKind::Simt, _) => 1 << 13,
        (_, Over::Size) => 1 << 28,
        _ => 1 << 25,
    }
}

/// Bytes of the largest array, and about as much besides: rungs in global memory work in a copy.
fn largest(over: Over, case: Case) -> u128 {
    let size = if over == Over::Type { 16 } else { case.dtype.size() };
    2 * u128::from(case.n) * size as u128
}

/// Rungs that differ in what is swept over.
fn some_rungs(over: Over, kind: DeviceKind) -> Vec<&'static Rung> {
    let names: &[&str] = match (kind, over) {
        (DeviceKind::Cpu, _) => &["host_serial", "host_tree", "library", "library_exact"],
        (_, Over::Items) => &["08", "09", "12", "13", "14", "15"],
        (_, Over::Block) => &["06", "08", "10", "12", "13", "15"],
        _ => &["06", "08", "10", "12", "13", "15", "library"],
    };
    names.iter().map(|name| find(name).expect("a rung")).collect()
}
