//! [`StatsByKey`]: everything that stats tells of each key, by the partials of four reductions.

use warpfold_engine::{HostArray, PartialsByKey};
use warpfold_exact::AnyPartial;
use warpfold_exact::partial::{Finish, Partial, Stats, refuse_rounding};
use warpfold_num::{Column, DType, Empty, Op, PartialKind, Policy};

use super::{Named, shown};
use crate::Result;

/// Sums, moments, sums of magnitudes, and extremes with their places.
#[derive(Debug)]
pub(super) struct StatsByKey {
    dtype: DType,
    sums: PartialsByKey,
    moments: PartialsByKey,
    norms: PartialsByKey,
    ends: PartialsByKey,
}

impl StatsByKey {
    /// Groups of nothing.
    pub(super) fn new(dtype: DType, policy: Policy) -> Option<StatsByKey> {
        let of = |op| PartialsByKey::new(op, dtype, policy);
        let (sums, moments) = (of(Op::Sum)?, of(Op::Var)?);
        Some(StatsByKey { dtype, sums, moments, norms: of(Op::L1)?, ends: of(Op::ArgMin)? })
    }

    fn all(&mut self) -> [&mut PartialsByKey; 4] {
        [&mut self.sums, &mut self.moments, &mut self.norms, &mut self.ends]
    }

    /// Rows taken in so far.
    pub(super) fn rows(&self) -> u64 {
        self.ends.rows()
    }

    /// Takes in the next rows.
    pub(super) fn push(&mut self, ranks: &[u64], x: HostArray<'_>, rows: &[u64]) -> Result<()> {
        let mut all = self.all().into_iter();
        Ok(all.try_for_each(|one| one.push(ranks, x, rows))?)
    }

    /// Takes in the groups of others, whose keys have other ranks here.
    pub(super) fn merge(&mut self, other: Self, rank: impl Fn(u64) -> u64) -> Result<()> {
        let others = [other.sums, other.moments, other.norms, other.ends];
        for (mine, other) in self.all().into_iter().zip(others) {
            mine.merge(other, &rank)?;
        }
        Ok(())
    }

    /// The ranks of all keys, ascending.
    pub(super) fn ranks(&self) -> Vec<u64> {
        self.ends.ranks()
    }

    /// The results of numbers. A mean, variance or deviation that does not exist is NaN, unless it is to be a gap.
    pub(super) fn finish(
        &self,
        ranks: &[u64],
        finish: Finish,
        empty: Empty,
    ) -> Result<Named, warpfold_num::Error> {
        refuse_rounding(finish, self.dtype)?;
        let sizes: Vec<u64> = ranks.iter().map(|&rank| self.ends.size(rank)).collect();
        // Those that are NaN are not counted among the others.
        let nans = |(&rank, &size): (&u64, &u64)| match self.dtype.is_float() {
            true => size - self.ends.partial(rank).count().unwrap_or(size),
            false => 0,
        };
        let nans: Vec<u64> = ranks.iter().zip(&sizes).map(nans).collect();
        let counts = [("count", sizes), ("nan_count", nans)];
        let mut all: Named = counts.map(|(name, n)| (name, shown(&Column::of(n), &[]))).into();
        for op in Op::of_stats(self.dtype) {
            let table = match op.partial() {
                PartialKind::Sum => &self.sums,
                PartialKind::Moments => &self.moments,
                PartialKind::Norm1 => &self.norms,
                _ => &self.ends,
            };
            let empty = match empty {
                Empty::Error if op.divides() => Empty::Nan,
                empty => empty,
            };
            let (columns, gaps) = table.finish_as(op, ranks, finish, empty)?;
            all.extend(columns.iter().map(|(name, column)| (*name, shown(column, &gaps))));
        }
        Ok(all)
    }

    /// The partial of a key of times, which are of 64 bits.
    pub(super) fn partial(&self, rank: u64) -> AnyPartial {
        let parts = (self.moments.partial(rank), self.norms.partial(rank), self.ends.partial(rank));
        match parts {
            (
                AnyPartial::I64(Partial::Moments(moments)),
                AnyPartial::I64(Partial::Norm1(norm1)),
                AnyPartial::I64(Partial::Extremes(extremes)),
            ) => {
                let (moments, norm1, seen) = (*moments, *norm1, extremes.count);
                let stats = Stats { moments, norm1, extremes, nans: 0, seen };
                Partial::Stats(Box::new(stats)).into()
            }
            parts => unreachable!("times are integers with a sign: {parts:?}"),
        }
    }
}
