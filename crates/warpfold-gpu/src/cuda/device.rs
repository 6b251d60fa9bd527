//! A GPU opened: its context, its facts, and the kernels loaded so far.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use super::system::{self, PcieLink};
use crate::Result;
use crate::driver::{self, CudaContext, Function};
use crate::kernel::{BatchedLaunch, Code, FoldKernel, Kernel};
use crate::plan::CudaFacts;

/// What a GPU is, for people.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// Its number.
    pub ordinal: usize,
    /// What NVIDIA calls it.
    pub name: String,
    /// Compute capability times ten.
    pub compute: u32,
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Bytes of its memory.
    pub memory: u64,
    /// Bytes of its L2 cache.
    pub l2: u64,
    /// The version of CUDA that the driver knows: 13000 is 13.0.
    pub driver: i32,
    /// The release of the driver's kernel module, where the system reports it: 580.159.04.
    pub release: Option<String>,
    /// The highest clocks of multiprocessors and memory, in MHz; 0 where the driver does not report it.
    pub clocks: [u32; 2],
    /// Bits that its memory moves at once; 0 where the driver does not report it.
    pub memory_width: u32,
    /// The link to the host, where the system reports it.
    pub link: Option<PcieLink>,
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "cuda:{} {}: {} multiprocessors, {:.0} GiB, compute capability {}.{}, driver {}for CUDA {}.{}",
            self.ordinal,
            self.name,
            self.multiprocessors,
            self.memory as f64 / f64::from(1 << 30),
            self.compute / 10,
            self.compute % 10,
            self.release.as_ref().map_or(String::new(), |release| format!("{release} ")),
            self.driver / 1000,
            self.driver % 1000 / 10
        )
    }
}

impl Description {
    /// Bytes per second that its memory moves at most, on paper: its width, twice a cycle; `None` where the driver does not report it.
    pub fn memory_peak(&self) -> Option<f64> {
        let peak = f64::from(self.memory_width) / 8.0 * 2.0 * f64::from(self.clocks[1]) * 1e6;
        Some(peak).filter(|peak| *peak > 0.0)
    }

    /// Why no kernel runs on it; `None` if kernels do.
    pub fn obstacle(&self) -> Option<String> {
        let (major, minor) = (self.compute / 10, self.compute % 10);
        (self.compute < warpfold_kernels::catalog::BASE).then(|| {
            format!("its compute capability is {major}.{minor}, and the kernels need 7.0 or more")
        })
    }
}

/// Every GPU that the driver shows.
///
/// # Errors
/// [`Error::Device`](crate::Error::Device), saying why none can be used.
pub fn devices() -> Result<Vec<Description>> {
    (0..driver::count()?).map(describe).collect()
}

pub(super) fn describe(ordinal: usize) -> Result<Description> {
    let driver::Properties {
        name,
        compute,
        multiprocessors,
        memory,
        l2,
        clocks,
        memory_width,
        bus,
    } = driver::properties(ordinal)?;
    Ok(Description {
        ordinal,
        name,
        compute,
        multiprocessors,
        memory,
        l2,
        driver: driver::version()?,
        release: system::driver_release(),
        clocks,
        memory_width,
        link: system::link(&bus),
    })
}

/// One GPU, shared by everything that uses it.
pub(super) struct Device {
    pub(super) context: Arc<CudaContext>,
    pub(super) description: Description,
    functions: RwLock<HashMap<Kernel, Function>>,
    batched: RwLock<HashMap<String, (Function, u32)>>,
}

impl Device {
    pub(super) fn open(ordinal: usize) -> Result<Device> {
        let context = driver::context(ordinal)?;
        let description = describe(ordinal)?;
        Ok(Device {
            context,
            description,
            functions: RwLock::default(),
            batched: RwLock::default(),
        })
    }

    pub(super) fn facts(&self) -> CudaFacts {
        let Description { compute, multiprocessors, .. } = self.description;
        CudaFacts { compute, multiprocessors }
    }

    /// The kernel's entry point, loaded on first use.
    pub(super) fn function(&self, kernel: Kernel) -> Result<Function> {
        let functions = self.functions.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(&function) = functions.get(&kernel) {
            return Ok(function);
        }
        drop(functions);
        // Held while loading, so that threads that want the same kernel at once load it once.
        let mut functions = self.functions.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(&function) = functions.get(&kernel) {
            return Ok(function);
        }
        let module = kernel.module(self.description.compute)?;
        // All kernels of the module.
        let kernels: Vec<Kernel> = match kernel {
            Kernel::Finish => vec![kernel],
            Kernel::Fold(fold) => [false, true]
                .into_iter()
                .filter(|&skips_nan| !skips_nan || fold.dtype.is_float())
                .map(|skips_nan| Kernel::Fold(FoldKernel { skips_nan, ..fold }))
                .collect(),
        };
        let entries: Vec<String> = kernels.iter().map(Kernel::entry).collect();
        let loaded = driver::load(&self.context, module.name, &module.ptx(), &entries)?;
        functions.extend(kernels.into_iter().zip(loaded));
        Ok(functions[&kernel])
    }

    /// The entry point of a launch for many reductions, loaded on first use, and allowed the shared memory that the launch takes.
    pub(super) fn batched(&self, launch: &BatchedLaunch) -> Result<Function> {
        let name = launch.name();
        let ready = |known: &HashMap<String, (Function, u32)>| {
            let (function, allowed) = *known.get(name)?;
            (launch.shared_bytes <= allowed).then_some(function)
        };
        if let Some(function) = ready(&self.batched.read().unwrap_or_else(PoisonError::into_inner))
        {
            return Ok(function);
        }
        let mut known = self.batched.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(function) = ready(&known) {
            return Ok(function);
        }
        let function = match (known.get(name), &launch.code) {
            (Some(&(function, _)), _) => function,
            (None, Code::Shipped(_)) => {
                let module = launch.module(self.description.compute)?;
                let entries = [launch.entry.clone()];
                driver::load(&self.context, module.name, &module.ptx(), &entries)?[0]
            }
            (None, Code::Spliced(spliced)) => {
                let entries = [launch.entry.clone()];
                driver::load(&self.context, &spliced.name, spliced.ptx(), &entries)?[0]
            }
        };
        driver::allow_shared(&self.context, function, launch.shared_bytes)?;
        known.insert(name.to_owned(), (function, launch.shared_bytes));
        Ok(function)
    }
}
