//! Plans for many reductions at once: over axes, segments or groups of one array.

mod batched_fold;
mod choose;
mod columns;
mod components;
mod cuda;
mod cuda_choose;
mod cuda_entry;
mod cuda_fold;
mod rows;
mod shares;
mod stats;
mod strided;
mod trees;

use std::fmt;

pub use batched_fold::BatchedFold;
pub use choose::choose_batch;
pub use choose::{adds_singly, number_bytes};
pub use columns::Columns;
pub use components::Components;
pub use cuda::{CudaBatchPlan, CudaWay, Rounding, WORKSPACE_HEADER};
pub use cuda_choose::{choose_cuda_batch, choose_cuda_parts, dense_rows};
pub use cuda_entry::Fallback;
pub use shares::block_threads;
pub use stats::StatsColumn;
pub use strided::LoopTable;
pub use strided::Strided;
pub use trees::{TreeSizes, TreeWalk, Trees};

use super::Isa;
use crate::shape::{Case, Form};
use crate::{DType, Op, Policy};

/// How an array is parted into the inputs of many reductions. Each output is an input folded; they are numbered from 0, and results lie
/// densely in that order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Partition {
    /// By the axes that are kept.
    Axes(Form),
    /// By contiguous segments.
    Segments {
        /// Elements of all segments.
        elements: u64,
        /// Outputs.
        segments: u64,
        /// How their bounds are known.
        bounds: BoundsKind,
    },
    /// By a group number for each element.
    Groups {
        /// Elements.
        elements: u64,
        /// Outputs; numbers are below it.
        groups: u64,
        /// How numbers come of keys.
        keys: KeysKind,
    },
}

/// How the bounds of segments are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum BoundsKind {
    /// All have so many elements.
    Every(u64),
    /// Offsets of 32 bits.
    Offsets32,
    /// Offsets of 64 bits.
    Offsets64,
}

/// How groups are told by keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum KeysKind {
    /// The keys are the groups' numbers.
    Dense,
    /// Keys of any value were numbered first.
    Numbered,
}

/// A request for many reductions at once.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Batch {
    /// The reduction.
    pub op: Op,
    /// The element type.
    pub dtype: DType,
    /// What is folded into which output.
    pub partition: Partition,
    /// The caller's choices.
    pub policy: Policy,
}

impl Batch {
    /// Outputs.
    pub fn outputs(&self) -> u64 {
        match &self.partition {
            Partition::Axes(form) => form.outputs,
            Partition::Segments { segments, .. } => *segments,
            Partition::Groups { groups, .. } => *groups,
        }
    }

    /// Elements read, those read more than once counted as often.
    pub fn elements(&self) -> u64 {
        match &self.partition {
            Partition::Axes(form) => form.elements(),
            Partition::Segments { elements, .. } | Partition::Groups { elements, .. } => *elements,
        }
    }

    /// Bytes of the elements read.
    pub fn bytes(&self) -> u64 {
        let inputs = if self.op == Op::Dot { 2 } else { 1 };
        self.elements().saturating_mul(self.dtype.size() as u64).saturating_mul(inputs)
    }
}

/// The ways of a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Way {
    /// Each element is an input of its own, and finished as it is read.
    Singles,
    /// One output after another, each by all threads.
    OneByOne,
    /// Contiguous runs, shared out among threads by the work in them; all threads share each of the longest.
    Runs,
    /// Neighbouring outputs side by side in lanes.
    Columns,
    /// Elements that lie apart are copied together first, a few outputs' at a time.
    Gathered,
    /// A cell for each group, to which elements are added as they come, in a table of each thread's own. Of data that cells do not hold (numbers of very
    /// different size, many NaNs) and for roundings that only partials have, elements are sorted after all.
    Cells,
    /// Each group's elements are copied together first, then folded as runs.
    Sorted,
}

impl Way {
    /// Why it was taken.
    pub fn why(self) -> &'static str {
        match self {
            Way::Singles => "each output has one element",
            Way::OneByOne => "outputs are few and their inputs long",
            Way::Runs => "each output's elements are contiguous",
            Way::Columns => "neighbouring elements belong to neighbouring outputs",
            Way::Gathered => "no loop walks contiguous memory",
            Way::Cells => "a table of all groups is small",
            Way::Sorted => "any element may belong to any group",
        }
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Way::Singles => "single elements",
            Way::OneByOne => "one by one",
            Way::Runs => "runs",
            Way::Columns => "columns",
            Way::Gathered => "gathered",
            Way::Cells => "a table",
            Way::Sorted => "sorting",
        })
    }
}

/// How the CPU will do many reductions.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BatchPlan {
    /// What was asked.
    pub batch: Batch,
    /// The way.
    pub way: Way,
    /// The instruction set of the kernels.
    pub isa: Isa,
    /// Threads that share the work.
    pub threads: usize,
    /// Elements of work, outputs counted as some, that a thread takes at a time.
    pub grain: u64,
    /// Elements from which all threads share an input.
    pub long: u64,
    /// Bytes of memory beside input and output.
    pub workspace: u64,
}

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Partition::Axes(form) => {
                let case = match form.case() {
                    Case::Rows => "rows",
                    Case::Columns => "columns",
                    Case::Scattered => "scattered",
                };
                write!(f, "{} outputs of {} elements each, {case}", form.outputs, form.inputs)
            }
            Partition::Segments { elements, segments, bounds } => {
                write!(f, "{segments} segments of {elements} elements by ")?;
                match bounds {
                    BoundsKind::Every(length) => write!(f, "their length {length}"),
                    BoundsKind::Offsets32 => write!(f, "offsets of 32 bits"),
                    BoundsKind::Offsets64 => write!(f, "offsets of 64 bits"),
                }
            }
            Partition::Groups { elements, groups, keys } => {
                let keys = match keys {
                    KeysKind::Dense => "dense",
                    KeysKind::Numbered => "numbered",
                };
                write!(f, "{groups} groups of {elements} elements by {keys} keys")
            }
        }
    }
}

impl fmt::Display for BatchPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Batch { op, dtype, partition, policy } = &self.batch;
        write!(f, "{op} of {dtype} ({} bytes): {partition}{policy}", self.batch.bytes())?;
        let threads = if self.threads == 1 { "thread" } else { "threads" };
        write!(
            f,
            "; on cpu by {}, as {}: {} {threads}, {} kernels, {} bytes of workspace",
            self.way,
            self.way.why(),
            self.threads,
            self.isa,
            self.workspace
        )
    }
}
