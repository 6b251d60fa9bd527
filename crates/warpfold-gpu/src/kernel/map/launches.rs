//! [`MapLaunches`]: the launches of a map over arrays, with the memory that they leave their results in.

use warpfold_engine::map::{Folded, Map};
use warpfold_kernels::catalog;

use super::given::Given;
use super::job::{Found, Job, jobs, parts};
use super::kernel::{COUNTS, Kernel};
use super::products::Products;
use super::shape::{Tells, Template};
use super::splice;
use crate::kernel::array::AnyView;
use crate::kernel::batched::BatchedLaunch;
use crate::kernel::executor::{Executor, Memory, Ready};
use crate::plan::WORKSPACE_HEADER;
use crate::{Error, Result};

/// Words of a kernel's record, behind what it counts.
const RECORD: usize = 252;
/// Bytes that a block leaves at most.
const STATE: u64 = 64;

/// The launches of a map, not run yet; where their results go is freed with them.
pub struct MapLaunches<'a> {
    jobs: Vec<Job>,
    /// What is multiplied from memory, piece by piece.
    products: Products<'a>,
    launches: Vec<BatchedLaunch>,
    ready: Vec<Ready<'a>>,
    /// Counts and record of each.
    results: Option<Memory>,
    /// Zeros that kernels leave as such.
    _workspace: Option<Memory>,
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
        let given = |given: &Given<'_>| (given.view.dtype, given.len(), given.each);
        let n = map.length_of(&inputs.iter().map(given).collect::<Vec<_>>())? as u64;
        for given in inputs {
            given.view.check(machine)?;
        }
        let ready = inputs.iter().map(|given| given.view.ready).collect();
        let (products, jobs): (Vec<Job>, Vec<Job>) =
            jobs(map)?.into_iter().partition(|job| job.shape.template == Template::Values);
        if n == 0 {
            // What cannot be folded is refused of nothing too.
            jobs.iter()
                .chain(&products)
                .try_for_each(|job| splice::inputs(map.program(), &job.shape).map(|_| ()))?;
            let (products, launches, results) = (Products::default(), Vec::new(), None);
            return Ok(MapLaunches { jobs, products, launches, ready, results, _workspace: None });
        }
        let facts = machine.facts();
        if facts.compute < catalog::BASE {
            return Err(Error::Device {
                requested: "a map".into(),
                obstacle: "no kernel is built for this device; compute capability 7.0 is the least"
                    .into(),
                remedy: "run it on the CPU",
            });
        }
        let products = Products::new(map, products, inputs, n as usize, grid)?;
        let results =
            machine.copy_of(bytemuck::cast_slice(&Self::fresh().repeat(jobs.len().max(1))))?;
        let (mut launches, mut space) = (Vec::new(), 0);
        for (k, job) in jobs.iter().enumerate() {
            let kernel = Kernel::new(map.program(), &job.shape, inputs)?;
            let counts = results.address() + (8 * k * (COUNTS + RECORD)) as u64;
            // The workspace's address is not known before its size is.
            let record = counts + 8 * COUNTS as u64;
            let launch = kernel.launch(inputs, n, facts, grid, [space, record, counts]);
            space += (WORKSPACE_HEADER + STATE * u64::from(launch.grid)).next_multiple_of(256);
            launches.push(launch);
        }
        let workspace = machine.zeros(space.max(WORKSPACE_HEADER) as usize)?;
        for launch in &mut launches {
            launch.words[Kernel::WORKSPACE] += workspace.address();
        }
        let (results, _workspace) = (Some(results), Some(workspace));
        Ok(MapLaunches { jobs, products, launches, ready, results, _workspace })
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

    /// Runs them, and reads what is left.
    pub(super) fn run(self, machine: &dyn Executor, map: &Map, first: u64) -> Result<Outcome> {
        let Some(results) = &self.results else { return Ok(Outcome::Folded(map.empty())) };
        machine.run_batched(&self.launches, &self.ready)?;
        let mut words = vec![0u64; self.jobs.len().max(1) * (COUNTS + RECORD)];
        results.read(bytemuck::cast_slice_mut(&mut words))?;
        let found: Vec<&[u64]> = words.chunks_exact(COUNTS + RECORD).collect();
        // Operations come before weights, which are looked at once they have values.
        for word in 0..2 {
            let place = found.iter().map(|words| words[word]).min();
            if let Some(place) = place.filter(|&place| place != u64::MAX) {
                return Ok(Outcome::Fault(place));
            }
        }
        let found: Vec<Found<'_>> = found
            .iter()
            .map(|words| Found { record: &words[COUNTS..], kept: words[2], flags: words[3] })
            .collect();
        if found.iter().any(|found| found.flags & Tells::BEYOND != 0) {
            return Ok(Outcome::Beyond);
        }
        let mut parts = parts(map, &self.jobs, &found, first);
        match self.products.multiply(machine, map, &self.ready, first, &mut parts)? {
            Some(place) => Ok(Outcome::Fault(place)),
            None => Ok(Outcome::Folded(Folded::of(parts))),
        }
    }
}
