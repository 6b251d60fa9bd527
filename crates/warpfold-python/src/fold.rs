//! Folds of arrays that are read side by side, output by output: what `where=`, `weights=` and expressions need.
//!
//! Outputs of few elements share a block; those of many are read in grains by all threads. No result depends on either.

use pyo3::prelude::*;
use warpfold_engine::threads;
use warpfold_num::{Error, Result};

use crate::run::run;
use crate::take::{BLOCK, Block, Views};

/// Elements that a thread takes at once.
const GRAIN: usize = 1 << 18;

/// What is done with blocks.
pub(crate) trait BlockFold: Sync {
    /// What is left of some elements.
    type Partial: Send;

    /// What is left of none.
    fn empty(&self) -> Self::Partial;

    /// Folds blocks, whose first elements have an index among an output's.
    fn block(&self, blocks: &mut [Block], start: u64) -> Result<Self::Partial>;

    /// Takes in what is left of later elements.
    fn merge(&self, left: &mut Self::Partial, later: &Self::Partial);

    /// Folds blocks that hold several outputs of so many elements each; `None` where that is done one by one.
    fn several(&self, blocks: &mut [Block], inputs: usize) -> Option<Result<Vec<Self::Partial>>> {
        let _ = (blocks, inputs);
        None
    }
}

/// Threads that share the work.
pub(crate) fn threads_of(views: &Views, threads: Option<usize>) -> usize {
    let threads = threads.unwrap_or(usize::MAX).min(warpfold_engine::facts().threads);
    let elements = views.outputs().saturating_mul(views.inputs());
    threads.min(elements.div_ceil(GRAIN)).max(1)
}

/// Each output, folded and read, in C order.
pub(crate) fn each<F: BlockFold, R: Send>(
    py: Python<'_>,
    views: &Views,
    fold: &F,
    threads: Option<usize>,
    read: impl Fn(usize, F::Partial) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    run(py, views.bytes(), || each_of(views, fold, threads, &read))
}

/// The same without the interpreter.
pub(crate) fn each_of<F: BlockFold, R: Send>(
    views: &Views,
    fold: &F,
    threads: Option<usize>,
    read: &(impl Fn(usize, F::Partial) -> Result<R> + Sync),
) -> Result<Vec<R>> {
    let threads = threads_of(views, threads);
    let (outputs, inputs) = (views.outputs(), views.inputs());
    let mut all = Vec::new();
    if all.try_reserve_exact(outputs).is_err() {
        return Err(Error::Shape {
            requested: format!("{outputs} results"),
            obstacle: "there is no memory for them".into(),
            remedy: "check the shape",
        });
    }
    if inputs == 0 || inputs > GRAIN {
        for output in 0..outputs {
            let left = if inputs == 0 { fold.empty() } else { one(views, fold, threads, output)? };
            all.push(read(output, left)?);
        }
        return Ok(all);
    }
    // Tasks of a grain of elements at least, in which outputs share blocks.
    let together = (BLOCK / inputs).max(1);
    let task = (GRAIN / inputs).div_ceil(together).max(1) * together;
    let work = |task_at: usize| -> Result<Vec<R>> {
        let first = task_at * task;
        let end = outputs.min(first + task);
        let mut blocks = views.blocks();
        let mut made = Vec::with_capacity(end - first);
        for output in (first..end).step_by(together) {
            let count = together.min(end - output);
            let lefts = group(views, fold, &mut blocks, output, count)?;
            for (output, left) in (output..).zip(lefts) {
                made.push(read(output, left)?);
            }
        }
        Ok(made)
    };
    let tasks = threads::map(threads, 0..outputs.div_ceil(task), work);
    for task in tasks {
        all.extend(task?);
    }
    Ok(all)
}

/// Outputs that follow each other, of one block together.
fn group<F: BlockFold>(
    views: &Views,
    fold: &F,
    blocks: &mut [Block],
    first: usize,
    count: usize,
) -> Result<Vec<F::Partial>> {
    let inputs = views.inputs();
    if count > 1 {
        blocks.iter_mut().for_each(Block::clear);
        for output in first..first + count {
            views.append(blocks, output, 0, inputs);
        }
        if let Some(several) = fold.several(blocks, inputs) {
            return several;
        }
    }
    (first..first + count).map(|output| range(views, fold, blocks, output, 0..inputs)).collect()
}

/// Some elements of one output.
fn range<F: BlockFold>(
    views: &Views,
    fold: &F,
    blocks: &mut [Block],
    output: usize,
    range: std::ops::Range<usize>,
) -> Result<F::Partial> {
    let mut all: Option<F::Partial> = None;
    let mut at = range.start;
    while at < range.end {
        let end = range.end.min(at + BLOCK);
        blocks.iter_mut().for_each(Block::clear);
        views.append(blocks, output, at, end);
        let left = fold.block(blocks, at as u64)?;
        match &mut all {
            Some(all) => fold.merge(all, &left),
            none => *none = Some(left),
        }
        at = end;
    }
    Ok(all.unwrap_or_else(|| fold.empty()))
}

/// One output of many elements, by all threads.
fn one<F: BlockFold>(views: &Views, fold: &F, threads: usize, output: usize) -> Result<F::Partial> {
    let inputs = views.inputs();
    let grain = |grain: usize| {
        let elements = grain * GRAIN..inputs.min((grain + 1) * GRAIN);
        range(views, fold, &mut views.blocks(), output, elements)
    };
    let mut all = fold.empty();
    for left in threads::map(threads, 0..inputs.div_ceil(GRAIN), grain) {
        fold.merge(&mut all, &left?);
    }
    Ok(all)
}
