//! Exact sums of floats, from the words that their kernels write: `[specials of each integer, skipped; the integers, lowest word first]`.

use crate::element::{Element, Parts, Real};
use crate::exact::{Dot, Exact, Fixed, Limbs, Moments, ProductLimbs, Register, Special, SumLimbs};
use crate::partial::{Norm1, Partial};
use crate::plan::Fold;

/// The partial of an exact fold over `n` elements.
pub(super) fn read<T: Element>(fold: Fold, record: &[u64], n: u64) -> Partial<T> {
    let mut integers = Integers { specials: record[0], words: &record[2..] };
    let count = n - record[1];
    match fold {
        Fold::ExactSum => Partial::Sum(Exact { parts: Parts::from_fn(|_| integers.next()), count }),
        Fold::ExactL1 if T::PARTS > 1 => {
            Partial::Norm1(Box::new(Norm1 { total: integers.next(), count }))
        }
        Fold::ExactL1 => {
            let sum: Register<SumLimbs<T>> = integers.next();
            Partial::Norm1(Box::new(Norm1::from_sum(&sum, T::Part::UNIT, count)))
        }
        Fold::ExactDot => {
            Partial::Dot(Box::new(Dot { parts: Parts::from_fn(|_| integers.next()), count }))
        }
        Fold::ExactMoments => {
            let sum = Parts::from_fn(|_| integers.next());
            let squares: Register<ProductLimbs<T>> = integers.next();
            Partial::Moments(Box::new(Moments { sum, squares, count }))
        }
        other => unreachable!("{other:?} is no exact fold of floats"),
    }
}

/// What is left to be read.
struct Integers<'a> {
    specials: u64,
    words: &'a [u64],
}

impl Integers<'_> {
    fn next<L: Limbs>(&mut self) -> Register<L> {
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
