//! From the words that kernels of mapped values leave to exact partials.

use crate::element::{DType, Parts};
use crate::exact::{Dot, Exact};
use crate::kernel::{floats, record};
use crate::partial::{Count, Extremes, Partial};
use crate::plan::Fold;
use crate::{AnyPartial, Element, with_element};

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
    pub(super) fn partial(&mut self, fold: Fold, dtype: DType, n: u64, first: u64) -> AnyPartial {
        with_element!(dtype, T => self.of_type::<T>(fold, n, first).into())
    }

    fn of_type<T: Element>(&mut self, fold: Fold, n: u64, first: u64) -> Partial<T> {
        match fold {
            Fold::ExactSum => {
                Partial::Sum(Exact { parts: Parts::from_fn(|_| self.floats.next()), count: n })
            }
            Fold::ExactDot => Partial::Dot(Box::new(Dot {
                parts: Parts::from_fn(|_| self.floats.next()),
                count: n,
            })),
            Fold::ExactMoments => Partial::Moments(Box::new(self.floats.moments(n))),
            Fold::Sum => Partial::Sum(Exact {
                parts: record::registers::<T, _>(&self.record[..2]),
                count: n,
            }),
            Fold::Dot => Partial::Dot(Box::new(Dot {
                parts: record::registers::<T, _>(&self.record[..3]),
                count: n,
            })),
            Fold::Moments => Partial::Moments(Box::new(record::moments(self.record, n))),
            _ => {
                let mut extremes: Extremes<T::Part> = record::extremes(self.record, n);
                extremes.reindex(&|index| index.saturating_add(first));
                Partial::Extremes(extremes)
            }
        }
    }
}

pub(super) fn count(dtype: DType, count: Count) -> AnyPartial {
    with_element!(dtype, T => Partial::<T>::Count(count).into())
}

pub(super) fn sum_of_conditions(nonzero: u64, count: u64) -> AnyPartial {
    let parts = record::registers::<bool, _>(&[nonzero, 0]);
    Partial::<bool>::Sum(Exact { parts, count }).into()
}
