//! Predictions beside what was measured and published: every one, with its error.

use std::path::Path;

use rayon::prelude::*;
use serde::de::DeserializeOwned;
use warpfold::{Accuracy, Op};
use warpfold_lab::cuda::data::Data;
use warpfold_lab::cuda::report::{Report, Temperature};

use super::device::{DEVICES, Device, H200};
use super::library::predict_library;
use super::predict::{Launching, Prediction, predict};
use crate::found::Ladder;
use crate::plan::Case;
use crate::replay::{Does, Experiment, Figure, Line, PAPERS, Paper, Quantity};
use crate::rung::{Rung, Way, find};
use crate::sweep::{Over, Sweep};

/// One prediction beside its measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// The rung, or the library's reduction.
    pub name: String,
    /// Of what: elements, type, block, temperature.
    pub of: String,
    /// Microseconds that were measured.
    pub measured: f64,
    /// What the model says.
    pub predicted: Prediction,
}

impl Compared {
    /// How far the prediction is off: 0.1 says a tenth too long.
    pub fn error(&self) -> f64 {
        self.predicted.microseconds / self.measured - 1.0
    }
}

/// Predictions of one source.
#[derive(Debug, Clone, PartialEq)]
pub struct Set {
    /// The file, or the document and its device.
    pub source: String,
    /// Each.
    pub rows: Vec<Compared>,
}

impl Set {
    /// The median and the largest of the errors, without their signs.
    pub fn errors(&self) -> [f64; 2] {
        let mut errors: Vec<f64> = self.rows.iter().map(|row| row.error().abs()).collect();
        errors.sort_by(f64::total_cmp);
        let (n, last) = (errors.len(), errors.last().copied().unwrap_or(0.0));
        let median = match n {
            0 => 0.0,
            n if n % 2 == 1 => errors[n / 2],
            n => (errors[n / 2 - 1] + errors[n / 2]) / 2.0,
        };
        [median, last]
    }

    /// Whether a row that was measured to take longer than another over the same array is predicted to; near ties (5 %) count as either.
    pub fn in_order(&self) -> bool {
        let pairs = self.rows.iter().flat_map(|a| self.rows.iter().map(move |b| (a, b)));
        pairs
            .filter(|(a, b)| a.of == b.of && a.measured > 1.05 * b.measured)
            .all(|(a, b)| a.predicted.microseconds > b.predicted.microseconds)
    }
}

/// The prediction of a rung, or of the library where it is one.
///
/// # Errors
/// Why there is none.
pub fn against(
    rung: &Rung,
    case: Case,
    device: &Device,
    temperature: Temperature,
    grid: Option<u32>,
) -> Result<Prediction, String> {
    match rung.way {
        Way::Host(_) => Err("it runs on the host".to_owned()),
        Way::Kernel(_) => predict(rung, case, device, temperature, grid),
        Way::Library(accuracy) => {
            let data = crate::natural_data(case.op, case.dtype);
            predict_library(case, accuracy, data, device, temperature, Launching::Alone)
        }
    }
}

fn load<T: DeserializeOwned>(folder: &Path, file: &str) -> Result<T, String> {
    let path = folder.join(file);
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))
}

fn size(n: u64) -> String {
    if n.is_power_of_two() { format!("2^{}", n.ilog2()) } else { n.to_string() }
}

fn word(temperature: Temperature) -> &'static str {
    if temperature == Temperature::Hot { "hot" } else { "cold" }
}

/// Everything in a folder of results of the H200: climbs, sweeps, the library's benchmark. `files` are names of those.
///
/// # Errors
/// A file that cannot be read, a rung that cannot be predicted.
pub fn of_results(folder: &Path, files: &[&str]) -> Result<Vec<Set>, String> {
    files.par_iter().map(|file| of_file(folder, file)).collect()
}

fn of_file(folder: &Path, file: &str) -> Result<Set, String> {
    let mut rows = Vec::new();
    if file.starts_with("ladder") {
        let found: Ladder = load(folder, file)?;
        for row in &found.rungs {
            let (Ok(rung), Some(time)) = (find(&row.name), row.time) else { continue };
            if matches!(rung.way, Way::Host(_)) {
                continue;
            }
            let case = Case { op: found.op, dtype: found.dtype, n: found.n, block: found.block };
            let predicted = against(rung, case, &H200, found.temperature, None)?;
            let of = format!("{} {}", size(row.n), found.dtype);
            rows.push(Compared { name: row.name.clone(), of, measured: time.median, predicted });
        }
    } else if file.starts_with("sweep") {
        let found: Sweep = load(folder, file)?;
        for point in &found.points {
            let (Ok(rung), Some(time)) = (find(&point.rung), point.time) else { continue };
            let case = Case {
                op: found.op,
                dtype: point.dtype,
                n: point.n,
                block: point.block.unwrap_or(found.block),
            };
            let strides = rung.number().is_some_and(|number| number >= 14);
            let grid = point.items.filter(|_| found.over == Over::Items && strides);
            let grid = grid.map(|items| point.n.div_ceil(items * u64::from(case.block)) as u32);
            let predicted = against(rung, case, &H200, point.temperature, grid)?;
            let items = point.items.map_or_else(String::new, |items| format!(", {items} a thread"));
            let of = format!(
                "{} {}, blocks of {}{items}, {}",
                size(point.n),
                point.dtype,
                case.block,
                word(point.temperature)
            );
            rows.push(Compared { name: point.rung.clone(), of, measured: time.median, predicted });
        }
    } else {
        rows = of_library(folder, file)?;
    }
    Ok(Set { source: file.to_owned(), rows })
}

/// The library's benchmark: calls back to back, so that a launch costs what a further one does.
fn of_library(folder: &Path, file: &str) -> Result<Vec<Compared>, String> {
    let found: Report = load(folder, file)?;
    let mut rows = Vec::new();
    // Adversarial data takes paths of its own through exact kernels; dot reads two arrays.
    let usual = |data| matches!(data, Data::Uniform | Data::Normal | Data::Positive);
    for row in found.rows.iter().filter(|row| row.op != Op::Dot && usual(row.data)) {
        let case = Case { op: row.op, dtype: row.dtype, n: row.n, block: 0 };
        let data = crate::natural_data(row.op, row.dtype);
        let data = if row.dtype.is_float() { data } else { warpfold_lab::array::Data::Natural };
        let predicted = predict_library(
            case,
            row.accuracy,
            data,
            &H200,
            row.temperature,
            Launching::BackToBack,
        )?;
        let accuracy = if row.accuracy == Accuracy::Fast { "fast" } else { "exact" };
        let name = format!("{} {accuracy}", row.op);
        let of = format!(
            "{} {}, {}, {}",
            size(row.n),
            row.dtype,
            row.data.name(),
            word(row.temperature)
        );
        rows.push(Compared { name, of, measured: row.microseconds, predicted });
    }
    Ok(rows)
}

/// Microseconds that a document published of a rung on a device, over the same array.
pub fn published(device: &Device, rung: &Rung, case: Case) -> Option<f64> {
    let same = |paper: &&&Paper| {
        let Experiment { dtype, block, .. } = paper.experiment;
        (dtype, block, Op::Sum) == (case.dtype, case.block, case.op)
    };
    PAPERS
        .iter()
        .filter(same)
        .flat_map(|paper| figures(paper, device))
        .find_map(|(found, n, time)| (found == rung.name && n == case.n).then_some(time))
}

/// A document's rates on a device, as rungs, elements and microseconds. The thesis quotes Harris's figures for the G80, which are of Harris's experiment.
fn figures(paper: &Paper, device: &Device) -> Vec<(&'static str, u64, f64)> {
    let of_device = |f: &&Figure| {
        Device::find(f.machine.name).is_ok_and(|found| found.key == device.key)
            && f.quantity == Quantity::Gigabytes
    };
    if device.key == "g80" && paper.name != "harris" {
        return Vec::new();
    }
    let line = |line: &Line| {
        let n = if let Does::RungAt(_, n) = line.does { n } else { paper.experiment.n };
        let rate = line.figures.iter().find(of_device)?.printed.value();
        let bytes = (n * paper.experiment.dtype.size() as u64) as f64;
        Some((line.does.rung()?, n, bytes / rate / 1e3))
    };
    paper.lines.iter().filter_map(line).collect()
}

/// What documents published of GPUs that the model knows.
///
/// # Errors
/// A rung that cannot be predicted.
pub fn of_papers() -> Result<Vec<Set>, String> {
    let mut sets = Vec::new();
    for paper in PAPERS {
        for device in &DEVICES {
            let Experiment { dtype, block, .. } = paper.experiment;
            let row = |(name, n, measured): (&str, u64, f64)| {
                let case = Case { op: Op::Sum, dtype, n, block };
                let predicted = against(find(name)?, case, device, Temperature::Cold, None)?;
                let of = format!("{} {dtype}", size(n));
                Ok(Compared { name: name.to_owned(), of, measured, predicted })
            };
            let rows: Vec<_> =
                figures(paper, device).into_par_iter().map(row).collect::<Result<_, String>>()?;
            if !rows.is_empty() {
                sets.push(Set { source: format!("{}, {}", paper.name, device.name), rows });
            }
        }
    }
    Ok(sets)
}
