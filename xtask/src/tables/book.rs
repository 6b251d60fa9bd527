//! Tables of the book: the rungs as their files' headers tell them, and what the documents published.

use std::fs;
use std::path::Path;

use warpfold_kernels::ladder::rungs;
use warpfold_lab::table::{gigabytes, percent, time};
use warpfold_ladder::replay::{Machine, PAPERS, Paper, Quantity, audit, machines};
use warpfold_ladder::{Ladder, found};

use super::Table;
use crate::Outcome;

/// Reads a climb.
pub(super) fn load(file: &Path) -> Outcome<Ladder> {
    let wrong = |error: String| format!("{}: {error}", file.display());
    let text = fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
    let ladder: Ladder = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    match ladder.schema {
        found::SCHEMA => Ok(ladder),
        other => Err(wrong(format!("layout {other}, and this program reads {}", found::SCHEMA))),
    }
}

/// A climb beside what was published, in percent of each machine's peak.
pub(super) fn measured(ladder: &Ladder) -> String {
    let all: [&Machine; 3] = [&machines::G80, &machines::RTX_3070, &machines::RTX_3090];
    let head = ["rung", "time", "GB/s", "of peak", "× before"].map(str::to_owned).into_iter();
    let mut table =
        Table::new(head.chain(all.map(|machine| format!("{}, published", machine.name))));
    let peak = ladder.device.paper_peak.or(ladder.peak.as_ref().map(|peak| peak.bytes_per_second));
    for row in ladder.rungs.iter().filter(|row| row.n == ladder.n) {
        let (Some(times), Some(rate)) = (row.time, row.bytes_per_second) else { continue };
        let mut cells = vec![
            row.name.clone(),
            time(times.median * 1e-6),
            gigabytes(rate),
            peak.map_or_else(String::new, |peak| percent(rate / peak)),
            row.speedup.map_or_else(String::new, |speedup| format!("{speedup:.2}")),
        ];
        cells.extend(all.map(|machine| share(&row.name, machine)));
        table.lines.push(cells);
    }
    let day = ladder.date.split('T').next().unwrap_or_default();
    let n = if ladder.n.is_power_of_two() {
        format!("2^{}", ladder.n.ilog2())
    } else {
        ladder.n.to_string()
    };
    format!(
        "{}, {} of {n} {} in blocks of {}, {day}:\n\n{}",
        ladder.device.name,
        ladder.op,
        ladder.dtype,
        ladder.block,
        table.markdown()
    )
}

/// The rate of a rung that was published for a machine, in percent of its peak; the oldest document's.
fn share(rung: &str, machine: &Machine) -> String {
    let lines = PAPERS.iter().rev().flat_map(|paper| paper.lines);
    let of_rung = lines.filter(|line| line.does.rung() == Some(rung));
    let mut figures = of_rung.flat_map(|line| line.figures);
    let is_it = |figure: &&warpfold_ladder::replay::Figure| {
        figure.quantity == Quantity::Gigabytes && figure.machine == machine
    };
    let found = figures.find(is_it);
    found.map_or_else(String::new, |figure| percent(figure.printed.value() * 1e9 / machine.peak))
}

/// Every rung: its idea, and who shows it.
pub(super) fn ladder() -> String {
    let mut table = Table::new(["rung", "idea", "shown by"].map(str::to_owned));
    for rung in rungs() {
        let seed = |(name, place): &(&str, String)| format!("{name} {place}").trim().to_owned();
        let seeds: Vec<String> = rung.seeds.iter().map(seed).collect();
        let seeds = if seeds.is_empty() { "nobody".to_owned() } else { seeds.join("; ") };
        let name = format!("[{0}]({0}.md)", rung.name);
        table.lines.push(vec![name, cell(&rung.idea), seeds]);
    }
    table.markdown()
}

/// Work and steps of a launch, by the formulas of the headers.
pub(super) fn formulas() -> String {
    let mut table = Table::new(["rung", "W", "S"].map(str::to_owned));
    for rung in rungs() {
        let code = |formula: String| format!("`{formula}`");
        let (work, steps) = (code(rung.work.to_string()), code(rung.steps.to_string()));
        table.lines.push(vec![rung.name.clone(), work, steps]);
    }
    table.markdown()
}

/// What each document measured, with its own figures.
pub(super) fn published() -> String {
    PAPERS.map(of_paper).join("\n")
}

fn of_paper(paper: &Paper) -> String {
    let mut out = format!("## {}: {}\n\n*{}.*\n\n", paper.name, paper.title, paper.by);
    out += &format!("{}.\n", paper.ran());
    if paper.lines.iter().any(|line| !line.figures.is_empty()) {
        let mut table =
            Table::new(["kernel", "rung", "machine", "published", "of peak"].map(str::to_owned));
        for line in paper.lines {
            let rates = line.figures.iter().filter(|f| f.quantity == Quantity::Gigabytes);
            for (k, figure) in rates.enumerate() {
                let share = figure.printed.value() * 1e9 / figure.machine.peak * 100.0;
                let first = |text: &str| if k == 0 { cell(text) } else { String::new() };
                table.lines.push(vec![
                    first(line.label),
                    first(line.does.rung().unwrap_or("")),
                    figure.machine.name.to_owned(),
                    format!("{} GB/s ({})", figure.printed.0, figure.place),
                    format!("{share:.1} %"),
                ]);
            }
        }
        out += &format!("\n{}", table.markdown());
    }
    let found = audit(paper);
    if !found.is_empty() {
        out += "\nFigures that cannot be right, and what they are when computed anew:\n\n";
        for finding in found {
            let should_be = format!("{} {}", digits(finding.should_be), finding.unit);
            out += &format!(
                "- {}, {}: {} {}; {} ({}).\n",
                finding.place,
                cell(finding.of),
                finding.printed.0,
                finding.unit,
                should_be.trim_end(),
                finding.by
            );
        }
    }
    if !paper.mistakes.is_empty() {
        out += "\nWhat is wrong in its code and its reasons:\n\n";
        for mistake in paper.mistakes {
            let [says, truth] = [mistake.says, mistake.truth].map(cell);
            out += &format!("- {}: *{says}*: {truth}.\n", cell(mistake.place));
        }
    }
    out
}

/// A number in four digits.
fn digits(value: f64) -> String {
    let decimals = (3 - value.abs().max(1e-9).log10().floor() as i32).clamp(0, 9) as usize;
    let text = format!("{value:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// Text within a table or a list: no mark of it is markup.
fn cell(text: &str) -> String {
    ["|", "*", "_", "<", ">"]
        .iter()
        .fold(text.to_owned(), |text, mark| text.replace(mark, &format!("\\{mark}")))
}
