//! What only elements with an order have.

use super::values::read;
use super::{Arrange, ByAxes, ReduceMany};
use crate::element::Ordered;
use crate::partial::Partial;
use crate::shape::Array;
use crate::{Op, Result};

impl<T: Ordered, A: Arrange> ReduceMany<'_, T, A> {
    /// The smallest elements: NaN propagates, -0 < +0.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty).
    pub fn min(&self) -> Result<A::Of<T>> {
        read!(self, Min: Extremes as p => p.min())
    }

    /// The largest elements: NaN propagates, -0 < +0.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty).
    pub fn max(&self) -> Result<A::Of<T>> {
        read!(self, Max: Extremes as p => p.max())
    }

    /// The smallest and the largest elements.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty).
    pub fn minmax(&self) -> Result<A::Of<(T, T)>> {
        read!(self, MinMax: Extremes as p => Ok((p.min()?, p.max()?)))
    }

    /// The first index of each smallest element, or of the first NaN: within the segment or group, or along the folded axis. Over several
    /// axes it counts their elements in C order.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty).
    pub fn argmin(&self) -> Result<A::Of<u64>> {
        read!(self, ArgMin: Extremes as p => p.argmin())
    }

    /// [`argmin`](Self::argmin) of the largest elements.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty).
    pub fn argmax(&self) -> Result<A::Of<u64>> {
        read!(self, ArgMax: Extremes as p => p.argmax())
    }
}

impl<T: Ordered> ReduceMany<'_, T, ByAxes> {
    /// The index of each smallest element in the whole array, its elements counted in C order.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty).
    pub fn argmin_flat(&self) -> Result<Array<u64>> {
        Ok(self.flat(self.argmin()?))
    }

    /// The index of each largest element in the whole array, its elements counted in C order.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty).
    pub fn argmax_flat(&self) -> Result<Array<u64>> {
        Ok(self.flat(self.argmax()?))
    }

    fn flat(&self, mut places: Array<u64>) -> Array<u64> {
        for (output, place) in (0u64..).zip(&mut places.values) {
            *place = self.arrange.folding().flat(output, *place);
        }
        places
    }
}
