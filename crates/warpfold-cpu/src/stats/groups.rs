//! Reductions that are read of the same accumulators: sums with means, variances with deviations, extremes with their indices.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};

use warpfold_exact::partial::{Finish, Partial, Stats};
use warpfold_num::error::At;
use warpfold_num::{Column, DType, Element, Empty, Scalar};

use crate::batch::{
    Batched, Counts, Ending, NearNorm, Part, PartOf, Read, Sums, Write, WriteColumn, WriteInTurn,
    Writer, fold_together, fold_together_in_turn,
};
use crate::columns::natural;
use crate::kernels::{
    Kernels, TakeGreatest, TakeLeast, TakeMoments, TakeNorms, TakeSpreads, TakeSquares, TakeSums,
};
use crate::read::{
    Collect, CollectMoments, Extreme, Index, Moment, MomentState, Sum, SumState, of_magnitudes,
};
use crate::{Nan, Op, Result};

/// What writes moments that are known to 2^-53 first, then to 2^-105.
type InTurn<T> = dyn WriteInTurn<T, <T as Kernels>::Plain, <T as Kernels>::Approximate>;

/// Columns of one kind of accumulators.
type All<T, S> = Vec<Box<dyn WriteColumn<T, S>>>;

/// The columns of reductions that are read of the same accumulators, by the kind of these.
pub(super) enum Writers<T: Kernels> {
    Sums(All<T, Sums<T>>),
    Norms(All<T, Sums<T>>),
    Spreads(Vec<Box<InTurn<T>>>),
    Squares(Vec<Box<InTurn<T>>>),
    Moments(All<T, T::Approximate>),
    Magnitudes(All<T, NearNorm>),
    Least(All<T, T::Ranked>),
    Greatest(All<T, T::Ranked>),
}

impl<T: Kernels> Writers<T> {
    /// Empty columns for reductions of one group.
    pub(super) fn new(
        batched: &Batched<'_, T>,
        ops: &[Op],
        finish: Finish,
        empty_of: &dyn Fn(Op) -> Empty,
    ) -> Result<Self> {
        let ending = |op| Ending::of::<T>(op, finish, empty_of(op));
        let (mut sums, mut in_turn, mut second) = (Vec::new(), Vec::new(), Vec::new());
        let mut extremes: All<T, T::Ranked> = Vec::new();
        let mut magnitudes: All<T, NearNorm> = Vec::new();
        let nan = batched.plan.batch.policy.nan;
        let element = PhantomData::<T::Component>;
        for &op in ops {
            let make = Make { batched, op, ending: ending(op) };
            match op {
                Op::L1 if T::DTYPE.is_complex() => magnitudes.push(match T::DTYPE.round() {
                    DType::F32 => Box::new(make.writer(of_magnitudes::<f32>(op))?),
                    _ => Box::new(make.writer(of_magnitudes::<f64>(op))?) as Box<_>,
                }),
                Op::Sum | Op::Mean | Op::L1 => {
                    let sum = Sum::of(op).unwrap_or_else(|| unreachable!("{op} is a sum"));
                    let of_sums = OfSums { make, writers: &mut sums };
                    Sums::<T>::column(sum, None, natural::<T>(), of_sums).expect("a reader")?;
                }
                Op::Min | Op::Max => {
                    extremes.push(Box::new(make.writer(Extreme { nan, element })?))
                }
                Op::ArgMin | Op::ArgMax => {
                    extremes.push(Box::new(make.writer(Index { nan, element })?));
                }
                _ => {
                    let to = <T::Round as Element>::DTYPE;
                    let what = Moment::of(op, finish.ddof, T::DTYPE, batched.plan.way);
                    let narrow = T::DTYPE.round() == DType::F32;
                    let of_moments = OfMoments { make, in_turn: &mut in_turn, second: &mut second };
                    T::Approximate::column(what, to, narrow, of_moments).expect("a reader")?;
                }
            }
        }
        Ok(match ops[0] {
            Op::L1 if T::DTYPE.is_complex() => Writers::Magnitudes(magnitudes),
            Op::L1 => Writers::Norms(sums),
            Op::Min | Op::ArgMin => Writers::Least(extremes),
            Op::Max | Op::ArgMax => Writers::Greatest(extremes),
            Op::Sum | Op::Mean => Writers::Sums(sums),
            _ if in_turn.is_empty() => Writers::Moments(second),
            Op::L2 => Writers::Squares(in_turn),
            _ => Writers::Spreads(in_turn),
        })
    }

    /// Whether these are of extremes.
    pub(super) fn are_extremes(&self) -> bool {
        matches!(self, Writers::Least(_) | Writers::Greatest(_))
    }

    /// Folds every output for these columns alone.
    pub(super) fn fold(&self, batched: &Batched<'_, T>) {
        match self {
            Writers::Sums(writers) => fold_together(batched, writers, T::batched_sums),
            Writers::Norms(writers) => fold_together(batched, writers, T::batched_norms),
            Writers::Spreads(writers) | Writers::Squares(writers) => {
                let folds = (T::batched_plain_moments as _, T::batched_moments as _);
                fold_together_in_turn::<T, T::Plain, T::Approximate>(batched, writers, folds);
            }
            Writers::Moments(writers) => fold_together(batched, writers, T::batched_moments),
            Writers::Magnitudes(writers) => {
                fold_together(batched, writers, T::batched_complex_norms);
            }
            Writers::Least(writers) | Writers::Greatest(writers) => {
                fold_together(batched, writers, T::batched_highest);
            }
        }
    }

    /// Folds every output once more, where lanes of all kinds left too many in doubt.
    pub(super) fn fold_again(&self, batched: &Batched<'_, T>) {
        match self {
            Writers::Spreads(writers) | Writers::Squares(writers) => {
                fold_together::<T, T::Approximate>(batched, writers, T::batched_moments);
            }
            _ => self.fold(batched),
        }
    }

    /// What these columns read of lanes of all kinds.
    pub(super) fn part<'p>(
        &'p self,
        batched: &'p Batched<'p, T>,
    ) -> Box<dyn Part<T::OfStats> + 'p> {
        match self {
            Writers::Sums(all) => Box::new(PartOf::<_, _, TakeSums>::new(batched, all, false)),
            Writers::Norms(all) => Box::new(PartOf::<_, _, TakeNorms>::new(batched, all, false)),
            Writers::Spreads(all) => {
                Box::new(PartOf::<T, T::Plain, TakeSpreads>::new(batched, all, true))
            }
            Writers::Squares(all) => {
                Box::new(PartOf::<T, T::Plain, TakeSquares>::new(batched, all, true))
            }
            Writers::Moments(all) => {
                Box::new(PartOf::<_, _, TakeMoments>::new(batched, all, false))
            }
            Writers::Magnitudes(_) => unreachable!("complex numbers have no lanes of all kinds"),
            Writers::Least(all) => Box::new(PartOf::<_, _, TakeLeast>::new(batched, all, false)),
            Writers::Greatest(all) => {
                Box::new(PartOf::<_, _, TakeGreatest>::new(batched, all, false))
            }
        }
    }

    /// The results of an output of `count` elements, of all that was found of it.
    fn give(&self, output: u64, count: u64, stats: &Stats<T>) {
        let moments = || Partial::Moments(Box::new(stats.moments.clone()));
        let norm1 = || Partial::Norm1(Box::new(stats.norm1.clone()));
        let extremes = || Partial::Extremes(stats.extremes);
        match self {
            Writers::Sums(all) => all.partial(output, count, &Partial::Sum(stats.to_sum())),
            Writers::Norms(all) => all.partial(output, count, &norm1()),
            Writers::Magnitudes(all) => all.partial(output, count, &norm1()),
            Writers::Spreads(all) | Writers::Squares(all) => {
                Write::<T, T::Plain>::partial(all, output, count, &moments());
            }
            Writers::Moments(all) => all.partial(output, count, &moments()),
            Writers::Least(all) | Writers::Greatest(all) => {
                all.partial(output, count, &extremes());
            }
        }
    }

    /// The columns, and the gaps of each.
    pub(super) fn columns(self, at: &dyn Fn(u64) -> At) -> Result<Vec<(Column, Vec<u64>)>> {
        match self {
            Writers::Sums(all) | Writers::Norms(all) => {
                all.into_iter().map(|writer| writer.column(at)).collect()
            }
            Writers::Spreads(all) | Writers::Squares(all) => {
                all.into_iter().map(|writer| writer.column(at)).collect()
            }
            Writers::Moments(all) => all.into_iter().map(|writer| writer.column(at)).collect(),
            Writers::Magnitudes(all) => all.into_iter().map(|writer| writer.column(at)).collect(),
            Writers::Least(all) | Writers::Greatest(all) => {
                all.into_iter().map(|writer| writer.column(at)).collect()
            }
        }
    }
}

/// Writers of all columns, of outputs whose elements the kernels for one array fold for all of them.
pub(super) struct Whole<'w, T: Kernels> {
    pub(super) writers: Vec<&'w Writers<T>>,
    /// Whether there were NaNs.
    pub(super) has_nans: AtomicBool,
}

impl<T: Kernels> Write<T, ()> for Whole<'_, T> {
    fn smalls(&self, _: u64, _: i64, _: Counts<'_>, smalls: &[()], deferred: &mut Vec<usize>) {
        deferred.extend(0..smalls.len());
    }

    fn singles(&self, _: u64, x: &[T], _: Nan, deferred: &mut Vec<usize>) {
        deferred.extend(0..x.len());
    }

    fn partial(&self, output: u64, count: u64, partial: &Partial<T>) {
        let Partial::Stats(stats) = partial else {
            unreachable!("these are no stats: {partial:?}");
        };
        if stats.nans > 0 {
            self.has_nans.store(true, Ordering::Relaxed);
        }
        self.writers.iter().for_each(|writers| writers.give(output, count, stats));
    }

    fn short(&self, _: u64, _: &[T]) -> bool {
        false
    }
}

/// Makes the writer of a reduction.
struct Make<'m, T> {
    batched: &'m Batched<'m, T>,
    op: Op,
    ending: Ending,
}

impl<T: Kernels> Make<'_, T> {
    fn writer<R: Scalar, D>(self, reader: D) -> Result<Writer<'static, R, D>> {
        Writer::new(self.batched, self.op, reader, self.ending, None)
    }
}

/// A writer of sums, by the reader that is chosen.
struct OfSums<'w, T: Kernels> {
    make: Make<'w, T>,
    writers: &'w mut All<T, Sums<T>>,
}

impl<T: Kernels> Collect<Sums<T>> for OfSums<'_, T> {
    type Of = Result<()>;

    fn collect<D: Read<Sums<T>, Result: Scalar> + 'static>(self, reader: D) -> Result<()> {
        self.writers.push(Box::new(self.make.writer(reader)?));
        Ok(())
    }
}

/// The same of moments.
struct OfMoments<'w, T: Kernels> {
    make: Make<'w, T>,
    in_turn: &'w mut Vec<Box<InTurn<T>>>,
    second: &'w mut All<T, T::Approximate>,
}

impl<T: Kernels> CollectMoments<T::Plain, T::Approximate> for OfMoments<'_, T> {
    type Of = Result<()>;

    fn in_turn<D>(self, reader: D) -> Result<()>
    where
        D: Read<T::Plain, Result: Scalar>
            + Read<T::Approximate, Result = <D as Read<T::Plain>>::Result>
            + 'static,
    {
        self.in_turn.push(Box::new(self.make.writer(reader)?));
        Ok(())
    }

    fn second<D: Read<T::Approximate, Result: Scalar> + 'static>(self, reader: D) -> Result<()> {
        self.second.push(Box::new(self.make.writer(reader)?));
        Ok(())
    }
}
