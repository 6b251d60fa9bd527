//! The page: one file that needs nothing else.

use std::fmt::Write as _;

use warpfold_lab::cuda::report::Temperature;
use warpfold_ladder::found::DeviceKind;
use warpfold_ladder::model::Device as Gpu;
use warpfold_ladder::replay::{PAPERS, Quantity, machines};
use warpfold_ladder::{Case, Ladder, LadderRequest, Runs, Simulated, Stage as _, rungs};

use super::gains::{Fate, gains};
use super::gather::Gathered;
use super::predicted;
use super::rung;
use crate::chart::{self, Axis, Bars, Chart, Row as BarRow, Scale};
use crate::explain::escaped;
use crate::sheet::Sheet;
use crate::{Failure, ladder, replay, roofline, sweep};

/// The page around what is told.
const PAGE: &str = include_str!("page.html");

/// Elements of the climb in the simulator that the reasons come from.
const COUNTED: u64 = 1 << 14;

/// The page.
pub(super) fn render(found: &Gathered, gpu: Option<&'static Gpu>) -> Result<String, Failure> {
    let main =
        found.ladders.first().or_else(|| found.replays.first().map(|replay| &replay.ladders[0]));
    let counted = main.map(counted).transpose()?;
    let sections: Vec<(&str, &str, String)> = [
        ("ladder", "The ladder", found.ladders.iter().map(ladder_section).collect::<String>()),
        (
            "predicted",
            "Predicted times",
            gpu.map_or_else(String::new, |gpu| predicted::section(found, main, gpu)),
        ),
        (
            "gains",
            "What became of the gains",
            main.zip(counted.as_ref()).map_or_else(String::new, |(l, c)| gains_section(l, c)),
        ),
        (
            "roofline",
            "The roofline",
            found.rooflines.iter().map(|roof| sheet(&roofline::sheet(roof))).collect(),
        ),
        ("sweeps", "Sweeps", sweeps_section(found)),
        (
            "rungs",
            "Rung by rung",
            main.map(|main| rungs_section(main, gpu)).transpose()?.unwrap_or_default(),
        ),
        ("complexity", "Work and steps", counted.as_ref().map_or_else(String::new, complexity)),
        ("replays", "The documents, replayed", replays_section(found)),
    ]
    .into_iter()
    .filter(|(_, _, text)| !text.is_empty())
    .collect();
    let mut body = String::new();
    let mut contents = String::new();
    for (id, title, text) in &sections {
        write!(contents, "<a href=\"#{id}\">{title}</a>").expect("strings take text");
        write!(
            body,
            "<section aria-labelledby=\"{id}\"><h2 id=\"{id}\">{title}</h2>{text}</section>"
        )
        .expect("strings take text");
    }
    let parts = [
        ("style", [rung::COLORS, include_str!("page.css"), &chart::style()].concat()),
        ("script", include_str!("page.js").to_owned()),
        ("machine", machine(found, main, gpu)),
        ("contents", contents),
        ("body", body),
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
    Ok(out + rest)
}

/// Where and when.
fn machine(found: &Gathered, main: Option<&Ladder>, gpu: Option<&'static Gpu>) -> String {
    let Some(main) = main else { return "<p>There is nothing to report.</p>".into() };
    let mut out = String::new();
    let mut fact = |name: &str, value: String| {
        write!(out, "<div><dt>{name}</dt><dd>{}</dd></div>", escaped(&value))
            .expect("strings take text");
    };
    fact("device", main.device.name.clone());
    if let Some(count) = main.device.multiprocessors {
        fact("multiprocessors", count.to_string());
    }
    if let Some(clock) = main.device.clock {
        fact("clock up to", format!("{clock} MHz"));
    }
    if let Some(peak) = main.device.paper_peak {
        fact("memory, by width and clock", format!("{:.0} GB/s", peak / 1e9));
    }
    if let Some(peak) = &main.peak {
        fact("fastest reading", format!("{:.0} GB/s", peak.bytes_per_second / 1e9));
    }
    if let Some(launch) = found.rooflines.first().and_then(|roof| roof.launch) {
        fact("a launch", format!("{launch:.2} µs"));
    }
    fact("date", main.date.replace('T', " ").replace('Z', " UTC"));
    let revision = main.revision.as_deref().map_or(String::new(), |r| format!(" ({r})"));
    fact("warpfold", format!("{}{revision}", main.warpfold));
    let out = format!("<dl>{out}</dl>");
    match main.device.kind {
        DeviceKind::Simt => {
            let time = match gpu {
                Some(gpu) => format!("<a href=\"#predicted\">How long they would take on the {}</a> is predicted from counts.", gpu.name),
                None => "Nothing is timed; <code>--predict rtx3090</code> predicts from counts how long they take on such a GPU.".into(),
            };
            format!(
                "<p class=\"remark\">No GPU took part: kernels ran in a simulator, which counts what they do. {time}</p>{out}"
            )
        }
        _ => out,
    }
}

/// A ladder's table and chart.
fn ladder_section(found: &Ladder) -> String {
    let linked = |cell: &str| match rungs().iter().any(|rung| rung.name == cell) {
        true => format!("<a href=\"#{cell}\">{cell}</a>"),
        false => escaped(cell),
    };
    let charts: String =
        [share_chart(found), cost_chart(found)].into_iter().flatten().map(|c| figure(&c)).collect();
    let sheets = ladder::sheets(found);
    let tables: String = sheets.iter().map(|sheet| sheet_with(sheet, &linked)).collect();
    format!("{tables}<div class=\"charts\">{charts}</div>")
}

/// Percent of each machine's peak: here, and as published.
fn share_chart(found: &Ladder) -> Option<Chart> {
    let peak = found.device.paper_peak.or(found.peak.as_ref().map(|peak| peak.bytes_per_second))?;
    let all = [&machines::G80, &machines::RTX_3070, &machines::RTX_3090];
    let published = |rung: &str, machine| {
        let lines = PAPERS.iter().rev().flat_map(|paper| paper.lines);
        let of_rung = lines.filter(|line| line.does.rung() == Some(rung));
        let mut figures = of_rung.flat_map(|line| line.figures);
        let is_it = |f: &&warpfold_ladder::replay::Figure| {
            f.quantity == Quantity::Gigabytes && std::ptr::eq(f.machine, machine)
        };
        figures
            .find(is_it)
            .map(|figure| (figure.printed.value() * 1e9 / figure.machine.peak * 100.0, None))
    };
    let rows = found.rungs.iter().filter(|row| row.n == found.n && !row.name.starts_with("host"));
    let row = |row: &warpfold_ladder::Row| {
        let rate = row.bytes_per_second?;
        let error = row.time.map(|time| time.standard_error / time.median);
        let share = rate / peak * 100.0;
        let ends = error.map(|error| [share * (1.0 - error), share * (1.0 + error)]);
        let mut bars = vec![Some((share, ends))];
        bars.extend(all.map(|machine| published(&row.name, machine)));
        Some(BarRow { name: row.name.clone(), bars })
    };
    let names = ["here".to_owned()].into_iter();
    Some(Chart::Bars(Bars {
        title: "Percent of each machine’s peak".into(),
        note: format!("{}, and as published", found.device.name),
        value: Axis { label: "% of peak".into(), scale: Scale::Linear },
        series: names.chain(all.map(|machine| format!("{}, published", machine.name))).collect(),
        rows: rows.filter_map(row).collect(),
    }))
}

/// Where nothing is timed: what is counted.
fn cost_chart(found: &Ladder) -> Option<Chart> {
    let rows = found.rungs.iter().filter(|row| row.n == found.n);
    let row = |row: &warpfold_ladder::Row| {
        let count = *row.counts.as_ref()?.get("warp_instructions")? as f64;
        let slots = 32.0 * count / row.n.max(1) as f64;
        Some(BarRow { name: row.name.clone(), bars: vec![Some((slots, None))] })
    };
    let rows: Vec<BarRow> = rows.filter_map(row).collect();
    (!rows.is_empty()).then(|| {
        Chart::Bars(Bars {
            title: "Lane slots of instructions for each element".into(),
            note: found.device.name.clone(),
            value: Axis { label: "lane slots".into(), scale: Scale::Linear },
            series: vec!["here".into()],
            rows,
        })
    })
}

/// The same rungs in the simulator, where they can be counted.
fn counted(main: &Ladder) -> Result<Ladder, Failure> {
    let request = LadderRequest {
        case: Case { n: COUNTED, ..main.case() },
        rungs: rungs().iter().filter(|rung| main.row(rung.name).is_some()).collect(),
        data: main.data,
        runs: Runs::Exactly(1),
        temperature: Temperature::Cold,
        grid: None,
    };
    Ok(Simulated::default().climb(&request, &mut ())?)
}

fn gains_section(main: &Ladder, counted: &Ladder) -> String {
    let gains = gains(main, counted);
    if gains.is_empty() {
        return String::new();
    }
    let timed = gains.iter().any(|gain| gain.here.is_some());
    let note = match timed {
        true => {
            "A published gain is “gone” if less than a quarter of it is left, “smaller” if less than seven tenths."
        }
        false => {
            "Nothing is timed here, so what a step gains is not measured; what it changes is counted."
        }
    };
    let mut out = format!("<p class=\"note\">{note}</p><ol class=\"gains\">");
    for gain in gains {
        let mut figures: Vec<String> = gain
            .published
            .iter()
            .map(|(machine, gain)| format!("<span>{machine} {gain:.2}×</span>"))
            .collect();
        figures
            .extend(gain.here.map(|gain| format!("<span class=\"here\">here {gain:.2}×</span>")));
        if gain.fate != Fate::Unknown {
            let name = gain.fate.name();
            figures.push(format!("<span class=\"fate {name}\">{name}</span>"));
        }
        let [from, to] = [&gain.from, &gain.to];
        write!(
            out,
            "<li><h3><a href=\"#{from}\">{from}</a> → <a href=\"#{to}\">{to}</a></h3><p class=\"figures\">{}</p><p>{}</p></li>",
            figures.concat(),
            escaped(&gain.why)
        )
        .expect("strings take text");
    }
    out + "</ol>"
}

fn sweeps_section(found: &Gathered) -> String {
    let mut out = String::new();
    let charts: String = found.sweeps.iter().flat_map(sweep::charts).map(|c| figure(&c)).collect();
    if !charts.is_empty() {
        write!(out, "<div class=\"charts\">{charts}</div>").expect("strings take text");
    }
    for found in &found.sweeps {
        let sheets = sweep::sheets(found);
        let Some(first) = sheets.first() else { continue };
        let inner: String = sheets.iter().map(sheet).collect();
        write!(
            out,
            "<details><summary><b>table</b><span>{}</span></summary>{inner}</details>",
            escaped(&first.title)
        )
        .expect("strings take text");
    }
    out
}

fn rungs_section(main: &Ladder, gpu: Option<&'static Gpu>) -> Result<String, Failure> {
    let mut out = rung::LEGEND.to_owned();
    let there = rungs().iter().filter(|rung| main.row(rung.name).is_some());
    for (number, rung) in there.enumerate() {
        out += &rung::section(rung, main, gpu, number == 0)?;
    }
    Ok(out)
}

/// Work and steps: formulas of a launch, and what was counted.
fn complexity(counted: &Ladder) -> String {
    let mut sheet = Sheet::new(
        "",
        [
            "rung",
            "W of a launch",
            "S of a launch",
            "W",
            "S",
            "W counted",
            "S counted",
            "W/S",
            "W/P + S",
        ],
    );
    for row in &counted.rungs {
        let Some(found) = &row.complexity else { continue };
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        let count = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
        sheet.line([
            row.name.clone(),
            found.work_formula.clone().unwrap_or_default(),
            found.steps_formula.clone().unwrap_or_default(),
            number(found.work),
            number(found.steps),
            count(found.work_counted),
            count(found.steps_counted),
            format!("{:.1}", found.parallelism),
            format!("{:.1}", found.brent),
        ]);
    }
    let note = format!(
        "In the simulator, over {} elements in blocks of {}; all launches together. P is {}, the lanes that work at once (1 for the host’s loops); W/P + S \
         is Brent’s bound. n elements, G blocks, B threads of a block, V elements in 16 bytes, lg the logarithm to base two, rounded up.",
        counted.n, counted.block, counted.device.processors
    );
    format!("<p class=\"note\">{note}</p>{}", table(&sheet))
}

fn replays_section(found: &Gathered) -> String {
    let mut out = String::new();
    for found in &found.replays {
        let charts: String =
            found.sweeps.iter().flat_map(sweep::charts).map(|c| figure(&c)).collect();
        let charts = if charts.is_empty() {
            charts
        } else {
            format!("<div class=\"charts\">{charts}</div>")
        };
        let sheets: String = replay::sheets(found).iter().map(sheet).collect();
        let (name, title) = (&found.document, escaped(found.paper().title));
        write!(
            out,
            "<details class=\"replay\" id=\"{name}\"><summary><b>{name}</b><span>{title}</span></summary>{charts}{sheets}</details>"
        )
        .expect("strings take text");
    }
    out
}

fn figure(chart: &Chart) -> String {
    format!("<figure>{}</figure>", chart.embedded())
}

/// A sheet with its title and remarks.
pub(super) fn sheet(sheet: &Sheet) -> String {
    sheet_with(sheet, &escaped)
}

fn sheet_with(sheet: &Sheet, cell: &dyn Fn(&str) -> String) -> String {
    let mut out = format!("<h3>{}</h3>", escaped(&sheet.title));
    for paragraph in &sheet.above {
        let text = escaped(paragraph);
        let text = if text.contains('\n') {
            format!("<pre tabindex=\"0\">{text}</pre>")
        } else {
            format!("<p class=\"note\">{text}</p>")
        };
        out += &text;
    }
    out += &table_with(sheet, cell);
    if !sheet.below.is_empty() {
        let items: String =
            sheet.below.iter().map(|remark| format!("<li>{}</li>", escaped(remark))).collect();
        write!(out, "<ul class=\"remarks\">{items}</ul>").expect("strings take text");
    }
    out
}

/// A table alone.
pub(super) fn table(sheet: &Sheet) -> String {
    table_with(sheet, &escaped)
}

fn table_with(sheet: &Sheet, cell: &dyn Fn(&str) -> String) -> String {
    if sheet.lines.is_empty() {
        return String::new();
    }
    let class = |column: usize| if sheet.is_text(column) { " class=\"words\"" } else { "" };
    let mut out = String::from("<div class=\"table\" tabindex=\"0\"><table><thead><tr>");
    for (column, title) in sheet.head.iter().enumerate() {
        write!(out, "<th scope=\"col\"{}>{}</th>", class(column), escaped(title))
            .expect("strings take text");
    }
    out += "</tr></thead><tbody>";
    for line in &sheet.lines {
        out += "<tr>";
        for (column, text) in line.iter().enumerate() {
            match column {
                0 => write!(out, "<th scope=\"row\">{}</th>", cell(text)),
                _ => write!(out, "<td{}>{}</td>", class(column), cell(text)),
            }
            .expect("strings take text");
        }
        out += "</tr>";
    }
    out + "</tbody></table></div>"
}
