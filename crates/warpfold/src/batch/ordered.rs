//! What only elements with an order have.

use super::values::partial;
use super::{Arrange, Indices, Read, ReduceMany};
use crate::cpu::batch::Ranked;
use crate::element::Ordered;
use crate::partial::{Extremes, Partial};
use crate::{Op, Result};

/// The least and the greatest of one element.
#[inline(always)]
fn alone<T: Ordered>(x: T) -> T {
    if x.is_nan() { T::nan() } else { x }
}

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
        let single = |x| Some((alone(x), alone(x)));
        self.run(Op::MinMax, &Read { small, partial, single }, T::many_both_ends)
    }

    /// The first index of each smallest element, or of the first NaN: along the folded axis (over several, their elements counted in C
    /// order), within the segment, among the elements of the group; or [in the whole array](Self::flat_indices).
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty).
    pub fn argmin(&self) -> Result<A::Of<u64>> {
        self.placed(Op::ArgMin, Extremes::argmin)
    }

    /// [`argmin`](Self::argmin) of the largest elements.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty).
    pub fn argmax(&self) -> Result<A::Of<u64>> {
        self.placed(Op::ArgMax, Extremes::argmax)
    }

    fn placed(
        &self,
        op: Op,
        read: impl Fn(&Extremes<T>) -> Result<u64> + Sync,
    ) -> Result<A::Of<u64>> {
        let (nan, read) = (self.policy.nan, &read);
        let small = |ranked: &Ranked, count| read(&ranked.extremes::<T>(nan, count)).ok();
        let partial = partial!(Extremes(p) => read(p));
        let places =
            self.folded(op, &Read { small, partial, single: |_| Some(0) }, T::many_highest)?;
        Ok(self.arrange.arrange(match self.indices {
            Indices::OfInput => places,
            Indices::OfArray => self.how.flat(self.x.len(), places),
        }))
    }

    fn ranked(&self, op: Op, read: impl Fn(&Extremes<T>) -> Result<T> + Sync) -> Result<A::Of<T>> {
        let (nan, read) = (self.policy.nan, &read);
        let small = |ranked: &Ranked, count| read(&ranked.extremes::<T>(nan, count)).ok();
        let partial = partial!(Extremes(p) => read(p));
        let single = |x| Some(alone(x));
        self.run(op, &Read { small, partial, single }, T::many_highest)
    }
}
