//! For a profiler to watch: many reductions at once, one case after the other, on a GPU or in the simulator.
//!
//! The first argument is `cuda` or `simt`, the second a file. Each line of standard input is an element type, a reduction, an accuracy, a number of elements
//! and a case of `warpfold bench segments`, as in `f32 sum exact 100000 every 16`. The file gets a line of JSON for each: why it was not done (`why`), or
//! nothing, and of the simulator every launch with its counts.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, stdin};

use warpfold::cuda::Gpu;
use warpfold::kernel::{DeviceSegments, Machine, ReduceMany};
use warpfold::partial::Finish;
use warpfold::plan::CudaFacts;
use warpfold::simt::{Cost, Detail, Device, Settings};
use warpfold::{Accuracy, DType, Element, Op, Overflow, with_element};
use warpfold_cli::input::{Distribution, Produce as _, Random, elements};
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

fn each<M: Machine>(
    machine: &M,
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
        let why = with_element!(dtype, T => reduce::<M, T>(machine, &cut, n, op, accuracy));
        let launches: Vec<_> = costs().iter().map(told).collect();
        let why = why.err().map(|why| why.to_string());
        writeln!(done, "{}", serde_json::json!({ "why": why, "launches": launches }))?;
    }
    Ok(done.flush()?)
}

fn told(cost: &Cost) -> serde_json::Value {
    let Cost { kernel, grid, block, counts } = cost;
    let counts: serde_json::Map<_, _> =
        counts.named().map(|(name, count)| (name.to_owned(), count.into())).collect();
    serde_json::json!({ "kernel": kernel, "grid": grid, "block": block, "counts": counts })
}

fn reduce<M: Machine, T: Element>(
    machine: &M,
    cut: &Cut,
    n: u64,
    op: Op,
    accuracy: Accuracy,
) -> Result<(), Box<dyn Error>> {
    let n = cut.elements(n);
    let bytes = usize::try_from(n)? * size_of::<T>();
    let mut aligned = vec![0u128; bytes.div_ceil(size_of::<u128>())];
    let bytes = &mut bytemuck::cast_slice_mut(&mut aligned)[..bytes];
    Random::new(T::DTYPE, n, Distribution::Uniform, 0, 0)?.fill(bytes)?;
    let x = machine.upload(elements::<T>(bytes, 0)?)?;
    let finish = |many: ReduceMany<'_, M, T>| -> Result<(), Box<dyn Error>> {
        many.accuracy(accuracy).overflow(Overflow::Wrap).columns(op, Finish::default())?;
        Ok(())
    };
    match cut {
        Cut::Every(length) => finish(machine.reduce_segments(&x, DeviceSegments::Every(*length))),
        Cut::Offsets(offsets) => {
            let offsets = machine.upload(offsets)?;
            finish(machine.reduce_segments(&x, &offsets))
        }
        Cut::Axis { layout, axis } => finish(machine.reduce_axes(&x, layout, &[*axis as i64])?),
        Cut::Groups { keys, groups, told } => {
            let keys = machine.upload(keys)?;
            match told {
                Keys::Dense if accuracy == Accuracy::Fast => {
                    finish(machine.group_dense(&keys, *groups, &x)?.reduce())
                }
                // In tables where they do it, which are exact.
                Keys::Dense => {
                    let dense = machine.reduce_dense(&keys, *groups, &x);
                    dense.overflow(Overflow::Wrap).columns(op, Finish::default())?;
                    Ok(())
                }
                Keys::Any => finish(machine.group_by(&keys, &x)?.reduce()),
            }
        }
    }
}
