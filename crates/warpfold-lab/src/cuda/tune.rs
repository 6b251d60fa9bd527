//! Tuning: other shapes of the launch than the rule's, measured on the GPU at hand; those that are faster are kept.

use std::time::{Duration, Instant};

use warpfold::cuda::{Gpu, Stream};
use warpfold::partial::Finish;
use warpfold::plan::{CudaPlan, DeviceFold, Link, Problem, Shape, TunedGpu, TunedRow};
use warpfold::{Accuracy, DType, Op, Policy, Result};

use super::cases::Case;
use super::device_time::DeviceTime;
use super::run::{Bench, case};

/// What is tuned: kernels with few and with many registers, narrow and wide elements.
const KERNELS: &[(Op, DType)] = &[
    (Op::Sum, DType::F32),
    (Op::Sum, DType::F64),
    (Op::Sum, DType::I32),
    (Op::Sum, DType::I8),
    (Op::Max, DType::F32),
    (Op::ArgMax, DType::F32),
    (Op::ArgMax, DType::I8),
    (Op::Var, DType::F64),
    (Op::Count, DType::F16),
];

/// Bytes of the arrays, and up to how many a row holds for.
const SIZES: &[(u64, u64)] = &[
    (64 << 10, 128 << 10),
    (256 << 10, 512 << 10),
    (1 << 20, 2 << 20),
    (4 << 20, 8 << 20),
    (16 << 20, 32 << 20),
    (64 << 20, 128 << 20),
    (256 << 20, 512 << 20),
    (1 << 30, u64::MAX),
];

/// What a shape must gain to be kept: less is the next run's noise.
const LEAST_GAIN: f64 = 0.02;

/// One shape that was tried.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Trial {
    /// The reduction.
    pub op: Op,
    /// The element type.
    pub dtype: DType,
    /// Bytes of an array.
    pub bytes: u64,
    /// The shape; `None` is the rule's.
    pub shape: Option<Shape>,
    /// Microseconds, median.
    pub microseconds: f64,
}

/// Shapes worth trying where so many bytes fill the grid or do not.
fn shapes(bytes: u64) -> Vec<Shape> {
    let mut all = Vec::new();
    let large = bytes >= 32 << 20;
    for block in [128, 256, 512] {
        for per_multiprocessor in [1, 2, 3, 4, 6, 8, 12] {
            // A multiprocessor holds 2048 threads at most, and fewer of these kernels.
            if block * per_multiprocessor > 2048 || (!large && per_multiprocessor > 4) {
                continue;
            }
            let vectors: &[u32] = if large { &[2] } else { &[1, 2, 4] };
            for &vectors in vectors {
                let alone: &[u32] = if bytes <= 128 << 10 { &[0, 8192] } else { &[0] };
                for &alone in alone {
                    all.push(Shape { block, per_multiprocessor, vectors, alone });
                }
            }
        }
    }
    all
}

/// Measures; `progress` is told each kernel and size, and what was gained there. Gives what a tuning file keeps, and every trial.
///
/// # Errors
/// [`Error::Device`](warpfold::Error::Device).
pub fn tune(
    gpu: &Gpu,
    open: Duration,
    mut progress: impl FnMut(usize, usize, Option<&TunedRow>),
) -> Result<(TunedGpu, Vec<Trial>)> {
    let time = DeviceTime { samples: 5, sample: 2000.0 };
    let (mut rows, mut trials) = (Vec::new(), Vec::new());
    let steps = KERNELS.len() * SIZES.len() + 1;
    let mut step = 0;
    let mut bench = Bench::new(gpu, time)?;
    for &(op, dtype) in KERNELS {
        bench.hold(dtype)?;
        let mut from = 0;
        for &(bytes, below) in SIZES {
            let case = case(op, dtype, bytes, Accuracy::Fast);
            let row = tune_one(&mut bench, gpu, case, bytes, time, &mut trials)?;
            let row = row.map(|row| TunedRow { from, below, ..row });
            step += 1;
            progress(step, steps, row.as_ref());
            rows.extend(row);
            from = below;
        }
    }
    drop(bench);
    let link = Some(link(gpu, open)?);
    progress(steps, steps, None);
    let facts = gpu.description();
    let tuned =
        TunedGpu { name: facts.name.clone(), facts: gpu.facts(), driver: facts.driver, link, rows };
    Ok((tuned, trials))
}

/// The best shape for one kernel and size, if it gains enough on the rule's.
fn tune_one(
    bench: &mut Bench<'_>,
    gpu: &Gpu,
    case: Case,
    bytes: u64,
    time: DeviceTime,
    trials: &mut Vec<Trial>,
) -> Result<Option<TunedRow>> {
    let Case { op, dtype, .. } = case;
    let policy = Policy { accuracy: Accuracy::Fast, ..Policy::default() };
    let problem = Problem { op, dtype, n: case.n, policy };
    let CudaPlan { fold, .. } = warpfold::plan::choose_cuda(problem, gpu.facts())?;
    let mut tried = |shape: Option<Shape>, time: DeviceTime| -> Result<f64> {
        let microseconds = bench.time(case, shape, time)?.median;
        trials.push(Trial { op, dtype, bytes, shape, microseconds });
        Ok(microseconds)
    };
    let mut best: Option<(f64, Shape)> = None;
    for shape in shapes(bytes) {
        let us = tried(Some(shape), time)?;
        if best.is_none_or(|(least, _)| us < least) {
            best = Some((us, shape));
        }
    }
    let Some((_, shape)) = best else { return Ok(None) };
    // Again, beside the rule's and at length: the least of many samples flatters.
    let longer = DeviceTime { samples: 11, sample: 2.0 * time.sample };
    let (rule, found) = (tried(None, longer)?, tried(Some(shape), longer)?);
    let row = |fold: DeviceFold| TunedRow {
        fold,
        dtype,
        from: 0,
        below: 0,
        shape,
        bytes,
        microseconds: found,
        rule_microseconds: rule,
    };
    Ok((found < rule * (1.0 - LEAST_GAIN)).then(|| row(fold)))
}

/// How fast an array in host memory is summed over the link and on the processor: the better of three.
fn link(gpu: &Gpu, open: Duration) -> Result<Link> {
    let x: Vec<i32> = (0..128 << 20).collect();
    let bytes = size_of_val(&x[..]) as f64;
    let mut rates = [0f64; 2];
    for _ in 0..3 {
        let start = Instant::now();
        let mut stream = Stream::new(gpu, Op::Sum, Policy::default())?;
        stream.push(&x)?;
        let over = stream.finish(Finish::default())?;
        rates[0] = rates[0].max(bytes / start.elapsed().as_secs_f64());
        let start = Instant::now();
        let here = warpfold::reduce(&x).sum()?;
        rates[1] = rates[1].max(bytes / start.elapsed().as_secs_f64());
        assert_eq!(over, warpfold::partial::Output::One(here.into()), "both sums are exact");
    }
    Ok(Link { gpu: rates[0], cpu: rates[1], open: open.as_secs_f64() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_that_is_tried_may_be_launched() {
        for &(bytes, below) in SIZES {
            let shapes = shapes(bytes);
            assert!(bytes < below && shapes.len() > 3);
            assert!(shapes.iter().all(|shape| shape.check().is_ok()));
        }
    }
}
