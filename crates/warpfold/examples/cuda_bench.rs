//! Device time of every CUDA kernel: cold (buffers in rotation beyond the L2 cache) at many sizes and shapes.
//!
//! `cuda_bench sizes` times the sum of f32 at every size; `cuda_bench types [GiB]` every reduction and type at one size;
//! `cuda_bench shapes` other shapes of the launch; `cuda_bench latency` results on the host. Lines of JSON, one a figure.

use std::time::{Duration, Instant};

use warpfold::cuda::{Buffer, Gpu, Queue, View};
use warpfold::plan::Shape;
use warpfold::{Accuracy, DType, Element, Op, Result, with_element};

const POOL: usize = 4 << 30;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let gpu = Gpu::open(0)?;
    eprintln!("{}", gpu.description());
    let mut bench = Bench::new(&gpu)?;
    match arguments.first().map(String::as_str) {
        Some("sizes") => bench.sizes(),
        Some("types") => bench.types(),
        Some("shapes") => bench.shapes(),
        Some("latency") => bench.latency(),
        _ => {
            eprintln!("cuda_bench sizes | types | shapes | latency");
            Ok(())
        }
    }
}

struct Bench<'a> {
    gpu: &'a Gpu,
    queue: Queue,
    pool: Buffer<u64>,
    result: Buffer<u64>,
}

impl<'a> Bench<'a> {
    fn new(gpu: &'a Gpu) -> Result<Self> {
        let mut pool = gpu.alloc::<u64>(POOL / 8)?;
        // Random bits whose 16-bit halves are moderate floats of every format, never NaN.
        let mut state = 1u64;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state & 0xbfff_3fff_bfff_3fff
        };
        let block: Vec<u64> = (0..1 << 22).map(|_| random()).collect();
        for first in (0..POOL / 8).step_by(block.len()) {
            pool.write(first, &block)?;
        }
        Ok(Bench { gpu, queue: gpu.queue()?, pool, result: gpu.alloc(8)? })
    }

    /// The `k`-th array of `n` elements in the pool, counted round.
    fn array<T: Element>(&self, n: usize, k: usize) -> View<'a, T> {
        let bytes = (n * size_of::<T>()).next_multiple_of(4096);
        let address = self.pool.address() + (k % (POOL / bytes).max(1) * bytes) as u64;
        // SAFETY: within the pool, which outlives the bench and nothing writes to; any bits are values of the types timed.
        unsafe { View::from_raw(address, n) }
    }

    /// Median microseconds a call, back to back, over arrays in rotation.
    fn time<T: Element>(&mut self, op: Op, n: usize, shape: Option<Shape>) -> Result<f64> {
        let value = self.result.address();
        let mut next = 0;
        let mut calls = |bench: &mut Self, count: usize| -> Result<f64> {
            let start = bench.queue.mark()?;
            for _ in 0..count {
                next += 1;
                let view = bench.array::<T>(n, next);
                let mut reduce = bench.gpu.reduce(view).accuracy(Accuracy::Fast);
                if let Some(shape) = shape {
                    reduce = reduce.shape(shape);
                }
                // SAFETY: pool and result outlive the queue's work, and nothing else uses the result.
                match bench.queue_start(&reduce, op, value) {
                    Ok(()) => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(bench.queue.mark()?.microseconds_since(&start)? / count as f64)
        };
        calls(self, 3)?;
        let estimate = calls(self, 3)?;
        let count = ((8000.0 / estimate.max(2.0)) as usize).clamp(3, 400);
        let mut times = (0..11).map(|_| calls(self, count)).collect::<Result<Vec<_>>>()?;
        times.sort_by(f64::total_cmp);
        Ok(times[times.len() / 2])
    }

    fn report<T: Element>(&mut self, op: Op, n: usize, shape: Option<Shape>) -> Result<f64> {
        let microseconds = self.time::<T>(op, n, shape)?;
        let gigabytes = (n * size_of::<T>()) as f64 / microseconds / 1e3;
        let shape = shape.map_or(String::new(), |s| {
            format!(",\"block\":{},\"per_multiprocessor\":{},\"packs\":{}", s.block, s.per_multiprocessor, s.packs)
        });
        println!(
            "{{\"op\":\"{op}\",\"type\":\"{}\",\"n\":{n},\"us\":{microseconds:.3},\"gb_s\":{gigabytes:.1}{shape}}}",
            T::DTYPE
        );
        Ok(microseconds)
    }

    fn sizes(&mut self) -> Result<()> {
        for power in [10, 12, 14, 16, 18, 20, 22, 24, 25, 26, 28, 30] {
            self.report::<f32>(Op::Sum, 1 << power, None)?;
        }
        Ok(())
    }

    fn types(&mut self) -> Result<()> {
        for &dtype in DType::ALL {
            for op in [Op::Sum, Op::Max, Op::ArgMax, Op::MinMax, Op::Count] {
                if op != Op::Sum && op != Op::Count && dtype.is_complex() || dtype == DType::Bool {
                    continue;
                }
                with_element!(dtype, T => self.report::<T>(op, (2 << 30) / dtype.size(), None))?;
            }
        }
        Ok(())
    }

    fn shapes(&mut self) -> Result<()> {
        let full = [(128, 8), (128, 16), (256, 4), (256, 8), (512, 1), (512, 2), (512, 3), (512, 4), (512, 8), (512, 16)];
        for (block, per_multiprocessor) in full {
            let shape = Some(Shape { block, per_multiprocessor, packs: 1 });
            for power in [26, 29] {
                self.report::<f32>(Op::Sum, 1 << power, shape)?;
            }
            self.report::<i8>(Op::ArgMax, 2 << 30, shape)?;
            self.report::<warpfold::f16>(Op::Sum, 1 << 30, shape)?;
        }
        for power in [10, 14, 16, 18, 20, 22, 24] {
            for (block, packs) in [(128, 1), (128, 4), (256, 1), (256, 2), (256, 4), (512, 1), (512, 2), (512, 4)] {
                for per_multiprocessor in [1, 2, 4] {
                    let shape = Some(Shape { block, per_multiprocessor, packs });
                    self.report::<f32>(Op::Sum, 1 << power, shape)?;
                }
            }
        }
        Ok(())
    }

    fn latency(&mut self) -> Result<()> {
        let median = |f: &mut dyn FnMut() -> Result<()>| -> Result<f64> {
            let mut times = Vec::new();
            for _ in 0..2000 {
                let start = Instant::now();
                f()?;
                times.push(start.elapsed());
            }
            times.sort();
            Ok(times[times.len() / 2].as_secs_f64() * 1e6)
        };
        let gpu = self.gpu;
        for power in [10, 16, 20] {
            let view = self.array::<f32>(1 << power, 0);
            let reduce = gpu.reduce(view).accuracy(Accuracy::Fast);
            let us = median(&mut || reduce.sum().map(|_| ()))?;
            println!("{{\"what\":\"value on the host\",\"n\":{},\"us\":{us:.2}}}", 1 << power);
        }
        let view = self.array::<f32>(1 << 10, 0);
        let reduce = gpu.reduce(view).accuracy(Accuracy::Fast);
        let value = self.result.address();
        let start = Instant::now();
        for _ in 0..500 {
            // SAFETY: pool and result outlive the queue's work.
            unsafe { self.queue.start(&reduce, Op::Sum, value)? };
        }
        let us = start.elapsed().as_secs_f64() * 1e6 / 500.0;
        self.queue.synchronize()?;
        println!("{{\"what\":\"host cost of a launch\",\"us\":{us:.2}}}");
        let first = |op: Op| -> Result<Duration> {
            let start = Instant::now();
            gpu.reduce(self.array::<i16>(1 << 10, 0)).partial(op)?;
            Ok(start.elapsed())
        };
        for op in [Op::Sum, Op::ArgMax] {
            let ms = first(op)?.as_secs_f64() * 1e3;
            println!("{{\"what\":\"first use of {op} i16\",\"ms\":{ms:.2}}}");
        }
        Ok(())
    }
}
