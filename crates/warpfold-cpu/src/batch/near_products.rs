//! Products of few floats, nearly known: what the canonical tree of so few rounds to is known from any order but for a few in doubt.
//!
//! Of narrow floats each multiplication is one of f64 numbers, off by 2^-53; of f64 a second number takes what the first loses, so that `n` factors are off by less
//! than `n²·2^-104`. Readers say whether there is doubt, as of moments. So there is where something may have left the range of f64 on the way: an overflow stays
//! infinite or NaN, and what comes near an underflow is recorded. Many outputs of that kind take the tree (`products`).

use std::marker::PhantomData;

use super::lanes::{LaneOperation, N, Positions, without_exponent_range};
use super::moments::Widen;

/// Elements of an input at most: more would leave the range of f64 where they are numbers like any others.
pub(crate) const MOST: u64 = 64;

/// Products of a type of floats.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NearProducts<W>(PhantomData<W>);

impl<W> NearProducts<W> {
    pub(crate) fn new() -> Self {
        NearProducts(PhantomData)
    }
}

/// A product `high + low`, of narrow floats `high` with the bits of a factor in the place of `low`, and no more than the least magnitude of what was multiplied on the way; zero factors are not seen there if floats are narrow.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NearProduct {
    pub(crate) high: f64,
    pub(crate) low: f64,
    least: f64,
}

impl NearProduct {
    /// What lies above, and what it is multiplied by next, is in the range of f64 and so is its error.
    const LEAST: f64 = f64::from_bits((1023 - 900) << 52);

    /// Whether nothing has left the range of f64.
    #[inline(always)]
    pub(crate) fn is_sound(&self) -> bool {
        (self.least >= Self::LEAST) & self.high.is_finite()
    }

    /// The product of two.
    #[inline(always)]
    fn times<W: Widen>(self, other: Self) -> Self {
        let high = self.high * other.high;
        let low = if W::IS_NARROW {
            self.low
        } else {
            let error = self.high.mul_add(other.high, -high);
            self.high.mul_add(other.low, self.low.mul_add(other.high, error))
        };
        let is_zero = (self.high == 0.0) | (other.high == 0.0);
        let here = if is_zero { f64::INFINITY } else { high.abs() };
        NearProduct { high, low, least: here.min(self.least).min(other.least) }
    }
}

/// Products side by side.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Products {
    high: [f64; N],
    low: [f64; N],
    least: [f64; N],
}

impl<W: Widen> LaneOperation for NearProducts<W> {
    type Element = W;
    type Lanes = Products;
    type Small = NearProduct;
    const NOTHING: NearProduct =
        NearProduct { high: 1.0, low: if W::IS_NARROW { W::BITS } else { 0.0 }, least: 1.0 };
    without_exponent_range!(W);

    #[inline(always)]
    fn filler(self, first: W) -> W {
        first
    }

    #[inline(always)]
    fn lanes(self, (): ()) -> Products {
        Products { high: [1.0; N], low: [0.0; N], least: [1.0; N] }
    }

    #[inline(always)]
    fn add(self, lanes: &mut Products, x: &[W; N], at: Positions) {
        self.add_some(lanes, *x, N, at);
    }

    #[inline(always)]
    fn add_some(self, lanes: &mut Products, x: [W; N], some: usize, _: Positions) {
        let mut factors = [1.0; N];
        for l in 0..N {
            let factor = x[l].widen().0;
            factors[l] = if l < some { factor } else { 1.0 };
        }
        for l in 0..N {
            let high = lanes.high[l] * factors[l];
            if !W::IS_NARROW {
                let error = lanes.high[l].mul_add(factors[l], -high);
                lanes.low[l] = lanes.low[l].mul_add(factors[l], error);
            }
            lanes.high[l] = high;
        }
        for l in 0..N {
            let magnitude = lanes.high[l].abs();
            // A narrow factor takes no product from above the least one to zero.
            let is_zero = W::IS_NARROW & (magnitude == 0.0);
            let here = if is_zero { f64::INFINITY } else { magnitude };
            lanes.least[l] = if here < lanes.least[l] { here } else { lanes.least[l] };
        }
    }

    #[inline(always)]
    fn lane(self, lanes: &Products, lane: usize) -> NearProduct {
        let low = if W::IS_NARROW { W::BITS } else { lanes.low[lane] };
        NearProduct { high: lanes.high[lane], low, least: lanes.least[lane] }
    }

    #[inline(always)]
    fn total(self, lanes: &Products) -> NearProduct {
        let mut all: [NearProduct; N] = self.all(lanes);
        let mut left = N;
        while left > 1 {
            left /= 2;
            for l in 0..left {
                all[l] = all[l].times::<W>(all[l + left]);
            }
        }
        all[0]
    }

    /// To multiply the lanes of a run with each other takes longer than to turn it over.
    const BESIDE: usize = MOST as usize;
    const TURNS_FULL: bool = true;

    const MERGES: bool = true;
    // No element stands for one: the last few of a row are added by `add_some`.
    const IS_LARGE: bool = true;

    #[inline(always)]
    fn merge(self, small: &mut NearProduct, other: &NearProduct) -> bool {
        *small = small.times::<W>(*other);
        true
    }
}
