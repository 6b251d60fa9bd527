//! From a partial to the result: the last step, the only one that rounds.

use warpfold_num::with_float;

use super::{Partial, Summary};
use crate::element::{DType, Element};
use crate::{Error, Op, Overflow, Result, Value};

/// A finished result whose shape and type are known only at run time.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// One number, boolean or index.
    One(Value),
    /// Minimum and maximum.
    Pair(Value, Value),
    /// What `stats` gives.
    Summary(Box<Summary>),
}

/// How a partial is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Finish {
    /// Delta degrees of freedom of var and std.
    pub ddof: u64,
    /// What an integer result too large does.
    pub overflow: Overflow,
    /// Another float type to round to, where the reduction has a rounded result.
    pub round_to: Option<DType>,
}

impl<T: Element> Partial<T> {
    /// Adds another partial of the same reduction; later pieces of an array carry their own indices.
    ///
    /// Any order gives the same bits. Pieces of products of floats are to know where they start, as those of arg* and stats are: they are multiplied
    /// along the tree of their indices. (Products of devices, and those saved before version 2 of the layout, are merged in the order of their pieces.)
    ///
    /// # Panics
    /// If the two are of different kinds.
    pub fn merge(&mut self, other: &Self) {
        match (self, other) {
            (Partial::Sum(a), Partial::Sum(b)) => a.merge(b),
            (Partial::Moments(a), Partial::Moments(b)) => a.merge(b),
            (Partial::Dot(a), Partial::Dot(b)) => a.merge(b),
            (Partial::Extremes(a), Partial::Extremes(b)) => a.merge(b),
            (Partial::Count(a), Partial::Count(b)) => a.merge(b),
            (Partial::Product(a), Partial::Product(b)) => a.merge(b),
            (Partial::Norm1(a), Partial::Norm1(b)) => a.merge(b),
            (Partial::Magnitude(a), Partial::Magnitude(b)) => a.merge(b),
            (Partial::Stats(a), Partial::Stats(b)) => a.merge(b),
            (a, b) => panic!("partials of different reductions cannot be merged: {a:?} and {b:?}"),
        }
    }

    /// The same with other indices, where it has some: a function of those that it has, which keeps their order.
    ///
    /// ```
    /// use warpfold_exact::partial::{Extremes, Partial};
    ///
    /// let mut extremes = Extremes::new();
    /// for (index, x) in [2.0f64, 5.0, f64::NAN, 1.0].into_iter().enumerate() {
    ///     extremes.add(x, index as u64);
    /// }
    /// let Partial::Extremes(moved) = Partial::<f64>::Extremes(extremes).reindexed(&|index| 10 * index + 3) else { unreachable!() };
    /// assert_eq!(moved.min.map(|place| place.index), Some(33));
    /// assert_eq!(moved.max.map(|place| place.index), Some(13));
    /// assert_eq!(moved.first_nan, Some(23));
    /// ```
    #[must_use]
    pub fn reindexed(mut self, index: &dyn Fn(u64) -> u64) -> Self {
        match &mut self {
            Partial::Extremes(extremes) => extremes.reindex(index),
            Partial::Stats(stats) => stats.extremes.reindex(index),
            _ => {}
        }
        self
    }

    /// The same without the indices of a product's elements, so that it merges in order.
    #[must_use]
    pub fn without_indices(self) -> Self {
        match self {
            Partial::Product(product) => Partial::Product(Box::new(product.without_indices())),
            other => other,
        }
    }

    /// Whether this is what `op` is read from.
    pub fn serves(&self, op: Op) -> bool {
        op.partial() == self.kind()
    }

    /// How many elements it holds, where it counts them.
    pub fn count(&self) -> Option<u64> {
        match self {
            Partial::Sum(p) => Some(p.count()),
            Partial::Moments(p) => Some(p.count()),
            Partial::Dot(p) => Some(p.count()),
            Partial::Extremes(p) => Some(p.count()),
            Partial::Count(p) => Some(p.seen),
            Partial::Norm1(p) => Some(p.count()),
            Partial::Stats(p) => Some(p.count()),
            Partial::Product(_) | Partial::Magnitude(_) => None,
        }
    }

    /// Rounds, once, a variance or deviation over `n - correction`, where the correction may be fractional or negative.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub fn finish_corrected(
        &self,
        op: Op,
        correction: f64,
        round_to: Option<DType>,
    ) -> Result<Output> {
        let to = round_to.unwrap_or(<T::Round as Element>::DTYPE);
        let value = match (op, self) {
            (Op::Var, Partial::Moments(p)) => {
                with_float!(to, op, T::DTYPE, F => p.var_corrected::<F>(correction)?.into())
            }
            (Op::Std, Partial::Moments(p)) => {
                with_float!(to, op, T::DTYPE, F => p.std_corrected::<F>(correction)?.into())
            }
            (op, _) => {
                let why = "only variances and deviations have a correction; leave it out";
                return Err(Error::Undefined { op, dtype: T::DTYPE, why });
            }
        };
        Ok(Output::One(value))
    }

    /// Rounds, once, to the result of `op`.
    ///
    /// # Errors
    /// As the contract has it for `op`: [`Error::Empty`], [`Error::TooFew`], [`Error::Overflow`],
    /// [`Error::Undefined`], [`Error::Unsupported`] for a rounding that the result does not have, and [`Error::Pieces`] for a product of floats
    /// that lacks elements before its last.
    pub fn finish(&self, op: Op, finish: Finish) -> Result<Output> {
        let to = finish.round_to.unwrap_or(<T::Round as Element>::DTYPE);
        let value = match (op, self) {
            (Op::Sum, Partial::Sum(p)) => match finish.round_to {
                None => p.sum(finish.overflow)?.into(),
                Some(to) => with_float!(to, op, T::DTYPE, F => p.round_as::<F>().into()),
            },
            (Op::Mean, Partial::Sum(p)) => {
                with_float!(to, op, T::DTYPE, F => p.mean_as::<F>()?.into())
            }
            (Op::Var, Partial::Moments(p)) => {
                with_float!(to, op, T::DTYPE, F => p.var_as::<F>(finish.ddof)?.into())
            }
            (Op::Std, Partial::Moments(p)) => {
                with_float!(to, op, T::DTYPE, F => p.std_as::<F>(finish.ddof)?.into())
            }
            (Op::L2, Partial::Moments(p)) => {
                with_float!(to, op, T::DTYPE, F => p.l2_as::<F>().into())
            }
            (Op::Sumsq, Partial::Moments(p)) => match finish.round_to {
                None => p.sumsq(finish.overflow)?.into(),
                Some(to) => with_float!(to, op, T::DTYPE, F => p.sumsq_as::<F>().into()),
            },
            (Op::Dot, Partial::Dot(p)) => match finish.round_to {
                None => p.value(finish.overflow)?.into(),
                Some(to) => with_float!(to, op, T::DTYPE, F => p.round_as::<F>().into()),
            },
            (Op::Prod, Partial::Product(p)) => match finish.round_to {
                None => p.value(finish.overflow)?.into(),
                Some(to) => with_float!(to, op, T::DTYPE, F => p.round_as::<F>()?.into()),
            },
            (Op::L1, Partial::Norm1(p)) => {
                with_float!(to, op, T::DTYPE, F => p.round_as::<F>()?.into())
            }
            (Op::Linf, Partial::Magnitude(p)) => match finish.round_to {
                None => p.value().into(),
                Some(to) => with_float!(to, op, T::DTYPE, F => p.round_as::<F>().into()),
            },
            (Op::Stats, Partial::Stats(p)) => {
                return Ok(Output::Summary(Box::new(p.summary(finish)?)));
            }
            (Op::Min, Partial::Extremes(p)) => p.min()?.into(),
            (Op::Max, Partial::Extremes(p)) => p.max()?.into(),
            (Op::MinMax, Partial::Extremes(p)) => {
                return Ok(Output::Pair(p.min()?.into(), p.max()?.into()));
            }
            (Op::ArgMin, Partial::Extremes(p)) => p.argmin()?.into(),
            (Op::ArgMax, Partial::Extremes(p)) => p.argmax()?.into(),
            (Op::Any, Partial::Count(p)) => p.any().into(),
            (Op::All, Partial::Count(p)) => p.all().into(),
            (Op::Count, Partial::Count(p)) => p.nonzero.into(),
            (op, _) => {
                let why =
                    "this partial is that of another reduction; fold the data again for this one";
                return Err(Error::Undefined { op, dtype: T::DTYPE, why });
            }
        };
        Ok(Output::One(value))
    }
}
