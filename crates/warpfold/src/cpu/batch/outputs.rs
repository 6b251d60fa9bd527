//! The results of many reductions: slots that threads fill, and the first output that has no value.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::Mutex;

use crate::element::Element;
use crate::error::At;
use crate::partial::Partial;
use crate::{Error, Op, Result};

/// How what an accumulator holds becomes a result.
pub(crate) trait Reader<T: Element, S>: Sync {
    /// The result.
    type Result: Copy + Send;

    /// From a small value over `count` elements; `None` where that takes the partial.
    fn small(&self, small: &S, count: u64) -> Option<Self::Result>;

    /// From a partial.
    fn partial(&self, partial: &Partial<T>) -> Result<Self::Result>;
}

/// Elements that went into each of a few outputs.
#[derive(Clone, Copy)]
pub enum Counts<'a> {
    Same(u64),
    Each(&'a [u64]),
}

impl Counts<'_> {
    pub(super) fn of(self, at: usize) -> u64 {
        match self {
            Counts::Same(count) => count,
            Counts::Each(counts) => counts[at],
        }
    }
}

/// Where a driver leaves what it found, a block of outputs at a time. An output is left once; blocks that threads leave differ.
pub trait Emit<T: Element, S>: Sync {
    /// Results of outputs `first`, `first + step`, …; notes which of them take their partials.
    fn smalls(
        &self,
        first: u64,
        step: i64,
        counts: Counts<'_>,
        smalls: &[S],
        left: &mut Vec<usize>,
    );

    /// The result of an output of `count` elements.
    fn partial(&self, output: u64, count: u64, partial: &Partial<T>);
}

/// Slots for results.
pub(super) struct Outputs<'a, R, D> {
    slots: Box<[UnsafeCell<MaybeUninit<R>>]>,
    reader: &'a D,
    op: Op,
    failure: Mutex<Option<(u64, Error)>>,
}

// SAFETY: threads write different slots, which `Emit` asks of drivers: each output belongs to one unit of work, and is left once.
unsafe impl<R: Send, D: Sync> Sync for Outputs<'_, R, D> {}

impl<'a, R: Copy + Send, D> Outputs<'a, R, D> {
    /// Slots for `outputs` results.
    pub(super) fn new<T: Element>(op: Op, outputs: u64, reader: &'a D) -> Result<Self> {
        let mut slots = Vec::new();
        usize::try_from(outputs)
            .map_or(Err(()), |n| slots.try_reserve_exact(n).map_err(|_| ()))
            .map_err(|()| Error::Shape {
                asked: format!("{op} of {} into {outputs} outputs", T::DTYPE),
                obstacle: "there is no memory for them".into(),
                remedy: "keep fewer axes or segments, or take them a part at a time",
            })?;
        slots.resize_with(outputs as usize, || UnsafeCell::new(MaybeUninit::uninit()));
        Ok(Outputs { slots: slots.into(), reader, op, failure: Mutex::new(None) })
    }

    /// The results, or why the first output without one has none.
    pub(super) fn finish(self, at: impl Fn(u64) -> At) -> Result<Vec<R>> {
        let failure = self.failure.into_inner().unwrap_or_else(|poison| poison.into_inner());
        if let Some((output, error)) = failure {
            return Err(Error::Output { output: at(output), error: Box::new(error) });
        }
        let read = |slot: UnsafeCell<MaybeUninit<R>>| {
            // SAFETY: drivers leave every output, or fail, or panic; only the first comes here.
            unsafe { slot.into_inner().assume_init() }
        };
        Ok(self.slots.into_iter().map(read).collect())
    }

    #[inline(always)]
    fn write(&self, output: u64, result: R) {
        let slot = self.slots[output as usize].get();
        // SAFETY: no other thread touches the slot (see `Sync`).
        unsafe { *slot = MaybeUninit::new(result) };
    }

    fn fail(&self, output: u64, count: u64, error: Error) {
        let error = match error {
            // Elements were there and none was left: they were ignored.
            Error::Empty { .. } => Error::Empty { op: self.op, ignored: count > 0 },
            other => other,
        };
        let mut failure = self.failure.lock().unwrap_or_else(|poison| poison.into_inner());
        if failure.as_ref().is_none_or(|(first, _)| output < *first) {
            *failure = Some((output, error));
        }
    }
}

impl<T: Element, S: Sync, D: Reader<T, S>> Emit<T, S> for Outputs<'_, D::Result, D> {
    fn smalls(
        &self,
        first: u64,
        step: i64,
        counts: Counts<'_>,
        smalls: &[S],
        left: &mut Vec<usize>,
    ) {
        let mut output = first;
        for (k, small) in smalls.iter().enumerate() {
            match self.reader.small(small, counts.of(k)) {
                Some(result) => self.write(output, result),
                None => left.push(k),
            }
            output = output.wrapping_add_signed(step);
        }
    }

    fn partial(&self, output: u64, count: u64, partial: &Partial<T>) {
        match self.reader.partial(partial) {
            Ok(result) => self.write(output, result),
            Err(error) => self.fail(output, count, error),
        }
    }
}
