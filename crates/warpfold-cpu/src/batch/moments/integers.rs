//! [`Integers`]: exact integers, for words of up to 32 bits.

use std::marker::PhantomData;

use super::super::lanes::{LaneOperation, N, Positions, without_exponent_range};
use super::Approximate;
use super::widen::{TWO_TO_32, Widen};
use warpfold_num::double_double::{DoubleDouble, fast_two_sum};

/// An integer of up to 32 bits, as these lanes take it.
pub(crate) trait NarrowInteger: Copy + Default + Into<i64> + Send + Sync {
    /// Whether sums of squares need lanes of upper halves.
    const IS_WIDE: bool;
}
macro_rules! narrow_integers {
    ($($wide:literal: $($ty:ty),+;)+) => {$($(
        impl NarrowInteger for $ty {
            const IS_WIDE: bool = $wide;
        }
    )+)+};
}
narrow_integers! {
    false: u8, i8, u16, i16;
    true: u32, i32;
}

/// Sums and sums of squares of integers, exactly: drivers make fewer than 2^31 additions in a lane.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Integers<W>(PhantomData<W>);

impl<W> Integers<W> {
    pub(crate) fn new() -> Self {
        Integers(PhantomData)
    }
}

/// Sums, sums of squares or of their lower halves, and sums of upper halves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IntegerLanes {
    sums: [i64; N],
    lower: [u64; N],
    upper: [u64; N],
}

impl<W: NarrowInteger> LaneOperation for Integers<W> {
    type Element = W;
    type Lanes = IntegerLanes;
    type Small = Approximate<DoubleDouble, 1>;
    const NOTHING: Self::Small =
        Approximate { sum: [DoubleDouble::ZERO], squares: DoubleDouble::ZERO };
    without_exponent_range!(W);
    const TURNS_FROM: usize = N + 1;

    #[inline(always)]
    fn filler(self, _: W) -> W {
        W::default()
    }

    #[inline(always)]
    fn lanes(self, (): ()) -> IntegerLanes {
        IntegerLanes { sums: [0; N], lower: [0; N], upper: [0; N] }
    }

    #[inline(always)]
    fn add(self, lanes: &mut IntegerLanes, x: &[W; N], _: Positions) {
        for l in 0..N {
            let x: i64 = x[l].into();
            let square = x.wrapping_mul(x) as u64;
            lanes.sums[l] += x;
            if W::IS_WIDE {
                lanes.lower[l] += square & u64::from(u32::MAX);
                lanes.upper[l] += square >> 32;
            } else {
                lanes.lower[l] += square;
            }
        }
    }

    #[inline(always)]
    fn lane(self, lanes: &IntegerLanes, lane: usize) -> Self::Small {
        approximate::<W>(lanes.sums[lane], lanes.lower[lane], lanes.upper[lane])
    }

    #[inline(always)]
    fn total(self, lanes: &IntegerLanes) -> Self::Small {
        // Runs that are joined have no more elements than a few tiles.
        approximate::<W>(
            lanes.sums.iter().sum(),
            lanes.lower.iter().sum(),
            lanes.upper.iter().sum(),
        )
    }

    const PUTS: bool = true;

    #[inline(always)]
    fn put(self, small: &mut Self::Small, x: W) -> bool {
        let x: i64 = x.into();
        let one = approximate::<W>(x, x.wrapping_mul(x) as u64, 0);
        small.sum[0] = small.sum[0].plus(one.sum[0].high);
        small.squares = small.squares.add_same_sign(one.squares);
        true
    }

    const MERGES: bool = true;

    #[inline(always)]
    fn merge(self, small: &mut Self::Small, other: &Self::Small) -> bool {
        small.sum[0] = small.sum[0].add(other.sum[0]);
        small.squares = small.squares.add_same_sign(other.squares);
        true
    }
}

#[inline(always)]
fn approximate<W: NarrowInteger>(sum: i64, lower: u64, upper: u64) -> Approximate<DoubleDouble, 1> {
    let (high, low) = sum.widen();
    Approximate { sum: [fast_two_sum(high, low)], squares: squares_of_halves::<W>(lower, upper) }
}

/// A sum of squares from that of their lower halves, or of all of them, and that of the upper ones.
#[inline(always)]
pub(crate) fn squares_of_halves<W: NarrowInteger>(lower: u64, upper: u64) -> DoubleDouble {
    let squares = double(lower);
    match W::IS_WIDE {
        true => double(upper).scale(TWO_TO_32).add_same_sign(squares),
        false => squares,
    }
}

#[inline(always)]
fn double(x: u64) -> DoubleDouble {
    let (high, low) = x.widen();
    fast_two_sum(high, low)
}
