//! [`RawKernel`]: any kernel from PTX, launched beside the library's own to compare with them.

use std::sync::Arc;

use super::device::Device;
use super::gpu::Gpu;
use crate::Result;
use crate::driver::{self, Function};

/// A kernel that is not one of the library's, loaded on a GPU.
///
/// ```no_run
/// use warpfold::cuda::{Gpu, RawKernel};
/// let gpu = Gpu::open(0)?;
/// let ptx = ".version 8.0\n.target sm_70\n.address_size 64\n.visible .entry nothing() { ret; }";
/// let nothing = RawKernel::load(&gpu, ptx, "nothing")?;
/// let mut queue = gpu.queue()?;
/// // SAFETY: the kernel takes no parameters and does nothing.
/// unsafe { queue.start_raw(&nothing, [1, 32, 0], &[])? };
/// queue.synchronize()?;
/// # Ok::<(), warpfold::Error>(())
/// ```
pub struct RawKernel {
    pub(super) function: Function,
    pub(super) entry: String,
    /// Its context must last as long as the function.
    device: Arc<Device>,
}

impl RawKernel {
    /// Compiles PTX for the GPU and looks up an entry of it. The code stays loaded as long as the GPU is open.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device): the PTX does not compile, or has no such entry.
    ///
    /// # Panics
    /// If text or name hold a NUL.
    pub fn load(gpu: &Gpu, ptx: &str, entry: &str) -> Result<RawKernel> {
        let mut kernels = RawKernel::load_all(gpu, ptx, &[entry.to_owned()])?;
        Ok(kernels.remove(0))
    }

    /// Compiles PTX for the GPU once and looks up several entries of it, in their order.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    ///
    /// # Panics
    /// As [`load`](Self::load).
    pub fn load_all(gpu: &Gpu, ptx: &str, entries: &[String]) -> Result<Vec<RawKernel>> {
        let device = gpu.device();
        let name = entries.first().map_or("no kernel", |entry| entry);
        let functions = driver::load(&device.context, name, ptx, entries)?;
        let kernels = functions.into_iter().zip(entries).map(|(function, entry)| RawKernel {
            function,
            entry: entry.clone(),
            device: device.clone(),
        });
        Ok(kernels.collect())
    }

    /// Registers that each of its threads has.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    pub fn registers(&self) -> Result<u32> {
        driver::registers(&self.device.context, self.function)
    }
}
