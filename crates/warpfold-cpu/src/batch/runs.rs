//! Contiguous runs shared out among threads.
//!
//! Work is counted in elements and runs together, so that neither one long run nor a million empty ones leave threads idle. The longest runs
//! are left for the end, when all threads take each together.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::outputs::Alone;
use crate::threads::share;
use warpfold_plan::plan::BatchPlan;
use warpfold_plan::segment::Bounds;
use warpfold_plan::shape::{Form, Loop};

/// Elements that a run counts as, beside its own, when work is shared out.
const RUN: usize = 8;

/// Runs of memory, one for each output.
#[derive(Debug, Clone, Copy)]
pub(super) enum Runs<'a> {
    /// Segments.
    Segments(&'a Bounds<'a>),
    /// Rows of one length: the kept loops of a form walk over them.
    Rows(&'a Form),
}

/// Some of the runs, numbered from 0.
#[derive(Debug, Clone, Copy)]
pub(super) enum Strip<'a> {
    /// Runs of one length and pitch; run `r` is output `first + r · step`.
    Even { start: usize, pitch: usize, length: usize, first: u64, step: i64 },
    /// Ascending bounds, which are those of the outputs.
    Bounds(&'a Bounds<'a>),
}

impl Strip<'_> {
    /// Where a run lies.
    #[inline(always)]
    pub(super) fn range(self, run: usize) -> Range<usize> {
        match self {
            Strip::Even { start, pitch, length, .. } => {
                start + run * pitch..start + run * pitch + length
            }
            Strip::Bounds(bounds) => bounds.range(run),
        }
    }

    /// The length of all, if they have one.
    #[inline(always)]
    pub(super) fn length(self) -> Option<usize> {
        match self {
            Strip::Even { length, .. } => Some(length),
            Strip::Bounds(&Bounds::Every { length, .. }) => Some(length as usize),
            Strip::Bounds(_) => None,
        }
    }

    /// The first of some runs that have no more than `most` elements and no gaps between them: the end of these runs, where they end, and the longest length.
    #[inline(always)]
    pub(super) fn together(self, runs: Range<usize>, most: usize) -> (usize, usize, usize) {
        let start = self.range(runs.start).start;
        let (mut next, mut end, mut longest) = (runs.start, start, 0);
        if let Some(length) = self.length() {
            let dense = !matches!(self, Strip::Even { pitch, .. } if pitch != length);
            let fit = most.checked_div(length).unwrap_or(usize::MAX);
            let count = runs.len().min(if dense { fit } else { fit.min(1) });
            return (next + count, start + count * length, length);
        }
        while next < runs.end {
            let range = self.range(next);
            if range.start != end || range.end - start > most {
                break;
            }
            longest = longest.max(range.len());
            (next, end) = (next + 1, range.end);
        }
        (next, end, longest)
    }

    /// The output of a run.
    pub(super) fn output(self, run: usize) -> u64 {
        match self {
            Strip::Even { first, step, .. } => {
                first.wrapping_add_signed(step.wrapping_mul(run as i64))
            }
            Strip::Bounds(_) => run as u64,
        }
    }

    /// From the output of a run to that of the next.
    pub(super) fn step(self) -> i64 {
        match self {
            Strip::Even { step, .. } => step,
            Strip::Bounds(_) => 1,
        }
    }

    /// Elements before a run and runs, each counted as some.
    fn work(self, run: usize) -> usize {
        if run == 0 {
            return 0;
        }
        self.range(run - 1).end - self.range(0).start + run * RUN
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

/// Folds some runs and finishes their outputs, but for those that it defers.
pub(super) type FoldRuns<'a> = dyn FnMut(Strip<'_>, Range<usize>, &mut Vec<usize>) + 'a;

/// Defers every output to the kernels for one array.
pub(super) fn alone(plan: &BatchPlan, runs: Runs<'_>, sink: &dyn Alone) {
    spread(plan, runs, sink, &|| {
        Box::new(|_: Strip<'_>, runs: Range<usize>, deferred: &mut Vec<usize>| {
            deferred.extend(runs)
        })
    });
}

/// Shares the runs out. Each thread makes itself a function that folds runs.
pub(super) fn spread<'a>(
    plan: &BatchPlan,
    runs: Runs<'_>,
    sink: &dyn Alone,
    start: &(dyn Fn() -> Box<FoldRuns<'a>> + Sync),
) {
    let cuts = Cuts::new(plan, runs);
    let next = AtomicUsize::new(0);
    let long = Mutex::new(Vec::new());
    let work = || {
        let (mut fold, mut noted) = (start(), Vec::new());
        loop {
            let unit = next.fetch_add(1, Ordering::Relaxed);
            if unit >= cuts.strips * cuts.each {
                return;
            }
            let (strip, runs) = cuts.unit(unit);
            fold(strip, runs, &mut noted);
            for run in noted.drain(..) {
                let (output, range) = (strip.output(run), strip.range(run));
                if range.len() as u64 >= plan.long && plan.threads > 1 {
                    long.lock().unwrap_or_else(|poison| poison.into_inner()).push((output, range));
                } else {
                    sink.run(output, range, 1);
                }
            }
        }
    };
    share(plan.threads, &work);
    for (output, range) in long.into_inner().unwrap_or_else(|poison| poison.into_inner()) {
        sink.run(output, range, plan.threads);
    }
}

/// Runs cut into units of work: strips of so many runs, each cut alike.
struct Cuts<'a> {
    runs: Runs<'a>,
    grain: usize,
    strips: usize,
    length: usize,
    each: usize,
}

impl<'a> Cuts<'a> {
    fn new(plan: &BatchPlan, runs: Runs<'a>) -> Self {
        let grain = usize::try_from(plan.grain).unwrap_or(usize::MAX).max(1);
        match runs {
            Runs::Segments(bounds) => {
                let length = bounds.count() as usize;
                let each = Strip::Bounds(bounds).work(length).div_ceil(grain);
                Cuts { runs, grain, strips: 1, length, each }
            }
            Runs::Rows(form) => {
                let length = form.kept.last().map_or(1, |l| l.length as usize);
                let grain = (grain / (form.inputs as usize + RUN)).max(1);
                let strips = form.outputs as usize / length;
                Cuts { runs, grain, strips, length, each: length.div_ceil(grain) }
            }
        }
    }

    /// A unit: some runs of a strip.
    fn unit(&self, unit: usize) -> (Strip<'a>, Range<usize>) {
        let (strip, part) = (unit / self.each, unit % self.each);
        match self.runs {
            Runs::Segments(bounds) => {
                let strip = Strip::Bounds(bounds);
                let end = |part: usize| strip.after(part * self.grain, self.length);
                (strip, end(part)..end(part + 1))
            }
            Runs::Rows(form) => {
                let (start, first) = form.turn(strip as u64);
                let Loop { stride, position, .. } =
                    form.kept.last().copied().unwrap_or(Loop { length: 1, stride: 0, position: 1 });
                let (start, pitch, length) =
                    (start as usize, stride as usize, form.inputs as usize);
                let runs = part * self.grain..self.length.min((part + 1) * self.grain);
                (Strip::Even { start, pitch, length, first, step: position }, runs)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_segment_belongs_to_one_part() {
        for lengths in [vec![0u64; 50], vec![1; 100], vec![3, 0, 0, 900, 1, 0], vec![5000], vec![]]
        {
            let mut offsets = vec![7u64];
            offsets.extend(lengths.iter().scan(7, |end, length| {
                *end += length;
                Some(*end)
            }));
            let bounds = Bounds::Offsets64(offsets.into());
            let strip = Strip::Bounds(&bounds);
            for grain in [1, 10, 64, 10_000] {
                let parts = strip.work(lengths.len()).div_ceil(grain);
                let mut next = 0;
                for part in 0..parts {
                    let runs = strip.after(part * grain, lengths.len())
                        ..strip.after((part + 1) * grain, lengths.len());
                    assert_eq!(runs.start, next);
                    next = runs.end;
                }
                assert_eq!(next, lengths.len());
            }
        }
    }
}
