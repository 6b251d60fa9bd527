//! [`Squares`]: double-doubles, for what is rounded to f64.

use std::marker::PhantomData;

use super::super::lanes::{LaneOperation, MOST_TURNED, N, Positions, without_exponent_range};
use super::Approximate;
use super::widen::Widen;
use warpfold_num::double_double::{DoubleDouble, fast_two_sum, two_product, two_sum};

/// Sums and sums of squares of elements of `PARTS` words; `LANES` is `N · PARTS`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Squares<W, const PARTS: usize, const LANES: usize>(PhantomData<W>);

impl<W, const PARTS: usize, const LANES: usize> Squares<W, PARTS, LANES> {
    pub(crate) fn new() -> Self {
        Squares(PhantomData)
    }
}

/// Double-doubles in lanes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Doubles<const LANES: usize> {
    high: [f64; LANES],
    low: [f64; LANES],
}

impl<const LANES: usize> Doubles<LANES> {
    pub(crate) const ZERO: Self = Doubles { high: [0.0; LANES], low: [0.0; LANES] };

    #[inline(always)]
    pub(crate) fn get(&self, lane: usize) -> DoubleDouble {
        DoubleDouble { high: self.high[lane], low: self.low[lane] }
    }

    #[inline(always)]
    pub(crate) fn set(&mut self, lane: usize, x: DoubleDouble) {
        (self.high[lane], self.low[lane]) = (x.high, x.low);
    }

    /// What lanes `part, part + step, …` hold together, for each part: what the first additions leave is small, and so is its error.
    #[inline(always)]
    pub(crate) fn folded(mut self, step: usize) -> Self {
        let mut left = LANES;
        while left > step {
            left /= 2;
            for lane in 0..left {
                let sum = two_sum(self.high[lane], self.high[lane + left]);
                let low = sum.low + (self.low[lane] + self.low[lane + left]);
                (self.high[lane], self.low[lane]) = (sum.high, low);
            }
        }
        for lane in 0..step {
            let sum = fast_two_sum(self.high[lane], self.low[lane]);
            self.set(lane, sum);
        }
        self
    }
}

impl<W: Widen, const PARTS: usize, const LANES: usize> LaneOperation for Squares<W, PARTS, LANES> {
    type Element = [W; PARTS];
    type Lanes = [Doubles<LANES>; 2];
    type Small = Approximate<DoubleDouble, PARTS>;
    const NOTHING: Approximate<DoubleDouble, PARTS> =
        Approximate { sum: [DoubleDouble::ZERO; PARTS], squares: DoubleDouble::ZERO };
    without_exponent_range!([W; PARTS]);
    // Of so many operations an element, what joins the lanes of a run is the most of them.
    const BESIDE: usize = MOST_TURNED;
    const TURNS_FULL: bool = true;

    #[inline(always)]
    fn filler(self, _: [W; PARTS]) -> [W; PARTS] {
        [W::default(); PARTS]
    }

    #[inline(always)]
    fn lanes(self, (): ()) -> Self::Lanes {
        [Doubles::ZERO; 2]
    }

    #[inline(always)]
    fn add(self, [sums, squares]: &mut Self::Lanes, x: &[[W; PARTS]; N], _: Positions) {
        let parts = x.as_flattened();
        for lane in 0..LANES {
            let (sum, square) = added(sums.get(lane), squares.get(lane), parts[lane]);
            sums.set(lane, sum);
            squares.set(lane, square);
        }
    }

    #[inline(always)]
    fn lane(self, [sums, squares]: &Self::Lanes, lane: usize) -> Approximate<DoubleDouble, PARTS> {
        let first = lane * PARTS;
        let mut all = squares.get(first);
        for part in 1..PARTS {
            all = all.add_same_sign(squares.get(first + part));
        }
        let mut all = Approximate { squares: all, ..Self::NOTHING };
        for part in 0..PARTS {
            all.sum[part] = sums.get(first + part);
        }
        all
    }

    #[inline(always)]
    fn total(self, [sums, squares]: &Self::Lanes) -> Approximate<DoubleDouble, PARTS> {
        let (sums, squares) = (sums.folded(PARTS), squares.folded(1));
        let mut all = Approximate { squares: squares.get(0), ..Self::NOTHING };
        for part in 0..PARTS {
            all.sum[part] = sums.get(part);
        }
        all
    }

    const PUTS: bool = true;

    #[inline(always)]
    fn put(self, small: &mut Approximate<DoubleDouble, PARTS>, x: [W; PARTS]) -> bool {
        for part in 0..PARTS {
            (small.sum[part], small.squares) = added(small.sum[part], small.squares, x[part]);
        }
        true
    }

    const MERGES: bool = true;

    #[inline(always)]
    fn merge(
        self,
        small: &mut Approximate<DoubleDouble, PARTS>,
        other: &Approximate<DoubleDouble, PARTS>,
    ) -> bool {
        for part in 0..PARTS {
            small.sum[part] = small.sum[part].add(other.sum[part]);
        }
        small.squares = small.squares.add_same_sign(other.squares);
        true
    }
}

/// A sum and a sum of squares with one more number.
#[inline(always)]
fn added<W: Widen>(sum: DoubleDouble, squares: DoubleDouble, x: W) -> (DoubleDouble, DoubleDouble) {
    let (high, low) = x.widen();
    if W::IS_NARROW {
        return (sum.plus(high), squares.plus(high * high));
    }
    if W::IS_SHORT {
        return (sum.plus(high), squares.add_same_sign(two_product(high, high)));
    }
    let value = fast_two_sum(high, low);
    (sum.plus(value.high).plus(value.low), squares.add_same_sign(square(value)))
}

/// The square of two f64, whose halves are exact but overlap: the square of the lower one's rest is below the bound.
#[inline(always)]
fn square(value: DoubleDouble) -> DoubleDouble {
    let square = two_product(value.high, value.high);
    fast_two_sum(square.high, (2.0 * value.high).mul_add(value.low, square.low))
}

/// Sums of squares alone, of numbers of 64 bits whose sums are kept elsewhere.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SquaresAlone<W>(PhantomData<W>);

impl<W> SquaresAlone<W> {
    pub(crate) fn new() -> Self {
        SquaresAlone(PhantomData)
    }
}

impl<W: Widen> LaneOperation for SquaresAlone<W> {
    type Element = W;
    type Lanes = Doubles<N>;
    type Small = DoubleDouble;
    const NOTHING: DoubleDouble = DoubleDouble::ZERO;
    const IS_LARGE: bool = true;
    without_exponent_range!(W);

    #[inline(always)]
    fn filler(self, _: W) -> W {
        W::default()
    }

    #[inline(always)]
    fn lanes(self, (): ()) -> Doubles<N> {
        Doubles::ZERO
    }

    #[inline(always)]
    fn add(self, lanes: &mut Doubles<N>, x: &[W; N], _: Positions) {
        for l in 0..N {
            let (high, low) = x[l].widen();
            let square = match W::IS_SHORT {
                true => two_product(high, high),
                false => square(fast_two_sum(high, low)),
            };
            lanes.set(l, lanes.get(l).add_same_sign(square));
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

    const MERGES: bool = true;

    #[inline(always)]
    fn merge(self, small: &mut DoubleDouble, other: &DoubleDouble) -> bool {
        *small = small.add_same_sign(*other);
        true
    }
}
