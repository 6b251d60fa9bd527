//! What only integers, or only elements with an order, have.

use super::Reduce;
use crate::element::{Integer, Ordered};
use crate::partial::{Extremes, Partial};
use crate::{Op, Result};

impl<T: Integer> Reduce<'_, T> {
    /// The sum in 128 bits, which no array of fewer than 2^63 elements overflows.
    ///
    /// # Errors
    /// None for slices.
    pub fn sum_wide(&self) -> Result<T::Wide> {
        self.exact_sum().wide()
    }
}

impl<T: Ordered> Reduce<'_, T> {
    /// The smallest element: NaN propagates, -0 < +0.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty).
    pub fn min(&self) -> Result<T> {
        self.extremes(Op::Min).min().map_err(|e| self.explain(e, Op::Min))
    }

    /// The largest element: NaN propagates, -0 < +0.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty).
    pub fn max(&self) -> Result<T> {
        self.extremes(Op::Max).max().map_err(|e| self.explain(e, Op::Max))
    }

    /// The smallest and the largest element.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty).
    pub fn minmax(&self) -> Result<(T, T)> {
        let extremes = self.extremes(Op::MinMax);
        let both = extremes.min().and_then(|min| Ok((min, extremes.max()?)));
        both.map_err(|e| self.explain(e, Op::MinMax))
    }

    /// The first index of the smallest element, or of the first NaN.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty).
    pub fn argmin(&self) -> Result<u64> {
        self.extremes(Op::ArgMin).argmin().map_err(|e| self.explain(e, Op::ArgMin))
    }

    /// The first index of the largest element, or of the first NaN.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty).
    pub fn argmax(&self) -> Result<u64> {
        self.extremes(Op::ArgMax).argmax().map_err(|e| self.explain(e, Op::ArgMax))
    }

    fn extremes(&self, op: Op) -> Extremes<T> {
        match self.partial(op) {
            Ok(Partial::Extremes(partial)) => partial,
            other => unreachable!("{op} leaves extremes, not {other:?}"),
        }
    }
}
