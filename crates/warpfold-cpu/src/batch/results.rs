//! Results of many reductions, which threads read from what accumulators and partials hold into their slots (`slots`).

use std::mem::MaybeUninit;
use std::sync::Mutex;

use super::ending::Ending;
use super::into_partial::{IntoPartial, is_nan};
use super::outputs::{Counts, Read, Write};
use super::slots::{Slots, fill};
use super::{Batched, FoldBatched, alone};
use crate::elements;
use crate::isa::{Job, Target, with_avx2, with_lanes, with_short_lanes};
use crate::memory::prefetch_bytes;
use crate::whole::FoldWhole;
use crate::{DType, Empty, Error, Nan, Op, Result};
use warpfold_exact::partial::{Output, Partial};
use warpfold_num::Element;
use warpfold_num::error::At;
use warpfold_plan::plan::Isa;
use warpfold_plan::{HostArray, OutputArray, Slot};

/// Results that lie side by side: of those that are only rounded, several at once.
struct Neighbours<'n, R, S, D> {
    reader: &'n D,
    counts: Counts<'n>,
    smalls: &'n [S],
    slots: &'n [Slot<R>],
    deferred: &'n mut Vec<usize>,
}

/// Results that are read before it is asked which of them are none.
pub(crate) const AT_ONCE: usize = 16;

impl<R: Copy + Send, S: Copy, D: Read<S, Result = R>> Neighbours<'_, R, S, D> {
    #[inline(always)]
    fn fill(self, counted: Counts<'_>) {
        let (smalls, last_smalls) = self.smalls.as_chunks();
        let (slots, last_slots) = self.slots.as_chunks::<AT_ONCE>();
        let mut first = 0;
        for (smalls, slots) in smalls.iter().zip(slots) {
            // A loop with a prefetch is not vectorised: of long readings the compiler would take the same place of several into a register, by gathers.
            if D::IS_LONG {
                prefetch_bytes(smalls.as_ptr(), 1, size_of_val(smalls));
            }
            let mut counts = [0; AT_ONCE];
            for k in 0..AT_ONCE {
                counts[k] = counted.of(first + k);
            }
            let found = self.reader.neighbours(smalls, counts);
            write(found, slots, first, self.deferred);
            first += AT_ONCE;
        }
        let Some(&last) = last_smalls.last() else { return };
        if D::IS_LONG {
            let mut smalls = [last; AT_ONCE];
            smalls[..last_smalls.len()].copy_from_slice(last_smalls);
            let mut counts = [0; AT_ONCE];
            for k in 0..AT_ONCE {
                counts[k] = counted.of(first + k.min(last_smalls.len() - 1));
            }
            let found = self.reader.neighbours(&smalls, counts);
            return write(found, last_slots, first, self.deferred);
        }
        for (k, (small, slot)) in last_smalls.iter().zip(last_slots).enumerate() {
            match self.reader.small(small, counted.of(first + k)) {
                Some(result) => fill(slot, result),
                None => self.deferred.push(first + k),
            }
        }
    }
}

/// Writes results into their slots, no more than these, and notes which are none.
#[inline(always)]
fn write<R>(
    (results, are_results): ([MaybeUninit<R>; AT_ONCE], [bool; AT_ONCE]),
    slots: &[Slot<R>],
    first: usize,
    deferred: &mut Vec<usize>,
) {
    for (result, slot) in results.into_iter().zip(slots) {
        // SAFETY: no other thread touches the slot (see `Sync` of `Slots`).
        unsafe { *slot.get() = result };
    }
    if are_results != [true; AT_ONCE] {
        let none = (0..slots.len().min(AT_ONCE)).filter(|&k| !are_results[k]);
        deferred.extend(none.map(|k| first + k));
    }
}

impl<R: Copy + Send, S: Copy, D: Read<S, Result = R>> Job for Neighbours<'_, R, S, D> {
    type Output = ();

    #[inline(always)]
    fn run<C: Target>(self) {
        // Apart, so that what is the same for all is known to be.
        match self.counts {
            same @ Counts::Same(_) => self.fill(same),
            each @ Counts::Each(_) => self.fill(each),
        }
    }
}

/// Inputs of one element each that lie side by side, and the slots of their results.
pub(crate) struct Lone<'n, R> {
    x: HostArray<'n>,
    nan: Nan,
    isa: Isa,
    slots: &'n [Slot<R>],
    deferred: &'n mut Vec<usize>,
}

impl<R> Lone<'_, R> {
    /// The element type.
    pub(crate) fn dtype(&self) -> DType {
        self.x.dtype()
    }

    /// Makes a result of each element, of this type; a NaN that is ignored takes its partial.
    pub(crate) fn each<T: Element>(self, read: impl Fn(T) -> R) {
        let Lone { x, nan, isa, slots, deferred } = self;
        with_avx2(isa, Singles { read, nan, x: elements(&x), slots, deferred });
    }

    /// The same where not every element has a result that is known: the others take their partials.
    pub(crate) fn each_known<T: Element>(self, read: impl Fn(T) -> (R, bool)) {
        let Lone { x, nan, isa, slots, deferred } = self;
        with_avx2(isa, KnownSingles { read, nan, x: elements(&x), slots, deferred });
    }

    /// Leaves all of them to their partials.
    pub(crate) fn defer(self) {
        self.deferred.extend(0..self.x.len());
    }
}

/// The body of [`Lone::each`].
struct Singles<'n, T, R, F> {
    read: F,
    nan: Nan,
    x: &'n [T],
    slots: &'n [Slot<R>],
    deferred: &'n mut Vec<usize>,
}

impl<T: Element, R, F: Fn(T) -> R> Job for Singles<'_, T, R, F> {
    type Output = ();

    #[inline(always)]
    fn run<C: Target>(self) {
        let skips = self.nan == Nan::Ignore;
        for (k, (&x, slot)) in self.x.iter().zip(self.slots).enumerate() {
            if skips && is_nan(x) {
                self.deferred.push(k);
            } else {
                fill(slot, (self.read)(x));
            }
        }
    }
}

/// The body of [`Lone::each_known`]: several at once, as one that is not known would be a branch for each.
struct KnownSingles<'n, T, R, F> {
    read: F,
    nan: Nan,
    x: &'n [T],
    slots: &'n [Slot<R>],
    deferred: &'n mut Vec<usize>,
}

impl<T: Element, R, F: Fn(T) -> (R, bool)> Job for KnownSingles<'_, T, R, F> {
    type Output = ();

    #[inline(always)]
    fn run<C: Target>(self) {
        let KnownSingles { read, nan, x, slots, deferred } = self;
        let (skips, mut first) = (nan == Nan::Ignore, 0);
        let (x, last) = x.as_chunks::<AT_ONCE>();
        let (slots, last_slots) = slots.as_chunks::<AT_ONCE>();
        for (x, slots) in x.iter().zip(slots) {
            let mut results = [const { MaybeUninit::uninit() }; AT_ONCE];
            let mut are_results = [true; AT_ONCE];
            for k in 0..AT_ONCE {
                let (result, is_known) = read(x[k]);
                results[k] = MaybeUninit::new(result);
                are_results[k] = is_known & !(skips && is_nan(x[k]));
            }
            write((results, are_results), slots, first, deferred);
            first += AT_ONCE;
        }
        for (k, (&x, slot)) in last.iter().zip(last_slots).enumerate() {
            match read(x) {
                (result, true) if !(skips && is_nan(x)) => fill(slot, result),
                _ => deferred.push(first + k),
            }
        }
    }
}

/// A reader and its slots.
pub(crate) struct Writer<'r, R, D> {
    slots: Slots<'r, R>,
    op: Op,
    isa: Isa,
    ending: Ending,
    reader: D,
}

impl<'r, R: Copy + Send + 'static, D> Writer<'r, R, D> {
    /// For the results of a reduction, whose accumulators are those of what is batched; into the caller's memory, if that is for them.
    pub(crate) fn new<T: FoldWhole>(
        batched: &Batched<'_, T>,
        op: Op,
        reader: D,
        ending: Ending,
        out: Option<&'r OutputArray<'_>>,
    ) -> Result<Self> {
        let (outputs, threads) = (batched.plan.batch.outputs(), batched.plan.threads);
        let slots = Slots::new((op, T::DTYPE), outputs, threads, out)?;
        Ok(Writer { slots, op, isa: batched.plan.isa, ending, reader })
    }

    /// The results, beside the outputs that have none in ascending order; or why the first one without a result has none.
    pub(super) fn finish(self, at: &dyn Fn(u64) -> At, gaps: &mut Vec<u64>) -> Result<Vec<R>> {
        self.slots.finish(at, gaps)
    }

    /// The results of inputs of accumulators, by the reader.
    fn read<S>(
        &self,
        first: u64,
        step: i64,
        counts: Counts<'_>,
        smalls: &[S],
        deferred: &mut Vec<usize>,
    ) where
        S: Copy,
        D: Read<S, Result = R>,
    {
        let last = first.wrapping_add_signed(step.wrapping_mul(smalls.len() as i64 - 1));
        self.slots.pages.reach(&self.slots.slots, first.max(last) as usize);
        if step == 1 {
            let slots = &self.slots.slots[first as usize..][..smalls.len()];
            let reader = &self.reader;
            let neighbours = Neighbours { reader, counts, smalls, slots, deferred };
            return match D::IS_LONG {
                true => with_lanes(self.isa, neighbours),
                false => with_short_lanes(self.isa, neighbours),
            };
        }
        let mut output = first;
        for (k, small) in smalls.iter().enumerate() {
            match self.reader.small(small, counts.of(k)) {
                Some(result) => self.slots.write(output, result),
                None => deferred.push(k),
            }
            output = output.wrapping_add_signed(step);
        }
    }

    /// The results of inputs of one element each, by the reader.
    fn read_lone<S>(&self, first: u64, x: HostArray<'_>, nan: Nan, deferred: &mut Vec<usize>)
    where
        D: Read<S, Result = R>,
    {
        let end = first as usize + x.len();
        self.slots.pages.reach(&self.slots.slots, end);
        let slots = &self.slots.slots[first as usize..end];
        self.reader.lone(Lone { x, nan, isa: self.isa, slots, deferred });
    }

    /// Writes what stands for a result that outputs of too few elements do not have, and takes those out of what was deferred last: of many keys, most have none.
    fn stand_in<S>(
        &self,
        first: u64,
        step: i64,
        counts: Counts<'_>,
        deferred: &mut Vec<usize>,
        known: usize,
    ) where
        D: Read<S, Result = R>,
    {
        let Some(stand_in) = &self.ending.stand_in else { return };
        let has_result = |k: usize| counts.of(k) > self.ending.too_few;
        if deferred[known..].iter().all(|&k| has_result(k)) {
            return;
        }
        let result = self.reader.finished(stand_in.clone());
        let (mut left, mut gaps) = (known, Vec::new());
        for at in known..deferred.len() {
            let k = deferred[at];
            if has_result(k) {
                deferred[left] = k;
                left += 1;
                continue;
            }
            let output = first.wrapping_add_signed(step.wrapping_mul(k as i64));
            self.slots.write(output, result);
            gaps.push(output);
        }
        deferred.truncate(left);
        if self.ending.empty == Empty::None {
            let all = self.slots.gaps.lock();
            all.unwrap_or_else(|poison| poison.into_inner()).extend(gaps);
        }
    }

    /// The result of an output of `count` elements whose partial was finished.
    fn finished<S>(&self, output: u64, count: u64, finished: Result<Output>)
    where
        D: Read<S, Result = R>,
    {
        let error = match finished {
            Ok(finished) => return self.slots.write(output, self.reader.finished(finished)),
            Err(Error::Empty { .. } | Error::TooFew { .. })
                if let Some(stand_in) = self.ending.stand_in.clone() =>
            {
                if self.ending.empty == Empty::None {
                    let gaps = self.slots.gaps.lock();
                    gaps.unwrap_or_else(|poison| poison.into_inner()).push(output);
                }
                return self.slots.write(output, self.reader.finished(stand_in));
            }
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

impl<T: FoldWhole, S: Copy, D: Read<S>> Write<T, S> for Writer<'_, D::Result, D> {
    fn smalls(
        &self,
        first: u64,
        step: i64,
        counts: Counts<'_>,
        smalls: &[S],
        deferred: &mut Vec<usize>,
    ) {
        let known = deferred.len();
        self.read(first, step, counts, smalls, deferred);
        self.stand_in::<S>(first, step, counts, deferred, known);
    }

    fn singles(&self, first: u64, x: &[T], nan: Nan, deferred: &mut Vec<usize>) {
        let known = deferred.len();
        self.read_lone(first, HostArray::of(x), nan, deferred);
        self.stand_in::<S>(first, 1, Counts::Same(1), deferred, known);
    }

    fn partial(&self, output: u64, count: u64, partial: &Partial<T>) {
        self.finished(output, count, partial.finish(self.op, self.ending.finish));
    }

    fn short(&self, output: u64, x: &[T]) -> bool {
        let result = self.reader.short(HostArray::of(x));
        result.map(|result| self.slots.write(output, result)).is_some()
    }
}

/// Partials that are kept as they are.
struct Keeper<T: FoldWhole>(Mutex<Vec<(u64, Partial<T>)>>);

impl<T: FoldWhole> Write<T, ()> for Keeper<T> {
    fn smalls(&self, _: u64, _: i64, _: Counts<'_>, smalls: &[()], deferred: &mut Vec<usize>) {
        deferred.extend(0..smalls.len());
    }

    fn singles(&self, _: u64, x: &[T], _: Nan, deferred: &mut Vec<usize>) {
        deferred.extend(0..x.len());
    }

    fn partial(&self, output: u64, _: u64, partial: &Partial<T>) {
        let mut kept = self.0.lock().unwrap_or_else(|poison| poison.into_inner());
        kept.push((output, partial.clone()));
    }

    fn short(&self, _: u64, _: &[T]) -> bool {
        false
    }
}

/// The partial of every output.
pub(crate) fn keep<T: FoldWhole>(batched: &Batched<'_, T>) -> Vec<Partial<T>> {
    let keeper = Keeper(Mutex::new(Vec::new()));
    batched.fold(&keeper, None, alone);
    let mut kept = keeper.0.into_inner().unwrap_or_else(|poison| poison.into_inner());
    kept.sort_unstable_by_key(|(output, _)| *output);
    kept.into_iter().map(|(_, partial)| partial).collect()
}

/// Folds every output into a slot of its own, in the caller's memory if that is for results of the type: none is returned then.
pub(crate) fn collect<T: FoldWhole, S: IntoPartial<T>, D: Read<S>>(
    batched: &Batched<'_, T>,
    reader: D,
    (ending, out): (Ending, Option<&OutputArray<'_>>),
    fold: FoldBatched<T, S>,
    (at, gaps): (&dyn Fn(u64) -> At, &mut Vec<u64>),
) -> Result<Vec<D::Result>> {
    let writer = Writer::new(batched, batched.plan.batch.op, reader, ending, out)?;
    batched.fold(&writer, None, fold);
    writer.finish(at, gaps)
}

/// One of how many outputs may be left in doubt, before all are folded in another way, and elements of an output for which that is faster.
const DOUBTFUL: u64 = 64;
const SHORT: u64 = 256;

/// How many outputs may be left in doubt before all are folded in another way.
pub(crate) fn most_doubtful<T: FoldWhole>(batched: &Batched<'_, T>) -> Option<u64> {
    // Few elements are folded exactly soon enough, and what are ties of few bits stay in doubt.
    let outputs = batched.plan.batch.outputs();
    let is_long = batched.memory().len() as u64 / SHORT >= outputs;
    // Of few outputs some, as all take as long as these: of 2^24 f16, folded once in 3.5 ms, all take 14, one of four columns 4, of 64 columns 3.
    let some = (outputs / 2).clamp(1, 4);
    is_long.then(|| some.max(outputs / DOUBTFUL))
}

/// The same of what is not folded exactly soon enough.
pub(crate) fn few<T: FoldWhole>(batched: &Batched<'_, T>) -> Option<u64> {
    Some(batched.plan.batch.outputs() / DOUBTFUL)
}

/// The same by a fold that may leave doubt about some outputs, and by another where it does about many.
pub(crate) fn collect_in_turn<T: FoldWhole, S: IntoPartial<T>, U: IntoPartial<T>, D>(
    batched: &Batched<'_, T>,
    reader: D,
    (ending, out): (Ending, Option<&OutputArray<'_>>),
    most: Option<u64>,
    (first, then): (FoldBatched<T, S>, FoldBatched<T, U>),
    (at, gaps): (&dyn Fn(u64) -> At, &mut Vec<u64>),
) -> Result<Vec<<D as Read<S>>::Result>>
where
    D: Read<S> + Read<U, Result = <D as Read<S>>::Result>,
{
    let writer = Writer::new(batched, batched.plan.batch.op, reader, ending, out)?;
    if !batched.fold(&writer, most, first) {
        batched.fold(&writer, None, then);
    }
    writer.finish(at, gaps)
}
