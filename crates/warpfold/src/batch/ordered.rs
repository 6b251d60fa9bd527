//! What only elements with an order have.

use super::values::partial;
use super::{Arrange, ByAxes, Read, ReduceMany};
use crate::cpu::batch::Ranked;
use crate::element::Ordered;
use crate::partial::{Extremes, Partial};
use crate::shape::Array;
use crate::{Op, Result};

impl<T: Ordered, A: Arrange> ReduceMany<'_, T, A> {
    /// The smallest elements: NaN propagates, -0 < +0.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty).
    pub fn min(&self) -> Result<A::Of<T>> {
        self.ranked(Op::Min, Extremes::min)
    }

    /// The largest elements: NaN propagates, -0 < +0.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty).
    pub fn max(&self) -> Result<A::Of<T>> {
        self.ranked(Op::Max, Extremes::max)
    }

    /// The smallest and the largest elements.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty).
    pub fn minmax(&self) -> Result<A::Of<(T, T)>> {
        let nan = self.policy.nan;
        let small = |[least, greatest]: &[Ranked; 2], count| {
            let min = least.extremes::<T>(nan, count).min().ok()?;
            Some((min, greatest.extremes::<T>(nan, count).max().ok()?))
        };
        let partial = partial!(Extremes(p) => Ok((p.min()?, p.max()?)));
        self.run(Op::MinMax, &Read { small, partial }, T::many_both_ends)
    }

    /// The first index of each smallest element, or of the first NaN: within the segment or group, or along the folded axis. Over several
    /// axes it counts their elements in C order.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty).
    pub fn argmin(&self) -> Result<A::Of<u64>> {
        self.ranked(Op::ArgMin, Extremes::argmin)
    }

    /// [`argmin`](Self::argmin) of the largest elements.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty).
    pub fn argmax(&self) -> Result<A::Of<u64>> {
        self.ranked(Op::ArgMax, Extremes::argmax)
    }

    fn ranked<R: Copy + Send>(
        &self,
        op: Op,
        read: impl Fn(&Extremes<T>) -> Result<R> + Sync,
    ) -> Result<A::Of<R>> {
        let (nan, read) = (self.policy.nan, &read);
        let small = |ranked: &Ranked, count| read(&ranked.extremes::<T>(nan, count)).ok();
        let partial = partial!(Extremes(p) => read(p));
        self.run(op, &Read { small, partial }, T::many_highest)
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
