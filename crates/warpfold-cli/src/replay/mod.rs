//! `warpfold replay`: a document's own experiment, in its own tables, its published figures beside this machine's.
//!
//! ```text
//! args -> Stage -> the lab's replay -> a document's sheets (blog | lesson | …) and what is wrong in it -> text | json | csv | markdown
//! ```

mod args;
mod beside;
mod blog;
mod guide;
mod harris;
mod lesson;
mod peers;
mod slides;
mod thesis;
mod wrong;

pub(crate) use args::Replay;
pub(crate) use beside::Beside;
use serde::Serialize;
use warpfold_ladder::Setting;
use warpfold_ladder::found::DeviceKind;
use warpfold_ladder::replay::{self as lab, Finding, Mistake};

use crate::bench::{bar, read_peers};
use crate::device::Device;
use crate::sheet::{Sheet, json};
use crate::{Failure, outfile, stage, streams};

/// Replays and prints.
pub(crate) fn replay(args: &Replay) -> Result<(), Failure> {
    let paper = args.document.paper();
    if args.device == Device::Cpu {
        return Err(Failure::Usage(
            "--device cpu runs no kernels, and documents are made of them; take --device cuda or --device simt".into(),
        ));
    }
    if let Some(file) = &args.export {
        outfile::check(file)?;
    }
    if let Some(gpu) = args.predict {
        let found = crate::predict::of_paper(paper, gpu);
        if let Some(file) = &args.export {
            outfile::replace(file, json(&found).as_bytes())?;
        }
        let title = format!("{} ({}), predicted for {}", paper.title, paper.ran(), gpu.name);
        let sheet = crate::predict::sheet_for(args.format, &found, title);
        return streams::print(args.format.print(&[sheet], &found).as_bytes());
    }
    let mut setting = Setting {
        seed: args.seed,
        revision: std::env::var("WARPFOLD_REVISION").ok(),
        peers: args.peers.as_deref().map_or(Ok(Vec::new()), read_peers)?,
    };
    let mut stage = stage::open(args.device, &setting)?;
    let bar = bar();
    let mut remarks = Vec::new();
    if paper.name == "blog" {
        bar.set_message("other libraries");
        let on_gpu = stage.device().kind == DeviceKind::Cuda;
        remarks = peers::beside(&mut setting.peers, paper.experiment.n, on_gpu);
        if on_gpu {
            stage = stage::open(args.device, &setting)?;
        }
    }
    let mut progress = |what: &str| bar.set_message(what.to_owned());
    let found = lab::replay(paper, stage.as_mut(), &setting, &mut progress);
    bar.finish_and_clear();
    let found = found?;
    let summary = Summary::of(&found);
    if let Some(file) = &args.export {
        outfile::replace(file, json(&summary).as_bytes())?;
    }
    let mut sheets = sheets(&found);
    sheets[0].below.extend(remarks);
    streams::print(args.format.print(&sheets, &summary).as_bytes())?;
    let rows = found.ladders.iter().flat_map(|ladder| &ladder.rungs);
    let wrong: Vec<&str> = rows.filter(|row| row.failed()).map(|row| &*row.name).collect();
    match wrong[..] {
        [] => Ok(()),
        _ => Err(Failure::Output {
            what: wrong.join(", "),
            reason: "the results are wrong, so they were not timed".into(),
        }),
    }
}

/// The tables of a replay, in the document's own layout, and what is wrong in it.
pub(crate) fn sheets(found: &lab::Replay) -> Vec<Sheet> {
    let beside = Beside { found, paper: found.paper() };
    let mut sheets = match found.document.as_str() {
        "blog" => blog::sheets(&beside),
        "lesson" => lesson::sheets(&beside),
        "slides" => slides::sheets(&beside),
        "thesis" => thesis::sheets(&beside),
        "guide" => guide::sheets(&beside),
        _ => harris::sheets(&beside),
    };
    beside.introduce(&mut sheets[0]);
    sheets.push(wrong::sheet(beside.paper));
    sheets.into_iter().map(Sheet::without_empty_columns).collect()
}

/// What was found, with what was published.
#[derive(Serialize)]
struct Summary<'a> {
    #[serde(flatten)]
    found: &'a lab::Replay,
    title: &'static str,
    by: &'static str,
    published: Vec<Published>,
    /// Published figures that cannot be right.
    errors: Vec<Finding>,
    /// Code and statements that are wrong.
    mistakes: &'static [Mistake],
}

/// A published figure.
#[derive(Serialize)]
struct Published {
    line: &'static str,
    rung: Option<&'static str>,
    machine: &'static str,
    /// Bytes per second that the machine's memory moves at most.
    peak: f64,
    quantity: lab::Quantity,
    /// As printed.
    printed: lab::Printed,
    place: &'static str,
}

impl Summary<'_> {
    fn of(found: &lab::Replay) -> Summary<'_> {
        let paper = found.paper();
        let figures = paper.lines.iter().flat_map(|line| {
            line.figures.iter().map(|figure| Published {
                line: line.label,
                rung: line.does.rung(),
                machine: figure.machine.name,
                peak: figure.machine.peak,
                quantity: figure.quantity,
                printed: figure.printed,
                place: figure.place,
            })
        });
        Summary {
            found,
            title: paper.title,
            by: paper.by,
            published: figures.collect(),
            errors: lab::audit(paper),
            mistakes: paper.mistakes,
        }
    }
}
