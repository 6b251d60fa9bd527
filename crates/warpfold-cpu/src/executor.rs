//! Threads: grains of the input are taken in turn by workers, each with a fold of its own; the partials meet at the end.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::isa::{Job, Target, with_isa};
use super::threads::share;
use warpfold_plan::plan::{Isa, Plan};

/// Something that can be cut into pieces: one slice, or two of one length.
pub(super) trait Split: Copy + Send + Sync {
    /// Bytes of an element, or of a pair.
    const BYTES: usize;
    /// Elements (pairs, for two slices).
    fn len(self) -> usize;
    /// A part of it.
    fn piece(self, range: Range<usize>) -> Self;
}

impl<T: Sync> Split for &[T] {
    const BYTES: usize = size_of::<T>();

    fn len(self) -> usize {
        <[T]>::len(self)
    }

    fn piece(self, range: Range<usize>) -> Self {
        &self[range]
    }
}

impl<T: Sync> Split for (&[T], &[T]) {
    const BYTES: usize = 2 * size_of::<T>();

    fn len(self) -> usize {
        self.0.len()
    }

    fn piece(self, range: Range<usize>) -> Self {
        (&self.0[range.clone()], &self.1[range])
    }
}

/// A fold in progress on one thread: registers, bins, whatever the kernel keeps between pieces.
pub(super) trait ArrayFold<I: Split>: Sized {
    /// What is left at the end; merging is the partial's own business.
    type Partial: Send;

    /// Folds in a piece that starts at index `first` of the whole. It must be `#[inline(always)]`: it is compiled once for each instruction set, inside a
    /// function that has it.
    fn take<C: Target>(&mut self, piece: I, first: u64);

    /// The same by an instruction set that is named at run time, or where a fold is part of others: a call, so that all of them share its code.
    fn fold(&mut self, isa: Isa, piece: I, first: u64) {
        with_isa(isa, Take { fold: self, piece, first });
    }

    /// Whether nothing that follows can change the result, as after the first nonzero element for `any`.
    #[inline(always)]
    fn is_settled(&self) -> bool {
        false
    }

    /// Ends the fold.
    fn finish(self) -> Self::Partial;
}

/// Two folds of one input that read memory once: both take a block while it is in the nearest cache. Each is compiled once, whatever it stands beside.
pub(super) struct Together<A, B>(pub(super) A, pub(super) B);

impl<I: Split, A: ArrayFold<I>, B: ArrayFold<I>> ArrayFold<I> for Together<A, B> {
    type Partial = (A::Partial, B::Partial);

    #[inline(always)]
    fn take<C: Target>(&mut self, piece: I, first: u64) {
        /// Bytes, of which what both folds keep leaves half of the cache.
        const BLOCK: usize = 16 << 10;
        let mut start = 0;
        while start < piece.len() {
            let end = piece.len().min(start + BLOCK / I::BYTES);
            let block = piece.piece(start..end);
            self.0.fold(C::ISA, block, first + start as u64);
            self.1.fold(C::ISA, block, first + start as u64);
            start = end;
        }
    }

    fn finish(self) -> Self::Partial {
        (self.0.finish(), self.1.finish())
    }
}

struct Take<'f, F, I> {
    fold: &'f mut F,
    piece: I,
    first: u64,
}

impl<F: ArrayFold<I>, I: Split> Job for Take<'_, F, I> {
    type Output = ();

    #[inline(always)]
    fn run<C: Target>(self) {
        self.fold.take::<C>(self.piece, self.first);
    }
}

/// Grains of one input, handed out to whoever asks next.
struct Grains<I> {
    input: I,
    grain: usize,
    next: AtomicUsize,
}

impl<I: Split> Grains<I> {
    fn new(input: I, plan: &Plan) -> Self {
        let grain = usize::try_from(plan.grain).unwrap_or(usize::MAX).max(1);
        Grains { input, grain, next: AtomicUsize::new(0) }
    }

    /// The next grain: its number, its first index, and itself.
    fn take(&self) -> Option<(usize, usize, I)> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let first = number.checked_mul(self.grain).filter(|&first| first < self.input.len())?;
        let last = first.saturating_add(self.grain).min(self.input.len());
        Some((number, first, self.input.piece(first..last)))
    }

    /// Leaves nothing for the others to take.
    fn exhaust(&self) {
        self.next.store(self.input.len(), Ordering::Relaxed);
    }
}

/// Folds with partials that merge in any order to the same bits: each worker keeps one fold for all its grains.
pub(super) fn run<I, F, P>(
    plan: &Plan,
    input: I,
    first: u64,
    start: impl Fn() -> F + Sync,
    merge: impl Fn(&mut P, P) + Sync,
) -> P
where
    I: Split,
    P: Send,
    F: ArrayFold<I, Partial = P>,
{
    if plan.threads <= 1 {
        let mut fold = start();
        fold.fold(plan.isa, input, first);
        return fold.finish();
    }
    let grains = Grains::new(input, plan);
    let result = Mutex::new(None);
    let work = || {
        let mut fold = start();
        while let Some((_, offset, piece)) = grains.take() {
            fold.fold(plan.isa, piece, first + offset as u64);
            if fold.is_settled() {
                grains.exhaust();
            }
        }
        let partial = fold.finish();
        let mut all = result.lock().unwrap_or_else(|poison| poison.into_inner());
        match &mut *all {
            Some(all) => merge(all, partial),
            none => *none = Some(partial),
        }
    };
    share(plan.threads, &work);
    let all = result.into_inner().unwrap_or_else(|poison| poison.into_inner());
    all.expect("the calling thread always leaves a partial")
}

#[cfg(test)]
mod tests;
