//! Device time of every CUDA kernel: cold (buffers in rotation beyond the L2 cache) at many sizes and shapes.
//!
//! `cuda_bench sizes` times the sum of f32 at every size; `cuda_bench types [GiB]` every reduction and type at one size;
//! `cuda_bench shapes` other shapes of the launch; `cuda_bench latency` results on the host, `cuda_bench first` the first use of kernels. Lines of JSON, one a figure.

use std::time::{Duration, Instant};

use warpfold::cuda::{Buffer, Gpu, Queue, View};
use warpfold::plan::Shape;
use warpfold::{Accuracy, DType, Element, Op, Result, with_element};

const POOL: usize = 4 << 30;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let started = Instant::now();
    let gpu = Gpu::open(0)?;
    eprintln!("{}", gpu.description());
    if arguments.first().is_some_and(|first| first == "first") {
        return first_uses(&gpu, started.elapsed());
    }
    let mut bench = Bench::new(&gpu)?;
    match arguments.first().map(String::as_str) {
        Some("sizes") => bench.sizes(),
        Some("types") => bench.types(),
        Some("shapes") => bench.shapes(),
        Some("latency") => bench.latency(),
        _ => {
            eprintln!("cuda_bench sizes | types | shapes | latency | first");
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
        let pool = gpu.alloc::<u64>(POOL / 8)?;
        let mut bench = Bench { gpu, queue: gpu.queue()?, pool, result: gpu.alloc(8)? };
        bench.fill(DType::F32)?;
        Ok(bench)
    }

    /// Random data of a type all over the pool: floats in [-1, 1), integers over their whole range.
    fn fill(&mut self, dtype: DType) -> Result<()> {
        let mut state = 1u64;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let unit = |bits: u64| (bits >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
        let pair = |a: f32, b: f32| u64::from(a.to_bits()) | u64::from(b.to_bits()) << 32;
        let mut word = || match dtype {
            DType::F64 | DType::Complex128 => unit(random()).to_bits(),
            DType::F32 | DType::Complex64 => pair(unit(random()) as f32, unit(random()) as f32),
            // Halves that are moderate numbers of both formats, never NaN.
            DType::F16 | DType::BF16 => random() & 0xbfff_3fff_bfff_3fff,
            _ => random(),
        };
        let block: Vec<u64> = (0..1 << 22).map(|_| word()).collect();
        for first in (0..POOL / 8).step_by(block.len()) {
            self.pool.write(first, &block)?;
        }
        Ok(())
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
                let x = bench.array::<T>(n, next);
                let mut reduce = match op {
                    Op::Dot => bench.gpu.reduce_two(x, bench.array::<T>(n, next + 1))?,
                    _ => bench.gpu.reduce(x),
                }
                .accuracy(Accuracy::Fast);
                if let Some(shape) = shape {
                    reduce = reduce.shape(shape);
                }
                // SAFETY: pool and result outlive the queue's work, and nothing else uses the result.
                unsafe {
                    match op {
                        Op::Var | Op::L1 | Op::L2 | Op::Linf | Op::Prod => {
                            bench.queue.start_for_time(&reduce, op)?;
                        }
                        _ => bench.queue.start(&reduce, op, value)?,
                    }
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
        let arrays = if op == Op::Dot { 2 } else { 1 };
        let gigabytes = (arrays * n * size_of::<T>()) as f64 / microseconds / 1e3;
        let shape = shape.map_or(String::new(), |s| {
            format!(
                ",\"block\":{},\"per_multiprocessor\":{},\"packs\":{},\"alone\":{}",
                s.block, s.per_multiprocessor, s.packs, s.alone
            )
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
        let mut filled = DType::F32;
        for &dtype in DType::ALL {
            let like = match dtype {
                DType::F16 | DType::BF16 => DType::F16,
                DType::F32 | DType::Complex64 => DType::F32,
                DType::F64 | DType::Complex128 => DType::F64,
                _ => DType::I64,
            };
            if filled != like {
                self.fill(like)?;
                filled = like;
            }
            let ops = [
                Op::Sum,
                Op::Max,
                Op::ArgMax,
                Op::MinMax,
                Op::Count,
                Op::Var,
                Op::L1,
                Op::L2,
                Op::Linf,
                Op::Dot,
                Op::Prod,
            ];
            for op in ops {
                let n = (2 << 30) / dtype.size();
                // bool arrays must hold bools, and the pool holds anything.
                if dtype == DType::Bool {
                    continue;
                }
                let timed = with_element!(dtype, T => self.report::<T>(op, n, None));
                match timed {
                    Err(
                        warpfold::Error::Undefined { .. } | warpfold::Error::Unsupported { .. },
                    ) => {}
                    other => {
                        other?;
                    }
                }
            }
        }
        Ok(())
    }

    fn shapes(&mut self) -> Result<()> {
        for (block, per_multiprocessor) in
            [(512, 1), (512, 2), (512, 3), (512, 4), (512, 6), (256, 6), (256, 4)]
        {
            let shape = Some(Shape { block, per_multiprocessor, packs: 2, alone: 4096 });
            for power in [26, 29] {
                self.report::<f32>(Op::Sum, 1 << power, shape)?;
            }
            self.report::<i8>(Op::ArgMax, 2 << 30, shape)?;
            self.report::<i32>(Op::Sum, 1 << 29, shape)?;
            self.report::<f64>(Op::Var, 1 << 28, shape)?;
            self.report::<warpfold::f16>(Op::Count, 1 << 30, shape)?;
        }
        for power in [10, 14, 15, 16, 17, 18, 20, 21, 22, 23, 24] {
            for packs in [1, 2, 4] {
                for per_multiprocessor in [2, 3] {
                    for alone in [0, 1 << 11, 1 << 12, 1 << 13] {
                        let shape = Some(Shape { block: 512, per_multiprocessor, packs, alone });
                        self.report::<f32>(Op::Sum, 1 << power, shape)?;
                    }
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
        Ok(())
    }
}

/// What the first use of a kernel costs in a process: loading, and compiling unless the driver's cache knows it.
fn first_uses(gpu: &Gpu, opening: Duration) -> Result<()> {
    let cache = if std::env::var_os("CUDA_CACHE_DISABLE").is_some() { "off" } else { "on" };
    println!("{{\"what\":\"opening the GPU\",\"ms\":{:.1}}}", opening.as_secs_f64() * 1e3);
    let x = gpu.upload(&[1i16; 1000])?;
    gpu.reduce(&gpu.upload(&[true])?).count()?;
    for op in [Op::Sum, Op::ArgMax, Op::Var, Op::Prod] {
        let start = Instant::now();
        gpu.reduce(&x).output(op, Default::default())?;
        let ms = start.elapsed().as_secs_f64() * 1e3;
        println!(
            "{{\"what\":\"first use of {op} i16\",\"driver cache\":\"{cache}\",\"ms\":{ms:.2}}}"
        );
    }
    Ok(())
}
