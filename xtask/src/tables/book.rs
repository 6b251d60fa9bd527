//! Tables of the book: the rungs as their files' headers tell them, and what the documents published.

use warpfold_kernels::ladder::rungs;
use warpfold_lab::replay::{PAPERS, Paper, Quantity, audit};

use super::Table;

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
