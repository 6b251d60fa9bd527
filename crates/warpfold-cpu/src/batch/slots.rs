//! [`Slots`]: the places of results that threads write, in memory of ours or of the caller's.

use std::mem::{MaybeUninit, replace};
use std::ops::Deref;
use std::sync::Mutex;

use super::pages::Pages;
use crate::memory::with_capacity;
use crate::{DType, Error, Op, Result};
use warpfold_num::error::At;
use warpfold_plan::{OutputArray, Slot};

/// Where results are written.
pub(super) enum Place<'r, R> {
    /// Memory of ours, which becomes a column.
    Own(Box<[Slot<R>]>),
    /// Memory of the caller's.
    Callers(&'r [Slot<R>]),
}

impl<R> Deref for Place<'_, R> {
    type Target = [Slot<R>];

    #[inline(always)]
    fn deref(&self) -> &[Slot<R>] {
        match self {
            Place::Own(slots) => slots,
            Place::Callers(slots) => slots,
        }
    }
}

/// Slots for results, and the first output that has none.
pub(super) struct Slots<'r, R> {
    pub(super) slots: Place<'r, R>,
    pub(super) pages: Pages,
    /// The first output that has no value, and why.
    pub(super) failure: Mutex<Option<(u64, Error)>>,
    /// Outputs without a value, where that is no error.
    pub(super) gaps: Mutex<Vec<u64>>,
}

// SAFETY: threads write different slots, as `Sink` asks of drivers.
unsafe impl<R: Send> Sync for Slots<'_, R> {}

impl<R> Drop for Slots<'_, R> {
    /// Leaves numbers in memory of the caller's when a reduction fails: a result that was not known may have been written as one without a value.
    fn drop(&mut self) {
        if let Place::Callers(slots) = self.slots {
            // SAFETY: threads are done with the slots; of all element types, zeros are a value.
            unsafe { slots.as_ptr().cast::<R>().cast_mut().write_bytes(0, slots.len()) };
        }
    }
}

impl<'r, R: Copy + Send + 'static> Slots<'r, R> {
    /// In the caller's memory, if there is some and it is for results of this type.
    pub(super) fn new(
        (op, dtype): (Op, DType),
        outputs: u64,
        threads: usize,
        out: Option<&'r OutputArray<'_>>,
    ) -> Result<Self> {
        let pages = Pages::new(threads);
        let (failure, gaps) = (Mutex::new(None), Mutex::new(Vec::new()));
        let callers = out.and_then(OutputArray::slots);
        if let Some(slots) = callers.filter(|slots| slots.len() as u64 == outputs) {
            return Ok(Slots { slots: Place::Callers(slots), pages, failure, gaps });
        }
        let Some(mut slots) = usize::try_from(outputs).ok().and_then(|n| with_capacity(n).ok())
        else {
            return Err(Error::Shape {
                requested: format!("{op} of {dtype} into {outputs} outputs"),
                obstacle: "there is no memory for them".into(),
                remedy: "keep fewer axes or segments, or take them a part at a time",
            });
        };
        slots.resize_with(outputs as usize, || Slot::new(MaybeUninit::uninit()));
        Ok(Slots { slots: Place::Own(slots.into()), pages, failure, gaps })
    }

    #[inline(always)]
    pub(super) fn write(&self, output: u64, result: R) {
        fill(&self.slots[output as usize], result);
    }

    /// The results, none if they are in the caller's memory, beside the outputs that have none in ascending order; or why the first one without a result
    /// has none.
    pub(super) fn finish(mut self, at: &dyn Fn(u64) -> At, gaps: &mut Vec<u64>) -> Result<Vec<R>> {
        let failure = self.failure.get_mut().unwrap_or_else(|poison| poison.into_inner());
        if let Some((output, error)) = failure.take() {
            return Err(Error::Output { output: at(output), error: Box::new(error) });
        }
        let found = self.gaps.get_mut().unwrap_or_else(|poison| poison.into_inner());
        *gaps = std::mem::take(found);
        gaps.sort_unstable();
        gaps.dedup();
        let Place::Own(slots) = replace(&mut self.slots, Place::Callers(&[])) else {
            return Ok(Vec::new());
        };
        let slots = Box::into_raw(slots) as *mut [R];
        // SAFETY: a cell that may be uninitialised has the layout of what is in it; and each is initialised, because drivers leave every
        // output, or fail, or panic, and only the first comes here.
        Ok(unsafe { Box::from_raw(slots) }.into_vec())
    }
}

/// Writes a result to its slot.
#[inline(always)]
pub(super) fn fill<R>(slot: &Slot<R>, result: R) {
    // SAFETY: no other thread touches the slot (see `Sync` of `Slots`).
    unsafe { *slot.get() = MaybeUninit::new(result) };
}
