//! The request, the machine, and the way chosen: plain values, computed without touching a device.

mod batch;
mod choose;
mod cuda;
mod groups;
mod placement;
mod tables;
mod tuned;
mod tuning;

use std::fmt;

pub use batch::{
    Batch, BatchPlan, BatchedFold, BoundsKind, Columns, Components, CudaBatchPlan, CudaWay,
    KeysKind, Partition, Rounding, StatsColumn, Strided, TreeSizes, TreeWalk, Trees,
    WORKSPACE_HEADER, Way, choose_batch, choose_cuda_batch, choose_cuda_parts,
};
pub use batch::{Fallback, LoopTable, block_threads, dense_rows};
pub use batch::{adds_singly, number_bytes};
pub use choose::choose;
pub use cuda::{CudaFacts, CudaPlan, DeviceFold, Shape, choose_cuda};
pub use cuda::{MOST_BLOCKS_OF_EXACT, shaped};
pub use groups::{CudaGroupPlan, GroupWay};
pub use groups::{DIGITS, THREADS};
pub use placement::{Placement, Side, place_host};
pub use tables::CudaTablePlan;
pub use tuned::MAX_PER_MULTIPROCESSOR;
pub use tuned::{Link, TUNING_SCHEMA, TunedGpu, TunedRow, Tuning, choose_tuned};
pub use tuning::SCATTERED_GROUPS;

pub use warpfold_num::Isa;

use crate::{DType, Op, Policy};

/// A request for a reduction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Problem {
    /// The reduction.
    pub op: Op,
    /// The element type.
    pub dtype: DType,
    /// The number of elements (of each input, for dot).
    pub n: u64,
    /// The caller's choices.
    pub policy: Policy,
}

impl Problem {
    /// Bytes that have to be read.
    pub const fn bytes(&self) -> u64 {
        let inputs = if matches!(self.op, Op::Dot) { 2 } else { 1 };
        self.n.saturating_mul(self.dtype.size() as u64).saturating_mul(inputs)
    }
}

/// What the planner must know of a machine's CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CpuFacts {
    /// The widest instruction set present.
    pub isa: Isa,
    /// Threads that can run at once.
    pub threads: usize,
}

/// How the CPU will fold an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Plan {
    /// What was asked.
    pub problem: Problem,
    /// The instruction set of the kernels.
    pub isa: Isa,
    /// Threads that share the work.
    pub threads: usize,
    /// Elements a thread takes at a time. Fast and product folds leave one partial each, merged in order.
    pub grain: u64,
}

impl Plan {
    /// The same plan for the parts that elements consist of.
    pub fn in_parts(mut self, parts: u64) -> Plan {
        self.grain *= parts;
        self
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Problem { op, dtype, n, policy } = self.problem;
        write!(f, "{op} of {n} {dtype} ({} bytes)", self.problem.bytes())?;
        write!(f, "{policy}")?;
        let threads = if self.threads == 1 { "thread" } else { "threads" };
        write!(
            f,
            " on cpu: {} {threads}, {} kernels, {} elements at a time",
            self.threads, self.isa, self.grain
        )
    }
}
