//! An operator along the canonical tree: whole spans are folded straight from the array, several runs side by side.

use warpfold_engine::threads;
use warpfold_exact::tree::{self, BLOCK, Incomplete, Interval, LEVEL_OF_RUNS, RUN, Tree, size};
use warpfold_plan::segment::Bounds;

use super::Operator;

/// Elements that a thread takes at once, from an index that they divide: one span of the tree.
const GRAIN: u64 = 64 * BLOCK;

/// Runs that are folded side by side, so that a step waits less for the one before.
const ABREAST: usize = 4;

/// An element with its index.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Leaf<T> {
    x: T,
    index: u64,
}

/// An operator as the tree knows them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Along<O>(pub(super) O);

impl<O: Operator> tree::Operator for Along<O> {
    type Leaf = Leaf<O::Element>;
    type Node = O::State;

    fn run(&self, leaves: &[Self::Leaf]) -> O::State {
        let (first, rest) = leaves.split_first().expect("a run has leaves");
        let start = self.0.lift(first.x, first.index);
        rest.iter().fold(start, |state, leaf| self.0.push(state, leaf.x, leaf.index))
    }

    fn block(&self, runs: &[O::State]) -> O::State {
        let (first, rest) = runs.split_first().expect("a block has runs");
        rest.iter().fold(*first, |left, right| self.0.merge(left, *right))
    }

    fn join(&self, left: &O::State, right: &O::State) -> O::State {
        self.0.merge(*left, *right)
    }
}

/// Folds elements, of which the first has an index, on up to so many threads.
pub(super) fn fold<O: Operator>(
    x: &[O::Element],
    first: u64,
    operator: O,
    threads: Option<usize>,
) -> Tree<Along<O>> {
    let mut tree = Tree::new(Along(operator));
    let end = first + x.len() as u64;
    // Where grains end: at multiples of their size.
    let numbers = first / GRAIN..end.div_ceil(GRAIN);
    let one = |number: u64| {
        let (from, to) = ((number * GRAIN).max(first), ((number + 1) * GRAIN).min(end));
        interval(&x[(from - first) as usize..(to - first) as usize], from, operator)
    };
    let threads = threads.unwrap_or(usize::MAX).min(warpfold_engine::facts().threads);
    let grains = usize::try_from(numbers.end - numbers.start).unwrap_or(usize::MAX);
    if grains < 2 || threads < 2 {
        numbers.map(one).for_each(|interval| tree.insert(interval));
    } else {
        threads::map(threads, 0..grains, |k| one(numbers.start + k as u64))
            .into_iter()
            .for_each(|interval| tree.insert(interval));
    }
    tree
}

/// Each segment by itself.
pub(super) fn segments<O: Operator>(
    x: &[O::Element],
    bounds: &Bounds<'_>,
    operator: O,
) -> Vec<Option<O::Output>>
where
    O::Output: Send,
{
    let count = bounds.count() as usize;
    let one = |segment: usize| {
        let x = &x[bounds.range(segment)];
        (!x.is_empty()).then(|| operator.finish(interval(x, 0, operator).value(Along(operator))))
    };
    // As many together as make a grain.
    let together = (GRAIN as usize * count).div_ceil(x.len().max(1)).max(1);
    let threads = warpfold_engine::facts().threads;
    let found = threads::map(threads, 0..count.div_ceil(together), |k| {
        (k * together..count.min((k + 1) * together)).map(one).collect::<Vec<_>>()
    });
    found.into_iter().flatten().collect()
}

/// The leaves of a slice as the largest spans that they cover.
fn interval<O: Operator>(x: &[O::Element], first: u64, operator: O) -> Interval<Along<O>> {
    let mut interval = Interval::new(first);
    let (mut rest, mut index) = (x, first);
    for level in Interval::<Along<O>>::levels(first, first + x.len() as u64) {
        let (span, behind) = rest.split_at(size(level) as usize);
        match level {
            0 => interval.leaf(Along(operator), Leaf { x: span[0], index }),
            LEVEL_OF_RUNS => {
                let [state] = runs::<O, 1>(operator, span, index);
                interval.node(Along(operator), level, state);
            }
            _ => interval.node(Along(operator), level, aligned(operator, span, index)),
        }
        rest = behind;
        index += size(level);
    }
    interval
}

/// An aligned span of blocks.
fn aligned<O: Operator>(operator: O, x: &[O::Element], first: u64) -> O::State {
    if x.len() as u64 > BLOCK {
        let (left, right) = x.split_at(x.len() / 2);
        let middle = first + left.len() as u64;
        return operator.merge(aligned(operator, left, first), aligned(operator, right, middle));
    }
    let mut all = None;
    for (k, x) in x.chunks_exact(ABREAST * RUN as usize).enumerate() {
        let first = first + (k * ABREAST) as u64 * RUN;
        for state in runs::<O, ABREAST>(operator, x, first) {
            all = Some(all.map_or(state, |all| operator.merge(all, state)));
        }
    }
    all.expect("a block has runs")
}

/// So many whole runs.
#[inline]
fn runs<O: Operator, const RUNS: usize>(
    operator: O,
    x: &[O::Element],
    first: u64,
) -> [O::State; RUNS] {
    const LENGTH: usize = RUN as usize;
    let index = |run: usize, k: usize| first + (run * LENGTH + k) as u64;
    let x = &x[..RUNS * LENGTH];
    let mut states: [O::State; RUNS] =
        std::array::from_fn(|run| operator.lift(x[run * LENGTH], index(run, 0)));
    for k in 1..LENGTH {
        for run in 0..RUNS {
            states[run] = operator.push(states[run], x[run * LENGTH + k], index(run, k));
        }
    }
    states
}

/// What is wrong with pieces, and what to do.
pub(super) fn said(gap: Incomplete) -> (String, String) {
    match gap {
        Incomplete::Missing { first, end } => (
            format!("elements {first} to {end} are in none of the pieces that were merged"),
            "merge the pieces that have them, and say where each piece starts".into(),
        ),
        Incomplete::Twice { first, end } => (
            format!(
                "elements {first} to {end} are in more than one of the pieces that were merged"
            ),
            "merge each piece once, and say where it starts".into(),
        ),
    }
}
