//! The library's own kernels, predicted in the same way: two or three blocks of their plan are simulated.

use warpfold::kernel::{AnyBuffer, FoldKernel};
use warpfold::plan::{CudaFacts, CudaPlan, DeviceFold, Problem, choose_cuda};
use warpfold::simt::{Device as Simulated, Settings};
use warpfold::{Accuracy, DType, Op, with_element};
use warpfold_lab::array::{Buffer, Data, fill};
use warpfold_lab::cuda::report::Temperature;
use warpfold_simt::{Detail, Program};

use super::code::Code;
use super::device::Device;
use super::path::Paths;
use super::predict::{Launching, Prediction, together};
use super::sample::{Alone, Demand, LENGTHS, Sample, demand, once};
use crate::plan::{Case, Pass};
use crate::target::policy;

/// Predicts a reduction of the library: one launch, but for few.
///
/// # Errors
/// As those of its plan; products of two arrays are not predicted.
pub fn predict_library(
    case: Case,
    accuracy: Accuracy,
    data: Data,
    device: &Device,
    temperature: Temperature,
    launching: Launching,
) -> Result<Prediction, String> {
    let Case { op, dtype, n, .. } = case;
    if op == Op::Dot {
        return Err("dot reads two arrays; the model samples one".to_owned());
    }
    let facts =
        CudaFacts { compute: device.compute.max(70), multiprocessors: device.multiprocessors };
    let problem = Problem { op, dtype, n, policy: policy(accuracy) };
    let plan = choose_cuda(problem, facts).map_err(|error| error.to_string())?;
    let cold = temperature == Temperature::Cold || problem.bytes() > device.l2;
    // The plan fills the machine: what a multiprocessor is given at once is what it holds.
    let resident_blocks = plan.grid.div_ceil(device.multiprocessors);
    let pass = Pass { n, grid: plan.grid, block: plan.block, shared_bytes: 0 };
    let mut launches = Vec::new();
    for fold in plan.folds() {
        let plan = CudaPlan { fold, then: None, ..plan };
        let mut found = sampled(&plan, data, device, cold)?;
        // The last block goes through what all have left, a round of loads after the other: the first is in the sample.
        let rounds = plan.grid.div_ceil(plan.block).saturating_sub(1);
        found.tail += f64::from(rounds) * device.latency.l2;
        launches.push((pass, found, Some(resident_blocks)));
    }
    Ok(together(&launches, case, device, launching, problem.bytes()))
}

/// The reduction of an array of 2^25 elements that a kernel is launched for by itself: its operation and accuracy.
pub fn reduction_of(fold: DeviceFold, dtype: DType) -> Option<(Op, Accuracy)> {
    let facts = CudaFacts { compute: 90, multiprocessors: 132 };
    let all = Op::ALL.iter().flat_map(|op| [(*op, Accuracy::Fast), (*op, Accuracy::Exact)]);
    all.into_iter().find(|&(op, accuracy)| {
        let problem = Problem { op, dtype, n: 1 << 25, policy: policy(accuracy) };
        choose_cuda(problem, facts).is_ok_and(|plan| plan.fold == fold && plan.then.is_none())
    })
}

/// A block of a plan.
fn sampled(plan: &CudaPlan, data: Data, device: &Device, cold: bool) -> Result<Sample, String> {
    let n = plan.problem.n;
    let each = n.div_ceil(u64::from(plan.grid)).max(1);
    let of = |grid: u32, each: u64| run(plan, grid, each * u64::from(grid), data, device, cold);
    let blocks = |each: u64| -> Result<Sample, String> {
        match plan.grid {
            0 | 1 => Ok(Sample::alone(of(1, each)?)),
            _ => Ok(Sample::of(of(2, each)?, of(3, each)?)),
        }
    };
    let lengths = LENGTHS.map(|length| length * u64::from(plan.block));
    let [short, long] = lengths;
    match each <= long {
        true => {
            let (whole, twice) = (blocks(each)?, blocks(2 * each)?);
            let once = once(&whole, &twice, [each, 2 * each]);
            Ok(Sample { once, alone: Alone::Warp, ..whole })
        }
        false => Ok(Sample::line(blocks(short)?, blocks(long)?, lengths, each)),
    }
}

/// So many blocks over so many elements.
fn run(
    plan: &CudaPlan,
    grid: u32,
    n: u64,
    data: Data,
    device: &Device,
    cold: bool,
) -> Result<Demand, String> {
    let CudaPlan { problem, fold, .. } = *plan;
    let compute = device.compute.max(70);
    let kernel = FoldKernel { fold, dtype: problem.dtype, skips_nan: plan.skips_nan() };
    let module = kernel.module(compute).map_err(|error| error.to_string())?;
    let ptx = module.ptx();
    let program = Program::load(&ptx).map_err(|error| error.to_string())?;
    let entry = kernel.entry();
    let found = program.kernel(&entry).ok_or_else(|| format!("no kernel {entry}"))?;
    let code = Code::new(found, &ptx);
    let plan = CudaPlan { problem: Problem { n, ..problem }, grid, then: None, ..*plan };
    let settings =
        Settings { races: Detail::Off, uninitialised: Detail::Off, ..Settings::default() };
    let facts = CudaFacts { compute, multiprocessors: device.multiprocessors };
    let simulated = Simulated::with(facts, settings);
    let size = problem.dtype.size() as u64;
    let mut buffer = Buffer::new(n * size).map_err(|error| error.to_string())?;
    with_element!(problem.dtype, T => fill::<T>(&mut buffer, data, 1));
    let bytes = &buffer.bytes()[..(n * size) as usize];
    let x = AnyBuffer::upload(&simulated, problem.dtype, bytes).map_err(|e| e.to_string())?;
    let from = if cold { x.address()..x.address() + n * size } else { 0..0 };
    let mut paths = Paths::new(&code, device, problem.dtype, plan.block, from, 0..0);
    let run = simulated.launch_any(&plan, x.view(), None, Some(&mut paths));
    let run = run.map_err(|e| e.to_string())?;
    let path = paths.waits().into_iter().fold(f64::INFINITY, f64::min);
    let memory_bytes = if cold { (n * size) as f64 } else { 0.0 };
    let (last, atomics) = (paths.last(), paths.most_contended());
    Ok(Demand { path, last, atomics, memory_bytes, ..demand(&code, &run.counters[0]) })
}
