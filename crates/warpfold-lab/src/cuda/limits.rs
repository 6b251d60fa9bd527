//! What no kernel can be faster than: an empty one, and the fastest that only reads.

use warpfold::cuda::{Gpu, Queue, RawKernel};
use warpfold::{Error, Result};

use super::device_time::DeviceTime;
use super::pool::{POOL, Pool};
use super::report::{Reading, Temperature};

/// The kernels of `limits.cu`, by the loads in flight a thread.
const LOADS: [u32; 4] = [1, 2, 4, 8];

/// Threads of a block, and blocks a multiprocessor.
const SHAPES: [[u32; 2]; 8] =
    [[256, 2], [256, 4], [256, 8], [512, 1], [512, 2], [512, 4], [1024, 1], [1024, 2]];

/// The kernels, loaded.
pub(super) struct Limits {
    empty: RawKernel,
    read: Vec<RawKernel>,
    multiprocessors: u32,
}

/// A reading kernel and its launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Variant {
    loads: usize,
    shape: [u32; 2],
}

impl Limits {
    pub(super) fn load(gpu: &Gpu) -> Result<Limits> {
        let name = &warpfold_kernels::catalog::LIMITS.module();
        let module = warpfold_kernels::find(name).ok_or_else(|| Error::Device {
            requested: "the kernels of the benchmark".into(),
            obstacle: format!("{name} is not embedded"),
            remedy: "run cargo xtask kernels",
        })?;
        let kernel = |entry: &str| RawKernel::load(gpu, &module.ptx(), entry);
        let read = LOADS.iter().map(|loads| kernel(&format!("read_{loads}")));
        Ok(Limits {
            empty: kernel("empty")?,
            read: read.collect::<Result<_>>()?,
            multiprocessors: gpu.description().multiprocessors,
        })
    }

    /// Microseconds of the empty kernel, back to back.
    pub(super) fn empty(&self, queue: &mut Queue, time: DeviceTime) -> Result<f64> {
        // SAFETY: it takes no parameters and does nothing.
        let timed = time
            .measure(queue, |queue, _| unsafe { queue.start_raw(&self.empty, [1, 32, 0], &[]) })?;
        Ok(timed.median)
    }

    /// The fastest way to read arrays of so many bytes.
    pub(super) fn fastest(
        &self,
        queue: &mut Queue,
        pool: &Pool,
        bytes: u64,
        temperature: Temperature,
        time: DeviceTime,
    ) -> Result<(Variant, Reading)> {
        let mut best: Option<(f64, Variant)> = None;
        for loads in 0..LOADS.len() {
            for shape in SHAPES {
                let variant = Variant { loads, shape };
                let us = self.read(queue, pool, bytes, temperature, variant, time.brief())?;
                if best.is_none_or(|(least, _)| us < least) {
                    best = Some((us, variant));
                }
            }
        }
        let (_, variant) = best.expect("there are variants");
        let microseconds = self.read(queue, pool, bytes, temperature, variant, time)?;
        let Variant { loads, shape: [block, per] } = variant;
        let reading = Reading {
            bytes,
            temperature,
            variant: format!("{} loads a thread, {block} threads, {per} blocks", LOADS[loads]),
            microseconds,
            bytes_per_second: bytes as f64 / microseconds * 1e6,
        };
        Ok((variant, reading))
    }

    /// Microseconds of one variant.
    pub(super) fn read(
        &self,
        queue: &mut Queue,
        pool: &Pool,
        bytes: u64,
        temperature: Temperature,
        variant: Variant,
        time: DeviceTime,
    ) -> Result<f64> {
        let Variant { loads, shape: [block, per] } = variant;
        let vectors = bytes / 16;
        let tiles = vectors.div_ceil(u64::from(block * LOADS[loads]));
        let grid = tiles.clamp(1, u64::from(per * self.multiprocessors)) as u32;
        let arrays = (POOL as u64 / bytes).max(1);
        let timed = time.measure(queue, |queue, k| {
            let k = if temperature == Temperature::Hot { 0 } else { k as u64 % arrays };
            // What is never written, but for one pattern in 2^32 of random data, goes to the pool's first word.
            let parameters = [pool.address() + k * bytes, vectors, pool.address()];
            // SAFETY: the array lies in the pool, which outlives the queue's work: `measure` waits for it.
            unsafe { queue.start_raw(&self.read[loads], [grid, block, 0], &parameters) }
        })?;
        Ok(timed.median)
    }
}
