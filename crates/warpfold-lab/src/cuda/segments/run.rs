//! The run: every shape summed on the processor, verified on the GPU, timed.

use rayon::prelude::*;
use regex_lite::Regex;
use warpfold::cuda::{Buffer, Gpu};
use warpfold::kernel::{DeviceSegments, Machine, ReduceBatched};
use warpfold::random::word;
use warpfold::{
    Accuracy, DType, Op, Result, Segments, View, group_dense, reduce_axes, reduce_segments,
};

use super::report::{Report, Row, SCHEMA, name};
use super::shapes::{ELEMENTS, Shape, shapes};
use crate::cuda::device_time::DeviceTime;
use crate::cuda::report::{Peer, Temperature};
use crate::cuda::run::{device, read_peak};
use crate::report::{Failure, Header};
use crate::sampler::Timing;
use crate::segments::dense_key;

/// What to measure and how.
#[derive(Debug, Clone)]
pub struct Options {
    /// Rows whose name matches, such as `sum/f32/exact/every 16`.
    pub filter: Regex,
    /// Elements, about.
    pub elements: u64,
    /// How to time.
    pub time: DeviceTime,
    /// The revision of the sources, to be kept in the report.
    pub revision: Option<String>,
    /// Other libraries' figures of the same run.
    pub peers: Vec<Peer>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            filter: Regex::new("").expect("the empty expression matches everything"),
            elements: ELEMENTS,
            time: DeviceTime { samples: 9, sample: 4000.0 },
            revision: None,
            peers: Vec::new(),
        }
    }
}

/// What is told of the run as it goes.
#[derive(Debug, Clone, Copy)]
pub enum Progress<'a> {
    /// So many rows will be measured.
    Planned(usize),
    /// Something is being prepared: no rows for a while.
    Preparing(&'a str),
    /// A row was measured.
    Row(&'a Row),
    /// A row was not timed.
    Failed(&'a Failure),
}

/// Measures a GPU. Wrong results are not timed: they are in the report's failures.
///
/// # Errors
/// [`Error::Device`](warpfold::Error::Device): also if it has less than some 5 GiB of free memory.
pub fn run(gpu: &Gpu, options: &Options, mut tell: impl FnMut(Progress<'_>)) -> Result<Report> {
    let header = Header::now(SCHEMA, options.revision.clone());
    let (n, time) = (options.elements, options.time);
    tell(Progress::Preparing("the read ceiling"));
    // The same array again: many times the cache where the array is as large as it is by default.
    let ceiling = read_peak(gpu, (4 * n).clamp(16 << 20, 4 << 30), Temperature::Hot)?;
    tell(Progress::Preparing("the array"));
    let host = numbers(n);
    let x = gpu.upload(&host)?;
    let mut bench = Bench { gpu, host: &host, x: &x, time };
    let accuracies = |shape: &Shape| {
        let known = shape.name();
        [Accuracy::Fast, Accuracy::Exact]
            .into_iter()
            .filter(|&accuracy| options.filter.is_match(&name(DType::F32, accuracy, &known)))
            .collect::<Vec<_>>()
    };
    let requested: Vec<_> =
        shapes(n)?.into_iter().map(|shape| (accuracies(&shape), shape)).collect();
    tell(Progress::Planned(requested.iter().map(|(accuracies, _)| accuracies.len()).sum()));
    let (mut rows, mut failures) = (Vec::new(), Vec::new());
    for (accuracies, shape) in
        requested.into_iter().filter(|(accuracies, _)| !accuracies.is_empty())
    {
        let expected = on_processor(&host, &shape)?;
        for accuracy in accuracies {
            match bench.row(&shape, accuracy, &expected, ceiling.bytes_per_second)? {
                Ok(row) => {
                    tell(Progress::Row(&row));
                    rows.push(row);
                }
                Err(error) => {
                    let name = name(DType::F32, accuracy, &shape.name());
                    let failure = Failure { name, error };
                    tell(Progress::Failed(&failure));
                    failures.push(failure);
                }
            }
        }
    }
    Ok(Report {
        header,
        device: device(gpu),
        method: format!(
            "device events around calls back to back on one stream, median of {} samples of about {} ms; the same array of {} MiB \
             again, for the ceiling too; of groups that are sorted first the sort by keys and the reduction each for itself, added",
            time.samples,
            time.sample / 1e3,
            n >> 18
        ),
        ceiling,
        rows,
        failures,
        peers: options.peers.clone(),
    })
}

/// Numbers from -1 to 1, each from its index.
fn numbers(n: u64) -> Vec<f32> {
    let number = |k: u64| (word(0, k) >> 40) as f32 / (1 << 23) as f32 - 1.0;
    (0..n).into_par_iter().map(number).collect()
}

/// The correctly rounded sums.
fn on_processor(x: &[f32], shape: &Shape) -> Result<Vec<f32>> {
    match shape {
        Shape::Every(length) => {
            let whole = shape.elements(x.len() as u64) as usize;
            reduce_segments(&x[..whole], Segments::every(*length))?.sum()
        }
        Shape::Offsets { offsets, .. } => reduce_segments(x, Segments::offsets(offsets))?.sum(),
        Shape::Axis { layout, axis } => {
            let whole = &x[..layout.elements() as usize];
            Ok(reduce_axes(&View::of(whole, layout.clone())?, &[*axis as i64])?.sum()?.values)
        }
        Shape::Groups { .. } => {
            let n = x.len() as u64;
            group_dense(&keys(shape, n), shape.outputs(n), x)?.sum()
        }
    }
}

/// The array, here and there.
struct Bench<'a> {
    gpu: &'a Gpu,
    host: &'a [f32],
    x: &'a Buffer<f32>,
    time: DeviceTime,
}

/// What a sum of segments took, and how it went.
struct Summed {
    time: Timing,
    plan: String,
}

impl Bench<'_> {
    /// Verifies and times a row; what was wrong is told in words.
    fn row(
        &mut self,
        shape: &Shape,
        accuracy: Accuracy,
        expected: &[f32],
        ceiling: f64,
    ) -> Result<Result<Row, String>> {
        let Bench { gpu, host, x, .. } = *self;
        let n = host.len() as u64;
        let on_device: Buffer<u64>;
        let reduce = match shape {
            Shape::Every(length) => gpu.reduce_segments(
                x.slice(..shape.elements(n) as usize),
                DeviceSegments::Every(*length),
            ),
            Shape::Offsets { offsets, .. } => {
                on_device = gpu.upload(offsets)?;
                gpu.reduce_segments(x, &on_device)
            }
            Shape::Axis { layout, axis } => Machine::reduce_axes(gpu, x, layout, &[*axis as i64])?,
            Shape::Groups { sorted, .. } => {
                let keys = gpu.upload(&keys(shape, n))?;
                let measure = if *sorted { Self::grouped } else { Self::tabled };
                return measure(self, &keys, shape, accuracy, expected, ceiling);
            }
        };
        let summed =
            self.summed(&reduce.accuracy(accuracy), accuracy, expected, |k| shape.inputs(k))?;
        Ok(summed.map(|summed| self.row_of(shape, accuracy, ceiling, None, summed)))
    }

    /// The same of groups, as one reduction, whose last run is verified.
    fn tabled(
        &self,
        keys: &Buffer<u32>,
        shape: &Shape,
        accuracy: Accuracy,
        expected: &[f32],
        ceiling: f64,
    ) -> Result<Result<Row, String>> {
        let Bench { gpu, host, x, time } = *self;
        let groups = shape.outputs(host.len() as u64);
        let reduce = gpu.reduce_dense(keys, groups, x).accuracy(accuracy);
        let Some(tables) = reduce.tables(Op::Sum)? else {
            return Ok(Err("no plan of tables".into()));
        };
        let plan = tables.plan().to_string();
        let mut queue = gpu.queue()?;
        // SAFETY: keys, values and what the tables hold outlive the queue's work: `measure` waits for it.
        let time =
            time.measure(&mut queue, |queue, _| unsafe { queue.start_batched(tables.launches()) })?;
        // Exact whatever is asked.
        let found = tables.finish::<f32>()?.map_or(Ok(Vec::new()), |sums| sums.download())?;
        if let Some(wrong) = wrong(&found, expected, |_| 0, Accuracy::Exact) {
            return Ok(Err(wrong));
        }
        Ok(Ok(self.row_of(shape, accuracy, ceiling, None, Summed { time, plan })))
    }

    /// The same of groups, whose values are sorted first; the sort is timed for itself.
    fn grouped(
        &self,
        keys: &Buffer<u32>,
        shape: &Shape,
        accuracy: Accuracy,
        expected: &[f32],
        ceiling: f64,
    ) -> Result<Result<Row, String>> {
        let Bench { gpu, host, x, time } = *self;
        let sort = gpu.sort_dense(keys, shape.outputs(host.len() as u64), x)?;
        let mut queue = gpu.queue()?;
        // SAFETY: keys, values and what the sort holds outlive the queue's work: `measure` waits for it.
        let sorted =
            time.measure(&mut queue, |queue, _| unsafe { queue.start_batched(sort.launches()) })?;
        let groups = sort.finish()?;
        let offsets = groups.offsets().download()?;
        let reduce = groups.reduce().accuracy(accuracy);
        let summed = self.summed(&reduce, accuracy, expected, |k| offsets[k + 1] - offsets[k])?;
        Ok(summed.map(|summed| {
            let plan = format!("{}; then {}", groups.plan(), summed.plan);
            self.row_of(shape, accuracy, ceiling, Some(sorted), Summed { plan, ..summed })
        }))
    }

    /// Verifies and times sums; `inputs` is how many elements each is of.
    fn summed(
        &self,
        reduce: &ReduceBatched<'_, Gpu, f32>,
        accuracy: Accuracy,
        expected: &[f32],
        inputs: impl Fn(usize) -> u64 + Sync,
    ) -> Result<Result<Summed, String>> {
        let Bench { gpu, time, .. } = *self;
        let plan = match reduce.plan(Op::Sum) {
            Err(error @ warpfold::Error::Unsupported { .. }) => return Ok(Err(error.to_string())),
            plan => plan?,
        };
        if let Some(wrong) = wrong(&reduce.sum()?, expected, inputs, accuracy) {
            return Ok(Err(wrong));
        }
        let mut queue = gpu.queue()?;
        let out = gpu.alloc::<f32>(expected.len())?;
        let mut workspace = gpu.alloc::<u8>(plan.workspace as usize)?;
        let tables: Vec<u8> = plan.tables().into_iter().flat_map(u64::to_le_bytes).collect();
        workspace.write(plan.workspace as usize - tables.len(), &tables)?;
        let faults = gpu.upload(&[0xffu8; ReduceBatched::<Gpu, f32>::FAULT_BYTES])?;
        let launches =
            reduce.launches(Op::Sum, out.address(), workspace.address(), faults.address())?;
        // SAFETY: all of it outlives the queue's work: `measure` waits for it.
        let time =
            time.measure(&mut queue, |queue, _| unsafe { queue.start_batched(&launches) })?;
        Ok(Ok(Summed { time, plan: plan.to_string() }))
    }

    /// The row of what was measured.
    fn row_of(
        &self,
        shape: &Shape,
        accuracy: Accuracy,
        ceiling: f64,
        sorted: Option<Timing>,
        Summed { time, plan }: Summed,
    ) -> Row {
        let n = self.host.len() as u64;
        let outputs = shape.outputs(n);
        let bytes = 4 * shape.elements(n) + shape.bound_bytes(n) + 4 * outputs;
        let with_sort =
            |reduced: f64, of: fn(&Timing) -> f64| reduced + sorted.as_ref().map_or(0.0, of);
        let microseconds = with_sort(time.median, |sort| sort.median);
        let bytes_per_second = bytes as f64 / microseconds * 1e6;
        Row {
            shape: shape.name().into_owned(),
            dtype: DType::F32,
            accuracy,
            n: shape.elements(n),
            outputs,
            bytes,
            microseconds,
            reduction_microseconds: sorted.is_some().then_some(time.median),
            quartiles: [with_sort(time.q1, |sort| sort.q1), with_sort(time.q3, |sort| sort.q3)],
            bytes_per_second,
            of_ceiling: bytes_per_second / ceiling,
            aim: aim(shape, accuracy, n),
            plan,
        }
    }
}

/// The keys of groups.
fn keys(shape: &Shape, n: u64) -> Vec<u32> {
    let Shape::Groups { bits, is_zipf, .. } = *shape else { return Vec::new() };
    (0..n).into_par_iter().map(|at| dense_key(1 << bits, is_zipf, at)).collect()
}

/// The fraction of the ceiling that is asked of a shape.
fn aim(shape: &Shape, accuracy: Accuracy, n: u64) -> Option<f64> {
    if let Shape::Groups { .. } = shape {
        return None;
    }
    let axis = matches!(shape, Shape::Axis { .. });
    let long = shape.elements(n) / shape.outputs(n) >= 256;
    match accuracy {
        Accuracy::Fast => Some(if axis { 0.85 } else { 0.8 }),
        Accuracy::Exact if axis => None,
        Accuracy::Exact => Some(if long { 0.6 } else { 0.35 }),
    }
}

/// The first wrong result, in words: exact sums have the processor's bits; fast ones, of numbers below one, are off by a few last places an element.
fn wrong(
    found: &[f32],
    expected: &[f32],
    inputs: impl Fn(usize) -> u64 + Sync,
    accuracy: Accuracy,
) -> Option<String> {
    if found.len() != expected.len() {
        return Some(format!("{} results, not {}", found.len(), expected.len()));
    }
    let right = |k: usize| {
        let off = (f64::from(found[k]) - f64::from(expected[k])).abs();
        match accuracy {
            Accuracy::Exact => found[k].to_bits() == expected[k].to_bits(),
            Accuracy::Fast => off <= 2f64.powi(-22) * (1 + inputs(k)) as f64,
        }
    };
    let wrong = (0..found.len()).into_par_iter().find_first(|&k| !right(k))?;
    let (was, is) = (found[wrong], expected[wrong]);
    Some(format!("output {wrong}, of {} elements: {was:e}, not {is:e}", inputs(wrong)))
}
