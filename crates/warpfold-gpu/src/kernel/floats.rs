//! Exact sums of floats, from the words that their kernels write: `[specials of each integer, NaNs; the integers, lowest word first]`.

use crate::element::{Components, Decode, Element};
use crate::exact::{Dot, Exact, Fixed, Limbs, Moments, Register, Special, SumLimbs};
use crate::partial::{Extremes, Norm1, Partial, Stats};
use crate::plan::DeviceFold;

use super::record::extremes;

/// The partial of an exact fold over `n` elements.
pub(super) fn read<T: Element>(
    fold: DeviceFold,
    record: &[u64],
    n: u64,
    skips_nan: bool,
) -> Partial<T> {
    let mut integers = Integers::of(record);
    let count = if skips_nan { n - record[1] } else { n };
    match fold {
        DeviceFold::ExactSum => {
            Partial::Sum(Exact { parts: Components::from_fn(|_| integers.next()), count })
        }
        DeviceFold::ExactL1 if T::PARTS > 1 => {
            Partial::Norm1(Box::new(Norm1 { total: integers.next(), count }))
        }
        DeviceFold::ExactL1 => {
            let sum: Register<SumLimbs<T>> = integers.next();
            Partial::Norm1(Box::new(Norm1::from_sum(&sum, T::Component::UNIT, count)))
        }
        DeviceFold::ExactDot => {
            Partial::Dot(Box::new(Dot { parts: Components::from_fn(|_| integers.next()), count }))
        }
        DeviceFold::ExactMoments => Partial::Moments(Box::new(integers.moments(count))),
        other => unreachable!("{other:?} has a reader of its own"),
    }
}

/// Of real floats: the sums, then `[index of the first NaN, the extremes of numbers]`.
pub(super) fn stats<T: Element>(record: &[u64], n: u64, skips_nan: bool) -> Stats<T> {
    let (mut integers, nans) = (Integers::of(record), record[1]);
    let count = if skips_nan { n - nans } else { n };
    let sum = Components::from_fn(|_| integers.next());
    let magnitudes: Register<SumLimbs<T>> = integers.next();
    let squares = integers.next();
    let words = integers.words;
    let first_nan = (nans > 0 && !skips_nan).then_some(words[0]);
    Stats {
        moments: Moments { sum, squares, count },
        norm1: Norm1::from_sum(&magnitudes, T::Component::UNIT, count),
        extremes: Extremes { first_nan, ..extremes(&words[1..], count) },
        nans,
        seen: n,
    }
}

/// Of complex floats: the records of their moments and of their magnitudes.
pub(super) fn complex_stats<T: Element>(
    moments: &[u64],
    norm1: &[u64],
    n: u64,
    skips_nan: bool,
) -> Stats<T> {
    let nans = moments[1];
    let count = if skips_nan { n - nans } else { n };
    Stats {
        moments: Integers::of(moments).moments(count),
        norm1: Norm1 { total: Integers::of(norm1).next(), count },
        extremes: Extremes::new(),
        nans,
        seen: n,
    }
}

/// What remains to be read.
pub(super) struct Integers<'a> {
    specials: u64,
    words: &'a [u64],
}

impl<'a> Integers<'a> {
    pub(super) fn of(record: &'a [u64]) -> Self {
        Integers { specials: record[0], words: &record[2..] }
    }

    pub(super) fn moments<T: Element>(&mut self, count: u64) -> Moments<T> {
        Moments { sum: Components::from_fn(|_| self.next()), squares: self.next(), count }
    }

    pub(super) fn next<L: Limbs>(&mut self) -> Register<L> {
        let mut fixed = Fixed::<L>::default();
        let limbs = fixed.0.as_mut();
        let (mine, rest) = self.words.split_at(limbs.len());
        limbs.copy_from_slice(mine);
        self.words = rest;
        let special = Special::from_bits((self.specials & 7) as u8).unwrap_or(Special::NAN);
        self.specials >>= 8;
        Register { fixed, special }
    }
}
