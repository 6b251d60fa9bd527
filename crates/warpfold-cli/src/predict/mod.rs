//! Predicted times as tables, for `--predict DEVICE` of ladder, sweep, replay and explain.

use serde::Serialize;
use warpfold_lab::cuda::report::Temperature;
use warpfold_ladder::model::{Device, ERROR, Limit, Prediction, against, published};
use warpfold_ladder::replay::Paper;
use warpfold_ladder::{Case, Rung, Way};

use crate::sheet::Sheet;

/// The device of a name, for the command line.
pub(crate) fn device(name: &str) -> Result<&'static Device, String> {
    Device::find(name)
}

/// One predicted time, for programs.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Row {
    rung: String,
    n: u64,
    dtype: &'static str,
    block: u32,
    microseconds: Option<f64>,
    gigabytes_per_second: Option<f64>,
    binding: Option<&'static str>,
    /// The part of the time that each limit would take alone.
    shares: Vec<(&'static str, f64)>,
    /// Microseconds that a document published.
    published: Option<f64>,
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
pub(crate) fn predicted(
    device: &'static Device,
    cases: &[(&'static Rung, Case, Temperature)],
) -> Predicted {
    let row = |&(rung, case, temperature): &(&'static Rung, Case, Temperature)| {
        let found = against(rung, case, device, temperature, None);
        let published = published(device, rung, case);
        let (prediction, obstacle) = match found {
            Ok(prediction) => (Some(prediction), None),
            Err(why) => (None, Some(why)),
        };
        let shares = |p: &Prediction| Limit::ALL.map(|l| (l.name(), p.share(l))).to_vec();
        Row {
            rung: rung.name.to_owned(),
            n: rung.folds(case.n),
            dtype: case.dtype.name(),
            block: case.block,
            microseconds: prediction.as_ref().map(|p| p.microseconds),
            gigabytes_per_second: prediction.as_ref().map(|p| p.gigabytes),
            binding: prediction.as_ref().map(|p| p.binding().name()),
            shares: prediction.as_ref().map_or_else(Vec::new, shares),
            published,
            obstacle,
        }
    };
    let kernels = cases.iter().filter(|(rung, ..)| !matches!(rung.way, Way::Host(_)));
    Predicted { device: device.name, error: ERROR, rows: kernels.map(row).collect() }
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
    let mut head = vec!["rung", "elements", "type", "block", "µs", "GB/s", "binding limit", "next"];
    let beside = found.rows.iter().any(|row| row.published.is_some());
    if beside {
        head.extend(["published µs", "off by"]);
    }
    let mut sheet =
        Sheet { title, head: head.into_iter().map(str::to_owned).collect(), ..Sheet::default() };
    for row in &found.rows {
        let [binding, next] = longest(row);
        let mut line = vec![
            row.rung.clone(),
            size(row.n),
            row.dtype.to_owned(),
            row.block.to_string(),
            cell(row.microseconds),
            cell(row.gigabytes_per_second),
            binding,
            next,
        ];
        if beside {
            line.push(cell(row.published));
            let off = row.published.zip(row.microseconds).map(|(p, m)| 100.0 * (m / p - 1.0));
            line.push(off.map_or_else(String::new, |off| format!("{off:+.0} %")));
        }
        sheet.lines.push(line);
        if let Some(obstacle) = &row.obstacle {
            sheet.below.push(format!("{}: {obstacle}", row.rung));
        }
    }
    let [median, worst] = found.error;
    sheet.below.push("predicted, not measured: one or two blocks of each launch are simulated, and a model turns counts into time".into());
    sheet.below.push("beside a limit: the part of the time that it would take alone; --format json has all limits".into());
    sheet.below.push(format!(
        "over the rungs measured on an H200 the model is off by {median:.0} % in the middle and {worst:.0} % at worst; docs/predictions.md has every error"
    ));
    if let Ok(device) = Device::find(found.device).or_else(|_| by_name(found.device))
        && !device.assumed.is_empty()
    {
        sheet.below.push(format!("of this device is assumed: {}", device.assumed));
    }
    sheet
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
    let cases: Vec<_> = paper
        .lines
        .iter()
        .filter_map(|line| {
            let rung = warpfold_ladder::find(line.does.rung()?).ok()?;
            let n = match line.does {
                warpfold_ladder::replay::Does::RungAt(_, n) => n,
                _ => experiment.n,
            };
            Some((rung, case(n), Temperature::Cold))
        })
        .collect();
    predicted(device, &cases)
}
