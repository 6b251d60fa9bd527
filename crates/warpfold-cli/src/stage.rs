//! Opens what rungs are climbed on: a GPU, the simulator in its place, or this computer alone.

use warpfold_ladder::{Processor, Setting, Simulated, Stage};

use crate::Failure;
use crate::device::Device;
use crate::ladder::{Backend, tell};

/// The stage for a device, told of on standard error where the simulator stands in for a GPU.
///
/// # Errors
/// [`Failure::NoDevice`] where a GPU was asked for by name and cannot be used.
pub(crate) fn open(args: Device, setting: &Setting) -> Result<Box<dyn Stage>, Failure> {
    Ok(match Backend::of(args)? {
        Backend::Cuda(gpu) => crate::ladder::on_gpu(&gpu, setting)?,
        Backend::Simt { why } => {
            tell(why.as_deref());
            Box::new(Simulated::new(setting.clone()))
        }
        Backend::Cpu => Box::new(Processor::new(setting.clone())),
    })
}
