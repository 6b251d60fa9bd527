//! An explanation as one page that needs nothing else: figures, sources and the grid are in it as they are; the script moves through the
//! steps and draws what each one touches.

use std::fmt::Write as _;

use serde::Serialize;

use warpfold_ladder::model::Device;

use super::explanation::Explanation;
use super::roof::Roof;
use super::source::Cost;
use super::steps::Step;
use super::text::events;

/// The page around what is told.
const PAGE: &str = include_str!("page.html");

/// Colours that every page has.
pub(crate) const COLORS: &str = include_str!("colors.css");

/// Pixels that a step is wide.
const STEP: usize = 7;

/// The page.
pub(crate) fn render(explanation: &Explanation, device: &'static Device) -> String {
    let roof = explanation.timed.map(|timed| Roof::new(&timed, explanation.block, device));
    let parts: [(&str, String); 9] = [
        ("style", [COLORS, include_str!("page.css"), include_str!("roof.css")].concat()),
        ("script", [include_str!("page.js"), include_str!("roof.js")].concat()),
        ("roof", roof.map_or_else(String::new, |roof| roof.section(&explanation.next))),
        ("title", escaped(&explanation.title())),
        ("subtitle", subtitle(explanation)),
        ("verdicts", verdicts(explanation)),
        ("grid", grid(explanation)),
        ("sources", sources(explanation)),
        ("data", data(explanation)),
    ];
    let mut out = String::new();
    let mut rest = PAGE;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").expect("the page closes what it opens");
        let (_, text) = parts.iter().find(|(part, _)| *part == name).expect("a part of the page");
        out += before;
        out += text;
        rest = after;
    }
    out + rest
}

fn subtitle(explanation: &Explanation) -> String {
    let note =
        if explanation.note.is_empty() { String::new() } else { format!("{} ", explanation.note) };
    escaped(&format!(
        "{note}Module {}, schedule {}. Counts are of the whole launch, the steps those of block {}, which does most.",
        explanation.module, explanation.seed, explanation.shown_block
    ))
}

fn verdicts(explanation: &Explanation) -> String {
    let mut out = String::new();
    for verdict in &explanation.verdicts {
        let (grade, cost) = (verdict.grade.name(), escaped(verdict.cost));
        let sentence = escaped(&verdict.sentence);
        write!(out, "<li class=\"{grade}\"><b>{cost}<span>{grade}</span></b> {sentence}</li>")
            .expect("strings take text");
    }
    out
}

/// The kinds of work that the grid tells apart.
fn kind(class: &str) -> &'static str {
    match class {
        "global load" | "global store" | "bulk copy" => "global",
        "shared load" | "shared store" => "shared",
        "atomic" | "fence" | "mbarrier" => "atomic",
        "block barrier" => "barrier",
        "warp exchange" | "warp barrier" => "exchange",
        "control" | "predicate" => "control",
        _ => "compute",
    }
}

/// Threads down, steps across: what each thread does in each step.
fn grid(explanation: &Explanation) -> String {
    let Picture { inner, width, height } = picture(explanation);
    format!(
        "<svg id=\"grid\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-label=\"Threads down, steps across\" data-step=\"{STEP}\">{inner}\
         <rect id=\"cursor\" x=\"0\" y=\"0\" width=\"{STEP}\" height=\"{height}\"/></svg>"
    )
}

/// What is drawn of the steps, without the element around.
pub(crate) struct Picture {
    pub(crate) inner: String,
    pub(crate) width: usize,
    pub(crate) height: usize,
}

/// Draws the steps: paths whose classes are the kinds of work; `off` is what a guard held back.
pub(crate) fn picture(explanation: &Explanation) -> Picture {
    let threads = explanation.block as usize;
    let row = (320 / threads.max(1)).clamp(1, 8);
    let (width, height) = (STEP * explanation.steps.len(), row * threads);
    let mut inner = String::new();
    let mut add = |text: String| inner += &text;
    let kinds = ["compute", "control", "exchange", "shared", "global", "atomic", "barrier"];
    for kind_ in kinds {
        for (layer, lanes) in [("", true), (" off", false)] {
            let mut path = String::new();
            for (x, step) in
                explanation.steps.iter().enumerate().filter(|(_, s)| kind(s.class) == kind_)
            {
                for part in &step.warps {
                    let mask = if lanes { part.on } else { part.active & !part.on };
                    let first = part.warp as usize * 32;
                    for (start, length) in runs(mask) {
                        let y = row * (first + start);
                        write!(
                            path,
                            "M{} {y}h{}v{}h-{}z",
                            STEP * x,
                            STEP - 1,
                            row * length,
                            STEP - 1
                        )
                        .expect("strings take text");
                    }
                }
            }
            if !path.is_empty() {
                add(format!("<path class=\"{kind_}{layer}\" d=\"{path}\"/>"));
            }
        }
    }
    for warp in 1..threads.div_ceil(32) {
        let y = 32 * row * warp;
        add(format!("<path class=\"warp\" d=\"M0 {y}h{width}\"/>"));
    }
    let ends =
        explanation.steps.windows(2).enumerate().filter(|(_, pair)| pair[0].phase != pair[1].phase);
    for (x, _) in ends {
        add(format!("<path class=\"phase\" d=\"M{} 0v{height}\"/>", STEP * (x + 1)));
    }
    Picture { inner, width, height }
}

/// Stretches of ones: where they start, and how long they are.
fn runs(mut mask: u32) -> Vec<(usize, usize)> {
    let mut runs = Vec::new();
    while mask != 0 {
        let start = mask.trailing_zeros();
        let length = (mask >> start).trailing_ones();
        runs.push((start as usize, length as usize));
        let end = start + length;
        mask = if end == 32 { 0 } else { mask >> end << end };
    }
    runs
}

fn sources(explanation: &Explanation) -> String {
    let mut out = String::new();
    let w = &mut out;
    for (index, file) in explanation.files.iter().enumerate() {
        let name = escaped(&file.name);
        write!(w, "<h3>{name}</h3><div class=\"source\"><table><thead><tr><th>instr.</th><th>lanes</th><th></th><th>source</th></tr></thead><tbody>")
            .expect("strings take text");
        let mut last = None;
        for line in &file.lines {
            if last.is_some_and(|last| line.number > last + 1) {
                *w += "<tr class=\"gap\"><td></td><td></td><td>⋮</td><td></td></tr>";
            }
            last = Some(line.number);
            let (count, lanes, remarks) = line.cost.as_ref().map_or_else(Default::default, shown);
            let remarks = if remarks.is_empty() { remarks } else { format!("<i>{remarks}</i>") };
            let text = escaped(line.text.trim_end());
            write!(
                w,
                "<tr id=\"s{index}-{}\"><td>{count}</td><td>{lanes}</td><td>{}</td><td><code>{text}</code>{remarks}</td></tr>",
                line.number, line.number
            )
            .expect("strings take text");
        }
        *w += "</tbody></table></div>";
    }
    out
}

fn shown(cost: &Cost) -> (String, String, String) {
    let lanes = format!("{:.0} %", 100.0 * cost.efficiency());
    (cost.warp_instructions.to_string(), lanes, escaped(&cost.remarks()))
}

/// What the script needs.
#[derive(Serialize)]
struct Data<'a> {
    block: u64,
    /// The PTX of each instruction, its source line's place in the page, and its PTX line.
    code: Vec<(&'a str, Option<String>, u32)>,
    steps: Vec<StepView<'a>>,
}

#[derive(Serialize)]
struct StepView<'a> {
    #[serde(flatten)]
    step: &'a Step,
    /// In words.
    events: String,
}

fn data(explanation: &Explanation) -> String {
    let code = explanation.instructions.iter().map(|instruction| {
        let source = instruction.source.map(|(file, line)| format!("s{file}-{line}"));
        (instruction.text.as_str(), source, instruction.line)
    });
    let steps = explanation
        .steps
        .iter()
        .map(|step| StepView { step, events: events(std::slice::from_ref(step)) });
    let data = Data { block: explanation.block, code: code.collect(), steps: steps.collect() };
    // No text may end the script element early.
    serde_json::to_string(&data).expect("plain values are JSON").replace('<', "\\u003c")
}

/// Text as it stands in markup.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_of_ones() {
        assert_eq!(runs(0), []);
        assert_eq!(runs(u32::MAX), [(0, 32)]);
        assert_eq!(runs(0x8000_0005), [(0, 1), (2, 1), (31, 1)]);
        assert_eq!(runs(0xffff_0000), [(16, 16)]);
    }
}
