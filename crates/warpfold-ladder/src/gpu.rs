//! A GPU as a target.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use warpfold::cuda::{Gpu, Queue, RawKernel};
use warpfold::kernel::{Buffer, View};
use warpfold::partial::{Finish, Output};
use warpfold::{Accuracy, Element, Error, Op, Result};
use warpfold_kernels::{catalog, ladder as kernels};
use warpfold_simt::Counters;

use crate::climb::{Options, bytes};
use crate::found::{self, Times};
use crate::host::Runs;
use crate::plan::{Case, Launch};
use crate::target::{LANES, Target, module, policy};
use warpfold_lab::cuda::LeftOnDevice;

/// A GPU, with what was loaded onto it.
pub struct Cuda {
    gpu: Gpu,
    queue: Queue,
    /// The kernels of each module, by their entries.
    loaded: Arc<Mutex<HashMap<String, Kernels>>>,
    /// Where the library's results go when it is timed.
    result: warpfold::cuda::Buffer<u64>,
}

type Kernels = Arc<HashMap<String, RawKernel>>;

/// Runs before any is timed.
const WARM_UP: usize = 3;

impl Cuda {
    /// Takes a GPU.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn new(gpu: &Gpu) -> Result<Cuda> {
        let (queue, result) = (gpu.queue()?, gpu.alloc(8)?);
        Ok(Cuda { gpu: gpu.clone(), queue, loaded: Arc::default(), result })
    }

    /// The same GPU with a queue of its own, for another thread; what one loads, all have.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn beside(&self) -> Result<Cuda> {
        Ok(Cuda { loaded: self.loaded.clone(), ..Cuda::new(&self.gpu)? })
    }

    /// Copies of the array that keep it out of the cache when they are read in turns: several times what the L2 holds, as far as memory goes.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn cold_copies(&self, options: &Options) -> Result<usize> {
        const CACHES: u64 = 8;
        let Case { n, dtype, .. } = options.case;
        let array = n.max(256).saturating_mul(dtype.size() as u64);
        let wanted = (CACHES * self.gpu.description().l2).div_ceil(array).max(2);
        let besides = bytes(&Options { copies: 1, ..options.clone() }, self.gpu.facts());
        // A little is left for what kernels need themselves.
        let free = u128::from(self.gpu.free_memory()? / 100 * 95).saturating_sub(besides);
        Ok(wanted.min(1 + (free / u128::from(array)) as u64) as usize)
    }

    /// A module with every entry that it has, compiled once.
    fn load(&self, name: &str) -> Result<Kernels> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernels) = loaded.get(name) {
            return Ok(kernels.clone());
        }
        let entries = entries(name);
        let kernels = RawKernel::load_all(&self.gpu, &module(name)?.ptx(), &entries)?;
        let kernels = Kernels::new(entries.into_iter().zip(kernels).collect());
        loaded.insert(name.to_owned(), kernels.clone());
        Ok(kernels)
    }

    /// Registers of each thread of a kernel.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn registers(&self, module: &str, entry: &str) -> Result<u32> {
        self.load(module)?.get(entry).ok_or_else(|| missing(module, entry))?.registers()
    }

    /// Starts launches.
    ///
    /// # Safety
    /// As [`Target::run`], until the queue has come this far.
    unsafe fn start(&mut self, launches: &[Launch<'_>]) -> Result<()> {
        for launch in launches {
            let kernels = self.load(launch.module)?;
            let kernel = kernels.get(launch.entry);
            let kernel = kernel.ok_or_else(|| missing(launch.module, launch.entry))?;
            let shape = [launch.pass.grid, launch.pass.block, launch.pass.shared_bytes];
            // SAFETY: as the caller promises.
            unsafe { self.queue.start_raw(kernel, shape, &launch.parameters)? };
        }
        Ok(())
    }

    /// Microseconds of runs, each with all its launches: marks before, between and after them.
    fn times(
        &mut self,
        count: usize,
        mut run: impl FnMut(&mut Self) -> Result<()>,
    ) -> Result<Vec<f64>> {
        let mut marks = vec![self.queue.mark()?];
        for _ in 0..count {
            run(self)?;
            marks.push(self.queue.mark()?);
        }
        self.queue.synchronize()?;
        marks.windows(2).map(|pair| pair[1].microseconds_since(&pair[0])).collect()
    }

    /// Warms up, finds out how many runs there is time for, and times them.
    fn sample(
        &mut self,
        runs: Runs,
        mut run: impl FnMut(&mut Self) -> Result<()>,
    ) -> Result<Times> {
        self.times(1, &mut run)?;
        let warm = Times::of(self.times(WARM_UP, &mut run)?);
        let count = runs.count(warm.mean) as usize;
        Ok(Times::of(self.times(count, &mut run)?))
    }
}

fn missing(module: &str, entry: &str) -> Error {
    Error::Device {
        requested: format!("the kernel {entry}"),
        obstacle: format!("{module} has none of that name"),
        remedy: "run cargo xtask kernels",
    }
}

/// The entries of a module of the ladder.
fn entries(module: &str) -> Vec<String> {
    let rung = kernels::rungs().iter().find(|rung| rung.module() == module);
    let plain = catalog::PLAIN.iter().find(|plain| plain.module() == module);
    let named = plain.map(|plain| plain.entries.iter().map(|&entry| entry.to_owned()).collect());
    rung.map(kernels::Rung::entries).or(named).unwrap_or_default()
}

impl Target for Cuda {
    type Machine = Gpu;

    const SEES_UNWRITTEN: bool = false;

    fn machine(&self) -> &Gpu {
        &self.gpu
    }

    fn device(&self) -> found::Device {
        let facts = self.gpu.description();
        found::Device {
            kind: found::DeviceKind::Cuda,
            name: facts.name.clone(),
            multiprocessors: Some(facts.multiprocessors),
            processors: u64::from(facts.multiprocessors) * LANES,
            paper_peak: facts.memory_peak(),
            clock: Some(facts.clocks[0]).filter(|clock| *clock > 0),
        }
    }

    fn unwritten<T: Element>(&self, len: u64) -> Result<Buffer<Gpu, T>> {
        self.gpu.unwritten(len as usize)
    }

    fn free(&self) -> Result<u64> {
        self.gpu.free_memory()
    }

    unsafe fn run(&mut self, launches: &[Launch<'_>]) -> Result<Vec<Counters>> {
        // SAFETY: as the caller promises; this waits.
        unsafe { self.start(launches)? };
        self.queue.synchronize()?;
        Ok(Vec::new())
    }

    unsafe fn time<'a>(
        &mut self,
        launches: &dyn Fn(usize) -> Vec<Launch<'a>>,
        runs: Runs,
    ) -> Result<Option<Times>> {
        let mut next = 0;
        let run = |target: &mut Self| {
            next += 1;
            // SAFETY: as the caller promises; `times` waits for the queue.
            unsafe { target.start(&launches(next)) }
        };
        self.sample(runs, run).map(Some)
    }

    fn library<T: Element>(
        &mut self,
        x: View<'_, Gpu, T>,
        op: Op,
        accuracy: Accuracy,
    ) -> Result<(Output, Vec<Counters>)> {
        let output = self.gpu.reduce(x).policy(policy(accuracy)).output(op, Finish::default())?;
        Ok((output, Vec::new()))
    }

    fn time_library<'a, T: Element>(
        &mut self,
        x: &dyn Fn(usize) -> View<'a, Gpu, T>,
        op: Op,
        accuracy: Accuracy,
        runs: Runs,
    ) -> Result<Option<Times>>
    where
        Gpu: 'a,
    {
        let (mut next, mut leaves) = (0, LeftOnDevice::Unknown);
        let run = |target: &mut Self| {
            next += 1;
            let gpu = target.gpu.clone();
            let reduce = gpu.reduce(x(next)).policy(policy(accuracy));
            // SAFETY: the arrays outlive this call, which waits for the queue; nothing else uses the result.
            unsafe {
                leaves.start(&mut target.queue, &reduce.untyped(), op, target.result.address())
            }
        };
        self.sample(runs, run).map(Some)
    }
}
