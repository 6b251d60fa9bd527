//! [`Kernel`]: a template with a map in it, and how it is launched over arrays.

use std::sync::Arc;

use warpfold_expr::Program;
use warpfold_kernels::arguments::MapArguments;
use warpfold_kernels::{catalog, entry, manifest};

use super::cache::{self, Spliced};
use super::given::Given;
use super::launches::MapGrid;
use super::shape::Shape;
use super::splice::{self, Input, Lies};
use crate::Result;
use crate::kernel::batched::{BatchedLaunch, Code};
use crate::plan::{CudaFacts, MOST_BLOCKS_OF_EXACT};

/// Words of what a kernel counts.
pub(super) const COUNTS: usize = 4;

/// The word of a launch that says where elements lie which do not lie one behind the other: that of the last input, which there is none of then.
pub(super) const LIE: usize = catalog::MAP_INPUTS - 1;

/// A kernel of mapped values, for arrays that lie as those it was made for.
pub(super) struct Kernel {
    pub(super) spliced: Arc<Spliced>,
    pub(super) entry: &'static manifest::Entry,
    /// The inputs that it reads.
    reads: Vec<Input>,
}

impl Kernel {
    /// The word of a launch that is the workspace's address.
    pub(super) const WORKSPACE: usize = catalog::MAP_INPUTS + 1;

    pub(super) fn new(program: &Program, shape: &Shape, inputs: &[Given<'_>]) -> Result<Self> {
        Self::reading(program, shape, |index| inputs[index].input(index))
    }

    /// One that reads its inputs as a function of their indices says.
    pub(super) fn reading(
        program: &Program,
        shape: &Shape,
        input: impl Fn(usize) -> Input,
    ) -> Result<Self> {
        let indices = splice::inputs(program, shape)?;
        let reads: Vec<Input> = indices.into_iter().map(input).collect();
        splice::check_lies(&reads)?;
        let spliced = cache::module(program, shape, &reads)?;
        let entry = entry(spliced.entry());
        let entry = entry.unwrap_or_else(|| unreachable!("{} ships", spliced.entry()));
        Ok(Kernel { spliced, entry, reads })
    }

    /// Its launch over so many elements, in a shape of its own if one is given; addresses of the workspace, the record and the counts.
    pub(super) fn launch(
        &self,
        inputs: &[Given<'_>],
        n: u64,
        facts: CudaFacts,
        grid: Option<MapGrid>,
        [workspace, record, counts]: [u64; 3],
    ) -> BatchedLaunch {
        let Kernel { spliced, entry, .. } = self;
        let MapGrid { blocks, threads } = grid.unwrap_or_else(|| {
            let block = entry.max_threads.unwrap_or(256);
            let most = facts.multiprocessors.saturating_mul(entry.min_blocks.unwrap_or(1));
            let steps = n.div_ceil(4).div_ceil(u64::from(block));
            MapGrid { blocks: steps.clamp(1, most.into()) as u32, threads: block }
        });
        let (grid, block) =
            (blocks.min(MOST_BLOCKS_OF_EXACT), threads.min(entry.max_threads.unwrap_or(threads)));
        let mut words = self.addresses(inputs);
        words.extend(MapArguments { n, workspace, record, counts }.words());
        BatchedLaunch {
            entry: spliced.entry().into(),
            code: Code::Spliced(spliced.clone()),
            grid,
            block,
            shared_bytes: 0,
            words,
        }
    }

    /// The words of a launch that are the inputs' addresses.
    pub(super) fn addresses(&self, inputs: &[Given<'_>]) -> Vec<u64> {
        let address = |read: &Input| inputs[read.index].view.address;
        let mut words: Vec<u64> = self.reads.iter().map(address).collect();
        words.resize(catalog::MAP_INPUTS, 0);
        let mut scattered = self.reads.iter().filter(|read| read.lies != Lies::Behind);
        if let Some(word) = scattered.find_map(|read| inputs[read.index].lie.word()) {
            words[LIE] = word;
        }
        words
    }
}
