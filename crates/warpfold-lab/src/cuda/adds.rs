//! How many additions a GPU does in a second, and how short a launch can be.

use warpfold::cuda::{Gpu, RawKernel};
use warpfold::{DType, Error, Result};
use warpfold_kernels::catalog::PLAIN;

use super::device_time::DeviceTime;
use super::limits::Limits;

/// Additions of a thread in a round of `adds.cu`.
const LANES: u64 = 8;

/// Rounds of a launch.
const ROUNDS: u64 = 1 << 14;

/// Threads of a block, and blocks a multiprocessor.
const SHAPES: [[u32; 2]; 4] = [[256, 2], [256, 4], [512, 2], [1024, 2]];

/// Additions of elements of a type per second, and by which launch; complex numbers are two additions each.
///
/// # Errors
/// [`Error::Device`]: also where rungs have no such type.
pub fn add_rate(gpu: &Gpu, dtype: DType) -> Result<(f64, String)> {
    let (entry, parts) = match dtype {
        DType::I32 => ("add_u32", 1.0),
        DType::I64 => ("add_u64", 1.0),
        DType::F32 => ("add_f32", 1.0),
        DType::F64 => ("add_f64", 1.0),
        DType::Complex64 => ("add_f32", 2.0),
        DType::Complex128 => ("add_f64", 2.0),
        other => return Err(missing(format!("there is no kernel that adds {other} alone"))),
    };
    let plain = PLAIN.iter().find(|plain| plain.entries.contains(&entry));
    let module = plain.and_then(|plain| warpfold_kernels::find(&plain.module()));
    let module = module.ok_or_else(|| missing(format!("{entry} is not embedded")))?;
    let kernel = RawKernel::load(gpu, &module.ptx(), entry)?;
    let input = gpu.upload(&[1u64; LANES as usize])?;
    let multiprocessors = gpu.description().multiprocessors;
    let mut queue = gpu.queue()?;
    let mut best = (0.0, String::new());
    for [block, per] in SHAPES {
        let grid = per * multiprocessors;
        let output = gpu.alloc::<u64>(grid as usize)?;
        let parameters = [input.address(), ROUNDS, output.address()];
        let timed = DeviceTime::default().measure(&mut queue, |queue, _| {
            // SAFETY: the kernel reads eight elements of at most 64 bits and writes one a block; `measure` waits for the queue.
            unsafe { queue.start_raw(&kernel, [grid, block, 0], &parameters) }
        })?;
        let adds = (ROUNDS * LANES) as f64 * f64::from(grid) * f64::from(block) / parts;
        let rate = adds / timed.median * 1e6;
        if rate > best.0 {
            best = (rate, format!("{block} threads, {per} blocks a multiprocessor"));
        }
    }
    Ok(best)
}

fn missing(obstacle: String) -> Error {
    let requested = "the rate of additions".into();
    Error::Device { requested, obstacle, remedy: "take one of the ladder's types" }
}

/// Microseconds of a kernel that does nothing, back to back.
///
/// # Errors
/// [`Error::Device`].
pub fn empty_launch(gpu: &Gpu) -> Result<f64> {
    Limits::load(gpu)?.empty(&mut gpu.queue()?, DeviceTime::default())
}
