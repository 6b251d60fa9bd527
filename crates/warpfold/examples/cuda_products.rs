//! Products of floats on a GPU: their bits beside the processor's, and their speed beside reading alone and, where their PTX is given, other kernels'.
//!
//! `cuda_products FOLDER` prints a line of JSON for each type and shape; FOLDER has the PTX of `limits`, as `cargo xtask kernels --unpack` writes it, and may have that of
//! products of a version that took blocks of 512 threads and segments by shares.

use std::path::PathBuf;

use warpfold::cuda::{Buffer, Gpu, Queue, RawKernel};
use warpfold::kernel::{DeviceSegments, WORKSPACE_HEADER, workspace_bytes};
use warpfold::partial::Finish;
use warpfold::{Complex, Element, Op, Segments, bf16, f16, reduce, reduce_segments};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Bytes of each array.
const BYTES: usize = 1 << 28;
/// Launches between two marks, and how many times all are measured in turn.
const LAUNCHES: usize = 10;
const ROUNDS: usize = 9;

/// What is launched again and again.
type Launch<'a> = Box<dyn Fn(&mut Queue) -> warpfold::Result<()> + 'a>;

struct Bench {
    gpu: Gpu,
    read: RawKernel,
    folder: PathBuf,
}

impl Bench {
    /// Microseconds of each, medians of rounds in which all take turns.
    fn times(&self, launches: &[Launch<'_>]) -> Outcome<Vec<f64>> {
        let mut queue = self.gpu.queue()?;
        let mut times = vec![Vec::new(); launches.len()];
        for round in 0..=ROUNDS {
            for (launch, times) in launches.iter().zip(&mut times) {
                let begin = queue.mark()?;
                for _ in 0..LAUNCHES {
                    launch(&mut queue)?;
                }
                let time = queue.mark()?.microseconds_since(&begin)? / LAUNCHES as f64;
                // The first round warms up.
                if round > 0 {
                    times.push(time);
                }
            }
        }
        Ok(times
            .into_iter()
            .map(|mut times| {
                times.sort_by(f64::total_cmp);
                times[times.len() / 2]
            })
            .collect())
    }

    fn older(&self, name: &str) -> Outcome<Option<RawKernel>> {
        let file = self.folder.join(format!("{name}.sm70.ptx"));
        let Ok(ptx) = std::fs::read_to_string(file) else { return Ok(None) };
        Ok(Some(RawKernel::load(&self.gpu, &ptx, name)?))
    }

    /// Reading alone.
    fn reading<'a>(&'a self, address: u64, out: &'a Buffer<u64>) -> Launch<'a> {
        let grid = self.gpu.facts().multiprocessors * 4;
        // SAFETY: the array has so many bytes, and `out` room for a word.
        Box::new(move |queue| unsafe {
            queue.start_raw(
                &self.read,
                [grid, 512, 0],
                &[address, BYTES as u64 / 16, out.address()],
            )
        })
    }

    fn of_type<T: Element>(&self, x: &[T]) -> Outcome<()> {
        let on = self.gpu.upload(x)?;
        let facts = self.gpu.facts();
        let scratch = self.gpu.upload(&vec![0u64; workspace_bytes(4096) as usize / 8])?;
        let found = self.gpu.reduce(&on).partial(Op::Prod)?.to_bytes();
        let same = found == reduce(x).partial(Op::Prod)?.to_bytes();
        let reduction = self.gpu.reduce(&on).untyped();
        let older = self.older(&format!("prod_{}", T::DTYPE))?;
        // SAFETY: the array and the room outlive the queue's work, which is waited for.
        let new: Launch<'_> =
            Box::new(|queue| unsafe { queue.start_for_time(&reduction, Op::Prod) });
        let mut launches = vec![self.reading(on.address(), &scratch), new];
        if let Some(kernel) = &older {
            let blocks = if T::DTYPE.is_complex() { 1 } else { 3 };
            let shape = [facts.multiprocessors * blocks, 512, 0];
            let words = [on.address(), 0, x.len() as u64, scratch.address(), 0, 0, 0, 0, 0];
            // SAFETY: as above; the workspace is zero before and after.
            launches.push(Box::new(move |queue| unsafe { queue.start_raw(kernel, shape, &words) }));
        }
        let times = self.times(&launches)?;
        print(T::DTYPE.name(), "flat", same, &times);
        for length in [4, 64, 4096] {
            self.rows(x, &on, length)?;
        }
        Ok(())
    }

    fn rows<T: Element>(&self, x: &[T], on: &Buffer<T>, length: u64) -> Outcome<()> {
        let rows = x.len() as u64 / length;
        let facts = self.gpu.facts();
        let every = || self.gpu.reduce_segments(on, DeviceSegments::Every(length));
        let found = every().columns(Op::Prod, Finish::default())?;
        let expected = reduce_segments(x, Segments::every(length))?;
        let expected = expected.columns(Op::Prod, Finish::default())?;
        let text = |column: &warpfold::Column, at| format!("{:?}", column.get(at));
        let alike = |at| text(&found[0].1, at) == text(&expected[0].1, at);
        let same = (0..rows as usize).step_by(997).all(alike);
        let out = self.gpu.upload(&vec![0u64; 2 * rows as usize])?;
        let scratch = self.gpu.upload(&vec![0u64; (WORKSPACE_HEADER as usize + 4096 * 96) / 8])?;
        let faults = self.gpu.upload(&[u64::MAX; 6])?;
        let launches =
            every().launches(Op::Prod, out.address(), scratch.address(), faults.address())?;
        let kind =
            if T::DTYPE.is_complex() || size_of::<T>() > 2 { T::DTYPE.name() } else { "half" };
        let older = self.older(&format!("segment_products_{kind}"))?;
        // SAFETY: arrays, results and room outlive the queue's work, which is waited for.
        let new: Launch<'_> = Box::new(|queue| unsafe { queue.start_batched(&launches) });
        let mut all = vec![self.reading(on.address(), &scratch), new];
        if let Some(kernel) = &older {
            let n = x.len() as u64;
            let grid = ((n + rows).div_ceil(8 * 512)).min(u64::from(facts.multiprocessors) * 3);
            let options = 4 | u64::from(T::DTYPE == warpfold::DType::BF16) << 3;
            let [to, scratch, faults] = [out.address(), scratch.address(), faults.address()];
            let words = [on.address(), n, 0, 0, length, rows, to, scratch, faults, options];
            // SAFETY: as above.
            all.push(Box::new(move |queue| unsafe {
                queue.start_raw(kernel, [grid as u32, 256, 0], &words)
            }));
        }
        let times = self.times(&all)?;
        print(T::DTYPE.name(), &format!("rows of {length}"), same, &times);
        Ok(())
    }
}

/// Microseconds, and the parts of the read ceiling in percent.
fn print(dtype: &str, shape: &str, same: bool, times: &[f64]) {
    let of = |time: f64| (1000.0 * times[0] / time).round() / 10.0;
    let older = match times.get(2) {
        Some(older) => format!(", \"older_us\": {older:.2}, \"older_percent\": {}", of(*older)),
        None => String::new(),
    };
    println!(
        "{{\"dtype\": \"{dtype}\", \"shape\": \"{shape}\", \"bytes\": {BYTES}, \"has_bits_of_processor\": {same}, \"read_us\": {:.2}, \"us\": {:.2}, \"percent\": {}{older}}}",
        times[0],
        times[1],
        of(times[1])
    );
}

/// Numbers about one, of either sign and of all their digits.
fn numbers<T: Element>(part: impl Fn(f64) -> T) -> Vec<T> {
    let mut state = 7u64;
    let mut next = || {
        state = state.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
        let bits = state ^ state >> 29;
        let size = 0.7 + (bits >> 12) as f64 / (1u64 << 52) as f64 * 0.72;
        if bits & 1 == 0 { size } else { -size }
    };
    (0..BYTES / size_of::<T>()).map(|_| part(next())).collect()
}

fn main() -> Outcome<()> {
    let gpu = Gpu::open(0)?;
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("give a folder of PTX")?);
    let limits = std::fs::read_to_string(folder.join("limits.sm70.ptx"))?;
    let read = RawKernel::load(&gpu, &limits, "read_4")?;
    println!("{{\"gpu\": \"{}\"}}", gpu.description().name);
    let bench = Bench { gpu, read, folder };
    bench.of_type(&numbers(|x| x as f32))?;
    bench.of_type(&numbers(|x| x))?;
    bench.of_type(&numbers(f16::from_f64))?;
    bench.of_type(&numbers(bf16::from_f64))?;
    bench.of_type(&numbers(|x| Complex::new(x as f32, (0.9 - x * x).abs().sqrt() as f32)))?;
    bench.of_type(&numbers(|x| Complex::new(x, (0.9 - x * x).abs().sqrt())))?;
    Ok(())
}
