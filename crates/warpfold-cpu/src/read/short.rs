//! Sums of few elements, and of narrow integers, by the readers of other sums.

use std::mem::MaybeUninit;

use warpfold_exact::exact::Pair;
use warpfold_exact::partial::Output;

use crate::batch::{AT_ONCE, Lone, Read, ShortSum, one_by_one};

/// A reader of pairs, of short sums as well.
pub(crate) struct OfShort<D>(pub(crate) D);

/// What does not depend on what accumulators hold.
macro_rules! as_the_other {
    () => {
        fn finished(&self, output: Output) -> D::Result {
            self.0.finished(output)
        }

        fn lone(&self, inputs: Lone<'_, D::Result>) {
            self.0.lone(inputs);
        }
    };
}

impl<D> Read<[Pair; 1]> for OfShort<D>
where
    D: Read<[Pair; 1]>,
{
    type Result = D::Result;
    const IS_LONG: bool = D::IS_LONG;

    #[inline(always)]
    fn small(&self, small: &[Pair; 1], count: u64) -> Option<D::Result> {
        self.0.small(small, count)
    }

    #[inline(always)]
    fn neighbours(
        &self,
        smalls: &[[Pair; 1]; AT_ONCE],
        counts: [u64; AT_ONCE],
    ) -> ([MaybeUninit<D::Result>; AT_ONCE], [bool; AT_ONCE]) {
        self.0.neighbours(smalls, counts)
    }

    as_the_other!();
}

/// Of sums of integers that 64 bits hold.
impl<D> Read<[i64; 1]> for OfShort<D>
where
    D: Read<[i128; 1]>,
{
    type Result = D::Result;
    const IS_LONG: bool = D::IS_LONG;

    #[inline(always)]
    fn small(&self, &[sum]: &[i64; 1], count: u64) -> Option<D::Result> {
        self.0.small(&[sum.into()], count)
    }

    #[inline(always)]
    fn neighbours(
        &self,
        smalls: &[[i64; 1]; AT_ONCE],
        counts: [u64; AT_ONCE],
    ) -> ([MaybeUninit<D::Result>; AT_ONCE], [bool; AT_ONCE]) {
        let mut sums = [[0]; AT_ONCE];
        for k in 0..AT_ONCE {
            sums[k] = [i128::from(smalls[k][0])];
        }
        self.0.neighbours(&sums, counts)
    }

    as_the_other!();
}

impl<D, const LOWS: usize> Read<ShortSum<LOWS>> for OfShort<D>
where
    D: Read<[Pair; 1]>,
{
    type Result = D::Result;
    const IS_LONG: bool = true;

    #[inline(always)]
    fn small(&self, small: &ShortSum<LOWS>, count: u64) -> Option<D::Result> {
        let (pair, is_known) = small.pair();
        if is_known { self.0.small(&[pair], count) } else { None }
    }

    #[inline(always)]
    fn neighbours(
        &self,
        smalls: &[ShortSum<LOWS>; AT_ONCE],
        counts: [u64; AT_ONCE],
    ) -> ([MaybeUninit<D::Result>; AT_ONCE], [bool; AT_ONCE]) {
        let mut pairs = [[Pair { high: 0.0, low: 0.0 }]; AT_ONCE];
        for k in 0..AT_ONCE {
            (pairs[k][0], _) = smalls[k].pair();
        }
        // One flag of all, by the sums that are rounded: flags for each would be made one by one.
        let mut are_known = true;
        for k in 0..AT_ONCE {
            are_known &= !(pairs[k][0].high + pairs[k][0].low).is_nan();
        }
        if are_known {
            return self.0.neighbours(&pairs, counts);
        }
        one_by_one(self, smalls, counts)
    }

    as_the_other!();
}
