//! [`Target`]: what rungs run on, and the simulator as one.

use warpfold::kernel::{Buffer, Machine, View, read};
use warpfold::partial::{Finish, Output};
use warpfold::simt::{Device, Settings};
use warpfold::{Accuracy, Element, Error, Op, Overflow, Policy, Result};
use warpfold_kernels::Module;
use warpfold_simt::{Argument, Counters, Detail, Dimensions};

use crate::Launch;
use crate::found::{self, Times};
use crate::host::Runs;
use warpfold_lab::machine::available_memory;

/// Lanes of a multiprocessor that work at once, from Volta's 64 of each kind to Hopper's 128: the latter.
pub const LANES: u64 = 128;

/// What rungs run on: a GPU, or the simulator. Both are given the same launches.
pub trait Target {
    /// Where arrays are.
    type Machine: Machine;

    /// Whether it tells when memory is read that was never written.
    const SEES_UNWRITTEN: bool;

    /// It.
    fn machine(&self) -> &Self::Machine;

    /// What reports call it.
    fn device(&self) -> found::Device;

    /// An array that is not set to anything.
    ///
    /// # Errors
    /// [`Error::Device`]: out of memory.
    fn unwritten<T: Element>(&self, len: u64) -> Result<Buffer<Self::Machine, T>>;

    /// Lets what follows run in another order of blocks and warps, where that can be chosen.
    fn schedule(&mut self, seed: u64) {
        let _ = seed;
    }

    /// Bytes of memory that are free for arrays.
    ///
    /// # Errors
    /// [`Error::Device`].
    fn free(&self) -> Result<u64>;

    /// Runs launches in their order, waits, and says what each cost, if that is counted.
    ///
    /// # Safety
    /// Each must be a launch of an embedded kernel with the parameters that it takes; what it reads and writes must be allocated on this
    /// machine, and used by nothing else. [`Plan::launches`](super::Plan::launches) over arrays as large as the plan says are such.
    ///
    /// # Errors
    /// [`Error::Device`].
    unsafe fn run(&mut self, launches: &[Launch<'_>]) -> Result<Vec<Counters>>;

    /// Times runs of launches, told their number; `None` where time says nothing.
    ///
    /// # Safety
    /// As [`run`](Self::run), for the launches of every number; arrays may be the same in several.
    ///
    /// # Errors
    /// [`Error::Device`].
    unsafe fn time<'a>(
        &mut self,
        launches: &dyn Fn(usize) -> Vec<Launch<'a>>,
        runs: Runs,
    ) -> Result<Option<Times>>;

    /// The library's reduction, and what it cost.
    ///
    /// # Errors
    /// As those of the library.
    fn library<T: Element>(
        &mut self,
        x: View<'_, Self::Machine, T>,
        op: Op,
        accuracy: Accuracy,
    ) -> Result<(Output, Vec<Counters>)>;

    /// Times the library's reduction of the arrays of each run.
    ///
    /// # Errors
    /// As those of the library.
    fn time_library<'a, T: Element>(
        &mut self,
        x: &dyn Fn(usize) -> View<'a, Self::Machine, T>,
        op: Op,
        accuracy: Accuracy,
        runs: Runs,
    ) -> Result<Option<Times>>
    where
        Self::Machine: 'a;
}

/// The embedded module of a name.
pub(super) fn module(name: &str) -> Result<Module> {
    warpfold_kernels::find(name).ok_or_else(|| Error::Device {
        requested: "a kernel of the ladder".into(),
        obstacle: format!("{name} is not embedded"),
        remedy: "run cargo xtask kernels",
    })
}

/// The library's choices: what overflows wraps, as in the rungs.
pub(super) fn policy(accuracy: Accuracy) -> Policy {
    Policy { accuracy, overflow: Overflow::Wrap, ..Policy::default() }
}

/// Bytes of this computer's memory for a byte of an array: the array itself, its copy in the simulator, and what the race detector keeps of it.
const SHADOWS: u64 = 6;

/// The simulator.
#[derive(Debug, Clone)]
pub struct Simulator {
    device: Device,
    settings: Settings,
}

impl Default for Simulator {
    fn default() -> Self {
        Simulator::new(Settings { chains: Detail::On, ..Settings::default() })
    }
}

impl Simulator {
    /// One that schedules and checks as told, and counts work and steps if `settings.chains` says so.
    pub fn new(settings: Settings) -> Simulator {
        Simulator { device: Device::new().under(settings.clone()), settings }
    }
}

impl Target for Simulator {
    type Machine = Device;

    const SEES_UNWRITTEN: bool = true;

    fn machine(&self) -> &Device {
        &self.device
    }

    fn schedule(&mut self, seed: u64) {
        self.settings.seed = seed;
        self.device = self.device.under(self.settings.clone());
    }

    fn device(&self) -> found::Device {
        let multiprocessors = self.device.facts().multiprocessors;
        found::Device {
            kind: found::DeviceKind::Simt,
            name: "simulator of a GPU of compute capability 9.0".to_owned(),
            multiprocessors: Some(multiprocessors),
            processors: u64::from(multiprocessors) * LANES,
            paper_peak: None,
            clock: None,
        }
    }

    fn unwritten<T: Element>(&self, len: u64) -> Result<Buffer<Device, T>> {
        self.device.unwritten(len as usize)
    }

    fn free(&self) -> Result<u64> {
        Ok(available_memory() / SHADOWS)
    }

    unsafe fn run(&mut self, launches: &[Launch<'_>]) -> Result<Vec<Counters>> {
        let run = |launch: &Launch<'_>| {
            let simulated = warpfold_simt::Launch {
                kernel: launch.entry.to_owned(),
                grid: Dimensions::from(launch.pass.grid),
                block: Dimensions::from(launch.pass.block),
                shared_bytes: launch.pass.shared_bytes,
                arguments: launch.parameters.iter().copied().map(Argument::from).collect(),
            };
            self.device.launch_raw(module(launch.module)?, &simulated, None)
        };
        launches.iter().map(run).collect()
    }

    unsafe fn time<'a>(
        &mut self,
        _: &dyn Fn(usize) -> Vec<Launch<'a>>,
        _: Runs,
    ) -> Result<Option<Times>> {
        Ok(None)
    }

    fn library<T: Element>(
        &mut self,
        x: View<'_, Device, T>,
        op: Op,
        accuracy: Accuracy,
    ) -> Result<(Output, Vec<Counters>)> {
        let plan = self.device.reduce(x).policy(policy(accuracy)).plan(op)?;
        let run = self.device.launch(&plan, x, None, None)?;
        let finish = Finish { overflow: Overflow::Wrap, ..Finish::default() };
        Ok((read(&plan, &run.record).finish(op, finish)?, run.counters))
    }

    fn time_library<'a, T: Element>(
        &mut self,
        _: &dyn Fn(usize) -> View<'a, Device, T>,
        _: Op,
        _: Accuracy,
        _: Runs,
    ) -> Result<Option<Times>>
    where
        Device: 'a,
    {
        Ok(None)
    }
}
