//! [`IntegerStats`]: what stats tell of integers of up to 32 bits but for the order.

use std::marker::PhantomData;

use warpfold_num::double_double::DoubleDouble;

use super::float_stats::Totals;
use super::lanes::{LaneOperation, N, Positions, without_exponent_range};
use super::moments::{NarrowInteger, squares_of_halves};

/// Sums of values, of magnitudes and of squares of integers of up to 32 bits, exactly: drivers make fewer than 2^31 additions in a lane.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IntegerStats<W>(PhantomData<W>);

impl<W> IntegerStats<W> {
    pub(crate) fn new() -> Self {
        IntegerStats(PhantomData)
    }
}

/// Sums, remainders of 2^64 of the sums of squares, and sums of their upper halves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StatsOfIntegers {
    sums: [i64; N],
    norms: [u64; N],
    squares: [u64; N],
    uppers: [u64; N],
}

/// What sums tell.
#[inline(always)]
fn totals<W: NarrowInteger>(
    sum: i64,
    norm: u64,
    squares: u64,
    upper: u64,
) -> Totals<i128, DoubleDouble> {
    // Lower halves alone add up to less than 2^63.
    let lower = squares.wrapping_sub(upper << 32);
    let squares = squares_of_halves::<W>(lower, upper);
    Totals { sums: [i128::from(sum), i128::from(norm)], squares }
}

impl<W: NarrowInteger> LaneOperation for IntegerStats<W> {
    type Element = W;
    type Lanes = StatsOfIntegers;
    type Small = Totals<i128, DoubleDouble>;
    const NOTHING: Self::Small = Totals { sums: [0; 2], squares: DoubleDouble::ZERO };
    without_exponent_range!(W);

    #[inline(always)]
    fn filler(self, _: W) -> W {
        W::default()
    }

    #[inline(always)]
    fn lanes(self, (): ()) -> StatsOfIntegers {
        StatsOfIntegers { sums: [0; N], norms: [0; N], squares: [0; N], uppers: [0; N] }
    }

    #[inline(always)]
    fn add(self, lanes: &mut StatsOfIntegers, x: &[W; N], _: Positions) {
        let mut values = [0; N];
        for l in 0..N {
            values[l] = x[l].into();
        }
        for l in 0..N {
            lanes.sums[l] += values[l];
        }
        for l in 0..N {
            lanes.norms[l] += values[l].unsigned_abs();
        }
        for l in 0..N {
            let square = values[l].wrapping_mul(values[l]) as u64;
            lanes.squares[l] = lanes.squares[l].wrapping_add(square);
            if W::IS_WIDE {
                lanes.uppers[l] += square >> 32;
            }
        }
    }

    #[inline(always)]
    fn lane(self, lanes: &StatsOfIntegers, lane: usize) -> Self::Small {
        let StatsOfIntegers { sums, norms, squares, uppers } = lanes;
        totals::<W>(sums[lane], norms[lane], squares[lane], uppers[lane])
    }

    #[inline(always)]
    fn total(self, lanes: &StatsOfIntegers) -> Self::Small {
        // Runs that are joined have no more elements than a few tiles.
        totals::<W>(
            lanes.sums.iter().sum(),
            lanes.norms.iter().sum(),
            lanes.squares.iter().copied().fold(0, u64::wrapping_add),
            lanes.uppers.iter().sum(),
        )
    }

    const MERGES: bool = true;
    const IS_LARGE: bool = true;

    #[inline(always)]
    fn merge(self, small: &mut Self::Small, other: &Self::Small) -> bool {
        for k in 0..2 {
            small.sums[k] += other.sums[k];
        }
        small.squares = small.squares.add_same_sign(other.squares);
        true
    }
}
