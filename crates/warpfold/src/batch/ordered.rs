//! What only elements with an order have.

use super::values::partial;
use super::{Arrange, ByAxes, Read, ReduceMany};
use crate::cpu::batch::{End, Greatest, Least, Ranked, extremes};
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
        self.ranked::<Least, false, _>(Op::Min, Extremes::min)
    }

    /// The largest elements: NaN propagates, -0 < +0.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty).
    pub fn max(&self) -> Result<A::Of<T>> {
        self.ranked::<Greatest, false, _>(Op::Max, Extremes::max)
    }

    /// The smallest and the largest elements.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty).
    pub fn minmax(&self) -> Result<A::Of<(T, T)>> {
        let nan = self.policy.nan;
        let small = |(least, greatest): &(Ranked<T::Key>, Ranked<T::Key>), count| {
            let min = extremes::<T, Least>(nan, *least, count).min().ok()?;
            Some((min, extremes::<T, Greatest>(nan, *greatest, count).max().ok()?))
        };
        let partial = partial!(Extremes(p) => Ok((p.min()?, p.max()?)));
        self.run(Op::MinMax, |many, at| many.both_ends(&Read { small, partial }, at))
    }

    /// The first index of each smallest element, or of the first NaN: within the segment or group, or along the folded axis. Over several
    /// axes it counts their elements in C order.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty).
    pub fn argmin(&self) -> Result<A::Of<u64>> {
        self.ranked::<Least, true, _>(Op::ArgMin, Extremes::argmin)
    }

    /// [`argmin`](Self::argmin) of the largest elements.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty).
    pub fn argmax(&self) -> Result<A::Of<u64>> {
        self.ranked::<Greatest, true, _>(Op::ArgMax, Extremes::argmax)
    }

    fn ranked<E: End, const PLACED: bool, R: Copy + Send>(
        &self,
        op: Op,
        read: impl Fn(&Extremes<T>) -> Result<R> + Sync,
    ) -> Result<A::Of<R>> {
        let nan = self.policy.nan;
        let small =
            |ranked: &Ranked<T::Key>, count| read(&extremes::<T, E>(nan, *ranked, count)).ok();
        let partial = |partial: &Partial<T>| match partial {
            Partial::Extremes(p) => read(p),
            other => unreachable!("{op} leaves extremes, not {other:?}"),
        };
        self.run(op, |many, at| many.ranks::<E, PLACED, _>(&Read { small, partial }, at))
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
