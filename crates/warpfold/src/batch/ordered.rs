//! What only elements with an order have.

use super::{OutputShape, ReduceBatched, typed_columns};
use crate::element::Ordered;
use crate::partial::Finish;
use crate::{Op, Result};

impl<T: Ordered, A: OutputShape> ReduceBatched<'_, T, A> {
    /// The smallest elements: NaN propagates, -0 < +0.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty).
    pub fn min(&self) -> Result<A::Of<T>> {
        self.values(Op::Min, Finish::default())
    }

    /// The largest elements: NaN propagates, -0 < +0.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty).
    pub fn max(&self) -> Result<A::Of<T>> {
        self.values(Op::Max, Finish::default())
    }

    /// The smallest and the largest elements.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty).
    pub fn minmax(&self) -> Result<A::Of<(T, T)>> {
        let ([min, max], gaps) = typed_columns(&self.request(Op::MinMax), Finish::default())?;
        Ok(self.output_shape.output_shape(min.into_iter().zip(max).collect(), &gaps))
    }

    /// The first index of each smallest element, or of the first NaN: along the folded axis (over several, their elements counted in C
    /// order), within the segment, among the elements of the group; or [in the whole array](Self::flat_indices).
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty).
    pub fn argmin(&self) -> Result<A::Of<u64>> {
        self.values(Op::ArgMin, Finish::default())
    }

    /// [`argmin`](Self::argmin) of the largest elements.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty).
    pub fn argmax(&self) -> Result<A::Of<u64>> {
        self.values(Op::ArgMax, Finish::default())
    }
}
