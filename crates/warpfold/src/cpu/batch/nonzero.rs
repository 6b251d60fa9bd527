//! How many elements are not zero, many counts at a time.

use super::lanes::{Kind, N, Places};
use crate::Nan;
use crate::element::{Element, Real};
use crate::partial::{Count, Partial};

/// Counts; NaNs that are to be ignored are left to the kernels for one array.
#[derive(Clone, Copy)]
pub(crate) struct Nonzero {
    nan: Nan,
}

impl Nonzero {
    pub(crate) fn new(nan: Nan) -> Self {
        Nonzero { nan }
    }
}

impl<T: Element> Kind<T> for Nonzero {
    /// Whether there is a NaN to be ignored.
    type Range = bool;
    type Rule = ();
    type Lanes = [u64; N];
    type Small = u64;

    #[inline(always)]
    fn filler(self, _: T) -> T {
        T::zeroed()
    }

    #[inline(always)]
    fn survey(self, x: &[T]) -> bool {
        let looks = self.nan == Nan::Ignore && T::DTYPE.is_float();
        looks && T::as_parts(x).iter().fold(false, |any, part| any | part.is_nan())
    }

    #[inline(always)]
    fn join(one: bool, other: bool) -> bool {
        one | other
    }

    #[inline(always)]
    fn rule(self, any_nan: bool, _: u64) -> Option<()> {
        (!any_nan).then_some(())
    }

    #[inline(always)]
    fn holds((): (), any_nan: bool) -> bool {
        !any_nan
    }

    #[inline(always)]
    fn lanes(self, (): ()) -> [u64; N] {
        [0; N]
    }

    #[inline(always)]
    fn add(self, lanes: &mut [u64; N], x: &[T; N], _: Places) {
        let nonzero = |part: &T::Part| *part != T::Part::default();
        for l in 0..N {
            let parts = &T::as_parts(x)[l * T::PARTS..][..T::PARTS];
            lanes[l] += u64::from(parts.iter().fold(false, |any, part| any | nonzero(part)));
        }
    }

    #[inline(always)]
    fn lane(lanes: &[u64; N], lane: usize) -> u64 {
        lanes[lane]
    }

    #[inline(always)]
    fn total(lanes: &[u64; N]) -> u64 {
        lanes.iter().sum()
    }

    fn pour(self, &nonzero: &u64, count: u64, partial: &mut Partial<T>) {
        let Partial::Count(all) = partial else {
            unreachable!("counts are poured into counts, not {partial:?}");
        };
        all.merge(&Count { seen: count, nonzero });
    }

    fn single(self, x: T, partial: &mut Partial<T>) {
        let Partial::Count(all) = partial else {
            unreachable!("elements are counted, not {partial:?}");
        };
        let is_nan = T::as_parts(&[x]).iter().any(|part| part.is_nan());
        if !(is_nan && self.nan == Nan::Ignore) {
            all.add(x);
        }
    }
}
