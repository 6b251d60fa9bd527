//! The library's GPUs, as this program asks for them.

pub(crate) use warpfold::cuda::{AnyStream as Stream, Description, Gpu, devices};
use warpfold::plan::{Problem, Tuning};
use warpfold::{Error, Result};

use super::Work;

/// Whether there is a GPU at all.
pub(crate) fn available() -> Result<()> {
    match devices()?.is_empty() {
        false => Ok(()),
        true => Err(none_shown()),
    }
}

/// How many there are.
pub(crate) fn count() -> Result<usize> {
    Ok(devices()?.len())
}

/// The error for a driver that shows no GPU.
pub(crate) fn none_shown() -> Error {
    Error::Device {
        requested: "use of an NVIDIA GPU".into(),
        obstacle: "the driver shows none".into(),
        remedy: "check nvidia-smi and CUDA_VISIBLE_DEVICES, or run on the CPU",
    }
}

/// What can be said of the GPUs without opening one.
pub(crate) fn remark() -> String {
    let gpus = match available().and_then(|()| devices()) {
        Ok(gpus) => gpus,
        Err(error) => return error.to_string(),
    };
    let described = gpus.iter().map(|gpu| {
        let link =
            gpu.link.map_or("a link that the system does not tell".into(), |l| l.to_string());
        format!("cuda:{} has {link}", gpu.ordinal)
    });
    described.collect::<Vec<_>>().join(", ")
}

/// Opens a GPU that can run the kernels.
pub(crate) fn open(ordinal: usize, tuning: Option<&Tuning>) -> Result<Gpu> {
    if let Some(gpu) = devices()?.get(ordinal)
        && let Some(obstacle) = gpu.obstacle()
    {
        return Err(Error::Device {
            requested: format!("use of cuda:{ordinal}, {}", gpu.name),
            obstacle,
            remedy: "take another GPU, or run on the CPU",
        });
    }
    Gpu::open_tuned(ordinal, tuning)
}

/// The GPU's number.
pub(crate) fn ordinal(gpu: &Gpu) -> usize {
    gpu.description().ordinal
}

/// Whether it has a kernel for the work.
pub(crate) fn takes(gpu: &Gpu, work: Work) -> Result<()> {
    let Work { op, dtype, policy, .. } = work;
    gpu.plan(Problem { op, dtype, n: 1, policy }).map(|_| ())
}
