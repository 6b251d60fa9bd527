//! [`MapLaunches`]: the launches of a map over arrays, with the memory that they leave their results in.

use warpfold_engine::map::{Folded, Map};
use warpfold_kernels::{catalog, manifest};

use super::cache;
use super::job::{Found, Job, jobs, parts};
use super::shape::Reads;
use super::splice::{self, Input};
use crate::kernel::array::AnyView;
use crate::kernel::batched::{BatchedLaunch, Code};
use crate::kernel::executor::{Executor, Memory, Ready};
use crate::plan::{MOST_BLOCKS_OF_EXACT, WORKSPACE_HEADER};
use crate::{Error, Result};

/// Words of what a kernel counts, and then of its record.
const COUNTS: usize = 4;
const RECORD: usize = 252;
/// Bytes that a block leaves at most.
const STATE: u64 = 64;

/// The launches of a map, not run yet; where their results go is freed with them.
pub struct MapLaunches<'a> {
    jobs: Vec<Job>,
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
        let given: Vec<_> = inputs.iter().map(|view| (view.dtype, view.len)).collect();
        let n = map.length(&given)? as u64;
        for view in inputs {
            view.check(machine)?;
        }
        let ready = inputs.iter().map(|view| view.ready).collect();
        let jobs = jobs(map)?;
        if n == 0 {
            // What cannot be folded is refused of nothing too.
            jobs.iter()
                .try_for_each(|job| splice::inputs(map.program(), &job.shape).map(|_| ()))?;
            let (launches, results) = (Vec::new(), None);
            return Ok(MapLaunches { jobs, launches, ready, results, _workspace: None });
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
        let mut fresh = [0; COUNTS + RECORD];
        fresh[..2].fill(u64::MAX);
        let results = machine.copy_of(bytemuck::cast_slice(&fresh.repeat(jobs.len())))?;
        let (mut launches, mut space) = (Vec::new(), 0);
        for (k, job) in jobs.iter().enumerate() {
            let places = splice::inputs(map.program(), &job.shape)?;
            let reads = |place: usize| match inputs[place].address % 16 {
                0 => Reads::Vectors,
                _ => Reads::Elements,
            };
            let kernel_inputs: Vec<Input> =
                places.iter().map(|&place| Input { place, reads: reads(place) }).collect();
            let spliced = cache::module(map.program(), &job.shape, &kernel_inputs)?;
            let entry = manifest::entry(spliced.entry());
            let entry = entry.unwrap_or_else(|| unreachable!("{} ships", spliced.entry()));
            let MapGrid { blocks, threads } = grid.unwrap_or_else(|| {
                let block = entry.max_threads.unwrap_or(256);
                let most = facts.multiprocessors.saturating_mul(entry.min_blocks.unwrap_or(1));
                let steps = n.div_ceil(4).div_ceil(u64::from(block));
                MapGrid { blocks: steps.clamp(1, most.into()) as u32, threads: block }
            });
            let (grid, block) = (
                blocks.min(MOST_BLOCKS_OF_EXACT),
                threads.min(entry.max_threads.unwrap_or(threads)),
            );
            let counts = results.address() + (8 * k * (COUNTS + RECORD)) as u64;
            let mut words: Vec<u64> = places.iter().map(|&place| inputs[place].address).collect();
            words.resize(catalog::MAP_INPUTS, 0);
            // The workspace's address is not known before its size is.
            words.extend([n, space, counts + 8 * COUNTS as u64, counts]);
            space += (WORKSPACE_HEADER + STATE * u64::from(grid)).next_multiple_of(256);
            launches.push(BatchedLaunch {
                entry: spliced.entry().into(),
                code: Code::Spliced(spliced),
                grid,
                block,
                shared_bytes: 0,
                words,
            });
        }
        let workspace = machine.zeros(space as usize)?;
        for launch in &mut launches {
            launch.words[catalog::MAP_INPUTS + 1] += workspace.address();
        }
        let (results, _workspace) = (Some(results), Some(workspace));
        Ok(MapLaunches { jobs, launches, ready, results, _workspace })
    }

    /// The launches, one after another: to time them. They add to what is counted whenever they run.
    pub fn launches(&self) -> &[BatchedLaunch] {
        &self.launches
    }

    /// Runs them, and reads what is left.
    pub(super) fn run(self, machine: &dyn Executor, map: &Map, first: u64) -> Result<Outcome> {
        let Some(results) = &self.results else { return Ok(Outcome::Folded(map.empty())) };
        machine.run_batched(&self.launches, &self.ready)?;
        let mut words = vec![0u64; self.jobs.len() * (COUNTS + RECORD)];
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
        Ok(Outcome::Folded(Folded::of(parts(map, &self.jobs, &found, first))))
    }
}
