//! A sweep as charts: one for each temperature.

use warpfold_lab::cuda::report::Temperature;
use warpfold_ladder::sweep::{Over, Point as Measured, Sweep};

use super::sheets::{kind, title};
use crate::chart::{Axis, Bars, Chart, Limit, Lines, Point, Row, Scale, Series};

/// A chart for each temperature that has points.
pub(crate) fn charts(sweep: &Sweep) -> Vec<Chart> {
    let all = [Temperature::Cold, Temperature::Hot].into_iter();
    let at = |at: Temperature| {
        let points: Vec<&Measured> = sweep.points.iter().filter(|p| p.temperature == at).collect();
        (!points.is_empty()).then(|| chart(sweep, at, &points))
    };
    all.filter_map(at).collect()
}

fn chart(sweep: &Sweep, at: Temperature, points: &[&Measured]) -> Chart {
    let where_ = if at == Temperature::Hot { ", from the cache" } else { "" };
    let title = title(sweep);
    let mut letters = title.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    let title = format!("{first}{}{where_}", letters.as_str());
    let note = sweep.device.name.clone();
    let label = if sweep.method.is_some() { "GB/s" } else { "lane slots an element" }.to_owned();
    match sweep.over {
        Over::Type => Chart::Bars(bars(title, note, label, points)),
        _ => Chart::Lines(lines(sweep, title, note, label, points)),
    }
}

/// What is drawn of a point, and from where to where it may be.
fn height(point: &Measured) -> Option<(f64, Option<[f64; 2]>)> {
    match point.bytes_per_second {
        Some(rate) => Some((rate / 1e9, point.rates().map(|ends| ends.map(|end| end / 1e9)))),
        None => point.instructions_per_element().map(|count| (count, None)),
    }
}

fn names<'a>(points: &[&'a Measured]) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for point in points {
        if !names.contains(&point.rung.as_str()) {
            names.push(&point.rung);
        }
    }
    names
}

fn lines(sweep: &Sweep, title: String, note: String, label: String, points: &[&Measured]) -> Lines {
    let x = |point: &Measured| match sweep.over {
        Over::Block => point.block.map(f64::from),
        Over::Items => point.items.map(|items| items as f64),
        _ => Some(point.n as f64).filter(|n| *n > 0.0),
    };
    let of = |name: &str| {
        let own = points.iter().filter(|point| point.rung == name);
        let mut points: Vec<Point> = own
            .filter_map(|point| {
                let (y, error) = height(point)?;
                Some(Point { x: x(point)?, y, error })
            })
            .collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        Series { name: name.to_owned(), points }
    };
    let series: Vec<Series> = names(points).into_iter().map(of).collect();
    let limits = roofline(sweep, points[0].temperature, &series);
    let y = Axis { label, scale: Scale::Log10 };
    let x = Axis { label: sweep.over.axis().to_owned(), scale: Scale::Log2 };
    Lines { title, note, x, y, series, limits }
}

/// What no point can be beyond: a launch, then reading.
fn roofline(sweep: &Sweep, at: Temperature, series: &[Series]) -> Vec<Limit> {
    let Some(peak) = &sweep.peak else { return Vec::new() };
    if at == Temperature::Hot {
        return Vec::new();
    }
    let xs = || series.iter().flat_map(|series| &series.points).map(|point| point.x);
    let (least, most) = xs().fold((f64::MAX, 0.0f64), |(a, b), x| (a.min(x), b.max(x)));
    if least > most {
        return Vec::new();
    }
    let ceiling = peak.bytes_per_second / 1e9;
    let points = match (sweep.over, sweep.launch) {
        (Over::Size, Some(launch)) => {
            // Bytes over the longer of a launch and reading: two straight lines, where axes are logarithmic.
            let size = sweep.dtype.size() as f64;
            let rate = |n: f64| (n * size / (launch * 1e3)).min(ceiling);
            let knee = ceiling * launch * 1e3 / size;
            let inner = Some(knee).filter(|knee| (least..most).contains(knee));
            let xs = [Some(least), inner, Some(most)];
            xs.into_iter().flatten().map(|n| [n, rate(n)]).collect()
        }
        _ => vec![[least, ceiling], [most, ceiling]],
    };
    vec![Limit { name: "roofline".to_owned(), points }]
}

fn bars(title: String, note: String, label: String, points: &[&Measured]) -> Bars {
    let names = names(points);
    let mut types: Vec<&Measured> = Vec::new();
    for point in points {
        if !types.iter().any(|known| known.dtype == point.dtype) {
            types.push(point);
        }
    }
    types.sort_by_key(|point| kind(point));
    let row = |of: &&Measured| Row {
        name: of.dtype.to_string(),
        bars: names
            .iter()
            .map(|name| {
                let here = |point: &&&Measured| point.rung == *name && point.dtype == of.dtype;
                points.iter().find(here).and_then(|point| height(point))
            })
            .collect(),
    };
    Bars {
        title,
        note,
        value: Axis { label, scale: Scale::Linear },
        rows: types.iter().map(row).collect(),
        series: names.into_iter().map(str::to_owned).collect(),
    }
}
