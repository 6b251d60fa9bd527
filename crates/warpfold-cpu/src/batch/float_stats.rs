//! [`FloatStats`]: what stats tell of narrow floats but for the order: exact sums of values and of magnitudes, as [`FloatSums`] keep them, and squares.
//!
//! The sum is exact, so that squares alone are kept for variances, of what is left when a number near all elements is taken away; readers make the sum of what is
//! left, and the squares of elements as they are, from both.

use warpfold_exact::exact::Pair;
use warpfold_num::double_double::{DoubleDouble, power_of_two, two_product, two_sum};
use warpfold_num::element::Ordered;

use super::float_sums::FloatSums;
use super::lanes::{LaneOperation, N, Positions};
use super::moments::{Approximate, MOST_PLAIN};
use super::results::AT_ONCE;
use super::several::range_of_first;
use crate::float::{Cascade, Lane, added_by_halves};

/// Sums of values and of magnitudes, and of squares.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Totals<S, Q> {
    pub(crate) sums: [S; 2],
    pub(crate) squares: Q,
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
        About { squares: squares * self.unscale, rest: 0.0, pivot: self.pivot }
    }
}

/// The squares of what is left without a number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct About {
    squares: f64,
    /// What was lost where squares were joined.
    rest: f64,
    pivot: f64,
}

impl Totals<Pair, About> {
    /// The sums of what is left without the number near all of so many elements: exact but for one rounding. Each step of all together, as registers hold several.
    #[inline(always)]
    fn left(all: &[Self; AT_ONCE], counts: [u64; AT_ONCE]) -> [f64; AT_ONCE] {
        let (mut high, mut low) = ([0.0; AT_ONCE], [0.0; AT_ONCE]);
        let mut pivots = [0.0; AT_ONCE];
        for k in 0..AT_ONCE {
            Pair { high: high[k], low: low[k] } = all[k].sums[0];
            pivots[k] = all[k].squares.pivot;
        }
        for k in 0..AT_ONCE {
            let taken = two_product(-(counts[k] as f64), pivots[k]);
            high[k] = DoubleDouble { high: high[k], low: low[k] }.add(taken).high;
        }
        high
    }

    /// The sums and the squares of what is left.
    #[inline(always)]
    pub(crate) fn spreads(
        all: &[Self; AT_ONCE],
        counts: [u64; AT_ONCE],
    ) -> [Approximate<f64, 1>; AT_ONCE] {
        let left = Self::left(all, counts);
        let mut spreads = [Approximate { sum: [0.0], squares: 0.0 }; AT_ONCE];
        for k in 0..AT_ONCE {
            spreads[k] = Approximate {
                sum: [left[k]],
                squares: all[k].squares.squares + all[k].squares.rest,
            };
        }
        spreads
    }

    /// The sums and the squares of elements as they are: Σx² = Σ(x - p)² + p·(Σx + Σ(x - p)). Where that cancels, they are not known.
    #[inline(always)]
    pub(crate) fn squares(
        all: &[Self; AT_ONCE],
        counts: [u64; AT_ONCE],
    ) -> [Approximate<f64, 1>; AT_ONCE] {
        let left = Self::left(all, counts);
        let (mut sums, mut squares) = ([0.0; AT_ONCE], [0.0; AT_ONCE]);
        let mut pivots = [0.0; AT_ONCE];
        for k in 0..AT_ONCE {
            let (Pair { high, low }, about) = (all[k].sums[0], all[k].squares);
            sums[k] = high + low;
            squares[k] = about.squares + about.rest;
            pivots[k] = about.pivot;
        }
        for k in 0..AT_ONCE {
            let rest = pivots[k] * (sums[k] + left[k]);
            squares[k] = if rest < 0.0 { f64::NAN } else { squares[k] + rest };
        }
        let mut found = [Approximate { sum: [0.0], squares: 0.0 }; AT_ONCE];
        for k in 0..AT_ONCE {
            found[k] = Approximate { sum: [sums[k]], squares: squares[k] };
        }
        found
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

/// Sums of values, of magnitudes and of squares of floats whose results are f32.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FloatStats<F>(FloatSums<F, 1, 0, N>, Near);

impl<F: Lane + Ordered> FloatStats<F> {
    pub(crate) fn new(pivot: f64) -> Self {
        FloatStats(FloatSums::values(), Near::new(pivot, F::SCALE))
    }
}

/// Accumulators of [`FloatStats`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct StatsLanes {
    sums: Cascade<0, N>,
    norms: Cascade<0, N>,
    squares: [f64; N],
}

impl<F: Lane + Ordered> FloatStats<F> {
    /// Adds those elements that are there.
    #[inline(always)]
    fn add_where(self, lanes: &mut StatsLanes, x: [[F; 1]; N], are_there: [bool; N]) {
        let (mut values, pivot) = ([0.0; N], self.1.pivot * self.1.scale);
        for l in 0..N {
            values[l] = if are_there[l] { x[l][0].wide() } else { 0.0 };
        }
        for l in 0..N {
            lanes.sums.deposit(0, l, values[l]);
        }
        for l in 0..N {
            lanes.norms.deposit(0, l, values[l].abs());
        }
        for l in 0..N {
            let left = if are_there[l] { values[l] - pivot } else { 0.0 };
            lanes.squares[l] = left.mul_add(left, lanes.squares[l]);
        }
    }
}

impl<F: Lane + Ordered> LaneOperation for FloatStats<F> {
    type Element = [F; 1];
    type Lanes = StatsLanes;
    type Small = Totals<Pair, About>;
    const NOTHING: Self::Small = Totals {
        sums: [Pair { high: 0.0, low: 0.0 }; 2],
        squares: About { squares: 0.0, rest: 0.0, pivot: 0.0 },
    };
    const MERGES: bool = true;
    const MOST_ADDED: u64 = MOST_PLAIN;
    const IS_LARGE: bool = true;

    range_of_first!(FloatSums<F, 1, 0, N>);

    #[inline(always)]
    fn lanes(self, exponents: Self::ExponentRange) -> StatsLanes {
        let sums = self.0.lanes(exponents);
        StatsLanes { sums, norms: sums, squares: [0.0; N] }
    }

    #[inline(always)]
    fn add(self, lanes: &mut StatsLanes, x: &[[F; 1]; N], at: Positions) {
        self.add_some(lanes, *x, N, at);
    }

    #[inline(always)]
    fn add_some(self, lanes: &mut StatsLanes, x: [[F; 1]; N], some: usize, _: Positions) {
        let mut are_there = [false; N];
        for l in 0..N {
            are_there[l] = l < some;
        }
        self.add_where(lanes, x, are_there);
    }

    #[inline(always)]
    fn add_there(self, lanes: &mut StatsLanes, x: [[F; 1]; N], lengths: &[u32; N], index: u32) {
        let mut are_there = [false; N];
        for l in 0..N {
            are_there[l] = index < lengths[l];
        }
        self.add_where(lanes, x, are_there);
    }

    #[inline(always)]
    fn lane(self, lanes: &StatsLanes, lane: usize) -> Self::Small {
        let ([sum], [norm]) = (self.0.lane(&lanes.sums, lane), self.0.lane(&lanes.norms, lane));
        Totals { sums: [sum, norm], squares: self.1.about(lanes.squares[lane]) }
    }

    #[inline(always)]
    fn all(self, lanes: &StatsLanes) -> [Self::Small; N] {
        let (sums, norms) = (self.0.all(&lanes.sums), self.0.all(&lanes.norms));
        let mut all = [Self::NOTHING; N];
        for l in 0..N {
            let squares = self.1.about(lanes.squares[l]);
            all[l] = Totals { sums: [sums[l][0], norms[l][0]], squares };
        }
        all
    }

    #[inline(always)]
    fn total(self, lanes: &StatsLanes) -> Self::Small {
        let ([sum], [norm]) = (self.0.total(&lanes.sums), self.0.total(&lanes.norms));
        let squares = added_by_halves(lanes.squares, 1)[0];
        Totals { sums: [sum, norm], squares: self.1.about(squares) }
    }

    #[inline(always)]
    fn merge(self, small: &mut Self::Small, other: &Self::Small) -> bool {
        let [sum, norm] = small.sums;
        let (mut sum, mut norm) = ([sum], [norm]);
        let fits =
            self.0.merge(&mut sum, &[other.sums[0]]) && self.0.merge(&mut norm, &[other.sums[1]]);
        if fits {
            small.sums = [sum[0], norm[0]];
            let squares = two_sum(small.squares.squares, other.squares.squares);
            small.squares.squares = squares.high;
            small.squares.rest += squares.low + other.squares.rest;
        }
        fits
    }
}
