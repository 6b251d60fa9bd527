//! [`MapLaunches`]: the launches of a map over arrays, with the memory that they leave their results in.

use warpfold_engine::map::{Folded, Map};
use warpfold_kernels::catalog;

use super::given::Given;
use super::job::{Job, KernelRecord, jobs, parts};
use super::kernel::{COUNTS, Kernel};
use super::products::Products;
use super::shape::{Reports, Template};
use super::splice::{self, Input};
use crate::kernel::array::AnyView;
use crate::kernel::batched::BatchedLaunch;
use crate::kernel::executor::{Executor, Memory, Ready};
use crate::plan::WORKSPACE_HEADER;
use crate::{Error, Result};

/// Words of a kernel's record, behind what it counts.
const RECORD: usize = 252;
/// Bytes that a block leaves at most.
const STATE: u64 = 64;

/// The launches of a map, not run yet; where their results go is freed with them. They may be those of several arrays, one after another: parts, each
/// reduced as a whole array is.
pub struct MapLaunches<'a> {
    jobs: Vec<Job>,
    /// Of each array.
    parts: Vec<LaunchPart<'a>>,
    launches: Vec<BatchedLaunch>,
    ready: Vec<Ready<'a>>,
    /// Counts and record of each job of each array.
    results: Option<Memory>,
    /// Zeros that kernels leave as such.
    _workspace: Option<Memory>,
}

/// One of the arrays.
struct LaunchPart<'a> {
    n: usize,
    /// What is multiplied from memory, piece by piece.
    products: Products<'a>,
}

/// Blocks of a map's launches, and threads of each, a multiple of 32.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MapGrid {
    /// Blocks.
    pub blocks: u32,
    /// Threads of a block; as many as its kernel takes, if they are more.
    pub threads: u32,
}

/// What came of launches.
pub(super) enum Outcome {
    Folded(Folded),
    /// The first element for which an operation has no value, or whose weight is none.
    Fault(u64),
    /// There are numbers that no kernel folds, which are rare.
    Beyond,
}

impl<'a> MapLaunches<'a> {
    /// The launches of a map over arrays in a machine's memory, in another shape than the planner's if one is given.
    ///
    /// # Errors
    /// [`Error::Map`] for arrays that are not of one length or not of the types, and for what no kernel folds; [`Error::Device`].
    pub fn new(
        machine: &dyn Executor,
        map: &Map,
        inputs: &[AnyView<'a>],
        grid: Option<MapGrid>,
    ) -> Result<Self> {
        let inputs: Vec<Given<'a>> = inputs.iter().map(|&view| view.into()).collect();
        Self::of(machine, map, &inputs, grid)
    }

    /// The same of arrays of which some have one value for all elements.
    pub(super) fn of(
        machine: &dyn Executor,
        map: &Map,
        inputs: &[Given<'a>],
        grid: Option<MapGrid>,
    ) -> Result<Self> {
        Self::of_each(machine, map, &[inputs.to_vec()], grid)
    }

    /// The same of several lists of arrays, which have as many kinds of kernels as they lie in ways.
    pub(super) fn of_each(
        machine: &dyn Executor,
        map: &Map,
        all: &[Vec<Given<'a>>],
        grid: Option<MapGrid>,
    ) -> Result<Self> {
        let given = |given: &Given<'_>| (given.view.dtype, given.len(), given.each);
        let length = |inputs: &Vec<Given<'a>>| {
            inputs.iter().try_for_each(|given| given.view.check(machine))?;
            map.length_of(&inputs.iter().map(given).collect::<Vec<_>>())
        };
        let lengths = all.iter().map(length).collect::<Result<Vec<usize>>>()?;
        // Those of parts of arrays are the arrays'.
        let ready = all.first().into_iter().flatten().map(|given| given.view.ready).collect();
        let (products, jobs): (Vec<Job>, Vec<Job>) =
            jobs(map)?.into_iter().partition(|job| job.shape.template == Template::Values);
        // What cannot be folded is refused of nothing too.
        jobs.iter()
            .chain(&products)
            .try_for_each(|job| splice::inputs(map.program(), &job.shape).map(|_| ()))?;
        let is_any = lengths.iter().any(|&n| n > 0);
        let facts = machine.facts();
        if is_any && facts.compute < catalog::BASE {
            return Err(Error::Device {
                requested: "a map".into(),
                obstacle: "no kernel is built for this device; compute capability 7.0 is the least"
                    .into(),
                remedy: "run it on the CPU",
            });
        }
        let part = |(inputs, &n): (&Vec<Given<'a>>, &usize)| {
            let products = match n {
                0 => Products::default(),
                n => Products::new(map, products.clone(), inputs, n, grid)?,
            };
            Ok(LaunchPart { n, products })
        };
        let parts = all.iter().zip(&lengths).map(part).collect::<Result<Vec<_>>>()?;
        let mut made = MapLaunches {
            jobs,
            parts,
            launches: Vec::new(),
            ready,
            results: None,
            _workspace: None,
        };
        if !is_any {
            return Ok(made);
        }
        let each = made.jobs.len().max(1);
        let fresh = Self::fresh().repeat(each * all.len());
        let results = machine.copy_of(bytemuck::cast_slice(&fresh))?;
        let (mut kernels, mut space) = (Vec::<(usize, Vec<Input>, Kernel)>::new(), 0);
        for (at, (inputs, &n)) in all.iter().zip(&lengths).enumerate().filter(|(_, (_, n))| **n > 0)
        {
            let read: Vec<Input> = (0..).zip(inputs).map(|(k, given)| given.input(k)).collect();
            for (k, job) in made.jobs.iter().enumerate() {
                let known =
                    |(of, as_read, _): &(usize, Vec<Input>, Kernel)| *of == k && *as_read == read;
                let known = match kernels.iter().position(known) {
                    Some(known) => known,
                    None => {
                        let kernel = Kernel::new(map.program(), &job.shape, inputs)?;
                        kernels.push((k, read.clone(), kernel));
                        kernels.len() - 1
                    }
                };
                let counts = results.address() + (8 * (at * each + k) * (COUNTS + RECORD)) as u64;
                // The workspace's address is not known before its size is.
                let record = counts + 8 * COUNTS as u64;
                let kernel = &kernels[known].2;
                let launch = kernel.launch(inputs, n as u64, facts, grid, [space, record, counts]);
                space += (WORKSPACE_HEADER + STATE * u64::from(launch.grid)).next_multiple_of(256);
                made.launches.push(launch);
            }
        }
        let workspace = machine.zeros(space.max(WORKSPACE_HEADER) as usize)?;
        for launch in &mut made.launches {
            launch.words[Kernel::WORKSPACE] += workspace.address();
        }
        (made.results, made._workspace) = (Some(results), Some(workspace));
        Ok(made)
    }

    /// What a kernel counts before it runs, and its record.
    fn fresh() -> [u64; COUNTS + RECORD] {
        let mut fresh = [0; COUNTS + RECORD];
        fresh[..2].fill(u64::MAX);
        fresh
    }

    /// The launches, one after another: to time them. They add to what is counted whenever they run.
    pub fn launches(&self) -> &[BatchedLaunch] {
        &self.launches
    }

    /// Runs them, and reads the partial of the one list of arrays.
    pub(super) fn run(self, machine: &dyn Executor, map: &Map, first: u64) -> Result<Outcome> {
        let outcomes = self.run_each(machine, map, first)?;
        Ok(outcomes.into_iter().next().unwrap_or_else(|| Outcome::Folded(map.empty())))
    }

    /// Runs them, and reads the partial of each list of arrays, whose first elements have an index.
    pub(super) fn run_each(
        self,
        machine: &dyn Executor,
        map: &Map,
        first: u64,
    ) -> Result<Vec<Outcome>> {
        let nothing = || Outcome::Folded(map.empty());
        let Some(results) = &self.results else {
            return Ok(self.parts.iter().map(|_| nothing()).collect());
        };
        machine.run_batched(&self.launches, &self.ready)?;
        let each = self.jobs.len().max(1) * (COUNTS + RECORD);
        let mut words = vec![0u64; self.parts.len() * each];
        results.read(bytemuck::cast_slice_mut(&mut words))?;
        let read = |(part, words): (&LaunchPart<'_>, &[u64])| match part.n {
            0 => Ok(nothing()),
            _ => self.read(machine, map, first, part, words),
        };
        self.parts.iter().zip(words.chunks_exact(each)).map(read).collect()
    }

    fn read(
        &self,
        machine: &dyn Executor,
        map: &Map,
        first: u64,
        part: &LaunchPart<'_>,
        words: &[u64],
    ) -> Result<Outcome> {
        let found: Vec<&[u64]> = words.chunks_exact(COUNTS + RECORD).collect();
        // Operations come before weights, which are looked at once they have values.
        for word in 0..2 {
            let index = found.iter().map(|words| words[word]).min();
            if let Some(index) = index.filter(|&index| index != u64::MAX) {
                return Ok(Outcome::Fault(index));
            }
        }
        let found: Vec<KernelRecord<'_>> = found
            .iter()
            .map(|words| KernelRecord { record: &words[COUNTS..], kept: words[2], flags: words[3] })
            .collect();
        if found.iter().any(|found| found.flags & Reports::BEYOND != 0) {
            return Ok(Outcome::Beyond);
        }
        let mut parts = parts(map, &self.jobs, &found, first);
        match part.products.multiply(machine, map, &self.ready, first, &mut parts)? {
            Some(index) => Ok(Outcome::Fault(index)),
            None => Ok(Outcome::Folded(Folded::of(parts))),
        }
    }
}
