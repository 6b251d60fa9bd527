//! The results of many reductions: slots that threads fill, and the first output that has no value.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::Mutex;

use super::leaves::{Leaves, is_nan, take};
use super::pages::Pages;
use super::{Many, flat};
use crate::cpu::isa::{Job, with_isa};
use crate::cpu::memory::room;
use crate::element::Element;
use crate::error::At;
use crate::partial::Partial;
use crate::plan::{Isa, adds_singly};
use crate::{DType, Error, Nan, Op, Result};

/// How what is left of an input becomes a result.
pub(crate) trait Reader<T: Element, S>: Sync {
    /// The result.
    type Result: Copy + Send;

    /// From what an accumulator holds of `count` elements; `None` where that takes the partial.
    fn small(&self, small: &S, count: u64) -> Option<Self::Result>;

    /// From a partial.
    fn partial(&self, partial: &Partial<T>) -> Result<Self::Result>;

    /// From the only element of an input, if NaN is not ignored; `None` where that takes the partial.
    fn single(&self, x: T) -> Option<Self::Result>;
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
    fn of(self, k: usize) -> u64 {
        match self {
            Counts::Same(count) => count,
            Counts::Each(counts) => counts[k],
        }
    }
}

/// Where drivers leave what they found. They see words and no types; what a result is, is known here.
///
/// An output belongs to one unit of work, and is left by one thread at a time.
pub(crate) trait Sink<S>: Sync {
    /// Outputs `first`, `first + step`, … from what accumulators hold.
    fn smalls(&self, first: u64, step: i64, counts: Counts<'_>, smalls: &[S]);

    /// An output from a run of contiguous elements, by the kernels for one array.
    fn run(&self, output: u64, elements: Range<usize>, threads: usize);

    /// Room for more than accumulators hold, of so many outputs.
    fn store(&self, outputs: usize) -> Box<dyn Store<S> + '_>;
}

/// Partials that accumulators are emptied into.
pub(crate) trait Store<S>: Send {
    /// Adds what an accumulator holds of `count` elements.
    fn pour(&mut self, at: usize, small: &S, count: u64);

    /// Adds `count` elements, the first by its index in memory and the others `stride` apart.
    fn singles(&mut self, at: usize, first: usize, stride: usize, count: usize);

    /// Leaves an output of `count` elements.
    fn leave(&self, at: usize, output: u64, count: u64);
}

/// Reads results into their slots: all of this room that is compiled once for each result.
pub(super) trait Write<T: Element, S>: Sync {
    /// From small values; notes which of them take their partials.
    fn smalls(
        &self,
        first: u64,
        step: i64,
        counts: Counts<'_>,
        smalls: &[S],
        left: &mut Vec<usize>,
    );

    /// From the partial of an output of `count` elements.
    fn partial(&self, output: u64, count: u64, partial: &Partial<T>);

    /// Outputs `first`, `first + 1`, … of one element each; notes which of them take their partials.
    fn singles(&self, first: u64, x: &[T], nan: Nan, left: &mut Vec<usize>);
}

/// Slots for results, and the first output that has none.
struct Slots<R> {
    slots: Box<[UnsafeCell<MaybeUninit<R>>]>,
    pages: Pages,
    failure: Mutex<Option<(u64, Error)>>,
}

// SAFETY: threads write different slots, as `Sink` asks of drivers.
unsafe impl<R: Send> Sync for Slots<R> {}

impl<R: Copy + Send> Slots<R> {
    fn new(op: Op, dtype: DType, outputs: u64, threads: usize) -> Result<Self> {
        let Some(mut slots) = usize::try_from(outputs).ok().and_then(|n| room(n).ok()) else {
            return Err(Error::Shape {
                asked: format!("{op} of {dtype} into {outputs} outputs"),
                obstacle: "there is no memory for them".into(),
                remedy: "keep fewer axes or segments, or take them a part at a time",
            });
        };
        slots.resize_with(outputs as usize, || UnsafeCell::new(MaybeUninit::uninit()));
        let pages = Pages::new(threads);
        Ok(Slots { slots: slots.into(), pages, failure: Mutex::new(None) })
    }

    #[inline(always)]
    fn write(&self, output: u64, result: R) {
        fill(&self.slots[output as usize], result);
    }

    /// The results, or why the first output without one has none.
    fn finish(self, at: &dyn Fn(u64) -> At) -> Result<Vec<R>> {
        let failure = self.failure.into_inner().unwrap_or_else(|poison| poison.into_inner());
        if let Some((output, error)) = failure {
            return Err(Error::Output { output: at(output), error: Box::new(error) });
        }
        let slots = Box::into_raw(self.slots) as *mut [R];
        // SAFETY: a cell that may be uninitialised has the layout of what is in it; and each is initialised, because drivers leave every
        // output, or fail, or panic, and only the first comes here.
        Ok(unsafe { Box::from_raw(slots) }.into_vec())
    }
}

#[inline(always)]
fn fill<R>(slot: &UnsafeCell<MaybeUninit<R>>, result: R) {
    // SAFETY: no other thread touches the slot (see `Sync` of `Slots`).
    unsafe { *slot.get() = MaybeUninit::new(result) };
}

/// Results that lie side by side: of those that are only rounded, several at once.
struct Neighbours<'n, R, S, F> {
    read: F,
    counts: Counts<'n>,
    smalls: &'n [S],
    slots: &'n [UnsafeCell<MaybeUninit<R>>],
    left: &'n mut Vec<usize>,
}

impl<R, S, F: Fn(&S, u64) -> Option<R>> Neighbours<'_, R, S, F> {
    #[inline(always)]
    fn fill(self, count: impl Fn(usize) -> u64) {
        for (k, (small, slot)) in self.smalls.iter().zip(self.slots).enumerate() {
            match (self.read)(small, count(k)) {
                Some(result) => fill(slot, result),
                None => self.left.push(k),
            }
        }
    }
}

impl<R, S, F: Fn(&S, u64) -> Option<R>> Job for Neighbours<'_, R, S, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        match self.counts {
            Counts::Same(count) => self.fill(|_| count),
            Counts::Each(counts) => self.fill(|k| counts[k]),
        }
    }
}

/// Results of one element each that lie side by side.
struct Singles<'n, T, R, F> {
    read: F,
    nan: Nan,
    x: &'n [T],
    slots: &'n [UnsafeCell<MaybeUninit<R>>],
    left: &'n mut Vec<usize>,
}

impl<T: Element, R, F: Fn(T) -> Option<R>> Singles<'_, T, R, F> {
    #[inline(always)]
    fn fill(self, is_left: impl Fn(T) -> bool) {
        for (k, (&x, slot)) in self.x.iter().zip(self.slots).enumerate() {
            match (self.read)(x) {
                Some(result) if !is_left(x) => fill(slot, result),
                _ => self.left.push(k),
            }
        }
    }
}

impl<T: Element, R, F: Fn(T) -> Option<R>> Job for Singles<'_, T, R, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        match self.nan {
            Nan::Propagate => self.fill(|_| false),
            Nan::Ignore => self.fill(is_nan),
        }
    }
}

/// A reader and its slots.
struct Writer<'d, R, D> {
    slots: Slots<R>,
    op: Op,
    isa: Isa,
    reader: &'d D,
}

impl<T: Element, S, D: Reader<T, S>> Write<T, S> for Writer<'_, D::Result, D> {
    fn smalls(
        &self,
        first: u64,
        step: i64,
        counts: Counts<'_>,
        smalls: &[S],
        left: &mut Vec<usize>,
    ) {
        let last = first.wrapping_add_signed(step.wrapping_mul(smalls.len() as i64 - 1));
        self.slots.pages.reach(&self.slots.slots, first.max(last) as usize);
        if step == 1 {
            let slots = &self.slots.slots[first as usize..][..smalls.len()];
            let read = |small: &S, count| self.reader.small(small, count);
            return with_isa(self.isa, Neighbours { read, counts, smalls, slots, left });
        }
        let mut output = first;
        for (k, small) in smalls.iter().enumerate() {
            match self.reader.small(small, counts.of(k)) {
                Some(result) => self.slots.write(output, result),
                None => left.push(k),
            }
            output = output.wrapping_add_signed(step);
        }
    }

    fn singles(&self, first: u64, x: &[T], nan: Nan, left: &mut Vec<usize>) {
        let end = first as usize + x.len();
        self.slots.pages.reach(&self.slots.slots, end);
        let slots = &self.slots.slots[first as usize..end];
        let read = |x: T| self.reader.single(x);
        with_isa(self.isa, Singles { read, nan, x, slots, left });
    }

    fn partial(&self, output: u64, count: u64, partial: &Partial<T>) {
        let error = match self.reader.partial(partial) {
            Ok(result) => return self.slots.write(output, result),
            // Elements were there and none was left: they were ignored.
            Err(Error::Empty { .. }) => Error::Empty { op: self.op, ignored: count > 0 },
            Err(other) => other,
        };
        let mut failure = self.slots.failure.lock().unwrap_or_else(|poison| poison.into_inner());
        if failure.as_ref().is_none_or(|(first, _)| output < *first) {
            *failure = Some((output, error));
        }
    }
}

/// Folds every output into a slot of its own.
pub(super) fn collect<T: Element, S: Leaves<T>, D: Reader<T, S>>(
    many: &Many<'_, T>,
    reader: &D,
    at: &dyn Fn(u64) -> At,
    fold: fn(&Many<'_, T>, &Out<'_, T, S>),
) -> Result<Vec<D::Result>> {
    let op = many.plan.batch.op;
    let slots = Slots::new(op, T::DTYPE, many.plan.batch.outputs(), many.plan.threads)?;
    let writer = Writer { slots, op, isa: many.plan.isa, reader };
    many.fold(&writer, fold);
    writer.slots.finish(at)
}

/// The outputs of many reductions of elements of one type, as drivers and pieces leave them.
pub struct Out<'o, T: Element, S> {
    pub(super) many: &'o Many<'o, T>,
    pub(super) writer: &'o dyn Write<T, S>,
}

impl<T: Element, S> Out<'_, T, S> {
    /// The result of an output of `count` elements.
    pub(super) fn partial(&self, output: u64, count: u64, partial: &Partial<T>) {
        self.writer.partial(output, count, partial);
    }

    fn empty(&self) -> Partial<T> {
        Partial::empty(self.many.plan.batch.op)
    }

    fn nan(&self) -> Nan {
        self.many.plan.batch.policy.nan
    }
}

impl<T: Element, S: Leaves<T>> Sink<S> for Out<'_, T, S> {
    fn smalls(&self, first: u64, step: i64, counts: Counts<'_>, smalls: &[S]) {
        let mut left = Vec::new();
        self.writer.smalls(first, step, counts, smalls, &mut left);
        for k in left {
            let (mut partial, count) = (self.empty(), counts.of(k));
            smalls[k].pour(self.nan(), count, &mut partial);
            let output = first.wrapping_add_signed(step.wrapping_mul(k as i64));
            self.writer.partial(output, count, &partial);
        }
    }

    fn run(&self, output: u64, elements: Range<usize>, threads: usize) {
        let x = &self.many.memory()[elements];
        let partial = match x.len() {
            // So few that a kernel's own beginning and end would cost more.
            0..32 if adds_singly(self.many.plan.batch.op, T::DTYPE) => {
                let mut partial = self.empty();
                x.iter().for_each(|&x| take(&mut partial, x, self.nan()));
                partial
            }
            _ => flat(self.many, x, threads, 0),
        };
        self.writer.partial(output, x.len() as u64, &partial);
    }

    fn store(&self, outputs: usize) -> Box<dyn Store<S> + '_> {
        Box::new(Partials { out: self, all: vec![self.empty(); outputs] })
    }
}

/// Partials of a few outputs.
struct Partials<'o, T: Element, S> {
    out: &'o Out<'o, T, S>,
    all: Vec<Partial<T>>,
}

impl<T: Element, S: Leaves<T>> Store<S> for Partials<'_, T, S> {
    fn pour(&mut self, at: usize, small: &S, count: u64) {
        small.pour(self.out.nan(), count, &mut self.all[at]);
    }

    fn singles(&mut self, at: usize, first: usize, stride: usize, count: usize) {
        let (partial, x, nan) = (&mut self.all[at], self.out.many.memory(), self.out.nan());
        (0..count).for_each(|k| take(partial, x[first + k * stride], nan));
    }

    fn leave(&self, at: usize, output: u64, count: u64) {
        self.out.partial(output, count, &self.all[at]);
    }
}
