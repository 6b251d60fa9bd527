//! [`Device`]: a GPU that is not there.

use std::fmt;
use std::sync::{Arc, Mutex};

use warpfold_kernels::Module;
use warpfold_simt::{Argument, Counters, Counts, Dimensions, Fault, Observer, Program, Settings};

use super::{Reduce, View, programs};
use crate::element::Element;
use crate::kernel::{
    self, AnyBuffer, AnyView, Arguments, BatchedLaunch, Buffer, Code, Executor, Home, Launch,
    Machine, RECORD_WORDS, Ready, Record, Running, WORKSPACE_HEADER, machine_methods,
    record_offset, record_words, value_bytes, workspace_bytes,
};
use crate::partial::Finish;
use crate::plan::{CudaFacts, CudaPlan};
use crate::simulated::{Memory, Shared, home, lock, read_at};
use crate::{Error, Op, Result};

/// The device whose plans the simulator follows unless told otherwise: an H200.
const H200: CudaFacts = CudaFacts { compute: 90, multiprocessors: 132 };

/// A simulated GPU. Cheap to clone; clones share its memory. One reduction runs at a time.
#[derive(Debug, Clone)]
pub struct Device {
    facts: CudaFacts,
    settings: Settings,
    memory: Shared,
    costs: Option<Arc<Mutex<Vec<Cost>>>>,
}

/// A launch of a kernel, and what it cost in all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cost {
    /// The kernel's entry point.
    pub kernel: String,
    /// Blocks.
    pub grid: u32,
    /// Threads of a block.
    pub block: u32,
    /// What was counted.
    pub counts: Counts,
}

/// What a launch wrote, and what it cost.
#[derive(Debug, Clone)]
pub struct Run {
    /// The words that stand for the result; [`kernel::read`](crate::kernel::read) reads them.
    pub record: Record,
    /// What each launch cost, in all, by line and by step; all but `stats` of complex numbers are one.
    pub counters: Vec<Counters>,
}

impl Default for Device {
    fn default() -> Self {
        Device::new()
    }
}

impl Device {
    /// A device that plans as an H200 does, with every check on.
    pub fn new() -> Device {
        Device::with(H200, Settings::default())
    }

    /// A device of other facts: what it knows of a GPU, and how runs are scheduled and checked.
    pub fn with(facts: CudaFacts, settings: Settings) -> Device {
        Device { facts, settings, memory: Arc::new(Mutex::default()), costs: None }
    }

    /// The same device, its memory included, keeping what each launch costs from now on, whoever launches it: for [`costs`](Self::costs).
    pub fn keeping_costs(&self) -> Device {
        Device { costs: Some(Arc::default()), ..self.clone() }
    }

    /// What the launches since the last call cost, in their order; none unless it [keeps costs](Self::keeping_costs).
    ///
    /// ```
    /// use warpfold::simt::Device;
    /// let device = Device::new().keeping_costs();
    /// let x = device.upload(&[1i32; 100])?;
    /// device.reduce(&x).sum()?;
    /// let costs = device.costs();
    /// assert_eq!((costs.len(), costs[0].kernel.as_str(), costs[0].grid), (1, "sum_i32", 1));
    /// assert!(costs[0].counts.global_load_sectors >= 400 / 32);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn costs(&self) -> Vec<Cost> {
        self.costs.as_ref().map_or_else(Vec::new, |costs| std::mem::take(&mut *lock(costs)))
    }

    /// The same device, its memory included, under other settings.
    pub fn under(&self, settings: Settings) -> Device {
        Device { settings, ..self.clone() }
    }

    /// What the planner knows of it.
    pub fn facts(&self) -> CudaFacts {
        self.facts
    }

    /// Copies a slice to the device.
    ///
    /// # Errors
    /// None so far: the simulator takes the host's memory.
    pub fn upload<T: Element>(&self, x: &[T]) -> Result<super::Buffer<T>> {
        Machine::upload(self, x)
    }

    /// An array of zeros on the device.
    ///
    /// # Errors
    /// None so far: the simulator takes the host's memory.
    pub fn alloc<T: Element>(&self, len: usize) -> Result<super::Buffer<T>> {
        let zeros = self.zeros(len * size_of::<T>())?;
        Ok(Buffer::new(AnyBuffer::new(zeros, T::DTYPE, len)))
    }

    /// An array that nobody wrote yet: a kernel that reads an element before one was written faults.
    ///
    /// # Errors
    /// None so far: the simulator takes the host's memory.
    pub fn unwritten<T: Element>(&self, len: usize) -> Result<super::Buffer<T>> {
        let memory = Executor::unwritten(self, len * size_of::<T>())?;
        Ok(Buffer::new(AnyBuffer::new(memory, T::DTYPE, len)))
    }

    /// Its memory, for whoever runs launches by themselves: arrays keep their addresses there, and are gone from here.
    pub fn take_memory(&self) -> warpfold_simt::Memory {
        std::mem::take(&mut *lock(&self.memory))
    }

    /// Runs a plan over arrays and counts what it costs; `observer` is shown every instruction.
    ///
    /// # Errors
    /// [`Error::Device`]: the fault that stopped it.
    pub fn launch<T: Element>(
        &self,
        plan: &CudaPlan,
        x: View<'_, T>,
        y: Option<View<'_, T>>,
        observer: Option<&mut dyn Observer>,
    ) -> Result<Run> {
        self.launch_any(plan, x.untyped(), y.map(|y| y.untyped()), observer)
    }

    /// The same of arrays with their types inside.
    ///
    /// # Errors
    /// As [`launch`](Self::launch).
    ///
    /// # Panics
    /// If the arrays are shorter than the plan's, or of another type.
    pub fn launch_any(
        &self,
        plan: &CudaPlan,
        x: AnyView<'_>,
        y: Option<AnyView<'_>>,
        mut observer: Option<&mut dyn Observer>,
    ) -> Result<Run> {
        kernel::check_arrays(self, plan, x, y)?;
        let workspace = self.workspace(plan)?;
        let slot = Memory::copy_of(&self.memory, &[0; 8 * (RECORD_WORDS + 1)]);
        let done = slot.address() + 8 * RECORD_WORDS as u64;
        let arguments = Arguments {
            x: x.address,
            y: y.map_or(0, |y| y.address),
            n: plan.problem.n,
            workspace: workspace.address(),
            record: slot.address(),
            value: 0,
            done,
            stamp: 1,
            options: 0,
        };
        let mut counters = Vec::new();
        for launch in Launch::of(plan, arguments) {
            let observer: Option<&mut dyn Observer> = match &mut observer {
                Some(observer) => Some(&mut **observer),
                None => None,
            };
            counters.push(self.run_launch(plan, &launch, observer)?);
        }
        let mut words = [0u64; RECORD_WORDS + 1];
        slot.read(bytemuck::cast_slice_mut(&mut words))?;
        if words[RECORD_WORDS] != 1 {
            return Err(fault(plan, "the kernel ended without a result".into()));
        }
        let record = words[..record_words(plan)].iter().map(|&word| u64::from_le(word)).collect();
        Ok(Run { record, counters })
    }

    /// Runs a reduction whose value stays on the device, as a queue of a GPU does, and hands over the value's bytes.
    ///
    /// # Errors
    /// As [`Reduce::plan`]; [`Error::Unsupported`] for `stats`, which is no single value; [`Error::Empty`] and [`Error::TooFew`] where the
    /// length alone tells; [`Error::Device`]: the fault that stopped it.
    pub fn leave<T: Element>(
        &self,
        reduce: &Reduce<'_, T>,
        op: Op,
        finish: Finish,
    ) -> Result<Vec<u8>> {
        let reduce = reduce.untyped();
        let plan = reduce.plan(op)?;
        let (x, y) = reduce.inputs(op)?;
        kernel::check_arrays(self, &plan, x, y)?;
        let mut bytes = vec![0; value_bytes(op, x.dtype, finish.round_to).unwrap_or_default()];
        let value = Memory::copy_of(&self.memory, &bytes);
        let workspace = self.workspace(&plan)?;
        let arguments = Arguments {
            x: x.address,
            y: y.map_or(0, |y| y.address),
            n: plan.problem.n,
            workspace: workspace.address(),
            record: workspace.address() + record_offset(plan.grid),
            value: value.address(),
            ..Default::default()
        };
        let launches = Launch::leaving(&plan, finish, arguments)?;
        match reduce.length() {
            None => {
                for launch in launches {
                    self.run_launch(&plan, &launch, None)?;
                }
            }
            Some(length) => {
                length.check(self)?;
                kernel::counted::check(&plan)?;
                let compute = self.facts.compute;
                let launches = kernel::counted::launches(launches, compute, length.address)?;
                self.launch_batched(&launches)?;
            }
        }
        value.read(&mut bytes)?;
        Ok(bytes)
    }

    /// States of blocks and the record are unwritten memory, so that reading what nobody wrote is a fault.
    fn workspace(&self, plan: &CudaPlan) -> Result<Memory> {
        let bytes = workspace_bytes(plan.grid);
        Memory::unwritten(&self.memory, bytes, WORKSPACE_HEADER as usize)
    }

    fn run_launch(
        &self,
        plan: &CudaPlan,
        launch: &Launch,
        observer: Option<&mut dyn Observer>,
    ) -> Result<Counters> {
        let program = programs::of(launch.kernel.module(self.facts.compute)?)?;
        let words = launch.arguments.words();
        let simulated = simulated(launch.kernel.entry(), launch.grid, launch.block, &words);
        let counters = self.simulate(&program, &simulated, observer);
        counters.map_err(|error| fault(plan, error.to_string()))
    }

    /// Runs any kernel of a module and counts what it costs; `observer` is shown every instruction.
    ///
    /// # Errors
    /// [`Error::Device`]: the fault that stopped it.
    pub fn launch_raw(
        &self,
        module: Module,
        launch: &warpfold_simt::Launch,
        observer: Option<&mut dyn Observer>,
    ) -> Result<Counters> {
        let program = programs::of(module)?;
        let counters = self.simulate(&program, launch, observer);
        counters.map_err(|error| fault(&launch.kernel, error.to_string()))
    }

    /// Runs launches of many reductions one after another, and counts what each costs.
    ///
    /// # Errors
    /// [`Error::Device`]: the fault that stopped one of them.
    pub fn launch_batched(&self, launches: &[BatchedLaunch]) -> Result<Vec<Counters>> {
        let run = |launch: &BatchedLaunch| {
            let BatchedLaunch { entry, grid, block, shared_bytes, words, .. } = launch;
            let shared_bytes = *shared_bytes;
            let simulated = warpfold_simt::Launch {
                shared_bytes,
                ..simulated(entry.clone(), *grid, *block, words)
            };
            match &launch.code {
                Code::Shipped(_) => {
                    self.launch_raw(launch.module(self.facts.compute)?, &simulated, None)
                }
                Code::Spliced(spliced) => {
                    let counters = self.simulate(&*programs::spliced(spliced)?, &simulated, None);
                    counters.map_err(|error| fault(&launch.entry, error.to_string()))
                }
            }
        };
        launches.iter().map(run).collect()
    }

    fn simulate(
        &self,
        program: &Program,
        launch: &warpfold_simt::Launch,
        observer: Option<&mut dyn Observer>,
    ) -> std::result::Result<Counters, Box<Fault>> {
        let mut memory = lock(&self.memory);
        let counters = match observer {
            Some(observer) => launch.run_observed(program, &mut memory, &self.settings, observer),
            None => launch.run(program, &mut memory, &self.settings),
        }?;
        if let Some(costs) = &self.costs {
            let (kernel, counts) = (launch.kernel.clone(), counters.total);
            lock(costs).push(Cost { kernel, grid: launch.grid.x, block: launch.block.x, counts });
        }
        Ok(counters)
    }
}

fn simulated(kernel: String, grid: u32, block: u32, words: &[u64]) -> warpfold_simt::Launch {
    warpfold_simt::Launch {
        kernel,
        grid: Dimensions::from(grid),
        block: Dimensions::from(block),
        shared_bytes: 0,
        arguments: words.iter().copied().map(Argument::from).collect(),
    }
}

fn fault(requested: &dyn fmt::Display, obstacle: String) -> Error {
    let requested = format!("{requested}, simulated");
    Error::Device { requested, obstacle, remedy: "report it: the kernel or the simulator is wrong" }
}

machine_methods!(Device);

impl Machine for Device {}

impl Executor for Device {
    fn home(&self) -> Home {
        home(&self.memory)
    }

    fn facts(&self) -> CudaFacts {
        self.facts
    }

    fn copy_of(&self, bytes: &[u8]) -> Result<kernel::Memory> {
        Ok(kernel::Memory::Simt(Memory::copy_of(&self.memory, bytes)))
    }

    fn zeros(&self, bytes: usize) -> Result<kernel::Memory> {
        self.copy_of(&vec![0; bytes])
    }

    fn unwritten(&self, bytes: usize) -> Result<kernel::Memory> {
        Ok(kernel::Memory::Simt(Memory::unwritten(&self.memory, bytes as u64, 0)?))
    }

    fn bytes_of(&self, x: AnyView<'_>) -> Result<Vec<u8>> {
        x.check(self)?;
        read_at(&self.memory, x.address, x.len * x.dtype.size())
    }

    fn run_batched(&self, launches: &[BatchedLaunch], _: &[Ready<'_>]) -> Result<()> {
        self.launch_batched(launches)?;
        Ok(())
    }

    fn begin<'a>(
        &'a self,
        plan: &CudaPlan,
        x: AnyView<'a>,
        y: Option<AnyView<'a>>,
    ) -> Result<Running<'a>> {
        let run = self.launch_any(plan, x, y, None)?;
        Ok(Running::Done(run.record))
    }
}
