//! Predicted times as tables, for `--predict DEVICE` of ladder, sweep, replay, explain and report.

use serde::Serialize;
use warpfold_lab::cuda::report::Temperature;
use warpfold_ladder::model::{Device, ERROR, Limit, Prediction, against, published};
use warpfold_ladder::replay::Paper;
use warpfold_ladder::{Case, Rung, Way};

use crate::sheet::{Format, Sheet};

/// The device of a name, for the command line.
pub(crate) fn device(name: &str) -> Result<&'static Device, String> {
    Device::find(name)
}

/// What is to be predicted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scenario {
    pub(crate) rung: &'static Rung,
    pub(crate) case: Case,
    pub(crate) temperature: Temperature,
    /// Blocks of the first launch, where they are not as many as the rung takes.
    pub(crate) grid: Option<u32>,
    /// Microseconds that were measured on the same kind of GPU.
    pub(crate) measured: Option<f64>,
}

impl Scenario {
    /// A rung as it is, over an array that no cache holds.
    pub(crate) fn cold(rung: &'static Rung, case: Case) -> Scenario {
        Scenario { rung, case, temperature: Temperature::Cold, grid: None, measured: None }
    }
}

/// One predicted time, for programs.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Row {
    rung: String,
    n: u64,
    dtype: &'static str,
    block: u32,
    /// Elements of a thread of the first launch.
    items: Option<u64>,
    /// Whether the cache holds the array.
    hot: bool,
    pub(crate) microseconds: Option<f64>,
    gigabytes_per_second: Option<f64>,
    binding: Option<&'static str>,
    /// The part of the time that each limit would take alone.
    pub(crate) shares: Vec<(&'static str, f64)>,
    /// Microseconds that were measured on such a GPU.
    measured: Option<f64>,
    /// Microseconds that a document published.
    pub(crate) published: Option<f64>,
    obstacle: Option<String>,
}

/// What is predicted, for programs.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Predicted {
    device: &'static str,
    /// The model's median and worst error over the rungs that were measured on an H200, in percent.
    error: [f64; 2],
    pub(crate) rows: Vec<Row>,
}

/// Predicts rungs, each over a case of its own.
pub(crate) fn predicted(device: &'static Device, scenarios: &[Scenario]) -> Predicted {
    let row = |scenario: &Scenario| {
        let Scenario { rung, case, temperature, grid, measured } = *scenario;
        let found = against(rung, case, device, temperature, grid);
        let n = rung.folds(case.n);
        Row {
            hot: temperature == Temperature::Hot,
            measured,
            // A document's array came from memory, and its grid was its own.
            published: published(device, rung, case).filter(|_| grid.is_none()),
            ..Row::new(rung.name, Case { n, ..case }, found)
        }
    };
    let kernels = scenarios.iter().filter(|scenario| !matches!(scenario.rung.way, Way::Host(_)));
    Predicted { device: device.name, error: ERROR, rows: kernels.map(row).collect() }
}

/// One prediction that has been made.
pub(crate) fn one(device: &'static Device, row: Row) -> Predicted {
    Predicted { device: device.name, error: ERROR, rows: vec![row] }
}

impl Row {
    /// A prediction of a kernel, or why there is none.
    pub(crate) fn new(name: &str, case: Case, found: Result<Prediction, String>) -> Row {
        let (prediction, obstacle) = match found {
            Ok(prediction) => (Some(prediction), None),
            Err(why) => (None, Some(why)),
        };
        let shares = |p: &Prediction| Limit::ALL.map(|l| (l.name(), p.share(l))).to_vec();
        Row {
            rung: name.to_owned(),
            n: case.n,
            dtype: case.dtype.name(),
            block: case.block,
            items: prediction.as_ref().map(|p| p.items),
            hot: false,
            microseconds: prediction.as_ref().map(|p| p.microseconds),
            gigabytes_per_second: prediction.as_ref().map(|p| p.gigabytes),
            binding: prediction.as_ref().map(|p| p.binding().name()),
            shares: prediction.as_ref().map_or_else(Vec::new, shares),
            measured: None,
            published: None,
            obstacle,
        }
    }
}

fn size(n: u64) -> String {
    if n.is_power_of_two() { format!("2^{}", n.ilog2()) } else { n.to_string() }
}

fn cell(value: Option<f64>) -> String {
    value.map_or_else(
        String::new,
        |x| if x < 1000.0 { format!("{x:.1}") } else { format!("{x:.0}") },
    )
}

/// The binding limit and the one after it, each with the part of the time that it would take alone: `memory 92 %`.
fn longest(row: &Row) -> [String; 2] {
    let mut shares = row.shares.clone();
    shares.sort_by(|(a, x), (b, y)| {
        let binds = |name| row.binding == Some(name);
        binds(*b).cmp(&binds(*a)).then(y.total_cmp(x))
    });
    let mut longest = shares.iter().map(|(name, share)| format!("{name} {:.0} %", 100.0 * share));
    [(); 2].map(|()| longest.next().unwrap_or_default())
}

/// A table of predictions, with the two limits that would take most of the time if they were alone; JSON has all of them.
pub(crate) fn sheet(found: &Predicted, title: String) -> Sheet {
    let rows = &found.rows;
    // A column stands only where it tells rows apart, or where there is something to compare with.
    let by_items = rows.iter().any(|row| {
        rows.iter().any(|other| {
            (&row.rung, row.n, row.block) == (&other.rung, other.n, other.block)
                && row.items != other.items
        })
    });
    let hot = rows.iter().any(|row| row.hot);
    let measured = rows.iter().any(|row| row.measured.is_some());
    let beside = rows.iter().any(|row| row.published.is_some());
    let mut head = vec!["rung", "elements", "type", "block"];
    head.extend(by_items.then_some("a thread"));
    head.extend(hot.then_some("array"));
    head.extend(["µs", "GB/s", "binding limit", "next"]);
    if measured {
        head.extend(["measured µs", "off by"]);
    }
    if beside {
        head.extend(["published µs", "off by"]);
    }
    let mut sheet =
        Sheet { title, head: head.into_iter().map(str::to_owned).collect(), ..Sheet::default() };
    for row in rows {
        let [binding, next] = longest(row);
        let mut line =
            vec![row.rung.clone(), size(row.n), row.dtype.to_owned(), row.block.to_string()];
        line.extend(
            by_items.then(|| row.items.map_or_else(String::new, |items| items.to_string())),
        );
        line.extend(hot.then(|| if row.hot { "hot" } else { "cold" }.to_owned()));
        line.extend([cell(row.microseconds), cell(row.gigabytes_per_second), binding, next]);
        let others = [(measured, row.measured), (beside, row.published)];
        for (_, other) in others.into_iter().filter(|(shown, _)| *shown) {
            let off = other.zip(row.microseconds).map(|(o, p)| 100.0 * (p / o - 1.0));
            line.extend([cell(other), off.map_or_else(String::new, |off| format!("{off:+.0} %"))]);
        }
        sheet.lines.push(line);
        if let Some(obstacle) = &row.obstacle {
            let remark = format!("{}: {obstacle}", row.rung);
            if !sheet.below.contains(&remark) {
                sheet.below.push(remark);
            }
        }
    }
    sheet.below.push("predicted, not measured: two or three blocks of each launch are simulated, and a model turns counts into time".into());
    sheet.below.push("beside a limit: the part of the time that it would take alone; --format json has all limits".into());
    sheet.below.push(error(found));
    if let Ok(device) = Device::find(found.device).or_else(|_| by_name(found.device))
        && !device.assumed.is_empty()
    {
        sheet.below.push(format!("of this device is assumed: {}", device.assumed));
    }
    sheet
}

/// Columns that a table for a terminal has at most.
const WIDTH: usize = 120;

/// The table, made to fit a terminal where it is for one: with limits in one word if need be, and long remarks in several lines.
pub(crate) fn sheet_for(format: Format, found: &Predicted, title: String) -> Sheet {
    let mut sheet = sheet(found, title);
    if format != Format::Text {
        return sheet;
    }
    let width = |sheet: &Sheet| {
        let lines = || std::iter::once(&sheet.head).chain(&sheet.lines);
        let widest = |k: usize| lines().map(|line| line[k].chars().count()).max().unwrap_or(0);
        (0..sheet.head.len()).map(|k| 2 + widest(k)).sum::<usize>().saturating_sub(2)
    };
    if width(&sheet) > WIDTH {
        let is_limit = |k: &usize| ["binding limit", "next"].contains(&&*sheet.head[*k]);
        let columns: Vec<usize> = (0..sheet.head.len()).filter(is_limit).collect();
        for line in &mut sheet.lines {
            for &k in &columns {
                for limit in Limit::ALL {
                    line[k] = line[k].replace(limit.name(), limit.word());
                }
            }
        }
    }
    sheet.below = sheet.below.iter().flat_map(|remark| wrapped(remark, WIDTH - 2)).collect();
    sheet
}

/// Words in lines of so many columns at most, but for longer words.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                *line += " ";
                *line += word;
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// One prediction in a few lines: rate, limits, what documents published, and the model's error.
pub(crate) fn lines(found: &Predicted) -> Vec<String> {
    let mut lines = Vec::new();
    for row in &found.rows {
        let Some((time, rate)) = row.microseconds.zip(row.gigabytes_per_second) else { continue };
        lines.push(format!("{} GB/s of the array in {} µs", cell(Some(rate)), cell(Some(time))));
        let mut shares: Vec<_> = row.shares.iter().filter(|(_, share)| *share >= 0.005).collect();
        shares.sort_by(|a, b| b.1.total_cmp(&a.1));
        let shares: Vec<String> =
            shares.iter().map(|(name, share)| format!("{name} {:.0} %", 100.0 * share)).collect();
        lines.push(format!("each limit alone, of the time: {}", shares.join(", ")));
        if let Some(published) = row.published {
            let off = 100.0 * (time / published - 1.0);
            lines.push(format!(
                "published: {} µs; the prediction is off by {off:+.0} %",
                cell(Some(published))
            ));
        }
        lines.push(error(found));
    }
    lines
}

/// How far the model is off.
fn error(found: &Predicted) -> String {
    let [median, worst] = found.error;
    format!(
        "over the rungs measured on an H200 the model is off by {median:.0} % in the middle and {worst:.0} % at worst; docs/predictions.md has every error"
    )
}

fn by_name(name: &str) -> Result<&'static Device, String> {
    let found = warpfold_ladder::model::DEVICES.iter().find(|device| device.name == name);
    found.ok_or_else(|| name.to_owned())
}

/// A document's experiment, predicted for a device.
pub(crate) fn of_paper(paper: &Paper, device: &'static Device) -> Predicted {
    let experiment = paper.experiment;
    let case =
        |n| Case { op: warpfold::Op::Sum, dtype: experiment.dtype, n, block: experiment.block };
    let scenarios: Vec<_> = paper
        .lines
        .iter()
        .filter_map(|line| {
            let rung = warpfold_ladder::find(line.does.rung()?).ok()?;
            let n = match line.does {
                warpfold_ladder::replay::Does::RungAt(_, n) => n,
                _ => experiment.n,
            };
            Some(Scenario::cold(rung, case(n)))
        })
        .collect();
    predicted(device, &scenarios)
}
