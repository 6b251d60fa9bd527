//! A sweep as tables: places down and rungs across for people, a point a line for programs.

use warpfold_lab::cuda::report::Temperature;
use warpfold_ladder::sweep::{Over, Point, Sweep};

use crate::sheet::Sheet;

/// A table for each temperature.
pub(crate) fn sheets(sweep: &Sweep) -> Vec<Sheet> {
    let temperatures = [Temperature::Cold, Temperature::Hot];
    let has = |at: &Temperature| sweep.points.iter().any(|point| point.temperature == *at);
    temperatures.into_iter().filter(has).map(|at| sheet(sweep, at)).collect()
}

fn sheet(sweep: &Sweep, at: Temperature) -> Sheet {
    let points = || sweep.points.iter().filter(|point| point.temperature == at);
    let mut rungs: Vec<&str> = Vec::new();
    let mut places: Vec<(f64, String)> = Vec::new();
    for point in points() {
        if !rungs.contains(&point.rung.as_str()) {
            rungs.push(&point.rung);
        }
        let Some(scenario) = scenario(sweep.over, point) else { continue };
        if !places.contains(&scenario) {
            places.push(scenario);
        }
    }
    places.sort_by(|a, b| a.0.total_cmp(&b.0));
    let title =
        format!("{}, {}", title(sweep), if at == Temperature::Hot { "hot" } else { "cold" });
    let mut head = vec![sweep.over.axis().to_owned()];
    head.extend(rungs.iter().map(|rung| (*rung).to_owned()));
    let cell = |at: &(f64, String), rung: &str| {
        let here =
            |point: &&Point| point.rung == rung && scenario(sweep.over, point).as_ref() == Some(at);
        points().find(here).map_or_else(String::new, figure)
    };
    let line = |at: &(f64, String)| {
        std::iter::once(at.1.clone()).chain(rungs.iter().map(|rung| cell(at, rung))).collect()
    };
    let lines = places.iter().map(line).collect();
    Sheet { title, above: vec![unit(sweep)], head, lines, below: remarks(sweep, at) }
}

/// What varies and what does not.
pub(super) fn title(sweep: &Sweep) -> String {
    let Sweep { op, dtype, n, block, over, .. } = sweep;
    let n = count(*n);
    match over {
        Over::Block => format!("{op} of {n} {dtype} by threads of a block"),
        Over::Size => format!("{op} of {dtype} by elements, blocks of {block}"),
        Over::Type => format!("{op} of {n} elements by type, blocks of {block}"),
        Over::Items => format!("{op} of {n} {dtype} by elements a thread, blocks of {block}"),
    }
}

/// What the cells are.
pub(super) fn unit(sweep: &Sweep) -> String {
    match &sweep.method {
        Some(method) => format!(
            "GB/s on {}: bytes of the array over the median time; ± is the standard error of the mean. {method}.",
            sweep.device.name
        ),
        None => format!(
            "Lane slots of instructions for each element, on the {}: it counts, and its time says nothing.",
            sweep.device.name
        ),
    }
}

fn figure(point: &Point) -> String {
    if point.verified == Some(false) {
        return "WRONG".into();
    }
    if let (Some(rate), Some(time)) = (point.bytes_per_second, point.time) {
        let error = rate * time.standard_error / time.median / 1e9;
        return format!("{} ± {}", digits(rate / 1e9), digits(error));
    }
    match (&point.obstacle, point.instructions_per_element()) {
        (Some(_), _) => "–".into(),
        (None, Some(count)) => digits(count),
        (None, None) => String::new(),
    }
}

/// Where a point stands: by what it is sorted, and what is written there.
fn scenario(over: Over, point: &Point) -> Option<(f64, String)> {
    Some(match over {
        // The host and the library take no block: they stand in the line of the block that was asked for, and it is not known here.
        Over::Block => (f64::from(point.block?), point.block?.to_string()),
        Over::Size => (point.n as f64, count(point.n)),
        Over::Type => (f64::from(kind(point)), point.dtype.to_string()),
        Over::Items => (point.items? as f64, point.items?.to_string()),
    })
}

/// The place of a type among the ladder's.
pub(super) fn kind(point: &Point) -> u32 {
    let types = warpfold_ladder::TYPES;
    types.iter().position(|dtype| *dtype == point.dtype).unwrap_or(types.len()) as u32
}

fn remarks(sweep: &Sweep, at: Temperature) -> Vec<String> {
    let mut remarks = Vec::new();
    for point in sweep.points.iter().filter(|point| point.temperature == at) {
        if let Some(obstacle) = &point.obstacle {
            let remark = format!("{}: {obstacle}", point.rung);
            if !remarks.contains(&remark) {
                remarks.push(remark);
            }
        }
    }
    if let Some(peak) = &sweep.peak {
        let rate = peak.bytes_per_second / 1e9;
        remarks.push(format!("read ceiling of cold arrays: {rate:.0} GB/s ({})", peak.how));
    }
    if let Some(launch) = sweep.launch {
        remarks.push(format!("a launch that does nothing: {launch:.2} µs"));
    }
    remarks
}

/// A power of two as such.
pub(super) fn count(n: u64) -> String {
    if n >= 1 << 10 && n.is_power_of_two() { format!("2^{}", n.ilog2()) } else { n.to_string() }
}

/// About three digits.
pub(super) fn digits(value: f64) -> String {
    match value.abs() {
        0.0 => "0".into(),
        ..0.01 => format!("{value:.1e}"),
        ..10.0 => format!("{value:.2}"),
        ..100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// A point a line, every figure as it is.
pub(super) fn tidy(sweep: &Sweep) -> Sheet {
    let mut sheet = Sheet::new(
        title(sweep),
        [
            "rung",
            "where",
            "n",
            "type",
            "block",
            "items",
            "verified",
            "runs",
            "median_us",
            "mean_us",
            "standard_error_us",
            "bytes_per_second",
            "of_peak",
            "warp_instructions",
            "obstacle",
        ],
    );
    for point in &sweep.points {
        let text = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        let time = point.time;
        let peak = sweep.peak.as_ref().map(|peak| peak.bytes_per_second);
        sheet.line([
            point.rung.clone(),
            if point.temperature == Temperature::Hot { "hot" } else { "cold" }.to_owned(),
            point.n.to_string(),
            point.dtype.to_string(),
            point.block.map_or_else(String::new, |block| block.to_string()),
            point.items.map_or_else(String::new, |items| items.to_string()),
            point.verified.map_or_else(String::new, |verified| verified.to_string()),
            time.map_or_else(String::new, |time| time.runs.to_string()),
            text(time.map(|time| time.median)),
            text(time.map(|time| time.mean)),
            text(time.map(|time| time.standard_error)),
            text(point.bytes_per_second),
            text(point.bytes_per_second.zip(peak).map(|(rate, peak)| rate / peak)),
            point.warp_instructions.map_or_else(String::new, |count| count.to_string()),
            point.obstacle.clone().unwrap_or_default(),
        ]);
    }
    sheet
}
