//! [`Gathered`]: everything that a report is made from, measured here or read from files.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use warpfold::{DType, Op};
use warpfold_lab::cuda::report::Temperature;
use warpfold_ladder::found::DeviceKind;
use warpfold_ladder::replay::{self, PAPERS, Replay};
use warpfold_ladder::roofline::{self, Roofline};
use warpfold_ladder::sweep::{self, Over, Sweep};
use warpfold_ladder::{
    Case, Ladder, LadderRequest, MOST_THREADS, Runs, Setting, Stage, found, natural_data, rungs,
};

use super::args::Page;
use crate::bench::bar;
use crate::device::Device;
use crate::ladder::fits;
use crate::{Failure, stage};
use warpfold_io::system_message;

/// The layout of the file; a reader refuses others.
const SCHEMA: u32 = 1;

/// Everything that was found.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Gathered {
    /// [`SCHEMA`].
    schema: u32,
    pub(crate) ladders: Vec<Ladder>,
    pub(crate) sweeps: Vec<Sweep>,
    pub(crate) rooflines: Vec<Roofline>,
    pub(crate) replays: Vec<Replay>,
}

impl Default for Gathered {
    fn default() -> Self {
        Gathered {
            schema: SCHEMA,
            ladders: Vec::new(),
            sweeps: Vec::new(),
            rooflines: Vec::new(),
            replays: Vec::new(),
        }
    }
}

/// Threads of a block.
const BLOCK: u32 = 256;

impl Gathered {
    /// What was asked for: read, or measured.
    pub(crate) fn of(args: &Page) -> Result<Gathered, Failure> {
        if args.from.is_empty() { Gathered::measure(args) } else { Gathered::read(&args.from) }
    }

    /// Reads files, each of whatever kind it is.
    fn read(files: &[PathBuf]) -> Result<Gathered, Failure> {
        let mut all = Gathered::default();
        for file in files {
            let wrong = |why: String| Failure::Usage(format!("--from {}: {why}", file.display()));
            let text = fs::read_to_string(file).map_err(|error| wrong(system_message(&error)))?;
            all.take(&text).map_err(wrong)?;
        }
        Ok(all)
    }

    /// Takes in what one file holds.
    fn take(&mut self, text: &str) -> Result<(), String> {
        let value: Value =
            serde_json::from_str(text).map_err(|error| format!("it is no JSON: {error}"))?;
        let has = |field: &str| value.get(field).is_some();
        // What a file is, is told by what only its kind has; and the layout that this program reads.
        if has("ladders") && has("rooflines") {
            let more: Gathered = read(value, SCHEMA)?;
            self.ladders.extend(more.ladders);
            self.sweeps.extend(more.sweeps);
            self.rooflines.extend(more.rooflines);
            self.replays.extend(more.replays);
        } else if has("document") {
            let found: Replay = read(value, replay::SCHEMA)?;
            if replay::paper(&found.document).is_none() {
                return Err(format!("no document is called {:?}", found.document));
            }
            if found.ladders.is_empty() {
                return Err("it is a replay without a ladder".into());
            }
            self.replays.push(found);
        } else if has("over") {
            self.sweeps.push(read(value, sweep::SCHEMA)?);
        } else if has("adds_per_second") {
            self.rooflines.push(read(value, roofline::SCHEMA)?);
        } else if has("rungs") {
            self.ladders.push(read(value, found::SCHEMA)?);
        } else {
            return Err("it holds none of what ladder, replay, sweep, roofline and report write with --export".into());
        }
        Ok(())
    }

    /// Climbs, sweeps and replays here.
    fn measure(args: &Page) -> Result<Gathered, Failure> {
        let device = args.device.unwrap_or(Device::Auto);
        if device == Device::Cpu {
            return Err(Failure::Usage(
                "--device cpu runs no kernels, which a report is about; take --device cuda or --device simt".into(),
            ));
        }
        let setting = Setting {
            seed: 1,
            revision: std::env::var("WARPFOLD_REVISION").ok(),
            ..Setting::default()
        };
        let mut stage = stage::open(device, &setting)?;
        let simulated = stage.device().kind == DeviceKind::Simt;
        let (op, dtype) = (Op::Sum, args.dtype.unwrap_or(DType::F32));
        let n = args.n.unwrap_or(if simulated { 1 << 14 } else { 1 << 25 });
        let case = Case { op, dtype, n, block: BLOCK.min(MOST_THREADS) };
        let bytes = 2 * u128::from(n) * dtype.size() as u128;
        fits(bytes, stage.free()?, case, "with what the rungs need")?;
        let bar = bar();
        let found =
            all(stage.as_mut(), case, &setting, &mut |what| bar.set_message(what.to_owned()));
        bar.finish_and_clear();
        Ok(found?)
    }
}

/// One kind of file.
fn read<T: for<'de> Deserialize<'de>>(value: Value, schema: u32) -> Result<T, String> {
    let found = value.get("schema").and_then(Value::as_u64);
    if found != Some(schema.into()) {
        let found = found.map_or("no layout".to_owned(), |found| format!("layout {found}"));
        return Err(format!("it has {found}, and this program reads {schema}; measure again"));
    }
    serde_json::from_value(value).map_err(|error| error.to_string())
}

/// Everything.
fn all(
    stage: &mut dyn Stage,
    case: Case,
    setting: &Setting,
    progress: &mut dyn FnMut(&str),
) -> warpfold::Result<Gathered> {
    let timed = stage.device().kind == DeviceKind::Cuda;
    let request = |n: u64, names: &[&str], millis: u64| LadderRequest {
        case: Case { n, ..case },
        rungs: rungs()
            .iter()
            .filter(|rung| names.is_empty() || names.iter().any(|name| rung.name.starts_with(name)))
            .collect(),
        data: natural_data(case.op, case.dtype),
        runs: if timed {
            Runs::Within(Duration::from_millis(millis), 100)
        } else {
            Runs::Exactly(1)
        },
        temperature: Temperature::Cold,
        grid: None,
    };
    let mut found = Gathered::default();
    progress("the ladder");
    if timed {
        let roof = roofline::roofline(stage, &request(case.n, &[], 500), progress)?;
        if let Some(roof) = roof {
            found.ladders.push(roof.ladder.clone());
            found.rooflines.push(roof);
        }
    } else {
        found.ladders.push(stage.climb(&request(case.n, &[], 0), &mut ())?);
    }
    if let Some(ladder) = found.ladders.first_mut() {
        let rounds = if timed { 1 << 16 } else { 1000 };
        ladder.divergence = stage.divergence(rounds, Runs::Exactly(if timed { 100 } else { 1 }))?;
    }
    for over in Over::ALL {
        let names: &[&str] = match over {
            Over::Items => &["08", "09", "12", "13", "14", "15"],
            Over::Block => &["06", "08", "10", "12", "13", "15"],
            Over::Size | Over::Type => &["06", "08", "10", "13", "15", "library"],
        };
        let n = match (over, timed) {
            (Over::Size, true) => case.n << 3,
            (Over::Size, false) => case.n,
            (_, true) => case.n,
            (_, false) => case.n.min(1 << 13),
        };
        let mut request = request(n, names, 100);
        request.rungs.retain(|rung| rung.name != "library_exact");
        let mut step = |what: &str| progress(&format!("by {}: {what}", over.axis()));
        let temperatures = [Temperature::Cold, Temperature::Hot];
        found.sweeps.push(sweep::sweep(stage, over, &request, &temperatures, &mut step)?);
    }
    for paper in PAPERS {
        let mut step = |what: &str| progress(&format!("{}: {what}", paper.name));
        found.replays.push(replay::replay(paper, stage, setting, &mut step)?);
    }
    Ok(found)
}

/// Writes everything to a file.
pub(crate) fn export(found: &Gathered, file: &Path) -> Result<(), Failure> {
    Ok(crate::outfile::replace(file, crate::sheet::json(found).as_bytes())?)
}
