//! [`ManyLaunch`]: a launch of a kernel for many reductions, as a plain value.

use crate::{Error, Result};

/// One launch: a one-dimensional grid, no dynamic shared memory, parameters of 64 bits each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManyLaunch {
    /// The kernel's entry point, which its module is named after.
    pub entry: String,
    /// Blocks.
    pub grid: u32,
    /// Threads of a block.
    pub block: u32,
    /// The parameters, in order; pointers are addresses in the machine's memory.
    pub words: Vec<u64>,
}

impl ManyLaunch {
    /// The PTX module that holds it.
    ///
    /// # Errors
    /// [`Error::Device`] if a device of this compute capability (times ten) is older than every build.
    pub fn module(&self, compute: u32) -> Result<warpfold_kernels::Module> {
        let base = warpfold_kernels::catalog::BASE;
        let found = warpfold_kernels::find(&format!("{}.sm{base}", self.entry));
        found.filter(|_| compute >= base).ok_or_else(|| Error::Device {
            asked: format!("the kernel {}", self.entry),
            obstacle: "no build of it runs on this device; compute capability 7.0 is the least"
                .into(),
            remedy: "run it on the CPU",
        })
    }
}
