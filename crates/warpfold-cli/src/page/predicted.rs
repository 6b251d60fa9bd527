//! The report's predicted times: of the ladder, of sweeps, of the documents, on a GPU that is not here.

use std::fmt::Write as _;

use warpfold_lab::cuda::report::Temperature;
use warpfold_ladder::found::DeviceKind;
use warpfold_ladder::model::Device as Gpu;
use warpfold_ladder::replay::PAPERS;
use warpfold_ladder::sweep::{Point, Sweep};
use warpfold_ladder::{Case, Ladder, Rung, find};

use super::gather::Gathered;
use super::html::sheet;
use crate::explain::escaped;
use crate::predict::{Scenario, of_paper, predicted, sheet as table};
use crate::sweep::predicted_places;

/// Elements where the simulator counted few: what a GPU would be given.
const ELEMENTS: u64 = 1 << 25;

/// The section.
pub(super) fn section(found: &Gathered, main: Option<&Ladder>, gpu: &'static Gpu) -> String {
    let mut out = format!(
        "<p class=\"note\">For the {}, from counts of simulated blocks and a model of what binds. What was measured on such a GPU, or published of it, stands beside.</p>",
        gpu.name
    );
    if let Some(ladder) = main {
        let case = worth(ladder.case(), ladder.device.kind);
        let rungs = ladder.rungs.iter().filter_map(|row| Some((row, find(&row.name).ok()?)));
        let same = is_same(&ladder.device.name, gpu);
        let scenario = |(row, rung): (&warpfold_ladder::Row, &'static Rung)| Scenario {
            temperature: ladder.temperature,
            measured: row.time.filter(|_| same).map(|time| time.median),
            ..Scenario::cold(rung, case)
        };
        let scenarios: Vec<Scenario> = rungs.map(scenario).collect();
        let title = format!("{} of {} {}, blocks of {}", case.op, case.n, case.dtype, case.block);
        out += &sheet(&table(&predicted(gpu, &scenarios), title));
    }
    for sweep in &found.sweeps {
        out += &folded(&format!("by {}", sweep.over.axis()), &swept(sweep, gpu));
    }
    for paper in PAPERS {
        let found = of_paper(paper, gpu);
        if !found.rows.is_empty() {
            let title = format!("{} ({})", paper.title, paper.ran());
            out += &folded(paper.name, &sheet(&table(&found, title)));
        }
    }
    out
}

/// A table that is opened by who wants it.
fn folded(name: &str, inner: &str) -> String {
    let mut out = String::new();
    write!(
        out,
        "<details><summary><b>predicted</b><span>{}</span></summary>{inner}</details>",
        escaped(name)
    )
    .expect("strings take text");
    out
}

/// The case as it was measured; where the simulator counted, over as many elements as a GPU would be given.
fn worth(case: Case, kind: DeviceKind) -> Case {
    match kind {
        DeviceKind::Cuda => case,
        _ => Case { n: case.n.max(ELEMENTS), ..case },
    }
}

/// Whether a machine is a GPU of that kind.
fn is_same(machine: &str, gpu: &Gpu) -> bool {
    Gpu::named(machine).is_some_and(|named| named.key == gpu.key)
}

fn swept(found: &Sweep, gpu: &'static Gpu) -> String {
    let Sweep { op, dtype, n, block, over, .. } = *found;
    let case = worth(Case { op, dtype, n, block }, found.device.kind);
    let mut rungs: Vec<&'static Rung> = Vec::new();
    let mut temperatures: Vec<Temperature> = Vec::new();
    for point in &found.points {
        rungs.extend(find(&point.rung).ok().filter(|rung| !rungs.contains(rung)));
        if !temperatures.contains(&point.temperature) {
            temperatures.push(point.temperature);
        }
    }
    let same = is_same(&found.device.name, gpu);
    let time = |scenario: &Scenario| {
        let Scenario { rung, case, temperature, grid, .. } = *scenario;
        let threads = |grid: u32| u64::from(grid) * u64::from(case.block);
        let items = grid.map(|grid| case.n.div_ceil(threads(grid)));
        let is_it = |point: &&Point| {
            (point.rung.as_str(), point.n, point.dtype)
                == (rung.name, rung.folds(case.n), case.dtype)
                && point.temperature == temperature
                && point.block.is_none_or(|block| block == case.block)
                && items.is_none_or(|items| point.items == Some(items))
        };
        found.points.iter().filter(|_| same).find(is_it).and_then(|point| point.time)
    };
    let mut scenarios = predicted_places(over, case, &rungs, &temperatures, gpu);
    for scenario in &mut scenarios {
        scenario.measured = time(scenario).map(|time| time.median);
    }
    let title = format!("{op} by {}", over.axis());
    sheet(&table(&predicted(gpu, &scenarios), title))
}
