//! What the page says of one rung: idea, code, the picture of its steps, what they cost, published figures beside measured ones.

use std::fmt::Write as _;

use warpfold::DType;
use warpfold_ladder::model::{Device as Gpu, H200};
use warpfold_ladder::replay::{PAPERS, Quantity};
use warpfold_ladder::{Ladder, Rung};

use super::html::table;
use crate::explain::{Explain, Explanation, Format, Picture, escaped, explanation, picture};
use crate::sheet::Sheet;
use crate::{Failure, explain};

/// The launch that is drawn: small enough to be looked at.
const BLOCK: u32 = 64;

/// Explains a small launch of a rung; none for what has no kernel on the ladder.
fn explained(
    rung: &Rung,
    dtype: DType,
    gpu: Option<&'static Gpu>,
) -> Result<Option<Explanation>, Failure> {
    if rung.source().is_none() {
        return Ok(None);
    }
    // Bulk copies begin with a whole tile.
    let n = if rung.name.starts_with("16") { 8192 } else { 512 };
    let args = Explain {
        predict: gpu.unwrap_or(&H200),
        kernel: rung.name.to_owned(),
        expression: None,
        n,
        block: Some(BLOCK),
        op: None,
        grid: None,
        dtype: Some(dtype),
        compute: 90,
        seed: 0,
        format: Format::Html,
    };
    let mut explanation = explanation(&args)?;
    if let Some(gpu) = gpu {
        explanation.predict(gpu);
    }
    Ok(Some(explanation))
}

/// The section of a rung.
pub(super) fn section(
    rung: &Rung,
    ladder: &Ladder,
    gpu: Option<&'static Gpu>,
    open: bool,
) -> Result<String, Failure> {
    let mut out = String::new();
    let w = &mut out;
    let name = rung.name;
    let row = ladder.row(name);
    let figure = match row.and_then(|row| row.bytes_per_second.zip(row.of_peak)) {
        Some((rate, share)) => {
            format!("{:.0} GB/s, {:.0} % of the fastest reading", rate / 1e9, 100.0 * share)
        }
        None => String::new(),
    };
    let open = if open { " open" } else { "" };
    write!(w, "<details class=\"rung\" id=\"{name}\"{open}><summary><b>{name}</b><span>{figure}</span></summary>")
        .expect("strings take text");
    add(w, format!("<p>{}</p><p class=\"note\">{}</p>", escaped(rung.idea), escaped(rung.mends)));
    if let Some(obstacle) = row.and_then(|row| row.obstacle.as_ref()) {
        add(w, format!("<p class=\"remark\">{}</p>", escaped(obstacle)));
    }
    if let Some(code) = rung.source().map(|source| body(source.text)) {
        add(w, format!("<pre tabindex=\"0\"><code>{}</code></pre>", escaped(&code)));
    }
    if let Some(explanation) = explained(rung, ladder.dtype, gpu)? {
        add(w, pictured(&explanation));
    }
    add(w, beside(rung, ladder));
    if !rung.wrong.is_empty() && !rung.seeds.is_empty() {
        add(
            w,
            format!(
                "<h4>What the documents’ versions got wrong</h4><p>{}</p>",
                escaped(rung.wrong)
            ),
        );
    }
    add(w, "</details>".to_owned());
    Ok(out)
}

fn add(out: &mut String, text: String) {
    out.push_str(&text);
}

/// A source without the comment that it begins with, which is told elsewhere, and without what registers it.
fn body(text: &str) -> String {
    let kept = text.lines().skip_while(|line| line.starts_with("//"));
    kept.collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

/// The steps as a picture, and what they cost.
fn pictured(explanation: &Explanation) -> String {
    let Picture { inner, width, height } = picture(explanation);
    let mut out = format!(
        "<h4>Step by step, in the simulator</h4><p class=\"note\">{}: block {}, threads down, {} steps across.</p>\
         <div class=\"steps\" tabindex=\"0\" role=\"group\" aria-label=\"Steps of {}\"><svg viewBox=\"0 0 {width} {height}\" preserveAspectRatio=\"none\" \
         role=\"img\" aria-label=\"What each thread does in each step\">{inner}</svg></div>",
        escaped(&explanation.title()),
        explanation.shown_block,
        explanation.steps.len(),
        escaped(&explanation.kernel),
    );
    if !explanation.next.is_empty() {
        out += &format!("<p>{}</p>", escaped(&explanation.next));
    }
    out += "<ul class=\"verdicts\">";
    for verdict in &explanation.verdicts {
        let (grade, cost) = (verdict.grade.name(), escaped(verdict.cost));
        let sentence = escaped(&verdict.sentence);
        write!(out, "<li class=\"{grade}\"><b>{cost}<span>{grade}</span></b> {sentence}</li>")
            .expect("strings take text");
    }
    out + "</ul>"
}

/// Published figures, each in percent of its machine's peak, beside ours.
fn beside(rung: &Rung, ladder: &Ladder) -> String {
    let mut sheet = Sheet::new("", ["document", "calls it", "machine", "GB/s", "of its peak"]);
    for paper in PAPERS {
        for line in paper.lines.iter().filter(|line| line.does.rung() == Some(rung.name)) {
            let rates = line.figures.iter().filter(|figure| figure.quantity == Quantity::Gigabytes);
            for figure in rates {
                let share = figure.printed.value() * 1e9 / figure.machine.peak;
                sheet.line([
                    paper.name.to_owned(),
                    line.label.to_owned(),
                    figure.machine.name.to_owned(),
                    figure.printed.0.to_owned(),
                    format!("{:.1} %", 100.0 * share),
                ]);
            }
        }
    }
    if sheet.lines.is_empty() {
        return String::new();
    }
    let rate = ladder.row(rung.name).and_then(|row| row.bytes_per_second);
    if let Some(rate) = rate {
        let paper = ladder.device.paper_peak;
        let peak = paper.or(ladder.peak.as_ref().map(|peak| peak.bytes_per_second));
        sheet.line([
            "here".into(),
            rung.name.to_owned(),
            ladder.device.name.clone(),
            format!("{:.1}", rate / 1e9),
            peak.map_or_else(String::new, |peak| format!("{:.1} %", 100.0 * rate / peak)),
        ]);
    }
    format!("<h4>Published, and here</h4>{}", table(&sheet))
}

/// The kinds of work that the pictures tell apart.
pub(super) const LEGEND: &str = "<p class=\"legend\"><span class=\"compute\">arithmetic</span><span class=\"control\">branch, predicate</span>\
    <span class=\"exchange\">warp exchange</span><span class=\"shared\">shared memory</span><span class=\"global\">global memory</span>\
    <span class=\"atomic\">atomic, fence</span><span class=\"barrier\">barrier</span><span class=\"none\">not on the path</span></p>";

/// The style of pictures and grades.
pub(super) const COLORS: &str = explain::COLORS;
