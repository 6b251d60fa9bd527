//! [`Stats`]: everything that one pass over an array tells.

use super::{Extremes, Finish, Norm1, Summary};
use crate::element::{Element, Ordered};
use crate::exact::{Exact, Moments, tally};
use crate::{DType, Error, Op, Overflow, Result};

/// Count, NaN count, exact moments, extremes and the sum of magnitudes of one array, in any order.
#[derive(Debug, Clone, PartialEq)]
pub struct Stats<T: Element> {
    /// The exact moments.
    pub moments: Moments<T>,
    /// The sum of magnitudes.
    pub norm1: Norm1<T>,
    /// Empty for complex elements, which have no order.
    pub extremes: Extremes<T::Component>,
    /// Elements that are NaN.
    pub nans: u64,
    /// Elements seen.
    pub seen: u64,
}

impl<T: Element> Default for Stats<T> {
    fn default() -> Self {
        Stats {
            moments: Moments::new(),
            norm1: Norm1::new(),
            extremes: Extremes::new(),
            nans: 0,
            seen: 0,
        }
    }
}

impl<T: Element> Stats<T> {
    /// Nothing seen yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in another partial; associative and commutative to the last bit.
    pub fn merge(&mut self, other: &Self) {
        self.moments.merge(&other.moments);
        self.norm1.merge(&other.norm1);
        self.extremes.merge(&other.extremes);
        tally(&mut self.nans, other.nans);
        tally(&mut self.seen, other.seen);
    }

    /// Elements seen, NaN included.
    pub fn count(&self) -> u64 {
        self.seen
    }

    /// Elements that are NaN (complex: in either part), whether they were ignored or not.
    pub fn nan_count(&self) -> u64 {
        self.nans
    }

    /// The exact sum.
    pub fn to_sum(&self) -> Exact<T> {
        self.moments.to_sum()
    }

    /// The exact moments.
    pub fn moments(&self) -> &Moments<T> {
        &self.moments
    }

    /// The sum: floats rounded once, integers checked or wrapped.
    ///
    /// # Errors
    /// [`Error::Overflow`] if an integer sum does not fit and `overflow` says so.
    pub fn sum(&self, overflow: Overflow) -> Result<T::Sum> {
        self.to_sum().sum(overflow)
    }

    /// The arithmetic mean, rounded once.
    ///
    /// # Errors
    /// [`Error::Empty`].
    pub fn mean(&self) -> Result<T::With<T::Round>> {
        self.to_sum().mean().map_err(|e| self.explain(e))
    }

    /// The variance over `n - ddof`, rounded once.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::TooFew`].
    pub fn var(&self, ddof: u64) -> Result<T::Round> {
        self.moments.var(ddof).map_err(|e| self.explain(e))
    }

    /// The standard deviation over `n - ddof`, rounded once.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::TooFew`].
    pub fn std(&self, ddof: u64) -> Result<T::Round> {
        self.moments.std(ddof).map_err(|e| self.explain(e))
    }

    /// The sum of magnitudes, rounded once (complex: within one ulp).
    pub fn l1(&self) -> T::Round {
        self.norm1.round()
    }

    /// The Euclidean norm, rounded once.
    pub fn l2(&self) -> T::Round {
        self.moments.l2()
    }

    /// Says that NaNs were ignored where that is why nothing is left.
    pub fn explain(&self, error: Error) -> Error {
        match error {
            Error::Empty { op, .. } => Error::Empty { op, ignored: self.seen > 0 },
            other => other,
        }
    }

    /// The results with their types known at run time.
    ///
    /// # Errors
    /// [`Error::Overflow`] if an integer sum does not fit; [`Error::Unsupported`] for rounding to another type.
    pub fn summary(&self, finish: Finish) -> Result<Summary> {
        refuse_rounding(finish, T::DTYPE)?;
        let extreme = |value: Result<T::Component>| value.ok().map(Into::into);
        let index = |value: Result<u64>| value.ok();
        let var = self.var(finish.ddof);
        let std = self.std(finish.ddof);
        Ok(Summary {
            count: self.seen,
            nan_count: self.nans,
            sum: self.sum(finish.overflow)?.into(),
            mean: self.mean().ok().map(Into::into),
            var: var.ok().map(Into::into),
            std: std.ok().map(Into::into),
            min: extreme(self.extremes.min()),
            max: extreme(self.extremes.max()),
            argmin: index(self.extremes.argmin()),
            argmax: index(self.extremes.argmax()),
            l1: self.l1().into(),
            l2: self.l2().into(),
        })
    }
}

/// Refuses another type for what has several.
pub fn refuse_rounding(finish: Finish, dtype: DType) -> Result<()> {
    let (option, why) = ("--as", "its results have several types; ask for one of them alone");
    match finish.round_to {
        Some(_) => Err(Error::Unsupported { option, op: Op::Stats, dtype, why }),
        None => Ok(()),
    }
}

impl<T: Ordered> Stats<T> {
    /// The smallest element: NaN propagates unless ignored, -0 < +0.
    ///
    /// # Errors
    /// [`Error::Empty`].
    pub fn min(&self) -> Result<T> {
        self.extremes.min().map_err(|e| self.explain(e))
    }

    /// The largest element.
    ///
    /// # Errors
    /// [`Error::Empty`].
    pub fn max(&self) -> Result<T> {
        self.extremes.max().map_err(|e| self.explain(e))
    }

    /// The first index of the smallest element, or of the first NaN.
    ///
    /// # Errors
    /// [`Error::Empty`].
    pub fn argmin(&self) -> Result<u64> {
        self.extremes.argmin().map_err(|e| self.explain(e))
    }

    /// The first index of the largest element, or of the first NaN.
    ///
    /// # Errors
    /// [`Error::Empty`].
    pub fn argmax(&self) -> Result<u64> {
        self.extremes.argmax().map_err(|e| self.explain(e))
    }
}
