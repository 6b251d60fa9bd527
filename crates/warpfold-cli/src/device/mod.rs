//! Where a reduction runs: from `--device` to something that takes the pieces in.

#[cfg_attr(not(feature = "cuda"), path = "absent.rs")]
pub(crate) mod cuda;
mod folder;
mod list;

use std::fmt;
use std::str::FromStr;

pub(crate) use folder::Folder;
pub(crate) use list::{ListFormat, list};
use warpfold::kernel::{self, AnyBuffer};
use warpfold::map::{Folded, HostArray, Map};
use warpfold::plan::{Link, Placement, Side, Tuning, place_host};
use warpfold::{DType, Op, Policy, Value, simt};
use warpfold_engine::operator::TypedOperator;

use crate::Failure;
use crate::tuning::Source;

/// Where to compute, as asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Device {
    /// The fastest there is for data on the host.
    Auto,
    /// This machine's processor.
    Cpu,
    /// The NVIDIA GPU of a number.
    Cuda(usize),
    /// The simulator, which runs the GPU's kernels on the processor.
    Simt,
}

impl Device {
    /// Whether the processor's own kernels compute: whoever names no device has them.
    pub(crate) fn is_processor(self) -> bool {
        matches!(self, Device::Auto | Device::Cpu)
    }
}

impl FromStr for Device {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let lower = text.to_ascii_lowercase();
        match lower.as_str() {
            "auto" => Ok(Device::Auto),
            "cpu" => Ok(Device::Cpu),
            "cuda" => Ok(Device::Cuda(0)),
            "simt" => Ok(Device::Simt),
            other => {
                let number = other.strip_prefix("cuda:").filter(|n| {
                    (1..=4).contains(&n.len()) && n.bytes().all(|byte| byte.is_ascii_digit())
                });
                let number = number.and_then(|number| number.parse().ok()).map(Device::Cuda);
                number.ok_or_else(|| {
                    "there are auto, cpu, cuda, cuda:N and simt; `warpfold devices` lists them"
                        .into()
                })
            }
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Device::Auto => f.write_str("auto"),
            Device::Cpu => f.write_str("cpu"),
            Device::Cuda(ordinal) => write!(f, "cuda:{ordinal}"),
            Device::Simt => f.write_str("simt"),
        }
    }
}

/// What is to be reduced, as far as the choice of a device depends on it.
#[derive(Clone, Copy)]
#[cfg_attr(not(feature = "cuda"), allow(dead_code, reason = "only a GPU may refuse the work"))]
pub(crate) struct Work {
    pub(crate) op: Op,
    pub(crate) dtype: DType,
    pub(crate) policy: Policy,
    /// Of all inputs, where known.
    pub(crate) bytes: Option<u64>,
}

/// The device taken.
pub(crate) struct Chosen {
    pub(crate) executor: Executor,
    /// Why, where there was a choice.
    pub(crate) why: Option<String>,
}

/// What folds.
#[derive(Clone)]
pub(crate) enum Executor {
    Cpu,
    Cuda(cuda::Gpu),
    Simt(simt::Device),
}

impl Executor {
    /// What a map leaves of arrays of the host, which a GPU or the simulator is given copies of.
    pub(crate) fn fold_map(
        &self,
        map: &Map,
        arrays: &[HostArray<'_>],
        first: u64,
    ) -> Result<Folded, Failure> {
        match self {
            Executor::Cpu => Ok(map.fold(arrays, first)?),
            #[cfg(feature = "cuda")]
            Executor::Cuda(gpu) => fold_map(gpu, map, arrays, first),
            #[cfg(not(feature = "cuda"))]
            Executor::Cuda(gpu) => gpu.absent(),
            Executor::Simt(device) => fold_map(device, map, arrays, first),
        }
    }

    /// What an operator of one's own makes of arrays of the host, likewise.
    pub(crate) fn fold_operator(
        &self,
        operator: &TypedOperator,
        arrays: &[HostArray<'_>],
        policy: Policy,
    ) -> warpfold::Result<Vec<Value>> {
        match self {
            Executor::Cpu => warpfold_engine::operator::fold(operator, arrays, policy),
            #[cfg(feature = "cuda")]
            Executor::Cuda(gpu) => fold_operator(gpu, operator, arrays),
            #[cfg(not(feature = "cuda"))]
            Executor::Cuda(gpu) => gpu.absent(),
            Executor::Simt(device) => fold_operator(device, operator, arrays),
        }
    }

    /// The device that results name; never `Auto`.
    pub(crate) fn device(&self) -> Device {
        match self {
            Executor::Cpu => Device::Cpu,
            Executor::Cuda(gpu) => Device::Cuda(cuda::ordinal(gpu)),
            Executor::Simt(_) => Device::Simt,
        }
    }
}

fn fold_map(
    machine: &dyn kernel::Executor,
    map: &Map,
    arrays: &[HostArray<'_>],
    first: u64,
) -> Result<Folded, Failure> {
    let buffers = copies(machine, arrays)?;
    let views: Vec<_> = buffers.iter().map(AnyBuffer::view).collect();
    kernel::map::fold(machine, map, &views, first).map_err(|error| match error {
        // What kernels do not map, whatever the elements are.
        warpfold::Error::Map { .. } => Failure::Usage(error.to_string()),
        other => other.into(),
    })
}

fn fold_operator(
    machine: &dyn kernel::Executor,
    operator: &TypedOperator,
    arrays: &[HostArray<'_>],
) -> warpfold::Result<Vec<Value>> {
    let buffers = copies(machine, arrays)?;
    let views: Vec<_> = buffers.iter().map(AnyBuffer::view).collect();
    kernel::operator::fold(machine, operator, &views)
}

/// Arrays of the host, copied to a machine.
fn copies(
    machine: &dyn kernel::Executor,
    arrays: &[HostArray<'_>],
) -> warpfold::Result<Vec<AnyBuffer>> {
    let upload = |array: &HostArray<'_>| AnyBuffer::upload(machine, array.dtype(), array.bytes());
    arrays.iter().map(upload).collect()
}

/// Opens the device asked for, or the better one.
///
/// # Errors
/// [`Failure::NoDevice`] where a GPU was asked for by name and cannot be used; [`Failure::Tuning`].
pub(crate) fn choose(args: Device, work: Work, source: &Source) -> Result<Chosen, Failure> {
    match args {
        Device::Cpu => Ok(Chosen { executor: Executor::Cpu, why: None }),
        Device::Simt => Ok(Chosen { executor: Executor::Simt(simt::Device::new()), why: None }),
        Device::Cuda(_) => {
            cuda::available().map_err(Failure::NoDevice)?;
            let gpu = open_gpu(args, source.load()?.as_ref())?;
            Ok(Chosen { executor: Executor::Cuda(gpu), why: None })
        }
        Device::Auto => Ok(best(work, source.load_or_warn()?.as_ref())),
    }
}

/// The number of a GPU asked for by name.
///
/// # Errors
/// [`Failure::Usage`] where something else was asked for.
pub(crate) fn ordinal(args: Device) -> Result<usize, Failure> {
    match args {
        Device::Cuda(ordinal) => Ok(ordinal),
        other => Err(Failure::Usage(format!(
            "--device {other} is no GPU; this takes --device cuda or --device cuda:N"
        ))),
    }
}

/// Opens a GPU asked for by name.
///
/// # Errors
/// [`Failure::NoDevice`]; [`Failure::Usage`] where something else was asked for.
pub(crate) fn open_gpu(args: Device, tuning: Option<&Tuning>) -> Result<cuda::Gpu, Failure> {
    let ordinal = ordinal(args)?;
    cuda::available().and_then(|()| cuda::open(ordinal, tuning)).map_err(Failure::NoDevice)
}

/// The faster side for host data. The driver is only asked once a measurement speaks for it: starting it takes longer than most reductions.
fn best(work: Work, tuning: Option<&Tuning>) -> Chosen {
    let Placement { side, why } = place_host(work.bytes, measured(tuning));
    let on_cpu = |why| Chosen { executor: Executor::Cpu, why: Some(why) };
    if side == Side::Cpu {
        return on_cpu(why);
    }
    let opened = cuda::open(0, tuning).and_then(|gpu| cuda::takes(&gpu, work).map(|()| gpu));
    match opened {
        Ok(gpu) => Chosen { executor: Executor::Cuda(gpu), why: Some(why) },
        Err(error) => on_cpu(format!("{why}, but {error}")),
    }
}

/// The first GPU's rates.
fn measured(tuning: Option<&Tuning>) -> Option<Link> {
    tuning?.gpus.iter().find_map(|gpu| gpu.link)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_read_as_they_are_written() {
        for device in [Device::Auto, Device::Cpu, Device::Cuda(0), Device::Cuda(17), Device::Simt] {
            assert_eq!(device.to_string().parse(), Ok(device));
        }
        assert_eq!("CUDA".parse(), Ok(Device::Cuda(0)));
        for wrong in ["", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:+1", "cuda:99999", "cuda0"] {
            assert!(wrong.parse::<Device>().unwrap_err().contains("cuda:N"), "{wrong}");
        }
    }
}
