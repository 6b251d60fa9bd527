//! For a profiler to watch: many reductions at once, one case after the other, on a GPU or in the simulator.
//!
//! The first argument is `cuda` or `simt`, the second a file. Each line of standard input is an element type, a reduction, an accuracy, a number of elements
//! and a case of `warpfold bench segments`, as in `f32 sum exact 100000 every 16`. The file gets a line of JSON for each: why it was not done (`why`), or
//! nothing, and of the simulator every launch with its counts.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, stdin};

use warpfold::cuda::Gpu;
use warpfold::kernel::{
    AnyBuffer, AnyGroups, AnyReduceBatched, AnyReduceDense, AnySegments, Executor,
};
use warpfold::partial::Finish;
use warpfold::plan::CudaFacts;
use warpfold::simt::{Cost, Detail, Device, Settings};
use warpfold::{Accuracy, DType, Op, Overflow, Policy};
use warpfold_io::{Distribution, Produce as _, Random};
use warpfold_lab::segments::{Cut, Keys, cases};

/// The GPU whose counters these stand beside.
const H200: CudaFacts = CudaFacts { compute: 90, multiprocessors: 132 };

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [machine, file] = &arguments[..] else { Err("say cuda or simt, and a file")? };
    let file = BufWriter::new(File::create(file)?);
    match machine.as_str() {
        "cuda" => each(&Gpu::open(0)?, file, Vec::new),
        _ => {
            let (races, uninitialised) = (Detail::Off, Detail::Off);
            let settings = Settings { races, uninitialised, ..Settings::default() };
            let device = Device::with(H200, settings).keeping_costs();
            each(&device, file, || device.costs())
        }
    }
}

fn each(
    machine: &dyn Executor,
    mut done: impl std::io::Write,
    costs: impl Fn() -> Vec<Cost>,
) -> Result<(), Box<dyn Error>> {
    for line in stdin().lines() {
        let line = line?;
        let words: Vec<&str> = line.splitn(5, ' ').collect();
        let [dtype, op, accuracy, n, case] = words[..] else { Err("five words a line")? };
        let (op, dtype, n): (Op, DType, u64) = (op.parse()?, dtype.parse()?, n.parse()?);
        let accuracy = if accuracy == "fast" { Accuracy::Fast } else { Accuracy::Exact };
        let case = cases(n).into_iter().find(|known| known.name == case);
        let cut = case.ok_or_else(|| format!("no such case: {line}"))?.cut();
        let why = reduce(machine, &cut, n, (op, dtype, accuracy));
        let launches: Vec<_> = costs().iter().map(known_as).collect();
        let why = why.err().map(|why| why.to_string());
        writeln!(done, "{}", serde_json::json!({ "why": why, "launches": launches }))?;
    }
    Ok(done.flush()?)
}

fn known_as(cost: &Cost) -> serde_json::Value {
    let Cost { kernel, grid, block, counts } = cost;
    let counts: serde_json::Map<_, _> =
        counts.named().map(|(name, count)| (name.to_owned(), count.into())).collect();
    serde_json::json!({ "kernel": kernel, "grid": grid, "block": block, "counts": counts })
}

fn reduce(
    machine: &dyn Executor,
    cut: &Cut,
    n: u64,
    (op, dtype, accuracy): (Op, DType, Accuracy),
) -> Result<(), Box<dyn Error>> {
    let n = cut.elements(n);
    let mut bytes = vec![0; usize::try_from(n)? * dtype.size()];
    Random::new(dtype, n, Distribution::Uniform, 0, 0)?.fill(&mut bytes)?;
    let x = AnyBuffer::upload(machine, dtype, &bytes)?;
    let policy = Policy { accuracy, overflow: Overflow::Wrap, ..Policy::default() };
    let finish = |many: AnyReduceBatched<'_>| -> Result<(), Box<dyn Error>> {
        many.policy(policy).columns(op, Finish::default())?;
        Ok(())
    };
    let segments = |cut| AnyReduceBatched::segments(machine, x.view(), cut);
    match cut {
        Cut::Every(length) => finish(segments(AnySegments::Every(*length))),
        Cut::Offsets(offsets) => {
            let offsets = AnyBuffer::upload(machine, DType::U32, bytemuck::cast_slice(offsets))?;
            finish(segments(AnySegments::Offsets(offsets.view())))
        }
        Cut::Axis { layout, axis } => {
            finish(AnyReduceBatched::axes(machine, x.view(), layout, &[*axis as i64])?)
        }
        Cut::Groups { keys, groups, known_as } => {
            let keys = AnyBuffer::upload(machine, DType::U32, bytemuck::cast_slice(keys))?;
            let (keys, x) = (keys.view(), x.view());
            match known_as {
                Keys::Dense if accuracy == Accuracy::Fast => {
                    finish(AnyGroups::dense(machine, keys, *groups, x)?.reduce())
                }
                // In tables where they do it, which are exact.
                Keys::Dense => {
                    let policy = Policy { accuracy: Accuracy::Exact, ..policy };
                    let dense = AnyReduceDense::new(machine, keys, *groups, x).policy(policy);
                    dense.columns(op, Finish::default())?;
                    Ok(())
                }
                Keys::Any => finish(AnyGroups::by(machine, keys, x)?.reduce()),
            }
        }
    }
}
