//! Every rung, operation, element type, length and size of block: is it right?

use std::collections::HashMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use warpfold::kernel::Executor as _;
use warpfold::random::word;
use warpfold::{Op, Result};

use crate::arrays::{Inputs, Workspace};
use crate::number::{Number, OPS, TYPES, defined};
use crate::plan::{Case, Plan};
use crate::rung::{Rung, Way, natural_data, rungs};
use crate::target::Target;
use crate::truth::Truth;
use crate::with_number;
use warpfold_lab::array::{Buffer, fill};

/// Sizes of block that are verified.
pub const BLOCKS: [u32; 6] = [32, 64, 128, 256, 512, 1024];

/// The longest array that is verified.
pub const LONGEST: u64 = 1 << 20;

/// One rung over one array.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    /// A kernel of the ladder.
    pub rung: &'static Rung,
    /// What it is asked for.
    pub case: Case,
}

/// What was verified.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Verified {
    /// Cells whose results were right.
    pub right: u64,
    /// Cells that the rung does not have.
    pub lacking: u64,
    /// What was wrong: the cell, and how.
    pub wrong: Vec<String>,
}

impl std::fmt::Display for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Case { op, dtype, n, block } = self.case;
        write!(f, "{}: {op} of {n} {dtype} in blocks of {block}", self.rung.name)
    }
}

/// Lengths around warps and blocks, and long ones: no power of two among them but the last.
pub fn lengths(block: u32) -> Vec<u64> {
    let block = u64::from(block);
    let mut all = vec![0, 1, 2, 31, 32, 33, block - 1, block, block + 1, 2 * block + 1];
    all.extend([1000, 65537, 1_000_003, LONGEST]);
    all.sort_unstable();
    all.dedup();
    all
}

/// Every cell of some rungs (those that are kernels), one element type and operation after the other.
pub fn cells(rungs: &[&'static Rung]) -> Vec<Cell> {
    let pairs = TYPES.iter().flat_map(|&dtype| OPS.map(|op| (dtype, op)));
    let pairs = pairs.filter(|&(dtype, op)| defined(op, dtype).is_ok());
    let mut all = Vec::new();
    for (dtype, op) in pairs {
        for rung in rungs.iter().filter(|rung| matches!(rung.way, Way::Kernel(_))) {
            for block in BLOCKS {
                let case = |n| Case { op, dtype, n, block };
                all.extend(lengths(block).into_iter().map(|n| Cell { rung, case: case(n) }));
            }
        }
    }
    all
}

/// Every cell of every rung.
pub fn every_cell() -> Vec<Cell> {
    cells(&rungs().iter().collect::<Vec<_>>())
}

/// As many of the cells, in their order; the seed decides which.
pub fn sample(cells: Vec<Cell>, count: usize, seed: u64) -> Vec<Cell> {
    let mut keyed: Vec<(u64, usize)> =
        (0..cells.len()).map(|k| (word(seed, k as u64), k)).collect();
    keyed.sort_unstable();
    let mut kept: Vec<usize> = keyed.into_iter().take(count).map(|(_, k)| k).collect();
    kept.sort_unstable();
    kept.into_iter().map(|k| cells[k]).collect()
}

/// Verifies cells, with as many threads as there are targets; those of one rung, element type and operation that follow each other share an array and are
/// one thread's. The first rungs, the slow ones, are begun with, so that no thread is left alone with one. `each` is told of every cell. Which target takes
/// which cells changes nothing in what is returned.
///
/// # Errors
/// [`Error::Device`](warpfold::Error::Device) where the arrays do not fit; what a cell does wrong is in what is returned.
///
/// # Panics
/// Without a target.
pub fn verify<G: Target + Send>(
    targets: &mut [G],
    cells: &[Cell],
    seed: u64,
    each: impl Fn(&Cell) + Sync,
) -> Result<Verified> {
    assert!(!targets.is_empty(), "cells are verified on a target");
    let of = |cell: &Cell| (cell.case.dtype, cell.case.op, cell.rung.name);
    let groups: Vec<&[Cell]> = cells.chunk_by(|a, b| of(a) == of(b)).collect();
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.sort_by_key(|&k| groups[k][0].rung.name);
    let next = AtomicUsize::new(0);
    let found: Vec<OnceLock<Result<Verified>>> = groups.iter().map(|_| OnceLock::new()).collect();
    let work = |target: &mut G| {
        while let Some(&k) = order.get(next.fetch_add(1, Relaxed)) {
            let (dtype, op) = (groups[k][0].case.dtype, groups[k][0].case.op);
            let verified =
                with_number!(dtype, T => group::<T, G>(target, op, groups[k], seed, &each));
            found[k].get_or_init(|| verified);
        }
    };
    let (first, others) = targets.split_first_mut().expect("not empty");
    std::thread::scope(|scope| {
        for target in others {
            // Where the system grants no more threads, the others do the work.
            let _ = std::thread::Builder::new().spawn_scoped(scope, || work(target));
        }
        work(first);
    });
    let mut all = Verified::default();
    for group in found.into_iter().filter_map(OnceLock::into_inner) {
        let Verified { right, lacking, wrong } = group?;
        all.right += right;
        all.lacking += lacking;
        all.wrong.extend(wrong);
    }
    Ok(all)
}

fn group<T: Number, G: Target>(
    target: &mut G,
    op: Op,
    cells: &[Cell],
    seed: u64,
    each: &dyn Fn(&Cell),
) -> Result<Verified> {
    let mut verified = Verified::default();
    let longest = cells.iter().map(|cell| cell.case.n).max().unwrap_or(0);
    let x = array::<T>(op, longest, seed);
    let inputs = Inputs::new(target, &x, 1)?;
    let mut truths: HashMap<u64, Truth<T>> = HashMap::new();
    let facts = target.machine().facts();
    let planned = |cell: &Cell| match cell.rung.way {
        Way::Kernel(kernel) => Plan::new(kernel, cell.case, facts).ok(),
        _ => None,
    };
    let plans: Vec<Option<Plan>> = cells.iter().map(planned).collect();
    // Allocating and freeing wait for all that a GPU does, other threads' slow kernels too: one workspace does for all cells.
    let mut workspace = Workspace::new(target, plans.iter().flatten(), op, 1)?;
    for (k, (cell, plan)) in cells.iter().zip(&plans).enumerate() {
        each(cell);
        let Some(plan) = plan else {
            verified.lacking += 1;
            continue;
        };
        match G::SEES_UNWRITTEN {
            true => workspace = Workspace::new(target, std::iter::once(plan), op, 1)?,
            false => workspace.clear(op)?,
        }
        let truth = truths.entry(plan.n).or_insert_with(|| Truth::of(op, &x[..plan.n as usize]));
        target.schedule(word(seed, k as u64));
        match run(target, plan, &workspace, &inputs) {
            Err(error) => verified.wrong.push(format!("{cell}: {error}")),
            Ok(value) => match truth.judge(value, plan.steps) {
                verdict if verdict.verified => verified.right += 1,
                verdict => verified.wrong.push(format!(
                    "{cell} gave {value}, and {} is right: {:e} off, where {:e} is rounding",
                    verdict.exact, verdict.error, verdict.bound
                )),
            },
        }
    }
    Ok(verified)
}

fn run<T: Number, G: Target>(
    target: &mut G,
    plan: &Plan,
    workspace: &Workspace<G, T>,
    inputs: &Inputs<G, T>,
) -> Result<T> {
    // SAFETY: the launches are the plan's, over arrays made for it and an input that is as long or longer, of its element type.
    unsafe { target.run(&workspace.launches(plan, inputs, 0))? };
    workspace.result()
}

fn array<T: Number>(op: Op, n: u64, seed: u64) -> Vec<T> {
    let mut buffer = Buffer::new(n * size_of::<T>() as u64).expect("a few megabytes");
    if n > 0 {
        fill::<T>(&mut buffer, natural_data(op, T::DTYPE), seed);
    }
    buffer.as_slice::<T>()[..n as usize].to_vec()
}
