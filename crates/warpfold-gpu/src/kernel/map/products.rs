//! [`Products`]: products of mapped floats, along the canonical tree.
//!
//! The kernels of the tree read arrays. So values are written to memory a piece at a time, ones instead of what does not count, and each piece is
//! multiplied while it is in the second cache.

use warpfold_engine::map::{Map, TaskPartial};

use super::given::Given;
use super::job::Job;
use super::kernel::{COUNTS, Kernel};
use super::launches::MapGrid;
use crate::kernel::array::AnyBuffer;
use crate::kernel::executor::{Executor, Ready};
use crate::kernel::reduce::AnyReduce;
use crate::{Op, Result};

/// Elements of a piece: 8 or 16 MiB of values.
const PIECE: usize = 1 << 21;
/// Elements more that the last vector of a piece may have.
const PADDING: usize = 4;

/// What is multiplied of a map, and the arrays.
#[derive(Default)]
pub(super) struct Products<'a> {
    jobs: Vec<(Job, Kernel)>,
    inputs: Vec<Given<'a>>,
    n: usize,
    grid: Option<MapGrid>,
}

impl<'a> Products<'a> {
    pub(super) fn new(
        map: &Map,
        jobs: Vec<Job>,
        inputs: &[Given<'a>],
        n: usize,
        grid: Option<MapGrid>,
    ) -> Result<Self> {
        let kernel = |job: Job| {
            let kernel = Kernel::new(map.program(), &job.shape, inputs)?;
            Ok((job, kernel))
        };
        let jobs = jobs.into_iter().map(kernel).collect::<Result<_>>()?;
        Ok(Products { jobs, inputs: inputs.to_vec(), n, grid })
    }

    /// Multiplies all values into the parts of their tasks; the first element for which an operation has no value, if there is one.
    pub(super) fn multiply(
        &self,
        machine: &dyn Executor,
        map: &Map,
        ready: &[Ready<'_>],
        first: u64,
        parts: &mut [TaskPartial],
    ) -> Result<Option<u64>> {
        let n = self.n;
        for (job, kernel) in &self.jobs {
            let dtype = job.shape.dtype(map.program());
            let len = n.min(PIECE) + PADDING;
            let values = AnyBuffer::new(machine.unwritten(len * dtype.size())?, dtype, len);
            for start in (0..n).step_by(PIECE) {
                let end = n.min(start + PIECE);
                let inputs: Vec<_> =
                    self.inputs.iter().map(|input| input.slice(start..end)).collect();
                let counts = machine.copy_of(bytemuck::cast_slice(&[u64::MAX, u64::MAX, 0, 0]))?;
                let (n, facts) = ((end - start) as u64, machine.facts());
                let addresses = [0, values.address(), counts.address()];
                let launch = kernel.launch(&inputs, n, facts, self.grid, addresses);
                machine.run_batched(&[launch], ready)?;
                let mut found = [0u64; COUNTS];
                counts.read(bytemuck::cast_slice_mut(&mut found))?;
                if found[0] != u64::MAX {
                    return Ok(Some(start as u64 + found[0]));
                }
                let values = AnyReduce::new(machine, values.view().slice(..end - start));
                let product = values.starting_at(first + start as u64).partial(Op::Prod)?;
                for result in &job.results {
                    parts[result.task].merge(&TaskPartial::Partial(product.clone()));
                }
            }
        }
        Ok(None)
    }
}
