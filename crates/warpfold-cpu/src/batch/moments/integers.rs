//! [`Integers`]: exact integers, for words of up to 32 bits.

use std::marker::PhantomData;

use super::super::lanes::{LaneOperation, MOST_TURNED, N, Positions, without_exponent_range};
use super::Approximate;
use super::widen::{TWO_TO_32, Widen};
use warpfold_num::double_double::{DoubleDouble, fast_two_sum, two_sum};

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

/// Additions in a lane at most: so few leave sums and sums of halves of squares below 2^51.
const MOST_ADDED: u64 = 1 << 19;

/// Sums and sums of squares of integers, exactly.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Integers<W>(PhantomData<W>);

impl<W> Integers<W> {
    pub(crate) fn new() -> Self {
        Integers(PhantomData)
    }
}

/// Sums, sums of squares modulo 2^64, and sums of upper halves of wide ones.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IntegerLanes {
    sums: [i64; N],
    squares: [u64; N],
    upper: [u64; N],
}

impl IntegerLanes {
    /// The sums of lower halves, or of all squares: what sums of upper halves leave, as no lane has 2^32 elements.
    #[inline(always)]
    fn lower(&self, lane: usize) -> u64 {
        self.squares[lane].wrapping_sub(self.upper[lane] << 32)
    }
}

impl<W: NarrowInteger> LaneOperation for Integers<W> {
    type Element = W;
    type Lanes = IntegerLanes;
    type Small = Approximate<DoubleDouble, 1>;
    const NOTHING: Self::Small =
        Approximate { sum: [DoubleDouble::ZERO], squares: DoubleDouble::ZERO };
    without_exponent_range!(W);
    const BESIDE: usize = if size_of::<W>() <= 2 { MOST_TURNED } else { 3 * N };
    // Gathered one by one, elements take the longer the more becomes of them.
    const TURNS_FROM: usize = 5;

    #[inline(always)]
    fn filler(self, _: W) -> W {
        W::default()
    }

    #[inline(always)]
    fn lanes(self, (): ()) -> IntegerLanes {
        IntegerLanes { sums: [0; N], squares: [0; N], upper: [0; N] }
    }

    #[inline(always)]
    fn add(self, lanes: &mut IntegerLanes, x: &[W; N], _: Positions) {
        for l in 0..N {
            let x: i64 = x[l].into();
            let square = x.wrapping_mul(x) as u64;
            lanes.sums[l] += x;
            if W::IS_WIDE {
                lanes.upper[l] += square >> 32;
            }
            lanes.squares[l] = lanes.squares[l].wrapping_add(square);
        }
    }

    #[inline(always)]
    fn lane(self, lanes: &IntegerLanes, lane: usize) -> Self::Small {
        let [sum, lower, upper] = [
            small(lanes.sums[lane]),
            small(lanes.lower(lane).cast_signed()),
            small(lanes.upper[lane].cast_signed()),
        ];
        let squares = match W::IS_WIDE {
            true => two_sum(upper * TWO_TO_32, lower),
            false => DoubleDouble { high: lower, low: 0.0 },
        };
        Approximate { sum: [DoubleDouble { high: sum, low: 0.0 }], squares }
    }

    const MOST_ADDED: u64 = MOST_ADDED;

    #[inline(always)]
    fn total(self, lanes: &IntegerLanes) -> Self::Small {
        // Runs that are joined have no more elements than a few tiles.
        approximate::<W>(
            lanes.sums.iter().sum(),
            (0..N).map(|lane| lanes.lower(lane)).sum(),
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

/// An integer of a magnitude below 2^51 as a number: beside the bits of 1.5 · 2^52, which are taken away again. (AVX2 converts none of 64 bits.)
#[inline(always)]
fn small(x: i64) -> f64 {
    const BESIDE: f64 = 6_755_399_441_055_744.0;
    f64::from_bits(BESIDE.to_bits().wrapping_add_signed(x)) - BESIDE
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
