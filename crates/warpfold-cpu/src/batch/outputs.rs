//! How what drivers found becomes results: the traits between drivers, readers and slots (`results`).

use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::Mutex;

use super::into_partial::{IntoPartial, take};
use super::results::{AT_ONCE, Lone};
use super::{Batched, flat, singles};
use crate::Nan;
use crate::whole::FoldWhole;
use warpfold_exact::partial::{Output, Partial};
use warpfold_plan::HostArray;
use warpfold_plan::plan::adds_singly;

/// How the partial of an input becomes a result. Readers know no element types, so that few are compiled.
pub(crate) trait Read<S>: Sync {
    /// The result.
    type Result: Copy + Send + 'static;

    /// Whether reading one takes many operations: neighbours are read by the widest registers then, the last few with others beside them.
    const IS_LONG: bool = false;

    /// From what an accumulator holds of `count` elements; `None` where that takes the partial.
    fn small(&self, small: &S, count: u64) -> Option<Self::Result>;

    /// The same of neighbours, and which of them have a result.
    #[inline(always)]
    fn neighbours(
        &self,
        smalls: &[S; AT_ONCE],
        counts: [u64; AT_ONCE],
    ) -> ([MaybeUninit<Self::Result>; AT_ONCE], [bool; AT_ONCE]) {
        one_by_one(self, smalls, counts)
    }

    /// From a few elements themselves, where that is faster than by a partial.
    fn short(&self, _: HostArray<'_>) -> Option<Self::Result> {
        None
    }

    /// From what a partial was finished to.
    fn finished(&self, output: Output) -> Self::Result;

    /// From the only elements of some inputs.
    fn lone(&self, inputs: Lone<'_, Self::Result>);
}

/// The results of neighbours by the reader of one.
#[inline(always)]
pub(crate) fn one_by_one<S, D: Read<S> + ?Sized>(
    reader: &D,
    smalls: &[S; AT_ONCE],
    counts: [u64; AT_ONCE],
) -> ([MaybeUninit<D::Result>; AT_ONCE], [bool; AT_ONCE]) {
    // No closure: it would be compiled as a call, without the instruction set.
    let mut results = [const { MaybeUninit::uninit() }; AT_ONCE];
    let mut are_results = [true; AT_ONCE];
    for k in 0..AT_ONCE {
        match reader.small(&smalls[k], counts[k]) {
            Some(result) => results[k] = MaybeUninit::new(result),
            None => are_results[k] = false,
        }
    }
    (results, are_results)
}

/// Elements that went into each of a few outputs.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Counts<'a> {
    /// As many into each.
    Same(u64),
    /// So many into each.
    Each(&'a [u64]),
}

impl Counts<'_> {
    #[inline(always)]
    pub(super) fn of(self, k: usize) -> u64 {
        match self {
            Counts::Same(count) => count,
            Counts::Each(counts) => counts[k],
        }
    }
}

/// Where outputs are left that are runs of contiguous elements.
pub(crate) trait Alone: Sync {
    /// Leaves an output by the kernels for one array.
    fn run(&self, output: u64, elements: Range<usize>, threads: usize);
}

/// Where drivers put what they found. Drivers know words and no types; sinks know what a result is.
///
/// An output belongs to one unit of work, and is left by one thread at a time.
pub(crate) trait Sink<S>: Alone {
    /// Outputs `first`, `first + step`, … from what accumulators hold.
    fn smalls(&self, first: u64, step: i64, counts: Counts<'_>, smalls: &[S]);

    /// A store for additions that do not fit accumulators, of so many outputs.
    fn store(&self, outputs: usize) -> Box<dyn Store<S> + '_>;
}

/// Partials that accumulators are emptied into.
pub(crate) trait Store<S>: Send {
    /// Adds what an accumulator holds of `count` elements.
    fn flush(&mut self, at: usize, small: &S, count: u64);

    /// Adds `count` elements, the first by its index in memory and the others `stride` apart.
    fn singles(&mut self, at: usize, first: usize, stride: usize, count: usize);

    /// Finishes an output of `count` elements.
    fn finish(&self, at: usize, output: u64, count: u64);
}

/// Reads results into their slots: the only part here that is compiled once for each result.
pub(crate) trait Write<T: FoldWhole, S>: Sync {
    /// From small values; defers those that only their partials can tell.
    fn smalls(
        &self,
        first: u64,
        step: i64,
        counts: Counts<'_>,
        smalls: &[S],
        deferred: &mut Vec<usize>,
    );

    /// From the partial of an output of `count` elements.
    fn partial(&self, output: u64, count: u64, partial: &Partial<T>);

    /// From the few elements of an output themselves; `false` where it takes their partial.
    fn short(&self, output: u64, x: &[T]) -> bool;

    /// Outputs `first`, `first + 1`, … of one element each; defers those that only their partials can tell.
    fn singles(&self, first: u64, x: &[T], nan: Nan, deferred: &mut Vec<usize>);
}

/// The outputs of many reductions of elements of one type, from drivers and pieces.
pub(crate) struct Out<'o, T: FoldWhole, S> {
    pub(super) batched: &'o Batched<'o, T>,
    pub(super) writer: &'o dyn Write<T, S>,
    /// Outputs whose accumulators do not tell the result, where these are not exact.
    doubtful: Mutex<Vec<u64>>,
    /// How many of these there may be, if not any number.
    pub(super) most: Option<u64>,
}

impl<'o, T: FoldWhole, S> Out<'o, T, S> {
    pub(super) fn new(
        batched: &'o Batched<'o, T>,
        writer: &'o dyn Write<T, S>,
        most: Option<u64>,
    ) -> Self {
        Out { batched, writer, doubtful: Mutex::new(Vec::new()), most }
    }

    /// The result of an output of `count` elements.
    pub(super) fn partial(&self, output: u64, count: u64, partial: &Partial<T>) {
        self.writer.partial(output, count, partial);
    }

    /// Finishes outputs of one element each, the first of which has the index `start`.
    pub(super) fn singles(&self, start: usize)
    where
        S: IntoPartial<T>,
    {
        let (x, nan) = (self.batched.memory(), self.nan());
        let read = |first: u64, elements: Range<usize>, deferred: &mut Vec<usize>| {
            self.writer.singles(first, &x[elements], nan, deferred);
        };
        singles::run(self.batched.plan, start, &read, self);
    }

    /// Notes an output that has to be folded exactly.
    pub(super) fn doubt(&self, output: u64) {
        self.doubtful.lock().unwrap_or_else(|poison| poison.into_inner()).push(output);
    }

    /// The outputs that have to be folded exactly; they are no longer noted then.
    pub(super) fn doubtful(&self) -> Vec<u64> {
        std::mem::take(&mut self.doubtful.lock().unwrap_or_else(|poison| poison.into_inner()))
    }

    /// The result of an output whose elements are these, in order.
    pub(super) fn exact(&self, output: u64, x: &[T], threads: usize) {
        if !self.writer.short(output, x) {
            self.writer.partial(output, x.len() as u64, &self.fold(x, threads));
        }
    }

    fn fold(&self, x: &[T], threads: usize) -> Partial<T> {
        match x.len() {
            // So few that a kernel's own beginning and end would cost more.
            0..32 if adds_singly(self.batched.plan.batch.op, T::DTYPE) => {
                let mut partial = self.empty();
                x.iter().for_each(|&x| take(&mut partial, x, self.nan()));
                partial
            }
            _ => flat(self.batched, x, threads, 0),
        }
    }

    fn empty(&self) -> Partial<T> {
        Partial::empty(self.batched.plan.batch.op)
    }

    fn nan(&self) -> Nan {
        self.batched.plan.batch.policy.nan
    }
}

impl<T: FoldWhole, S: IntoPartial<T>> Alone for Out<'_, T, S> {
    fn run(&self, output: u64, elements: Range<usize>, threads: usize) {
        self.exact(output, &self.batched.memory()[elements], threads);
    }
}

impl<T: FoldWhole, S: IntoPartial<T>> Sink<S> for Out<'_, T, S> {
    fn smalls(&self, first: u64, step: i64, counts: Counts<'_>, smalls: &[S]) {
        let mut deferred = Vec::new();
        self.writer.smalls(first, step, counts, smalls, &mut deferred);
        let output = |k: usize| first.wrapping_add_signed(step.wrapping_mul(k as i64));
        if !S::IS_EXACT && !deferred.is_empty() {
            let mut doubtful = self.doubtful.lock().unwrap_or_else(|poison| poison.into_inner());
            return doubtful.extend(deferred.into_iter().map(output));
        }
        for k in deferred {
            let (mut partial, count) = (self.empty(), counts.of(k));
            smalls[k].flush(self.nan(), count, &mut partial);
            self.writer.partial(output(k), count, &partial);
        }
    }

    fn store(&self, outputs: usize) -> Box<dyn Store<S> + '_> {
        Box::new(Partials { out: self, all: vec![self.empty(); outputs] })
    }
}

/// Partials of a few outputs.
struct Partials<'o, T: FoldWhole, S> {
    out: &'o Out<'o, T, S>,
    all: Vec<Partial<T>>,
}

impl<T: FoldWhole, S: IntoPartial<T>> Store<S> for Partials<'_, T, S> {
    fn flush(&mut self, at: usize, small: &S, count: u64) {
        small.flush(self.out.nan(), count, &mut self.all[at]);
    }

    fn singles(&mut self, at: usize, first: usize, stride: usize, count: usize) {
        let (partial, x, nan) = (&mut self.all[at], self.out.batched.memory(), self.out.nan());
        (0..count).for_each(|k| take(partial, x[first + k * stride], nan));
    }

    fn finish(&self, at: usize, output: u64, count: u64) {
        self.out.partial(output, count, &self.all[at]);
    }
}
