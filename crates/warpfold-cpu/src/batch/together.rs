//! Several reductions that are read of the same accumulators: elements are folded once, and each reduction has a writer of its own.

use super::into_partial::IntoPartial;
use super::outputs::{Counts, Write};
use super::results::{Writer, most_doubtful};
use super::{Batched, FoldBatched};
use crate::whole::FoldWhole;
use crate::{Nan, Result};
use warpfold_exact::partial::Partial;
use warpfold_num::error::At;
use warpfold_num::{Column, Scalar};

/// A writer's results as a column.
pub(crate) trait IntoColumn: Sync {
    /// The column, beside the outputs that have no result in ascending order; or why the first one without a result has none.
    fn column(self: Box<Self>, at: &dyn Fn(u64) -> At) -> Result<(Column, Vec<u64>)>;
}

impl<R: Scalar, D: Sync> IntoColumn for Writer<'_, R, D> {
    fn column(self: Box<Self>, at: &dyn Fn(u64) -> At) -> Result<(Column, Vec<u64>)> {
        let mut gaps = Vec::new();
        let results = self.finish(at, &mut gaps)?;
        Ok((Column::of(results), gaps))
    }
}

/// A writer of a column, of accumulators of one kind.
pub(crate) trait WriteColumn<T: FoldWhole, S>: Write<T, S> + IntoColumn {}
impl<T: FoldWhole, S, W: Write<T, S> + IntoColumn> WriteColumn<T, S> for W {}

/// The same of two kinds, of which the second is asked where the first leaves doubt about many.
pub(crate) trait WriteInTurn<T: FoldWhole, S, U>:
    WriteColumn<T, S> + WriteColumn<T, U>
{
}
impl<T: FoldWhole, S, U, W: WriteColumn<T, S> + WriteColumn<T, U>> WriteInTurn<T, S, U> for W {}

/// Each of them once, after several writers deferred some.
fn once(deferred: &mut Vec<usize>) {
    deferred.sort_unstable();
    deferred.dedup();
}

/// Writers that read the same.
impl<T: FoldWhole, S, W: Write<T, S> + ?Sized> Write<T, S> for Vec<Box<W>> {
    fn smalls(
        &self,
        first: u64,
        step: i64,
        counts: Counts<'_>,
        smalls: &[S],
        deferred: &mut Vec<usize>,
    ) {
        self.iter().for_each(|writer| writer.smalls(first, step, counts, smalls, deferred));
        once(deferred);
    }

    fn partial(&self, output: u64, count: u64, partial: &Partial<T>) {
        self.iter().for_each(|writer| writer.partial(output, count, partial));
    }

    fn short(&self, output: u64, x: &[T]) -> bool {
        self.iter().all(|writer| writer.short(output, x))
    }

    fn singles(&self, first: u64, x: &[T], nan: Nan, deferred: &mut Vec<usize>) {
        self.iter().for_each(|writer| writer.singles(first, x, nan, deferred));
        once(deferred);
    }
}

/// Folds every output once, for some writers.
pub(crate) fn fold_together<T: FoldWhole, S: IntoPartial<T>>(
    batched: &Batched<'_, T>,
    writers: &dyn Write<T, S>,
    fold: FoldBatched<T, S>,
) {
    batched.fold(writers, None, fold);
}

/// The same by a fold that may leave doubt about some outputs, and by another where it does about many.
pub(crate) fn fold_together_in_turn<T: FoldWhole, S: IntoPartial<T>, U: IntoPartial<T>>(
    batched: &Batched<'_, T>,
    writers: &Vec<Box<dyn WriteInTurn<T, S, U>>>,
    (first, then): (FoldBatched<T, S>, FoldBatched<T, U>),
) {
    if !batched.fold::<S>(writers, most_doubtful(batched), first) {
        batched.fold::<U>(writers, None, then);
    }
}
