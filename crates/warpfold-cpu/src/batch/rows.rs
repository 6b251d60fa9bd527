//! Inputs that are contiguous runs of memory: segments, and the rows of arrays.
//!
//! A thread takes a block of runs and surveys them a tile at a time, many short runs in one pass over contiguous memory. Runs no longer
//! than there are lanes, and some kinds' of up to 64 elements, are taken side by side; the others with their elements in the lanes. Of longer runs, tiles are joined; what one exponent range
//! does not cover is cut into pieces with ranges of their own, where these can be joined. What is left goes through the kernels for one array.

use std::ops::Range;

use super::lanes::{LaneOperation, N, Positions};
use super::outputs::{Counts, Sink};
use super::runs::{Runs, Strip, spread};
use super::turned::{self, most_of_uneven, uneven};
use crate::isa::{Job, Target, with_lanes, with_lanes_apart};
use crate::memory::prefetch_at;
use warpfold_plan::plan::BatchPlan;

/// Elements of a tile: it stays in the nearest cache from its survey to its additions.
const TILE: usize = 4096;

/// Elements of a piece of a run, where these are joined as no exponent range covers all of it: fewer have less of a range to keep to, and add up in a wider one.
const PIECE: usize = 256;

/// Runs that a thread hands on at a time, so that what lanes hold of them stays in a near cache.
const BLOCK: usize = 512;
const BLOCK_OF_LARGE: usize = 128;

/// Elements of runs that are added one by one at most, where lengths differ: to empty lanes and to join them takes longer. (Groups of many keys are such runs.)
const FEW: usize = 4;

/// The longest length of some runs.
#[inline(always)]
fn longest(ranges: &[Range<usize>]) -> usize {
    let mut longest = 0;
    for range in ranges {
        longest = longest.max(range.len());
    }
    longest
}

/// Runs whose lanes are kept until all are added: what goes to memory stays in whole registers up to there.
pub(crate) const RUNS_AT_ONCE: usize = 8;

/// Folds every run with lanes of a kind.
pub(super) fn run<K: LaneOperation>(
    kind: K,
    plan: &BatchPlan,
    x: &[K::Element],
    runs: Runs<'_>,
    sink: &dyn Sink<K::Small>,
) {
    spread(plan, runs, sink, &|| {
        let (mut smalls, mut counts, mut uncovered) = (Vec::new(), Vec::new(), Vec::new());
        Box::new(move |strip: Strip<'_>, runs: Range<usize>, deferred: &mut Vec<usize>| {
            let block = if K::IS_LARGE { BLOCK_OF_LARGE } else { BLOCK };
            for first in runs.clone().step_by(block) {
                let runs = first..runs.end.min(first + block);
                smalls.clear();
                uncovered.clear();
                let (smalls, uncovered) = (&mut smalls, &mut uncovered);
                let block =
                    Block { kind, x, strip, runs: runs.clone(), ahead: 0, smalls, uncovered };
                with_lanes(plan.isa, block);
                counts.clear();
                if strip.length().is_none() {
                    counts.extend(runs.clone().map(|run| strip.range(run).len() as u64));
                }
                // Between the runs that are deferred, whose placeholders are not to be read.
                let mut next = runs.start;
                for end in uncovered.iter().copied().chain([runs.end]) {
                    let some = next - runs.start..end - runs.start;
                    if !some.is_empty() {
                        let counted = match strip.length() {
                            Some(length) => Counts::Same(length as u64),
                            None => Counts::Each(&counts[some.clone()]),
                        };
                        sink.smalls(strip.output(next), strip.step(), counted, &smalls[some]);
                    }
                    next = end + 1;
                }
                deferred.append(uncovered);
            }
        })
    });
}

/// A block of runs for one instruction set.
struct Block<'b, K: LaneOperation> {
    kind: K,
    x: &'b [K::Element],
    strip: Strip<'b>,
    runs: Range<usize>,
    /// Bytes from what is added to what is asked for meanwhile: the next tile, a little with each group, as all at once would keep the core from anything else.
    ahead: usize,
    smalls: &'b mut Vec<K::Small>,
    uncovered: &'b mut Vec<usize>,
}

impl<K: LaneOperation> Job for Block<'_, K> {
    type Output = ();

    #[inline(always)]
    fn run<C: Target>(mut self) {
        let mut run = self.runs.start;
        while run < self.runs.end {
            // As many whole runs as fit a tile, as long as each begins where the one before ended.
            let tile_start = self.strip.range(run).start;
            let (end, tile_end, longest) = self.strip.together(run..self.runs.end, TILE);
            if end == run {
                self.by_tiles::<C>(run);
                run += 1;
                continue;
            }
            self.ahead = (tile_end - tile_start) * size_of::<K::Element>();
            let range = self.kind.survey(&self.x[tile_start..tile_end]);
            match self.kind.exponents(range, longest as u64) {
                Some(exponents) => self.tile::<C>(exponents, run..end),
                None if K::MAY_MISS => self.one_by_one::<C>(run..end),
                None => unreachable!("a rule of this kind covers all elements"),
            }
            run = end;
        }
    }
}

/// Some runs, no more than [`RUNS_AT_ONCE`], with their elements in the lanes, for one instruction set: a call, so that this code is there once.
pub(crate) struct Along<'a, K: LaneOperation> {
    pub(super) kind: K,
    pub(super) x: &'a [K::Element],
    /// Not the lanes that it makes: what begins as a known constant stays in registers.
    pub(super) exponents: K::ExponentRange,
    pub(super) ahead: usize,
    pub(super) ranges: &'a [Range<usize>],
}

impl<K: LaneOperation> Job for Along<'_, K> {
    type Output = [K::Small; RUNS_AT_ONCE];

    #[inline(always)]
    fn run<C: Target>(self) -> [K::Small; RUNS_AT_ONCE] {
        let mut smalls = [K::NOTHING; RUNS_AT_ONCE];
        for (lanes, small) in self.lanes::<C>()[..self.ranges.len()].iter().zip(&mut smalls) {
            *small = self.kind.total(lanes);
        }
        smalls
    }
}

/// The same after what was found before: an array of a few would take as long as short runs do.
pub(super) struct Appended<'a, 's, K: LaneOperation> {
    pub(super) runs: Along<'a, K>,
    pub(super) smalls: &'s mut Vec<K::Small>,
}

impl<K: LaneOperation> Job for Appended<'_, '_, K> {
    type Output = ();

    #[inline(always)]
    fn run<C: Target>(self) {
        let Appended { runs, smalls } = self;
        for lanes in &runs.lanes::<C>()[..runs.ranges.len()] {
            smalls.push(runs.kind.total(lanes));
        }
    }
}

impl<K: LaneOperation> Along<'_, K> {
    /// Accumulators of each run.
    #[inline(always)]
    fn lanes<C: Target>(&self) -> [K::Lanes; RUNS_AT_ONCE] {
        let empty = self.kind.lanes(self.exponents);
        let mut lanes_of_runs = [empty; RUNS_AT_ONCE];
        for (range, lanes) in self.ranges.iter().zip(&mut lanes_of_runs) {
            if K::RESTS_APART && (K::IS_LARGE || !C::AVX512) {
                *lanes = self.groups(empty, range.clone());
                let rest = range.len() % N;
                if rest > 0 {
                    let Along { kind, x, .. } = *self;
                    let first = range.len() - rest;
                    let x = &x[range.start + first..];
                    with_lanes_apart(C::ISA, Rest { kind, x, rest, first: first as u64, lanes });
                }
            } else {
                *lanes = self.along(empty, range.clone());
            }
        }
        lanes_of_runs
    }

    /// A run with its elements in the lanes.
    #[inline(always)]
    fn along(&self, mut lanes: K::Lanes, range: Range<usize>) -> K::Lanes {
        let run = &self.x[range.clone()];
        let (groups, rest) = run.as_chunks::<N>();
        let mut first = 0;
        for group in groups {
            prefetch_at(group, self.ahead);
            self.kind.add(&mut lanes, group, Positions { first, step: 1 });
            first += N as u64;
        }
        if let Some(&head) = rest.first() {
            let filler = self.kind.filler(head);
            // Read on, where memory goes on, and select: a copy of unknown length would cost more than the additions.
            let at = range.end - rest.len();
            let here = Positions { first, step: 1 };
            let group = match self.x[at..].first_chunk::<N>() {
                Some(group) => {
                    prefetch_at(group, self.ahead);
                    let mut group = *group;
                    for l in 0..N {
                        group[l] = if l < rest.len() { group[l] } else { filler };
                    }
                    group
                }
                None => self.kind.group(rest),
            };
            // The same loop adds them: by `add_some`, sums of rows of any length ran at three quarters of their rate.
            self.kind.add(&mut lanes, &group, here);
        }
        lanes
    }

    /// The whole groups of a run alone.
    #[inline(always)]
    fn groups(&self, mut lanes: K::Lanes, range: Range<usize>) -> K::Lanes {
        let mut first = 0;
        for group in self.x[range].as_chunks::<N>().0 {
            prefetch_at(group, self.ahead);
            self.kind.add(&mut lanes, group, Positions { first, step: 1 });
            first += N as u64;
        }
        lanes
    }
}

/// The last few elements of a run, `rest` of them at the beginning of `x`: in a call
/// (see [`LaneOperation::RESTS_APART`]).
struct Rest<'a, 'l, K: LaneOperation> {
    kind: K,
    x: &'a [K::Element],
    rest: usize,
    first: u64,
    lanes: &'l mut K::Lanes,
}

impl<K: LaneOperation> Job for Rest<'_, '_, K> {
    type Output = ();

    #[inline(always)]
    fn run<C: Target>(self) {
        let Rest { kind, x, rest, first, lanes } = self;
        // Read on, where memory goes on; what is read beyond the run is not added.
        let group = x.first_chunk::<N>().copied().unwrap_or_else(|| kind.group(&x[..rest]));
        let mut added = *lanes;
        kind.add_some(&mut added, group, rest, Positions { first, step: 1 });
        *lanes = added;
    }
}

/// Folds a run, or a tile of one, in an exponent range of its own; `false` where there is none.
struct Apart<'a, 'b, K: LaneOperation> {
    block: &'a mut Block<'b, K>,
    range: Range<usize>,
}

impl<K: LaneOperation> Job for Apart<'_, '_, K> {
    type Output = bool;

    #[inline(always)]
    fn run<C: Target>(self) -> bool {
        let Apart { block, range } = self;
        if block.apart::<C>(range.clone()) {
            return true;
        }
        // What may miss and joins is a sum, of which pieces have exponent ranges of their own.
        let has_pieces = K::MAY_MISS && K::MERGES && range.len() > PIECE;
        has_pieces && with_lanes_apart(C::ISA, Pieces { block, range })
    }
}

/// The same of pieces of it, each in an exponent range of its own.
struct Pieces<'a, 'b, K: LaneOperation> {
    block: &'a mut Block<'b, K>,
    range: Range<usize>,
}

impl<K: LaneOperation> Job for Pieces<'_, '_, K> {
    type Output = bool;

    #[inline(always)]
    fn run<C: Target>(self) -> bool {
        let Pieces { block, range } = self;
        let (first, mut fits) = (block.smalls.len(), true);
        for start in range.clone().step_by(PIECE) {
            fits = block.apart::<C>(start..range.end.min(start + PIECE));
            if fits && start > range.start {
                fits = block.join_last(start - range.start);
            }
            if !fits {
                block.smalls.truncate(first);
                break;
            }
        }
        fits
    }
}

impl<K: LaneOperation> Block<'_, K> {
    /// Defers a run to the kernels for one array; a placeholder takes its slot, which is never read.
    #[inline(always)]
    fn defer(&mut self, run: usize) {
        self.uncovered.push(run);
        self.smalls.push(K::NOTHING);
    }

    #[inline(always)]
    fn tile<C: Target>(&mut self, exponents: K::ExponentRange, runs: Range<usize>) {
        let empty = self.kind.lanes(exponents);
        let mut run = runs.start;
        if let Some(length) = self.strip.length()
            && length <= K::BESIDE
            && (length <= N || K::TURNS_FULL || !K::TURNS || !length.is_multiple_of(N))
        {
            // A tile of runs of one length has no gaps.
            while run + N <= runs.end {
                let start = self.strip.range(run).start;
                // Not compiled where no run is so long.
                if const { K::TURNS && K::BESIDE >= K::TURNS_FROM } && length >= K::TURNS_FROM {
                    self.turned::<C>(empty, start, length);
                } else {
                    self.side_by_side::<C>(empty, start, length);
                }
                run += N;
            }
        }
        let is_uneven = K::BESIDE > N && !K::TURNS && self.strip.length().is_none();
        let mut ranges = [const { 0..0 }; RUNS_AT_ONCE];
        for first in (run..runs.end).step_by(RUNS_AT_ONCE) {
            if first < run {
                continue;
            }
            if is_uneven && first + N <= runs.end && self.uneven::<C>(empty, first) {
                run = first + N;
                continue;
            }
            let count = RUNS_AT_ONCE.min(runs.end - first);
            for k in 0..count {
                ranges[k] = self.strip.range(first + k);
            }
            if K::PUTS && self.strip.length().is_none() && longest(&ranges[..count]) <= FEW {
                self.by_elements(first, &ranges[..count]);
                continue;
            }
            self.add_runs::<C>(exponents, &ranges[..count]);
        }
    }

    /// `N` runs from one on, each in a lane; `false` where one is so much longer than others that most lanes would wait.
    #[inline(always)]
    fn uneven<C: Target>(&mut self, lanes: K::Lanes, first: usize) -> bool {
        let mut ranges = [const { 0..0 }; N];
        for l in 0..N {
            ranges[l] = self.strip.range(first + l);
        }
        let Some(longest) = most_of_uneven(&ranges, K::BESIDE) else { return false };
        for group in self.x[ranges[0].start..ranges[N - 1].end].as_chunks::<N>().0 {
            prefetch_at(group, self.ahead);
        }
        let lanes = uneven(self.kind, C::ISA, lanes, self.x, &ranges, longest);
        self.smalls.extend_from_slice(&self.kind.all(&lanes));
        true
    }

    /// Folds some elements in an exponent range of their own; `false` where there is none.
    #[inline(always)]
    fn apart<C: Target>(&mut self, range: Range<usize>) -> bool {
        let found = self.kind.survey(&self.x[range.clone()]);
        let Some(exponents) = self.kind.exponents(found, range.len() as u64) else { return false };
        self.add_runs::<C>(exponents, &[range]);
        true
    }

    /// Folds a few runs in one exponent range.
    #[inline(always)]
    fn add_runs<C: Target>(&mut self, exponents: K::ExponentRange, ranges: &[Range<usize>]) {
        let Block { kind, x, ahead, .. } = *self;
        kind.append_along(C::ISA, Along { kind, x, exponents, ahead, ranges }, self.smalls);
    }

    /// Joins what was found last, of elements that stand so far from the first of those before, with that; `false` if nothing holds both.
    #[inline(always)]
    fn join_last(&mut self, moved: usize) -> bool {
        match (self.smalls.pop(), self.smalls.last_mut()) {
            (Some(last), Some(all)) => self.kind.merge(all, &K::moved(last, moved as i64)),
            _ => unreachable!("something was found before"),
        }
    }

    /// Runs of a few elements, which are added one by one.
    #[inline(always)]
    fn by_elements(&mut self, first: usize, ranges: &[Range<usize>]) {
        for (range, run) in ranges.iter().zip(first..) {
            let (mut small, mut fits) = (K::NOTHING, true);
            for &x in &self.x[range.clone()] {
                fits &= self.kind.put(&mut small, x);
            }
            if fits {
                self.smalls.push(small);
            } else {
                self.defer(run);
            }
        }
    }

    /// A run of a few tiles: what each holds is joined.
    #[inline(always)]
    fn by_tiles<C: Target>(&mut self, run: usize) {
        let (range, first) = (self.strip.range(run), self.smalls.len());
        let mut fits = K::MERGES && range.len() <= K::MOST_TILES * TILE;
        self.ahead = TILE * size_of::<K::Element>();
        for start in range.clone().step_by(TILE) {
            if !fits {
                break;
            }
            let tile = start..range.end.min(start + TILE);
            fits = with_lanes(C::ISA, Apart { block: self, range: tile });
            if fits && start > range.start {
                fits = self.join_last(start - range.start);
            }
        }
        if !fits {
            self.smalls.truncate(first);
            self.defer(run);
        }
    }

    #[inline(always)]
    fn one_by_one<C: Target>(&mut self, runs: Range<usize>) {
        for run in runs {
            let range = self.strip.range(run);
            if !with_lanes(C::ISA, Apart { block: self, range }) {
                self.defer(run);
            }
        }
    }

    /// `N` short runs, one after another in memory, each in a lane.
    #[inline(always)]
    fn side_by_side<C: Target>(&mut self, lanes: K::Lanes, start: usize, length: usize) {
        let runs = &self.x[start..];
        for group in runs[..N * length].as_chunks::<N>().0 {
            prefetch_at(group, self.ahead);
        }
        let lanes = self.kind.beside(C::ISA, lanes, runs, length);
        self.smalls.extend_from_slice(&self.kind.all(&lanes));
    }

    /// The same of runs that are turned over first.
    #[inline(never)]
    fn turned<C: Target>(&mut self, lanes: K::Lanes, start: usize, length: usize) {
        let runs = &self.x[start..];
        for group in runs[..N * length].as_chunks::<N>().0 {
            prefetch_at(group, self.ahead);
        }
        let lanes = turned::beside_turned(self.kind, C::ISA, lanes, runs, length);
        self.smalls.extend_from_slice(&self.kind.all(&lanes));
    }
}
