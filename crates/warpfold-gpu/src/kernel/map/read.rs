//! From the words that kernels of mapped values leave to exact partials.

use crate::element::{Components, DType, Decode};
use crate::exact::{Dot, Exact, Register, SumLimbs};
use crate::kernel::{floats, record};
use crate::partial::{Count, Extremes, Norm1, Partial, Stats};
use crate::plan::DeviceFold;
use crate::{AnyPartial, Element, with_element};

/// What a kernel writes for norms, or for stats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OfStats {
    Moments,
    Norm1,
    /// The least value, or the greatest.
    Extreme,
    /// How many are NaN, of all for which the condition holds.
    Nans,
    /// Of no stats: the largest magnitude.
    Magnitude,
}

/// A record of one kernel, whose integers are read one after another.
pub(super) struct Words<'r> {
    floats: floats::Integers<'r>,
    record: &'r [u64],
}

impl<'r> Words<'r> {
    pub(super) fn new(record: &'r [u64]) -> Self {
        Words { floats: floats::Integers::of(record), record }
    }

    /// The next partial, of so many elements; indices count from `first`.
    pub(super) fn partial(
        &mut self,
        fold: DeviceFold,
        dtype: DType,
        n: u64,
        first: u64,
    ) -> AnyPartial {
        with_element!(dtype, T => self.of_type::<T>(fold, n, first).into())
    }

    fn of_type<T: Element>(&mut self, fold: DeviceFold, n: u64, first: u64) -> Partial<T> {
        match fold {
            DeviceFold::ExactSum => {
                Partial::Sum(Exact { parts: Components::from_fn(|_| self.floats.next()), count: n })
            }
            DeviceFold::ExactDot => Partial::Dot(Box::new(Dot {
                parts: Components::from_fn(|_| self.floats.next()),
                count: n,
            })),
            DeviceFold::ExactMoments => Partial::Moments(Box::new(self.floats.moments(n))),
            DeviceFold::Sum => Partial::Sum(Exact {
                parts: record::registers::<T, _>(&self.record[..2]),
                count: n,
            }),
            DeviceFold::Dot => Partial::Dot(Box::new(Dot {
                parts: record::registers::<T, _>(&self.record[..3]),
                count: n,
            })),
            DeviceFold::Moments => Partial::Moments(Box::new(record::moments(self.record, n))),
            DeviceFold::Prod => Partial::Product(Box::new(record::integer_product(self.record))),
            _ => Partial::Extremes(self.extremes::<T>(n, first)),
        }
    }

    fn extremes<T: Element>(&self, n: u64, first: u64) -> Extremes<T::Component> {
        let mut extremes: Extremes<T::Component> = record::extremes(self.record, n);
        extremes.reindex(&|index| index.saturating_add(first));
        extremes
    }

    /// Adds the partial of `n` elements to the partial of l1, of linf or of stats.
    pub(super) fn add_to(&mut self, part: &mut AnyPartial, of: OfStats, n: u64, first: u64) {
        with_element!(part.dtype(), T => {
            let found = part.clone().typed::<T>();
            let mut typed = found.unwrap_or_else(|| unreachable!("a partial has its type"));
            self.add_to_typed(&mut typed, of, n, first);
            *part = typed.into();
        });
    }

    fn add_to_typed<T: Element>(&mut self, part: &mut Partial<T>, of: OfStats, n: u64, first: u64) {
        match (part, of) {
            (Partial::Norm1(norm1), _) => norm1.merge(&self.norm1(n)),
            (Partial::Magnitude(magnitude), _) if self.record[0] != 0 => {
                magnitude.merge(&record::largest(self.record[1]));
            }
            (Partial::Magnitude(_), _) => {}
            (Partial::Stats(stats), of) => self.add_to_stats(stats, of, n, first),
            (other, _) => unreachable!("{other:?} is another fold's"),
        }
    }

    fn add_to_stats<T: Element>(&mut self, stats: &mut Stats<T>, of: OfStats, n: u64, first: u64) {
        match of {
            OfStats::Moments => {
                stats.moments = match T::DTYPE.is_float() {
                    true => self.floats.moments(n),
                    false => record::moments(self.record, n),
                };
                // Where there are NaNs, they are counted by a kernel of their own, which comes later.
                stats.seen = n;
            }
            OfStats::Norm1 => stats.norm1 = self.norm1(n),
            OfStats::Extreme => {
                stats.extremes.merge(&self.extremes::<T>(n, first));
                stats.extremes.count = n;
            }
            OfStats::Nans => (stats.nans, stats.seen) = (self.record[0], n),
            OfStats::Magnitude => unreachable!("stats have no largest magnitude"),
        }
    }

    /// The sum of magnitudes: of signed integers of unsigned ones.
    fn norm1<T: Element>(&mut self, n: u64) -> Norm1<T> {
        if !T::DTYPE.is_float() {
            return record::norm1(&self.record[..2], n);
        }
        let sum: Register<SumLimbs<T>> = self.floats.next();
        Norm1::from_sum(&sum, T::Component::UNIT, n)
    }
}

pub(super) fn count(dtype: DType, count: Count) -> AnyPartial {
    with_element!(dtype, T => Partial::<T>::Count(count).into())
}

pub(super) fn sum_of_conditions(nonzero: u64, count: u64) -> AnyPartial {
    let parts = record::registers::<bool, _>(&[nonzero, 0]);
    Partial::<bool>::Sum(Exact { parts, count }).into()
}
