//! Sweeps: rungs over many blocks, sizes, types, or elements a thread, cold and hot.

use std::fmt;

use serde::{Deserialize, Serialize};
use warpfold::{DType, Op, Result};
use warpfold_kernels::ladder::Grid;

use crate::found::{Device, DeviceKind, Peak, Times};
use crate::{Case, Ladder, LadderRequest, Row, Rung, Stage, TYPES, Way, defined};
use warpfold_lab::array::Data;
use warpfold_lab::cuda::report::Temperature;

/// The layout of the file; a reader refuses others.
pub const SCHEMA: u32 = 1;

/// What varies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Over {
    /// Threads of a block.
    Block,
    /// Elements.
    Size,
    /// The element type.
    Type,
    /// Elements a thread.
    Items,
}

impl Over {
    /// Every one.
    pub const ALL: [Over; 4] = [Over::Block, Over::Size, Over::Type, Over::Items];

    /// As it is asked for.
    pub const fn name(self) -> &'static str {
        match self {
            Over::Block => "block",
            Over::Size => "size",
            Over::Type => "type",
            Over::Items => "items",
        }
    }

    /// What its axis shows.
    pub const fn axis(self) -> &'static str {
        match self {
            Over::Block => "threads of a block",
            Over::Size => "elements",
            Over::Type => "element type",
            Over::Items => "elements a thread",
        }
    }
}

impl fmt::Display for Over {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One sweep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sweep {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The library's version.
    pub warpfold: String,
    /// The revision of the sources, if the caller knew it.
    pub revision: Option<String>,
    /// When it began, in UTC (RFC 3339).
    pub date: String,
    /// What varies.
    pub over: Over,
    /// Where it ran.
    pub device: Device,
    /// The operation.
    pub op: Op,
    /// The element type, where it does not vary.
    pub dtype: DType,
    /// Elements, at most where they vary.
    pub n: u64,
    /// Threads of a block, where they do not vary.
    pub block: u32,
    /// What the arrays hold.
    pub data: Data,
    /// How times were measured, in words; none where only counts are.
    pub method: Option<String>,
    /// The fastest reading; none where nothing is timed.
    pub peak: Option<Peak>,
    /// Microseconds of a launch that does nothing; none where nothing is timed.
    pub launch: Option<f64>,
    /// What was found, rung after rung.
    pub points: Vec<Point>,
}

/// One rung at one place of the sweep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The rung.
    pub rung: String,
    /// Where the array was.
    pub temperature: Temperature,
    /// Elements.
    pub n: u64,
    /// Their type.
    pub dtype: DType,
    /// Threads of a block, of its first launch; none of the host and of the library, whose plans are their own.
    pub block: Option<u32>,
    /// Elements a thread of its first launch, at most.
    pub items: Option<u64>,
    /// Whether the result was right; none where it did not run.
    pub verified: Option<bool>,
    /// Why it did not run, or what stopped it.
    pub obstacle: Option<String>,
    /// How long it takes.
    pub time: Option<Times>,
    /// Bytes of the array over the median time.
    pub bytes_per_second: Option<f64>,
    /// Warp instructions of all launches, as the simulator counted them.
    pub warp_instructions: Option<u64>,
}

impl Point {
    /// What it costs to look at a point without a clock: instruction slots of lanes for each element.
    pub fn instructions_per_element(&self) -> Option<f64> {
        Some(32.0 * self.warp_instructions? as f64 / self.n.max(1) as f64)
    }

    /// Rates a standard error of the mean time below and above.
    pub fn rates(&self) -> Option<[f64; 2]> {
        let (time, rate) = (self.time?, self.bytes_per_second?);
        let error = time.standard_error / time.median;
        Some([rate * (1.0 - error), rate * (1.0 + error)])
    }
}

/// Blocks that are tried.
pub const BLOCKS: [u32; 6] = [32, 64, 128, 256, 512, 1024];

/// Elements a thread that are tried, at most.
const MOST_ITEMS: u64 = 4096;

/// Sweeps; `request` says what does not vary, and the most elements. `progress` is told of each rung.
///
/// # Errors
/// As those of [`Stage::climb`]; what goes wrong with a single rung is in its point.
pub fn sweep(
    stage: &mut dyn Stage,
    over: Over,
    request: &LadderRequest,
    temperatures: &[Temperature],
    progress: &mut dyn FnMut(&str),
) -> Result<Sweep> {
    let mut climbs: Vec<(Option<Ladder>, Vec<Point>)> = Vec::new();
    for requested in axis_requests(stage, over, request) {
        for &temperature in temperatures {
            let bytes = requested.case.n.saturating_mul(requested.case.dtype.size() as u64);
            // A hot array is one that the cache holds.
            if temperature == Temperature::Hot && bytes > stage.cache() {
                continue;
            }
            progress(&described(over, &requested, temperature));
            let ladder =
                stage.climb(&LadderRequest { temperature, ..requested.clone() }, &mut ())?;
            let points = ladder.rungs.iter().map(|row| point(&ladder, row)).collect();
            climbs.push((Some(ladder), points));
        }
    }
    let first = climbs.first_mut().and_then(|(ladder, _)| ladder.take());
    let mut points: Vec<Point> = climbs.into_iter().flat_map(|(_, points)| points).collect();
    let rung_index = |name: &str| request.rungs.iter().position(|rung| rung.name == name);
    points.sort_by_key(|point| (rung_index(&point.rung), point.temperature == Temperature::Hot));
    let Case { op, dtype, n, block } = request.case;
    Ok(Sweep {
        schema: SCHEMA,
        warpfold: crate::VERSION.to_owned(),
        revision: first.as_ref().and_then(|ladder| ladder.revision.clone()),
        date: first.as_ref().map_or_else(String::new, |ladder| ladder.date.clone()),
        over,
        device: stage.device(),
        op,
        dtype,
        n,
        block,
        data: request.data,
        method: first.as_ref().and_then(|ladder| ladder.method.clone()),
        peak: first.and_then(|ladder| ladder.peak),
        launch: stage.launch()?,
        points,
    })
}

fn described(over: Over, requested: &LadderRequest, temperature: Temperature) -> String {
    let Case { dtype, n, block, .. } = requested.case;
    let where_ = if temperature == Temperature::Hot { "hot" } else { "cold" };
    match over {
        Over::Block => format!("blocks of {block}, {where_}"),
        Over::Type => format!("{dtype}, {where_}"),
        Over::Size | Over::Items => format!("{n} elements, {where_}"),
    }
}

fn point(ladder: &Ladder, row: &Row) -> Point {
    let launch = row.launches.first();
    let threads = launch.map(|launch| u64::from(launch.grid) * u64::from(launch.block));
    Point {
        rung: row.name.clone(),
        temperature: ladder.temperature,
        n: row.n,
        dtype: ladder.dtype,
        block: launch.map(|launch| launch.block),
        items: threads.map(|threads| row.n.div_ceil(threads)),
        verified: row.verified,
        obstacle: row.obstacle.clone(),
        time: row.time,
        bytes_per_second: row.bytes_per_second,
        warp_instructions: row
            .counts
            .as_ref()
            .and_then(|counts| counts.get("warp_instructions").copied()),
    }
}

/// What is climbed, place after place.
fn axis_requests(stage: &dyn Stage, over: Over, request: &LadderRequest) -> Vec<LadderRequest> {
    match cases(over, request.case, stage.device().kind) {
        Some(cases) => {
            cases.into_iter().map(|case| LadderRequest { case, ..request.clone() }).collect()
        }
        None => items(request),
    }
}

/// The cases of a sweep on a kind of device; none where it is the grid that varies.
pub fn cases(over: Over, case: Case, kind: DeviceKind) -> Option<Vec<Case>> {
    Some(match over {
        Over::Block => BLOCKS.map(|block| Case { block, ..case }).into(),
        Over::Type => {
            let there = TYPES.iter().filter(|dtype| defined(case.op, **dtype).is_ok());
            there.map(|&dtype| Case { dtype, ..case }).collect()
        }
        Over::Size => {
            // Every second power of two, and the most.
            let most = case.n.max(1).ilog2();
            let first = if kind == DeviceKind::Simt { 4 } else { 10 };
            let powers = (first.min(most)..=most).rev().step_by(2).map(|k| 1u64 << k);
            let mut sizes: Vec<u64> = powers.collect();
            if sizes.first() != Some(&case.n) {
                sizes.insert(0, case.n);
            }
            sizes.into_iter().rev().map(|n| Case { n, ..case }).collect()
        }
        Over::Items => return None,
    })
}

/// Rungs whose threads take a fixed number of elements once, as they are; those that stride over the array in many grids.
fn items(request: &LadderRequest) -> Vec<LadderRequest> {
    let (striding, fixed): (Vec<_>, Vec<_>) =
        request.rungs.iter().copied().partition(|rung| strides(rung));
    let mut all = Vec::new();
    if !fixed.is_empty() {
        all.push(LadderRequest { rungs: fixed, grid: None, ..request.clone() });
    }
    if !striding.is_empty() {
        let of =
            |grid| LadderRequest { rungs: striding.clone(), grid: Some(grid), ..request.clone() };
        all.extend(grids(request.case).into_iter().map(of));
    }
    all
}

/// Whether threads of a rung stride over the array, so that the number of blocks says how many elements each takes.
pub fn strides(rung: &Rung) -> bool {
    match rung.way {
        Way::Kernel(kernel) => {
            matches!(kernel.grid, Grid::PerThread { .. } | Grid::PerBlock { .. })
        }
        _ => false,
    }
}

/// The numbers of blocks that give each thread 16 bytes, twice as much, and so on.
pub fn grids(case: Case) -> Vec<u32> {
    let Case { n, block, dtype, .. } = case;
    let first = 16 / dtype.size() as u64;
    let items = std::iter::successors(Some(first), |items| Some(2 * items));
    let items = items.take_while(|&k| k <= MOST_ITEMS && k <= n.div_ceil(block.into()));
    items.map(|k| n.div_ceil(k * u64::from(block)).clamp(1, i32::MAX as u64) as u32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Runs, Simulated, find};

    fn request(rungs: &[&str], n: u64) -> LadderRequest {
        LadderRequest {
            case: Case { op: Op::Sum, dtype: DType::F32, n, block: 64 },
            rungs: rungs.iter().map(|name| find(name).expect("a rung")).collect(),
            data: Data::Natural,
            runs: Runs::Exactly(1),
            temperature: Temperature::Cold,
            grid: None,
        }
    }

    fn swept(over: Over, rungs: &[&str], n: u64) -> Sweep {
        let mut stage = Simulated::default();
        sweep(
            &mut stage,
            over,
            &request(rungs, n),
            &[Temperature::Cold, Temperature::Hot],
            &mut |_| (),
        )
        .expect("the simulator sweeps")
    }

    #[test]
    fn each_sweep_varies_what_it_says_and_all_is_verified() {
        let blocks = swept(Over::Block, &["08", "11"], 5000);
        assert_eq!(blocks.points.iter().filter(|p| p.rung == "08_sequential").count(), 6);
        let sizes = swept(Over::Size, &["15"], 3000);
        let n: Vec<u64> = sizes.points.iter().map(|point| point.n).collect();
        assert_eq!(n, [32, 128, 512, 2048, 3000], "every second power of two, and the most");
        let types = swept(Over::Type, &["13"], 1000);
        assert_eq!(types.points.iter().map(|p| p.dtype).collect::<Vec<_>>(), TYPES);
        for sweep in [&blocks, &sizes, &types] {
            assert!(sweep.points.iter().all(|p| p.verified == Some(true)), "{sweep:?}");
            assert!(sweep.points.iter().all(|p| p.instructions_per_element() > Some(0.0)));
        }
        let text = serde_json::to_string(&sizes).expect("plain values");
        assert_eq!(serde_json::from_str::<Sweep>(&text).expect("as it was written"), sizes);
    }

    #[test]
    fn elements_a_thread_are_those_of_the_rung_or_follow_the_grid() {
        let items = swept(Over::Items, &["08", "12", "15"], 1 << 13);
        let of = |name: &str| -> Vec<u64> {
            items.points.iter().filter(|p| p.rung == name).filter_map(|p| p.items).collect()
        };
        assert_eq!((of("08_sequential"), of("12_cascade")), (vec![1], vec![8]));
        assert_eq!(of("15_single_pass"), [4, 8, 16, 32, 64, 128]);
        assert!(items.points.iter().all(|point| point.verified == Some(true)), "{items:?}");
    }
}
