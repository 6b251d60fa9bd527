//! The SIMT machine: from a launch to counters, or a fault.

mod access;
mod atomics;
mod barrier;
mod block;
mod bulk;
mod chain;
mod cost;
mod exchange;
mod execute;
mod grid;
mod location;
mod order;
mod shadow;
mod touch;
mod warp;

use crate::counters::Counters;
use crate::fault::Fault;
use crate::launch::{Launch, Settings};
use crate::memory::Memory;
use crate::program::{Kernel, Program};
use crate::trace::Observer;

/// Most threads a block may have.
const MOST_THREADS: u64 = 1024;

impl Launch {
    /// Runs the launch to its end.
    ///
    /// # Errors
    /// The [`Fault`] that stopped it. Global memory is then as the fault left it.
    pub fn run(
        &self,
        program: &Program,
        memory: &mut Memory,
        settings: &Settings,
    ) -> Result<Counters, Box<Fault>> {
        let kernel = self.checked(program, settings)?;
        memory.instantiate(program);
        grid::run(program, kernel, self, memory, settings, None)
    }

    /// Runs the launch while `observer` watches.
    ///
    /// # Errors
    /// As [`Launch::run`].
    pub fn run_observed(
        &self,
        program: &Program,
        memory: &mut Memory,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Counters, Box<Fault>> {
        let kernel = self.checked(program, settings)?;
        memory.instantiate(program);
        grid::run(program, kernel, self, memory, settings, Some(observer))
    }

    fn checked<'p>(
        &self,
        program: &'p Program,
        settings: &Settings,
    ) -> Result<&'p Kernel, Box<Fault>> {
        let refuse =
            |message: String| Err(Box::new(Fault::Launch { kernel: self.kernel.clone(), message }));
        let Some(kernel) = program.kernel(&self.kernel) else {
            let names: Vec<&str> = program.kernels().iter().map(Kernel::name).collect();
            return refuse(format!("the program has no such kernel; it has: {}", names.join(", ")));
        };
        // From here on the message says where the kernel is.
        let refuse = |message: String| refuse(format!("{message} (PTX line {})", kernel.line));
        let threads = self.block.count();
        if threads == 0 || self.grid.count() == 0 {
            return refuse("the grid or the block is empty".into());
        }
        let most = MOST_THREADS.min(kernel.most_threads.unwrap_or(MOST_THREADS));
        if threads > most {
            return refuse(format!("a block of {threads} threads, at most {most} are allowed"));
        }
        if self.grid.count() > u64::from(u32::MAX) {
            return refuse(format!(
                "a grid of {} blocks, at most 2^32 - 1 are allowed",
                self.grid.count()
            ));
        }
        let shared = u64::from(kernel.dynamic_shared) + u64::from(self.shared_bytes);
        if shared > u64::from(settings.most_shared_bytes) {
            return refuse(format!(
                "{} bytes of static and {} of dynamic shared memory, a block may have {}",
                kernel.static_shared, self.shared_bytes, settings.most_shared_bytes
            ));
        }
        if self.arguments.len() != kernel.parameters.len() {
            return refuse(format!(
                "{} arguments given, the kernel takes {}",
                self.arguments.len(),
                kernel.parameters.len()
            ));
        }
        for (index, (argument, parameter)) in
            self.arguments.iter().zip(&kernel.parameters).enumerate()
        {
            if argument.0.len() != parameter.bytes as usize {
                return refuse(format!(
                    "argument {index} has {} bytes, the parameter `{}` has {}",
                    argument.0.len(),
                    parameter.name,
                    parameter.bytes
                ));
            }
        }
        Ok(kernel)
    }
}
