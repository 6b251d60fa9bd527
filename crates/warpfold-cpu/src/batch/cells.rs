//! Groups by a table: a cell for each group, to which its elements are added as they come.
//!
//! Every thread has a table of its own and a slice of the elements; tables are joined at the end. What a cell does not hold goes to the
//! group's partial; where these are more than a few elements, the tables are given up and the elements sorted.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::lanes::LaneOperation;
use super::outputs::Sink;
use super::overflow_store::OverflowStore;
use crate::isa::{Job, Target, with_short_lanes};
use crate::memory::{prefetch_at, with_capacity};
use crate::threads::each;
use warpfold_plan::group::{Block, Numbered};
use warpfold_plan::plan::BatchPlan;

/// Elements between two checks whether to give up, and how many of them may have missed their cells.
const TURN: usize = 1 << 16;
const MOST_MISSED: usize = TURN / 64;

/// Bytes of a table that the nearest caches hold: cells of a larger one are asked for before their turn.
const NEAR: usize = 256 << 10;

/// What went into a group.
struct Cell<S> {
    small: S,
    count: u64,
}

/// Some elements that are added to their groups' cells; how many of them missed their cells.
struct Turn<'t, 'k, K: LaneOperation> {
    kind: K,
    x: &'t [K::Element],
    numbers: &'t dyn Numbered,
    elements: Range<usize>,
    table: &'t mut [Cell<K::Small>],
    is_far: bool,
    overflow: &'t Mutex<OverflowStore<'k, K>>,
}

impl<K: LaneOperation> Job for Turn<'_, '_, K> {
    type Output = usize;

    #[inline(always)]
    fn run<C: Target>(self) -> usize {
        let Turn { kind, x, numbers, elements, table, is_far, overflow } = self;
        let (mut missed, mut block) = (0, Block::new());
        for first in elements.clone().step_by(Block::LENGTH) {
            block.fill(numbers, first..elements.end);
            // No closure: it would be compiled without the instruction set.
            for k in 0..block.len() {
                let (at, group) = (first + k, block.group(k));
                if is_far {
                    prefetch_at(&table[block.later(k)], 0);
                }
                let cell = &mut table[group];
                if kind.put(&mut cell.small, x[at]) {
                    cell.count += 1;
                    continue;
                }
                missed += 1;
                let full = std::mem::replace(cell, Cell { small: K::NOTHING, count: 0 });
                let mut overflow = overflow.lock().unwrap_or_else(|poison| poison.into_inner());
                overflow.join(group, &full.small, full.count);
                overflow.single(group, at);
            }
        }
        missed
    }
}

/// Folds every group; `false`, and nothing was left in the sink, where the data is not for cells.
pub(super) fn run<K: LaneOperation>(
    kind: K,
    plan: &BatchPlan,
    x: &[K::Element],
    numbers: &dyn Numbered,
    groups: usize,
    sink: &dyn Sink<K::Small>,
) -> bool {
    let length = x.len().div_ceil(plan.threads.max(1)).max(1);
    let slice = |k: usize| -> Range<usize> { k * length..x.len().min((k + 1) * length) };
    let mut tables: Vec<Vec<Cell<K::Small>>> =
        (0..x.len().div_ceil(length)).map(|_| Vec::new()).collect();
    let (overflow, is_given_up) =
        (Mutex::new(OverflowStore::<K>::new(kind, sink, groups)), AtomicBool::new(false));
    let is_far = groups * size_of::<Cell<K::Small>>() > NEAR;
    each(plan.threads, tables.iter_mut().enumerate(), |(k, table)| {
        *table = with_capacity(groups).expect("memory for a table of groups");
        table.resize_with(groups, || Cell { small: K::NOTHING, count: 0 });
        for first in slice(k).step_by(TURN) {
            if is_given_up.load(Ordering::Relaxed) {
                return;
            }
            let elements = first..slice(k).end.min(first + TURN);
            let turn = Turn { kind, x, numbers, elements, table, is_far, overflow: &overflow };
            if with_short_lanes(plan.isa, turn) > MOST_MISSED {
                is_given_up.store(true, Ordering::Relaxed);
            }
        }
    });
    if is_given_up.into_inner() {
        return false;
    }
    let mut overflow = overflow.into_inner().unwrap_or_else(|poison| poison.into_inner());
    for table in tables {
        for (group, cell) in table.iter().enumerate() {
            overflow.join(group, &cell.small, cell.count);
        }
    }
    overflow.finish(0, 1);
    true
}
