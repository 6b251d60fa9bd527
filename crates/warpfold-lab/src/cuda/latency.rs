//! What a reduction takes on the host: its value back, its launch, the first use of its kernel.

use std::time::{Duration, Instant};

use warpfold::cuda::{Gpu, Queue};
use warpfold::partial::Finish;
use warpfold::{Accuracy, Op, Result};

use super::report::Latency;

/// From an array on the device to a value on the host, and the host's part of a launch.
pub(super) fn on_host(gpu: &Gpu, queue: &mut Queue) -> Result<Vec<Latency>> {
    let mut found = Vec::new();
    let ones = gpu.upload(&vec![1f32; 1 << 20])?;
    for power in [10, 16, 20] {
        let reduce = gpu.reduce(ones.slice(..1 << power)).accuracy(Accuracy::Fast);
        let mut times = Vec::new();
        for _ in 0..2000 {
            let start = Instant::now();
            reduce.sum()?;
            times.push(start.elapsed());
        }
        found.push(Latency {
            what: "f32 sum, value on the host".into(),
            n: Some(1 << power),
            microseconds: median(times),
        });
    }
    let reduce = gpu.reduce(ones.slice(..1 << 10)).accuracy(Accuracy::Fast);
    let value = gpu.alloc::<u64>(8)?;
    let mut times = Vec::new();
    for _ in 0..21 {
        let start = Instant::now();
        for _ in 0..100 {
            // SAFETY: array and value outlive the queue's work, which is waited for below.
            unsafe { queue.start(&reduce, Op::Sum, value.address())? };
        }
        times.push(start.elapsed() / 100);
        queue.synchronize()?;
    }
    found.push(Latency {
        what: "host's part of a launch".into(),
        n: None,
        microseconds: median(times),
    });
    Ok(found)
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e6
}

/// What the first uses of kernels cost in this process: loading, and compiling unless the driver's cache knows them.
///
/// To be called first in a process of its own, whose environment says which cache the driver uses; `cache` says it in words.
///
/// # Errors
/// [`Error::Device`](warpfold::Error::Device).
pub fn first_uses(ordinal: usize, cache: &str) -> Result<Vec<Latency>> {
    let start = Instant::now();
    let gpu = Gpu::open(ordinal)?;
    let latency = |what: String, start: Instant| Latency {
        what: format!("{what}, {cache}"),
        n: None,
        microseconds: start.elapsed().as_secs_f64() * 1e6,
    };
    let mut found = vec![latency("opening the GPU".into(), start)];
    let x = gpu.upload(&[1i16; 1000])?;
    // Another kernel first, so that what a process pays once is not in the figures.
    gpu.reduce(&gpu.upload(&[true])?).count()?;
    for op in [Op::Sum, Op::ArgMax, Op::Var, Op::Prod] {
        let start = Instant::now();
        gpu.reduce(&x).output(op, Finish::default())?;
        found.push(latency(format!("first use of {op} of i16"), start));
    }
    Ok(found)
}
