//! Sums of integers, many at a time: 64-bit lanes, and for 64-bit elements a second lane of upper halves that knows the carries.
//!
//! What lanes hold is handed on in 128 bits, or in 64 where these are known to hold all: of narrow elements, fewer than 2^32 of them.

use std::marker::PhantomData;
use std::ops::AddAssign;

use super::lanes::{
    LaneOperation, MOST_OF_SUMS, MOST_TURNED, N, Positions, without_exponent_range,
};

/// An integer as these lanes add it.
pub(crate) trait Addend: Copy + Default + Send + Sync {
    /// Whether sums need the upper lane.
    const WIDE: bool;

    /// The low 64 bits of the value, or of its magnitude where the mask is all ones and not all zeros, and what lies above the low 32.
    fn halves(self, absolute: i64) -> (u64, i64);
}

macro_rules! addends {
    ($($signed:literal, $wide:literal: $($ty:ty),+;)+) => {$($(
        impl Addend for $ty {
            const WIDE: bool = $wide;

            #[inline(always)]
            fn halves(self, absolute: i64) -> (u64, i64) {
                let value = self as i64;
                if !$signed {
                    return (value as u64, (value as u64 >> 32) as i64);
                }
                let sign = value >> 63;
                let turned = sign & absolute;
                let word = (value ^ turned).wrapping_sub(turned) as u64;
                // What is left of the sign goes on above: a magnitude of 2^63 has none.
                (word, (word >> 32) as i64 | (sign & !absolute) << 32)
            }
        }
    )+)+};
}
addends! {
    true, false: i8, i16, i32;
    false, false: u8, u16, u32;
    true, true: i64;
    false, true: u64;
}

/// Elements of an input of narrow elements at most whose sum is handed on in 64 bits.
pub(crate) const MOST_IN_64: u64 = 1 << 31;

/// What a sum is handed on in.
pub(crate) trait Handed: Copy + AddAssign + Send + Sync {
    const NOTHING: Self;

    fn of(sum: i128) -> Self;
}

impl Handed for i128 {
    const NOTHING: i128 = 0;

    #[inline(always)]
    fn of(sum: i128) -> Self {
        sum
    }
}

impl Handed for i64 {
    const NOTHING: i64 = 0;

    #[inline(always)]
    fn of(sum: i128) -> Self {
        sum as i64
    }
}

/// Sums of values or of magnitudes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IntegerSums<W, S = i128> {
    absolute: i64,
    word: PhantomData<(W, S)>,
}

impl<W, S> IntegerSums<W, S> {
    pub(crate) fn values() -> Self {
        IntegerSums { absolute: 0, word: PhantomData }
    }

    pub(crate) fn norm1() -> Self {
        IntegerSums { absolute: -1, word: PhantomData }
    }
}

/// Remainders of 2^64 of the sums, and for wide elements the sums of upper halves: as many as there are additions that a driver makes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Halves {
    remainders: [u64; N],
    uppers: [i64; N],
}

/// The sum that a remainder and the sum of the upper halves tell, if fewer than 2^31 were added.
#[inline(always)]
fn join_halves<W: Addend>(remainder: u64, upper: i64) -> i128 {
    if !W::WIDE {
        return i128::from(remainder as i64);
    }
    let lower = remainder.wrapping_sub((upper << 32) as u64);
    (i128::from(upper) << 32) + i128::from(lower)
}

impl<W: Addend, S: Handed> LaneOperation for IntegerSums<W, S> {
    type Element = W;
    type Lanes = Halves;
    type Small = [S; 1];
    const NOTHING: [S; 1] = [S::NOTHING];
    const BESIDE: usize = if size_of::<W>() <= 2 { MOST_TURNED } else { MOST_OF_SUMS };
    const RESTS_APART: bool = W::WIDE;
    without_exponent_range!(W);
    const TURNS_FULL: bool = size_of::<W>() == 1;
    const TURNS_FROM: usize = N + 1;

    #[inline(always)]
    fn filler(self, _: W) -> W {
        W::default()
    }

    #[inline(always)]
    fn lanes(self, (): ()) -> Halves {
        Halves { remainders: [0; N], uppers: [0; N] }
    }

    #[inline(always)]
    fn add(self, lanes: &mut Halves, x: &[W; N], _: Positions) {
        for l in 0..N {
            let (remainder, upper) = x[l].halves(self.absolute);
            lanes.remainders[l] = lanes.remainders[l].wrapping_add(remainder);
            if W::WIDE {
                lanes.uppers[l] += upper;
            }
        }
    }

    #[inline(always)]
    fn lane(self, lanes: &Halves, lane: usize) -> [S; 1] {
        [S::of(join_halves::<W>(lanes.remainders[lane], lanes.uppers[lane]))]
    }

    #[inline(always)]
    fn total(self, lanes: &Halves) -> [S; 1] {
        let remainder = lanes.remainders.into_iter().fold(0, u64::wrapping_add);
        [S::of(join_halves::<W>(remainder, lanes.uppers.into_iter().sum()))]
    }

    const PUTS: bool = true;

    #[inline(always)]
    fn put(self, small: &mut [S; 1], x: W) -> bool {
        let (remainder, upper) = x.halves(self.absolute);
        small[0] += S::of(join_halves::<W>(remainder, upper));
        true
    }

    const MERGES: bool = true;

    #[inline(always)]
    fn merge(self, small: &mut [S; 1], other: &[S; 1]) -> bool {
        small[0] += other[0];
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agree<W: Addend + Into<i128>>(x: [W; N]) {
        for kind in [IntegerSums::<W, i128>::values(), IntegerSums::norm1()] {
            let mut lanes = kind.lanes(());
            for _ in 0..3 {
                kind.add(&mut lanes, &x, Positions { first: 0, step: 1 });
            }
            let value = |x: W| if kind.absolute == 0 { x.into() } else { x.into().abs() };
            let sum: i128 = x.iter().map(|&x| value(x)).sum();
            assert_eq!(kind.total(&lanes), [3 * sum]);
            assert_eq!(kind.lane(&lanes, 5), [3 * value(x[5])]);
        }
    }

    #[test]
    fn ends_of_every_type() {
        macro_rules! ends {
            ($($ty:ty),+) => {$(
                agree([<$ty>::MIN; N]);
                agree([<$ty>::MAX; N]);
                agree(std::array::from_fn(|l| (l as $ty).wrapping_mul(37).wrapping_sub(100)));
            )+};
        }
        ends!(i8, u8, i16, u16, i32, u32, i64, u64);
    }
}
