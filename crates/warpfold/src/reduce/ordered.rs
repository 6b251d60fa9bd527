//! What only integers, or only elements with an order, have.

use super::{Reduce, number};
use crate::element::{Integer, Ordered};
use crate::partial::{Finish, Output};
use crate::{Op, Result};

impl<T: Integer> Reduce<'_, T> {
    /// The sum in 128 bits, which no array of fewer than 2^63 elements overflows.
    ///
    /// # Errors
    /// None for slices.
    pub fn sum_wide(&self) -> Result<T::Wide> {
        self.exact_sum()?.wide()
    }
}

impl<T: Ordered> Reduce<'_, T> {
    /// The smallest element: NaN propagates, -0 < +0.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty).
    pub fn min(&self) -> Result<T> {
        self.value(Op::Min, Finish::default())
    }

    /// The largest element: NaN propagates, -0 < +0.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty).
    pub fn max(&self) -> Result<T> {
        self.value(Op::Max, Finish::default())
    }

    /// The smallest and the largest element.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty).
    pub fn minmax(&self) -> Result<(T, T)> {
        match self.output(Op::MinMax, Finish::default())? {
            Output::Pair(min, max) => Ok((number(min), number(max))),
            other => unreachable!("minmax has two numbers, not {other:?}"),
        }
    }

    /// The first index of the smallest element, or of the first NaN.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty).
    pub fn argmin(&self) -> Result<u64> {
        self.value(Op::ArgMin, Finish::default())
    }

    /// The first index of the largest element, or of the first NaN.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty).
    pub fn argmax(&self) -> Result<u64> {
        self.value(Op::ArgMax, Finish::default())
    }
}
