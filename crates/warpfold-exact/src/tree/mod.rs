//! The canonical tree: one order of joining for operators that round, whoever folds what.
//!
//! Leaf `i` is the element with index `i` of its output. Runs of 32 consecutive leaves are folded in order, blocks of 32 consecutive runs in
//! order, and two aligned neighbours of one size are joined from there on. Where there are no leaves nothing is joined: the last run, the last
//! block and the right half of a pair may be shorter, or not there.
//!
//! A partial is a set of [`Interval`]s of leaves. An interval keeps the results of the largest aligned spans that it covers, and so at most 31
//! leaves and 31 runs at each end and two results of each size above. That depends on nothing but its leaves: however an interval was cut,
//! folded and joined, its parts have the same bits. Neighbours join, in whatever order they arrive; the others wait ([`Tree`]).
//!
//! Nothing here knows what is multiplied or otherwise joined.

mod interval;
mod spans;
#[cfg(test)]
mod tests;

use std::fmt::Debug;

pub use interval::{Interval, Item};
use spans::RUN_LEVEL;
pub use spans::{BLOCK, RUN, size};

/// What is folded along the tree. Its functions are given no empty slices.
pub trait Operator: Copy + PartialEq + Debug + Send + Sync {
    /// An element.
    type Leaf: Copy + PartialEq + Debug + Send + Sync;
    /// What leaves become.
    type Node: Clone + PartialEq + Debug + Send + Sync;

    /// Whether two leaves are the same, as a partial's equality has it: a NaN is itself.
    fn is_same(one: &Self::Leaf, other: &Self::Leaf) -> bool {
        one == other
    }

    /// Folds up to 32 consecutive leaves of one run, in order.
    fn run(&self, leaves: &[Self::Leaf]) -> Self::Node;

    /// Folds up to 32 consecutive runs of one block, in order; of one run it is that run.
    fn block(&self, runs: &[Self::Node]) -> Self::Node;

    /// Joins two neighbours, the left one first.
    fn join(&self, left: &Self::Node, right: &Self::Node) -> Self::Node;
}

/// Why there is no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Incomplete {
    /// These leaves are in no interval, though later ones are.
    Missing {
        /// The first.
        first: u64,
        /// The end of these.
        end: u64,
    },
    /// These leaves are in more than one interval.
    Twice {
        /// The first.
        first: u64,
        /// The end of these.
        end: u64,
    },
}

/// Intervals of the leaves of one output: a partial.
#[derive(Debug, Clone, PartialEq)]
pub struct Tree<O: Operator> {
    operator: O,
    /// Ascending, and apart.
    intervals: Vec<Interval<O>>,
    /// The first leaves that were handed in twice, if any were.
    twice: Option<(u64, u64)>,
}

impl<O: Operator> Tree<O> {
    /// No leaves.
    pub fn new(operator: O) -> Self {
        Tree { operator, intervals: Vec::new(), twice: None }
    }

    /// As it was saved, if it can be: ascending intervals that do not touch.
    pub fn of_parts(
        operator: O,
        intervals: Vec<Interval<O>>,
        twice: Option<(u64, u64)>,
    ) -> Option<Self> {
        let are_apart = intervals.windows(2).all(|pair| pair[0].end() < pair[1].start());
        let are_some = intervals.iter().all(|interval| interval.start() < interval.end());
        let is_range = twice.is_none_or(|(first, end)| first < end);
        (are_apart && are_some && is_range).then_some(Tree { operator, intervals, twice })
    }

    /// What is joined.
    pub fn operator(&self) -> O {
        self.operator
    }

    /// The intervals, ascending.
    pub fn intervals(&self) -> &[Interval<O>] {
        &self.intervals
    }

    /// The first leaves that were handed in twice.
    pub fn twice(&self) -> Option<(u64, u64)> {
        self.twice
    }

    /// Takes in an interval, which joins its neighbours if they are there.
    ///
    /// Leaves that are there already are not taken again: [`root`](Self::root) names them.
    pub fn insert(&mut self, interval: Interval<O>) {
        let (start, end) = (interval.start(), interval.end());
        if start == end {
            return;
        }
        let at = self.intervals.partition_point(|other| other.start() < start);
        let before = at.checked_sub(1).map(|k| self.intervals[k].end()).unwrap_or(0);
        let after = self.intervals.get(at).map_or(u64::MAX, Interval::start);
        if before > start || end > after {
            let range = if before > start {
                (start, before.min(end))
            } else {
                (after, self.shared(at, end))
            };
            self.twice = Some(self.twice.map_or(range, |other| other.min(range)));
            return;
        }
        match at.checked_sub(1) {
            Some(left) if before == start => self.intervals[left].append(self.operator, interval),
            _ => self.intervals.insert(at, interval),
        }
        let joined = if at > 0 && before == start { at - 1 } else { at };
        let right = self.intervals.get(joined + 1);
        if right.is_some_and(|right| right.start() == self.intervals[joined].end()) {
            let right = self.intervals.remove(joined + 1);
            self.intervals[joined].append(self.operator, right);
        }
    }

    /// The end of what an interval up to `end` shares with the one at a place.
    fn shared(&self, at: usize, end: u64) -> u64 {
        self.intervals[at].end().min(end)
    }

    /// Takes in all of another one, in any order.
    pub fn merge(&mut self, other: &Self) {
        for interval in &other.intervals {
            self.insert(interval.clone());
        }
        if let Some(range) = other.twice {
            self.twice = Some(self.twice.map_or(range, |mine| mine.min(range)));
        }
    }

    /// The result of all leaves; `None` of none.
    ///
    /// # Errors
    /// Leaves that are missing before others, or were there twice.
    pub fn root(&self) -> Result<Option<O::Node>, Incomplete> {
        if let Some((first, end)) = self.twice {
            return Err(Incomplete::Twice { first, end });
        }
        let Some(whole) = self.intervals.first() else { return Ok(None) };
        if whole.start() > 0 {
            return Err(Incomplete::Missing { first: 0, end: whole.start() });
        }
        if let Some(later) = self.intervals.get(1) {
            return Err(Incomplete::Missing { first: whole.end(), end: later.start() });
        }
        Ok(Some(whole.value(self.operator)))
    }

    /// The result of each interval by itself, ascending: what is left where others than these partials' order is all that is known.
    pub fn values(&self) -> impl Iterator<Item = O::Node> {
        self.intervals.iter().map(|interval| interval.value(self.operator))
    }
}

/// The level of runs.
pub const LEVEL_OF_RUNS: u32 = RUN_LEVEL;
