//! Sums of few elements by the readers of other sums, where they are known.

use std::mem::MaybeUninit;

use warpfold_exact::exact::Pair;
use warpfold_exact::partial::Output;

use crate::batch::{AT_ONCE, Lone, Read, ShortSum};

/// A reader of pairs, of short sums as well.
pub(crate) struct OfShort<D>(pub(crate) D);

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

    fn finished(&self, output: Output) -> D::Result {
        self.0.finished(output)
    }

    fn lone(&self, inputs: Lone<'_, D::Result>) {
        self.0.lone(inputs);
    }
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
        let mut are_known = [true; AT_ONCE];
        for k in 0..AT_ONCE {
            (pairs[k][0], are_known[k]) = smalls[k].pair();
        }
        if are_known == [true; AT_ONCE] {
            return self.0.neighbours(&pairs, counts);
        }
        let mut results = [const { MaybeUninit::uninit() }; AT_ONCE];
        for k in 0..AT_ONCE {
            match self.small(&smalls[k], counts[k]) {
                Some(result) => results[k] = MaybeUninit::new(result),
                None => are_known[k] = false,
            }
        }
        (results, are_known)
    }

    fn finished(&self, output: Output) -> D::Result {
        self.0.finished(output)
    }

    fn lone(&self, inputs: Lone<'_, D::Result>) {
        self.0.lone(inputs);
    }
}
