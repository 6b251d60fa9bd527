//! Inputs that are contiguous runs of memory: segments, and the rows of arrays.
//!
//! Work is shared out by elements and runs together, so that neither one long run nor a million empty ones leave threads idle. A thread takes
//! a block of runs and surveys them a tile at a time, many short runs in one pass over contiguous memory. Runs shorter than the lanes are
//! many are taken side by side; the others with their elements in the lanes. Runs longer than a tile go through the kernels for
//! one array, and the longest are left for the end, when all threads take each together.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::lanes::{Kind, N, Places};
use super::outputs::{Counts, Emit};
use super::{Many, flat};
use crate::cpu::crew::share;
use crate::cpu::isa::{Job, with_isa};
use crate::cpu::memory::fetch;
use crate::element::Element;
use crate::partial::Partial;
use crate::segment::Bounds;
use crate::shape::{Form, Loop};

/// Elements of a tile: it stays in the nearest cache from its survey to its additions.
const TILE: usize = 4096;

/// Runs that a thread hands on at a time.
const BLOCK: usize = 512;

/// Elements that a run counts as, beside its own, when work is shared out.
const RUN: usize = 8;

/// Runs of memory, one for each output.
#[derive(Clone, Copy)]
pub(super) enum Runs<'a> {
    /// Segments.
    Segments(&'a Bounds<'a>),
    /// Rows of one length: the kept loops of a form walk over them.
    Rows(&'a Form),
}

/// Runs `0 .. count` of one length and pitch, or of ascending bounds.
#[derive(Clone, Copy)]
enum Strip<'a> {
    Even { start: usize, pitch: usize, length: usize },
    Bounds(&'a Bounds<'a>),
}

impl Strip<'_> {
    #[inline(always)]
    fn range(self, run: usize) -> Range<usize> {
        match self {
            Strip::Even { start, pitch, length } => {
                start + run * pitch..start + run * pitch + length
            }
            Strip::Bounds(bounds) => bounds.range(run),
        }
    }

    /// Elements before a run and runs, each counted as some.
    fn work(self, run: usize) -> usize {
        match self {
            Strip::Even { length, .. } => run * (length + RUN),
            Strip::Bounds(_) if run == 0 => 0,
            Strip::Bounds(bounds) => bounds.range(run - 1).end - bounds.range(0).start + run * RUN,
        }
    }

    /// The first of `count` runs before which there is so much work.
    fn after(self, work: usize, count: usize) -> usize {
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = low.midpoint(high);
            if self.work(middle) < work { low = middle + 1 } else { high = middle }
        }
        low
    }
}

/// Folds every run.
pub(super) fn run<T: Element, K: Kind<T>>(
    kind: K,
    many: &Many<'_, T>,
    x: &[T],
    runs: Runs<'_>,
    emit: &dyn Emit<T, K::Small>,
) {
    let plan = many.plan;
    let grain = usize::try_from(plan.grain).unwrap_or(usize::MAX);
    // One strip of segments; of rows, one for each turn of all kept loops but the innermost.
    let (strips, inner, each) = match runs {
        Runs::Segments(bounds) => {
            let count = bounds.count() as usize;
            let work = if count == 0 { 0 } else { Strip::Bounds(bounds).work(count) };
            (1, count, work.div_ceil(grain))
        }
        Runs::Rows(form) => {
            let inner = form.kept.last().map_or(1, |l| l.length as usize);
            let rows = (grain / (form.inputs as usize + RUN)).max(1);
            (form.outputs as usize / inner.max(1), inner, inner.div_ceil(rows))
        }
    };
    let long = Mutex::new(Vec::new());
    let next = AtomicUsize::new(0);
    let work = || {
        let mut worker = Worker { kind, many, x, emit, long: &long, buffers: Buffers::new() };
        loop {
            let unit = next.fetch_add(1, Ordering::Relaxed);
            if unit >= strips * each {
                return;
            }
            let (strip, part) = (unit / each, unit % each);
            match runs {
                Runs::Segments(bounds) => {
                    let strip = Strip::Bounds(bounds);
                    let range =
                        strip.after(part * grain, inner)..strip.after((part + 1) * grain, inner);
                    worker.strip(strip, range, 0, 1);
                }
                Runs::Rows(form) => {
                    let rows = inner.div_ceil(each);
                    let range = part * rows..inner.min((part + 1) * rows);
                    let (start, first) = form.turn(strip as u64);
                    let last = form.kept.last().copied().unwrap_or(Loop {
                        length: 1,
                        stride: 0,
                        place: 1,
                    });
                    let (pitch, length) = (last.stride as usize, form.inputs as usize);
                    let strip = Strip::Even { start: start as usize, pitch, length };
                    worker.strip(strip, range, first, last.place);
                }
            }
        }
    };
    share(plan.threads, &work);
    let mut long = long.into_inner().unwrap_or_else(|poison| poison.into_inner());
    long.sort_unstable_by_key(|&(output, _)| output);
    for (output, range) in long {
        let run: &[T] = &x[Range::clone(&range)];
        emit.partial(output, run.len() as u64, &flat(many, run, plan.threads, 0));
    }
}

/// Folds every segment with the kernels for one array.
pub(super) fn alone<T: Element, S>(
    many: &Many<'_, T>,
    x: &[T],
    bounds: &Bounds<'_>,
    emit: &dyn Emit<T, S>,
) {
    let (plan, strip, count) = (many.plan, Strip::Bounds(bounds), bounds.count() as usize);
    let grain = usize::try_from(plan.grain).unwrap_or(usize::MAX);
    let units = if count == 0 { 0 } else { strip.work(count).div_ceil(grain) };
    let (next, long) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let unit = next.fetch_add(1, Ordering::Relaxed);
            if unit >= units {
                return;
            }
            for run in strip.after(unit * grain, count)..strip.after((unit + 1) * grain, count) {
                let range = strip.range(run);
                if range.len() as u64 >= plan.long {
                    long.lock().unwrap_or_else(|poison| poison.into_inner()).push((run, range));
                } else {
                    let n = range.len() as u64;
                    emit.partial(run as u64, n, &flat(many, &x[range], 1, 0));
                }
            }
        }
    };
    share(plan.threads, &work);
    for (run, range) in long.into_inner().unwrap_or_else(|poison| poison.into_inner()) {
        let n = range.len() as u64;
        emit.partial(run as u64, n, &flat(many, &x[range], plan.threads, 0));
    }
}

/// What a thread keeps between blocks.
struct Buffers<S> {
    smalls: Vec<S>,
    counts: Vec<u64>,
    /// Runs of the block that no rule covers.
    uncovered: Vec<usize>,
    left: Vec<usize>,
}

impl<S> Buffers<S> {
    fn new() -> Self {
        Buffers { smalls: Vec::new(), counts: Vec::new(), uncovered: Vec::new(), left: Vec::new() }
    }
}

/// A thread at work.
struct Worker<'w, 'a, T: Element, K: Kind<T>> {
    kind: K,
    many: &'w Many<'a, T>,
    x: &'w [T],
    emit: &'w dyn Emit<T, K::Small>,
    /// Runs for all threads together, and their outputs.
    long: &'w Mutex<Vec<(u64, Range<usize>)>>,
    buffers: Buffers<K::Small>,
}

impl<T: Element, K: Kind<T>> Worker<'_, '_, T, K> {
    /// Runs of a strip, run `r` being output `first + r · step`.
    fn strip(&mut self, strip: Strip<'_>, runs: Range<usize>, first: u64, step: i64) {
        let mut at = runs.start;
        while at < runs.end {
            let block = at..runs.end.min(at + BLOCK);
            at = block.end;
            self.block(strip, block, first, step);
        }
    }

    fn block(&mut self, strip: Strip<'_>, runs: Range<usize>, first: u64, step: i64) {
        let (kind, x) = (self.kind, self.x);
        let Buffers { smalls, counts, uncovered, left } = &mut self.buffers;
        smalls.clear();
        uncovered.clear();
        left.clear();
        let block = Block {
            kind,
            x,
            strip,
            runs: runs.clone(),
            smalls: &mut *smalls,
            uncovered: &mut *uncovered,
        };
        with_isa(self.many.plan.isa, block);
        let output = |run: usize| first.wrapping_add_signed(step.wrapping_mul(run as i64));
        let counted = match strip {
            Strip::Even { length, .. } => Counts::Same(length as u64),
            Strip::Bounds(_) => {
                counts.clear();
                counts.extend(runs.clone().map(|run| strip.range(run).len() as u64));
                Counts::Each(counts)
            }
        };
        self.emit.smalls(output(runs.start), step, counted, smalls, left);
        for &run in left.iter() {
            let mut partial = Partial::empty(self.many.plan.batch.op);
            kind.pour(&smalls[run], counted.of(run), &mut partial);
            self.emit.partial(output(runs.start + run), counted.of(run), &partial);
        }
        for &run in uncovered.iter() {
            let range = strip.range(runs.start + run);
            let output = output(runs.start + run);
            if range.len() as u64 >= self.many.plan.long {
                self.long.lock().unwrap_or_else(|poison| poison.into_inner()).push((output, range));
                continue;
            }
            let partial = match range.len() {
                0..64 => {
                    let mut partial = Partial::empty(self.many.plan.batch.op);
                    x[range.clone()].iter().for_each(|&x| kind.single(x, &mut partial));
                    partial
                }
                _ => flat(self.many, &x[range.clone()], 1, 0),
            };
            self.emit.partial(output, range.len() as u64, &partial);
        }
    }
}

/// A block of runs for one instruction set.
struct Block<'b, T: Element, K: Kind<T>> {
    kind: K,
    x: &'b [T],
    strip: Strip<'b>,
    runs: Range<usize>,
    smalls: &'b mut Vec<K::Small>,
    uncovered: &'b mut Vec<usize>,
}

impl<T: Element, K: Kind<T>> Job for Block<'_, T, K> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        let mut run = self.runs.start;
        while run < self.runs.end {
            // As many whole runs as fit a tile, as long as each begins where the one before ended.
            let tile_start = self.strip.range(run).start;
            let (mut end, mut tile_end, mut longest) = (run, tile_start, 0);
            while end < self.runs.end {
                let range = self.strip.range(end);
                if range.start != tile_end || range.end - tile_start > TILE {
                    break;
                }
                longest = longest.max(range.len());
                (end, tile_end) = (end + 1, range.end);
            }
            if end == run {
                self.uncovered.push(run - self.runs.start);
                self.smalls.push(K::total(&self.nothing()));
                run += 1;
                continue;
            }
            // The next tile, while this one is looked at and added up.
            let ahead = tile_end..self.x.len().min(tile_end + (tile_end - tile_start));
            fetch(&self.x[ahead]);
            let range = self.kind.survey(&self.x[tile_start..tile_end]);
            match self.kind.rule(range, longest as u64) {
                Some(rule) => self.tile(rule, run..end),
                None => self.one_by_one(run..end),
            }
            run = end;
        }
    }
}

impl<T: Element, K: Kind<T>> Block<'_, T, K> {
    /// Empty lanes: a survey of nothing always has a rule.
    #[inline(always)]
    fn nothing(&self) -> K::Lanes {
        let rule = self.kind.rule(self.kind.survey(&[]), 1);
        self.kind.lanes(rule.expect("nothing is covered"))
    }

    #[inline(always)]
    fn tile(&mut self, rule: K::Rule, runs: Range<usize>) {
        let empty = self.kind.lanes(rule);
        let mut run = runs.start;
        if let Strip::Even { pitch, length, .. } = self.strip
            && length <= N
            && pitch == length
        {
            while run + N <= runs.end {
                let start = self.strip.range(run).start;
                self.side_by_side(empty, start, length);
                run += N;
            }
        }
        for run in run..runs.end {
            let small = self.along(empty, self.strip.range(run));
            self.smalls.push(small);
        }
    }

    #[inline(always)]
    fn one_by_one(&mut self, runs: Range<usize>) {
        for run in runs {
            let range = self.strip.range(run);
            let found = self.kind.survey(&self.x[range.clone()]);
            let lanes = match self.kind.rule(found, range.len() as u64) {
                Some(rule) => self.kind.lanes(rule),
                None => {
                    self.uncovered.push(run - self.runs.start);
                    self.smalls.push(K::total(&self.nothing()));
                    continue;
                }
            };
            let small = self.along(lanes, range);
            self.smalls.push(small);
        }
    }

    /// A run with its elements in the lanes.
    #[inline(always)]
    fn along(&self, mut lanes: K::Lanes, range: Range<usize>) -> K::Small {
        let run = &self.x[range.clone()];
        let (groups, rest) = run.as_chunks::<N>();
        let mut first = 0;
        for group in groups {
            self.kind.add(&mut lanes, group, Places { first, step: 1 });
            first += N as u64;
        }
        if let Some(&head) = rest.first() {
            let filler = self.kind.filler(head);
            // Read on, where memory goes on, and select: a copy of unknown length would cost more than the additions.
            let at = range.end - rest.len();
            let group = match self.x[at..].first_chunk::<N>() {
                Some(group) => {
                    let mut group = *group;
                    for l in 0..N {
                        group[l] = if l < rest.len() { group[l] } else { filler };
                    }
                    group
                }
                None => {
                    let mut group = [filler; N];
                    group[..rest.len()].copy_from_slice(rest);
                    group
                }
            };
            self.kind.add(&mut lanes, &group, Places { first, step: 1 });
        }
        K::total(&lanes)
    }

    /// `N` short runs, one after another in memory, each in a lane.
    #[inline(always)]
    fn side_by_side(&mut self, lanes: K::Lanes, start: usize, length: usize) {
        let lanes = match length {
            1 => self.strided::<1>(lanes, start),
            2 => self.strided::<2>(lanes, start),
            3 => self.strided::<3>(lanes, start),
            4 => self.strided::<4>(lanes, start),
            6 => self.strided::<6>(lanes, start),
            8 => self.strided::<8>(lanes, start),
            _ => {
                let (mut lanes, runs) = (lanes, &self.x[start..start + N * length]);
                for k in 0..length {
                    let group = std::array::from_fn(|l| runs[l * length + k]);
                    self.kind.add(&mut lanes, &group, Places { first: k as u64, step: 0 });
                }
                lanes
            }
        };
        self.smalls.extend((0..N).map(|lane| K::lane(&lanes, lane)));
    }

    /// The same for a length known to the compiler.
    #[inline(always)]
    fn strided<const LENGTH: usize>(&self, mut lanes: K::Lanes, start: usize) -> K::Lanes {
        let (runs, _) = self.x[start..start + N * LENGTH].as_chunks::<LENGTH>();
        let runs: &[[T; LENGTH]; N] = runs.first_chunk().expect("as many as lanes");
        for k in 0..LENGTH {
            let group = std::array::from_fn(|l| runs[l][k]);
            self.kind.add(&mut lanes, &group, Places { first: k as u64, step: 0 });
        }
        lanes
    }
}
