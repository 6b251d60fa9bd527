//! The ladder: kernels that teach, from one atomic an element to the read ceiling, each a file that registers itself by its
//! [`header`].

mod formula;
pub mod header;

use std::sync::LazyLock;

pub use formula::{Formula, Variables};

use crate::{Source, catalog, sources};

/// The operations that rungs are compiled for.
pub const OPS: &[&str] = &["sum", "min", "max", "prod"];

/// The element types that rungs are compiled for. Complex numbers have no order, and so neither minimum nor maximum.
pub const ELEMENTS: &[&str] = &["i32", "i64", "f32", "f64", "complex64", "complex128"];

/// One kernel of the ladder, as its header tells.
#[derive(Debug, Clone, PartialEq)]
pub struct Rung {
    /// The file's name: `06_interleaved`.
    pub name: String,
    /// Its place on the ladder.
    pub number: u32,
    /// What it does.
    pub idea: String,
    /// What it is better at than a rung before.
    pub mends: String,
    /// How many blocks it is launched in.
    pub grid: Grid,
    /// The dynamic shared memory of a block.
    pub shared: Shared,
    /// The memory that it works in.
    pub memory: Workspace,
    /// The sizes of block that it is compiled for; all of them where there are none here.
    pub blocks: Vec<u32>,
    /// The least compute capability, times ten.
    pub target: u32,
    /// How what blocks leave becomes one result.
    pub finish: Finish,
    /// Operations of a launch that fold two values.
    pub work: Formula,
    /// The longest chain of them in a launch, each waiting for the one before: an upper bound, which whole blocks reach.
    pub steps: Formula,
    /// What it cannot do.
    pub lacks: Option<Lack>,
    /// The documents that show it, and what they call it there; none for rungs beyond them.
    pub seeds: Vec<(&'static str, String)>,
    /// What is wrong in those documents.
    pub wrong: String,
    /// The file.
    pub source: &'static Source,
}

/// How many blocks a launch has, for elements and threads of a block as they are asked for. At least one, also for no element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grid {
    /// As many as give each thread so many elements.
    Elements {
        /// Elements of a thread.
        each: u32,
    },
    /// One, of as many whole warps as give each element a thread.
    OneBlock {
        /// Elements at most.
        most: u32,
    },
    /// As many as give each thread so many bytes, but no more than fill the machine.
    PerThread {
        /// Threads of a multiprocessor.
        threads: u32,
        /// Blocks of a multiprocessor at most.
        blocks: u32,
        /// Bytes of the array for a thread.
        bytes: u32,
    },
    /// As many as give each block so many bytes, but no more than fill the machine.
    PerBlock {
        /// Threads of a multiprocessor.
        threads: u32,
        /// Blocks of a multiprocessor at most.
        blocks: u32,
        /// Bytes of the array for a block.
        bytes: u32,
    },
}

/// The dynamic shared memory of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shared {
    /// None.
    None,
    /// An element for each thread.
    ElementPerThread,
    /// So many bytes.
    Bytes(u32),
}

/// The global memory that a launch works in, besides array and results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Workspace {
    /// None.
    None,
    /// An element for each thread of the grid.
    ElementPerThread,
    /// An element for each block.
    ElementPerBlock,
}

/// How what blocks leave becomes one result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    /// Atomics fold into the result, which holds the identity before.
    Atomic,
    /// The same kernel folds what blocks have left, until one block is enough.
    Recursive,
    /// One block of the same kernel folds what the blocks have left.
    TwoLaunches,
    /// The launch itself leaves the result.
    SinglePass,
}

impl Finish {
    /// Every one.
    pub const ALL: &[Finish] =
        &[Finish::Atomic, Finish::Recursive, Finish::TwoLaunches, Finish::SinglePass];

    /// As headers call it.
    pub const fn name(self) -> &'static str {
        match self {
            Finish::Atomic => "atomic",
            Finish::Recursive => "recursive",
            Finish::TwoLaunches => "two launches",
            Finish::SinglePass => "single pass",
        }
    }
}

/// An operation of an element type that a rung does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lack {
    /// The operation.
    pub op: String,
    /// The element type.
    pub element: String,
    /// Why.
    pub why: String,
}

impl Rung {
    /// The PTX module, which is the file's: `06_interleaved.sm70`.
    pub fn module(&self) -> String {
        format!("{}.sm{}", self.name, self.target)
    }

    /// The entry for an operation, an element type and a size of block: `interleaved_sum_f32`, `unrolled_256_sum_f32`.
    pub fn entry(&self, op: &str, element: &str, block: u32) -> String {
        let template = self.name.split_once('_').map_or(&*self.name, |(_, rest)| rest);
        match self.blocks.contains(&block) {
            true => format!("{template}_{block}_{op}_{element}"),
            false => format!("{template}_{op}_{element}"),
        }
    }

    /// Every operation and element type that it has.
    pub fn pairs(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        pairs().filter(|(op, element)| {
            !self.lacks.as_ref().is_some_and(|lack| lack.op == *op && lack.element == *element)
        })
    }

    /// Every entry of its module.
    pub fn entries(&self) -> Vec<String> {
        let blocks = if self.blocks.is_empty() { &[0][..] } else { &self.blocks };
        let of = |block: u32| self.pairs().map(move |(op, element)| self.entry(op, element, block));
        blocks.iter().flat_map(|&block| of(block)).collect()
    }
}

/// Every operation and element type that rungs may have.
pub fn pairs() -> impl Iterator<Item = (&'static str, &'static str)> {
    let elements = |op| ELEMENTS.iter().map(move |element| (op, *element));
    let ordered = |(op, element): &(&str, &str)| {
        !element.starts_with("complex") || !["min", "max"].contains(op)
    };
    OPS.iter().flat_map(move |op| elements(*op)).filter(ordered)
}

/// Every rung, from the lowest up.
pub fn rungs() -> &'static [Rung] {
    static RUNGS: LazyLock<Vec<Rung>> = LazyLock::new(|| {
        let read = |source| header::read(source).unwrap_or_else(|wrong| panic!("{wrong}"));
        sources().iter().filter(is_rung).map(read).collect()
    });
    &RUNGS
}

/// Whether a source is a rung, as its number tells.
fn is_rung(source: &&Source) -> bool {
    let kernel = source.folder == "ladder/" && source.name.ends_with(".cu");
    kernel && source.name.starts_with(|c: char| c.is_ascii_digit())
}

/// The thesis's pair of kernels, a demonstration beside the ladder: see `cuda/ladder/divergence.cu`.
pub const DIVERGENCE: &catalog::Plain = &catalog::DIVERGENCE;
