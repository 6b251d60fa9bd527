//! [`FloatStats`]: what stats tell of floats but for the order, in one reading: exact sums of values and of magnitudes as [`FloatSums`] keep them, and squares.
//!
//! The sum is exact, so that squares alone are kept for variances, of what is left when a number near all elements is taken away ([`Near`]) or in two f64
//! ([`Doubles`]); readers make sums of what is left, and of squares as they are, from both.

use warpfold_exact::exact::Pair;
use warpfold_num::double_double::{DoubleDouble, power_of_two, two_product, two_sum};
use warpfold_num::element::Ordered;

use super::float_sums::FloatSums;
use super::lanes::{LaneOperation, N, Positions};
use super::moments::{Approximate, Doubles};
use super::several::range_of_first;
use crate::float::{Cascade, Lane, added_by_halves};

/// Sums of values and of magnitudes, and of squares.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Totals<S, Q> {
    pub(crate) sums: [S; 2],
    pub(crate) squares: Q,
}

/// How squares are added up.
pub(crate) trait SquareLanes: Copy + Send + Sync {
    type Lanes: Copy;
    type Small: Copy + Send + Sync;
    const NOTHING: Self::Small;

    fn lanes(self) -> Self::Lanes;
    /// Adds the squares of the first few of some numbers, the others of which are zeros.
    fn add_some(self, lanes: &mut Self::Lanes, x: &[f64; N], some: usize);
    fn lane(self, lanes: &Self::Lanes, lane: usize) -> Self::Small;
    fn total(self, lanes: &Self::Lanes) -> Self::Small;
    fn merge(self, small: &mut Self::Small, other: &Self::Small);
}

/// Squares of what is left when a number near all elements is taken away, by f64 additions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Near {
    pivot: f64,
    /// What numbers are multiplied by in lanes, and what their squares are multiplied by after that.
    scale: f64,
    unscale: f64,
}

impl Near {
    /// Of numbers that are multiplied by a power of two, and the number near all of them.
    pub(crate) fn new(pivot: f64, scale: i32) -> Self {
        let scale = i64::from(scale);
        Near { pivot, scale: power_of_two(scale), unscale: power_of_two(-2 * scale) }
    }

    #[inline(always)]
    fn about(self, squares: f64) -> About {
        About { squares: squares * self.unscale, pivot: self.pivot }
    }
}

/// The squares of what is left without a number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct About {
    squares: f64,
    pivot: f64,
}

impl SquareLanes for Near {
    type Lanes = [f64; N];
    type Small = About;
    const NOTHING: About = About { squares: 0.0, pivot: 0.0 };

    #[inline(always)]
    fn lanes(self) -> [f64; N] {
        [0.0; N]
    }

    #[inline(always)]
    fn add_some(self, lanes: &mut [f64; N], x: &[f64; N], some: usize) {
        let pivot = self.pivot * self.scale;
        for l in 0..N {
            let left = if l < some { x[l] - pivot } else { 0.0 };
            lanes[l] = left.mul_add(left, lanes[l]);
        }
    }

    #[inline(always)]
    fn lane(self, lanes: &[f64; N], lane: usize) -> About {
        self.about(lanes[lane])
    }

    #[inline(always)]
    fn total(self, lanes: &[f64; N]) -> About {
        self.about(added_by_halves(*lanes, 1)[0])
    }

    #[inline(always)]
    fn merge(self, small: &mut About, other: &About) {
        small.squares += other.squares;
    }
}

/// Squares in two f64.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InPairs;

impl SquareLanes for InPairs {
    type Lanes = Doubles<N>;
    type Small = DoubleDouble;
    const NOTHING: DoubleDouble = DoubleDouble::ZERO;

    #[inline(always)]
    fn lanes(self) -> Doubles<N> {
        Doubles::ZERO
    }

    #[inline(always)]
    fn add_some(self, lanes: &mut Doubles<N>, x: &[f64; N], _: usize) {
        for l in 0..N {
            lanes.set(l, lanes.get(l).add_same_sign(two_product(x[l], x[l])));
        }
    }

    #[inline(always)]
    fn lane(self, lanes: &Doubles<N>, lane: usize) -> DoubleDouble {
        lanes.get(lane)
    }

    #[inline(always)]
    fn total(self, lanes: &Doubles<N>) -> DoubleDouble {
        lanes.folded(1).get(0)
    }

    #[inline(always)]
    fn merge(self, small: &mut DoubleDouble, other: &DoubleDouble) {
        *small = small.add_same_sign(*other);
    }
}

impl Totals<Pair, About> {
    /// The sum of what is left without the number near all of `count` elements: exact but for one rounding.
    #[inline(always)]
    fn left(&self, count: u64) -> f64 {
        let Pair { high, low } = self.sums[0];
        let taken = two_product(-(count as f64), self.squares.pivot);
        DoubleDouble { high, low }.add(taken).high
    }

    /// The sum and the squares of what is left.
    #[inline(always)]
    pub(crate) fn spread(&self, count: u64) -> Approximate<f64, 1> {
        Approximate { sum: [self.left(count)], squares: self.squares.squares }
    }

    /// The sum and the squares of elements as they are: Σx² = Σ(x - p)² + p·(Σx + Σ(x - p)). Where that cancels, they are not known.
    #[inline(always)]
    pub(crate) fn squares(&self, count: u64) -> Approximate<f64, 1> {
        let (sum, About { squares, pivot }) = (self.sums[0].high, self.squares);
        let rest = pivot * (sum + self.left(count));
        Approximate { sum: [sum], squares: if rest < 0.0 { f64::NAN } else { squares + rest } }
    }
}

/// A sum in two f64, the first of which is the nearest.
pub(crate) trait InTwo: Copy + Send + Sync {
    fn in_two(self) -> DoubleDouble;
}

impl InTwo for Pair {
    #[inline(always)]
    fn in_two(self) -> DoubleDouble {
        two_sum(self.high, self.low)
    }
}

impl InTwo for i128 {
    #[inline(always)]
    fn in_two(self) -> DoubleDouble {
        const HALF: f64 = 4_294_967_296.0;
        // Sums of fewer than 2^31 integers of 64 bits; conversions of all bits would be calls.
        let (high, middle, low) = ((self >> 64) as i64, (self as u64) >> 32, self as u32);
        let high = two_sum(high as f64 * HALF * HALF, middle as f64 * HALF);
        high.plus(f64::from(low))
    }
}

impl<S: InTwo> Totals<S, DoubleDouble> {
    /// The sum and the squares.
    #[inline(always)]
    pub(crate) fn moments(&self) -> Approximate<DoubleDouble, 1> {
        Approximate { sum: [self.sums[0].in_two()], squares: self.squares }
    }
}

/// Sums of values, of magnitudes and of squares of floats.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FloatStats<F, Q, const LEVELS: usize>(FloatSums<F, 1, LEVELS, N>, Q);

impl<F: Lane + Ordered, Q, const LEVELS: usize> FloatStats<F, Q, LEVELS> {
    pub(crate) fn new(squares: Q) -> Self {
        FloatStats(FloatSums::values(), squares)
    }
}

/// Accumulators of [`FloatStats`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct StatsLanes<L, Q> {
    sums: L,
    norms: L,
    squares: Q,
}

impl<F: Lane + Ordered, Q: SquareLanes, const LEVELS: usize> LaneOperation
    for FloatStats<F, Q, LEVELS>
{
    type Element = [F; 1];
    type Lanes = StatsLanes<Cascade<LEVELS, N>, Q::Lanes>;
    type Small = Totals<Pair, Q::Small>;
    const NOTHING: Self::Small =
        Totals { sums: [Pair { high: 0.0, low: 0.0 }; 2], squares: Q::NOTHING };
    const MERGES: bool = true;
    const IS_LARGE: bool = true;

    range_of_first!(FloatSums<F, 1, LEVELS, N>);

    #[inline(always)]
    fn lanes(self, exponents: Self::ExponentRange) -> Self::Lanes {
        let sums = self.0.lanes(exponents);
        StatsLanes { sums, norms: sums, squares: self.1.lanes() }
    }

    #[inline(always)]
    fn add(self, lanes: &mut Self::Lanes, x: &[[F; 1]; N], at: Positions) {
        self.add_some(lanes, *x, N, at);
    }

    #[inline(always)]
    fn add_some(self, lanes: &mut Self::Lanes, x: [[F; 1]; N], some: usize, _: Positions) {
        let mut values = [0.0; N];
        for l in 0..N {
            values[l] = if l < some { x[l][0].wide() } else { 0.0 };
        }
        for l in 0..N {
            lanes.sums.deposit(0, l, values[l]);
        }
        for l in 0..N {
            lanes.norms.deposit(0, l, values[l].abs());
        }
        self.1.add_some(&mut lanes.squares, &values, some);
    }

    #[inline(always)]
    fn lane(self, lanes: &Self::Lanes, lane: usize) -> Self::Small {
        let ([sum], [norm]) = (self.0.lane(&lanes.sums, lane), self.0.lane(&lanes.norms, lane));
        Totals { sums: [sum, norm], squares: self.1.lane(&lanes.squares, lane) }
    }

    #[inline(always)]
    fn all(self, lanes: &Self::Lanes) -> [Self::Small; N] {
        let mut all = [Self::NOTHING; N];
        for lane in 0..N {
            all[lane] = self.lane(lanes, lane);
        }
        all
    }

    #[inline(always)]
    fn total(self, lanes: &Self::Lanes) -> Self::Small {
        let ([sum], [norm]) = (self.0.total(&lanes.sums), self.0.total(&lanes.norms));
        Totals { sums: [sum, norm], squares: self.1.total(&lanes.squares) }
    }

    #[inline(always)]
    fn merge(self, small: &mut Self::Small, other: &Self::Small) -> bool {
        let [sum, norm] = small.sums;
        let (mut sum, mut norm) = ([sum], [norm]);
        let fits = self.0.merge(&mut sum, &[other.sums[0]])
            && self.0.merge(&mut norm, &[other.sums[1]]);
        if fits {
            small.sums = [sum[0], norm[0]];
            self.1.merge(&mut small.squares, &other.squares);
        }
        fits
    }
}
