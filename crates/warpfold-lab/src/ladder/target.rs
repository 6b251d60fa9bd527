//! [`Target`]: what rungs run on, and the simulator as one.

use warpfold::kernel::{Buffer, Machine, View, read};
use warpfold::partial::{Finish, Output};
use warpfold::simt::{Device, Settings};
use warpfold::{Accuracy, Element, Error, Op, Overflow, Policy, Result};
use warpfold_kernels::Module;
use warpfold_simt::{Argument, Counters, Detail, Dimensions};

use super::found::{self, Times};
use super::host::Runs;
use super::{Launch, Plan};

/// Lanes of a multiprocessor that work at once, from Volta's 64 of each kind to Hopper's 128: the latter.
pub const LANES: u64 = 128;

/// What rungs run on: a GPU, or the simulator. Both are given the same launches.
pub trait Target {
    /// Where arrays are.
    type Machine: Machine;

    /// It.
    fn machine(&self) -> &Self::Machine;

    /// What reports call it.
    fn device(&self) -> found::Device;

    /// An array that is not set to anything.
    ///
    /// # Errors
    /// [`Error::Device`]: out of memory.
    fn unwritten<T: Element>(&self, len: u64) -> Result<Buffer<Self::Machine, T>>;

    /// Runs launches of a plan's kernel in their order, waits, and says what each cost, if that is counted.
    ///
    /// # Safety
    /// The launches must be [`Plan::launches`] of the plan, over arrays as large as it says, of its element type, that nothing else uses.
    ///
    /// # Errors
    /// [`Error::Device`].
    unsafe fn run(&mut self, plan: &Plan, launches: &[Launch]) -> Result<Vec<Counters>>;

    /// Times runs, told their number; `None` where time says nothing.
    ///
    /// # Safety
    /// As [`run`](Self::run), for the launches of every number; arrays may be the same in several.
    ///
    /// # Errors
    /// [`Error::Device`].
    unsafe fn time(
        &mut self,
        plan: &Plan,
        launches: &dyn Fn(usize) -> Vec<Launch>,
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

/// The embedded module of a plan.
pub(super) fn module(plan: &Plan) -> Result<Module> {
    warpfold_kernels::find(&plan.module).ok_or_else(|| Error::Device {
        asked: format!("the kernel {}", plan.entry),
        obstacle: format!("{} is not embedded", plan.module),
        remedy: "run cargo xtask kernels",
    })
}

/// The library's choices: what overflows wraps, as in the rungs.
pub(super) fn policy(accuracy: Accuracy) -> Policy {
    Policy { accuracy, overflow: Overflow::Wrap, ..Policy::default() }
}

/// The simulator.
#[derive(Debug, Clone)]
pub struct Simulator(Device);

impl Default for Simulator {
    fn default() -> Self {
        Simulator::new(Settings { chains: Detail::On, ..Settings::default() })
    }
}

impl Simulator {
    /// One that schedules and checks as told, and counts work and steps if `settings.chains` says so.
    pub fn new(settings: Settings) -> Simulator {
        Simulator(Device::new().under(settings))
    }
}

impl Target for Simulator {
    type Machine = Device;

    fn machine(&self) -> &Device {
        &self.0
    }

    fn device(&self) -> found::Device {
        let multiprocessors = self.0.facts().multiprocessors;
        found::Device {
            kind: found::Kind::Simt,
            name: "simulator of a GPU of compute capability 9.0".to_owned(),
            multiprocessors: Some(multiprocessors),
            processors: u64::from(multiprocessors) * LANES,
        }
    }

    fn unwritten<T: Element>(&self, len: u64) -> Result<Buffer<Device, T>> {
        self.0.unwritten(len as usize)
    }

    unsafe fn run(&mut self, plan: &Plan, launches: &[Launch]) -> Result<Vec<Counters>> {
        let module = module(plan)?;
        let run = |launch: &Launch| {
            let simulated = warpfold_simt::Launch {
                kernel: plan.entry.clone(),
                grid: Dimensions::from(launch.pass.grid),
                block: Dimensions::from(launch.pass.block),
                shared_bytes: launch.pass.shared_bytes,
                arguments: launch.parameters.into_iter().map(Argument::from).collect(),
            };
            self.0.launch_raw(module, &simulated, None)
        };
        launches.iter().map(run).collect()
    }

    unsafe fn time(
        &mut self,
        _: &Plan,
        _: &dyn Fn(usize) -> Vec<Launch>,
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
        let plan = self.0.reduce(x).policy(policy(accuracy)).plan(op)?;
        let run = self.0.launch(&plan, x, None, None)?;
        let finish = Finish { overflow: Overflow::Wrap, ..Finish::default() };
        Ok((read::<T>(&plan, &run.record).finish(op, finish)?, vec![run.counters]))
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
