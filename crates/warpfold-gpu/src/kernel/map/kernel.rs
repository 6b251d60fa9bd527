//! [`Kernel`]: a template with a map in it, and how it is launched over arrays.

use std::sync::Arc;

use warpfold_expr::Program;
use warpfold_kernels::{catalog, manifest};

use super::cache::{self, Spliced};
use super::launches::MapGrid;
use super::shape::{Reads, Shape};
use super::splice::{self, Input};
use crate::Result;
use crate::kernel::array::AnyView;
use crate::kernel::many::{Code, ManyLaunch};
use crate::plan::{CudaFacts, MOST_BLOCKS_OF_EXACT};

/// Words of what a kernel counts.
pub(super) const COUNTS: usize = 4;

/// A kernel of mapped values, for arrays that lie as those it was made for.
pub(super) struct Kernel {
    spliced: Arc<Spliced>,
    entry: &'static manifest::Entry,
    /// Which of the map's inputs it reads.
    places: Vec<usize>,
}

impl Kernel {
    /// The word of a launch that is the workspace's address.
    pub(super) const WORKSPACE: usize = catalog::MAP_INPUTS + 1;

    pub(super) fn new(program: &Program, shape: &Shape, inputs: &[AnyView<'_>]) -> Result<Self> {
        let places = splice::inputs(program, shape)?;
        let reads = |place: usize| match inputs[place].address % 16 {
            0 => Reads::Vectors,
            _ => Reads::Elements,
        };
        let kernel_inputs: Vec<Input> =
            places.iter().map(|&place| Input { place, reads: reads(place) }).collect();
        let spliced = cache::module(program, shape, &kernel_inputs)?;
        let entry = manifest::entry(spliced.entry());
        let entry = entry.unwrap_or_else(|| unreachable!("{} ships", spliced.entry()));
        Ok(Kernel { spliced, entry, places })
    }

    /// Its launch over so many elements, in a shape of its own if one is given; addresses of the workspace, the record and the counts.
    pub(super) fn launch(
        &self,
        inputs: &[AnyView<'_>],
        n: u64,
        facts: CudaFacts,
        grid: Option<MapGrid>,
        [workspace, record, counts]: [u64; 3],
    ) -> ManyLaunch {
        let Kernel { spliced, entry, places } = self;
        let MapGrid { blocks, threads } = grid.unwrap_or_else(|| {
            let block = entry.max_threads.unwrap_or(256);
            let most = facts.multiprocessors.saturating_mul(entry.min_blocks.unwrap_or(1));
            let steps = n.div_ceil(4).div_ceil(u64::from(block));
            MapGrid { blocks: steps.clamp(1, most.into()) as u32, threads: block }
        });
        let (grid, block) =
            (blocks.min(MOST_BLOCKS_OF_EXACT), threads.min(entry.max_threads.unwrap_or(threads)));
        let mut words: Vec<u64> = places.iter().map(|&place| inputs[place].address).collect();
        words.resize(catalog::MAP_INPUTS, 0);
        words.extend([n, workspace, record, counts]);
        ManyLaunch {
            entry: spliced.entry().into(),
            code: Code::Spliced(spliced.clone()),
            grid,
            block,
            shared_bytes: 0,
            words,
        }
    }
}
