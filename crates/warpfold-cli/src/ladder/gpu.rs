//! Climbing and verifying on a GPU.

use warpfold::cuda::Gpu;
use warpfold_lab::cuda::report::Temperature;
use warpfold_lab::cuda::{READ_BYTES, read_peak};
use warpfold_lab::machine::available_memory;
use warpfold_ladder::found::Peak;
use warpfold_ladder::verify::{Cell, Verified, verify as verify_cells};
use warpfold_ladder::with_number;
use warpfold_ladder::{Cuda, Options, Target};

use super::backend::{array, fits};
use crate::Failure;

/// Steps of each branch of the demonstration: long against a launch.
const ROUNDS: u32 = 1 << 16;

/// Climbs, beside the fastest reading of the same run.
pub(super) fn climb(
    gpu: &Gpu,
    mut options: Options,
    demonstrate: bool,
    observer: &mut dyn warpfold_ladder::Observer,
) -> Result<warpfold_ladder::Ladder, Failure> {
    let mut target = Cuda::new(gpu)?;
    let case = options.case;
    fits(warpfold_ladder::bytes(&options, gpu.facts()), target.free()?, case, "on the GPU")?;
    fits(array(case), available_memory(), case, "on this computer")?;
    if !options.rungs.is_empty() {
        options.peak = peak(gpu, &options);
    }
    if options.temperature == Temperature::Cold {
        options.copies = target.cold_copies(&options)?;
    }
    options.method = Some(method(&options));
    let dtype = case.dtype;
    let mut found =
        with_number!(dtype, T => warpfold_ladder::climb::<T, _>(&mut target, &options, observer))?;
    if demonstrate {
        found.divergence = Some(warpfold_ladder::divergence(&mut target, ROUNDS, options.runs)?);
    }
    Ok(found)
}

/// The fastest reading; a GPU with too little memory to measure it goes without.
fn peak(gpu: &Gpu, options: &Options) -> Option<Peak> {
    let bytes = array(options.case).min(READ_BYTES.into()) as u64;
    let bytes = match options.temperature {
        Temperature::Cold => READ_BYTES,
        Temperature::Hot => bytes.next_multiple_of(16).max(1 << 20),
    };
    match read_peak(gpu, bytes, options.temperature) {
        Ok(reading) => Some(Peak {
            bytes_per_second: reading.bytes_per_second,
            how: format!("{} bytes, {}", reading.bytes, reading.variant),
        }),
        Err(error) => {
            crate::say!("warpfold: the peak is not known: {error}");
            None
        }
    }
}

fn method(options: &Options) -> String {
    let arrays = match options.temperature {
        Temperature::Cold => format!("cold, {} copies of the array in rotation", options.copies),
        Temperature::Hot => "hot, the same array again and again".to_owned(),
    };
    format!(
        "device events around each run, all its launches together, back to back on one stream; {arrays}"
    )
}

/// A GPU as a stage.
pub(crate) fn on_gpu(
    gpu: &Gpu,
    setting: &warpfold_ladder::Setting,
) -> Result<Box<dyn warpfold_ladder::Stage>, Failure> {
    Ok(Box::new(warpfold_ladder::OnGpu::new(gpu, setting.clone())?))
}

/// Verifies cells, from several threads: most cells are too small to fill a GPU, and many of the rest wait for one atomic after the other.
pub(super) fn verify(
    gpu: &Gpu,
    cells: &[Cell],
    seed: u64,
    each: impl Fn(&Cell) + Sync,
) -> Result<Verified, Failure> {
    const AT_MOST: usize = 16;
    let first = Cuda::new(gpu)?;
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(AT_MOST);
    let mut targets = (1..threads).map(|_| first.beside()).collect::<warpfold::Result<Vec<_>>>()?;
    targets.push(first);
    Ok(verify_cells(&mut targets, cells, seed, each)?)
}
