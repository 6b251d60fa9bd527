//! Products of few floats, nearly known: what the canonical tree of so few rounds to is known from any order but for a few in doubt.
//!
//! Of narrow floats each multiplication is one of f64 numbers, off by 2^-53; of f64 a second number takes what the first loses, so that `n` factors are off by less
//! than `n²·2^-104`. Readers say whether there is doubt, as of moments. So there is where something may have left the range of f64 on the way: an overflow stays
//! infinite or NaN, and what comes near an underflow is recorded. Many outputs of that kind take the tree (`products`).

use std::marker::PhantomData;

use super::band::Band;
use super::lanes::{LaneOperation, N, Positions, without_exponent_range};
use super::moments::Widen;
use super::turned::add_turned;
use crate::isa::{Job, Target, with_lanes_apart};
use crate::memory::prefetch_at;
use warpfold_plan::plan::Isa;

/// Elements of an input at most: more would leave the range of f64 where they are numbers like any others.
pub(crate) const MOST: u64 = 64;

/// Products of a type of floats, with a second number for each if `LOWS` is one: of f64 alone, as one f64 holds two factors of others.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NearProducts<W, const LOWS: usize>(PhantomData<W>);

impl<W: Widen, const LOWS: usize> NearProducts<W, LOWS> {
    /// The bits of a factor.
    pub(crate) const BITS: u32 = W::BITS;

    pub(crate) fn new() -> Self {
        NearProducts(PhantomData)
    }

    /// Multiplies by a factor each.
    #[inline(always)]
    fn multiply(self, lanes: &mut Products<LOWS>, factors: &[f64; N]) {
        const { assert!(W::IS_NARROW == (LOWS == 0), "a second number where it is needed") };
        for l in 0..N {
            let high = lanes.high[l] * factors[l];
            for k in 0..LOWS {
                let error = lanes.high[l].mul_add(factors[l], -high);
                lanes.low[k][l] = lanes.low[k][l].mul_add(factors[l], error);
            }
            lanes.high[l] = high;
        }
        for l in 0..N {
            let magnitude = lanes.high[l].abs();
            // Two narrow factors, no less than 2^-298, take no product from above the least one to zero.
            let is_zero = W::IS_NARROW & (magnitude == 0.0);
            let here = if is_zero { f64::INFINITY } else { magnitude };
            lanes.least[l] = if here < lanes.least[l] { here } else { lanes.least[l] };
        }
    }

    /// Multiplies by the product of two narrow elements each, which is exact: half the steps.
    #[inline(always)]
    fn add_pair(self, lanes: &mut Products<LOWS>, x: &[W; N], y: &[W; N]) {
        let mut factors = [1.0; N];
        for l in 0..N {
            factors[l] = x[l].widen().0 * y[l].widen().0;
        }
        self.multiply(lanes, &factors);
    }
}

/// Runs that were turned over, two elements of each at a time.
struct Pairs<'a, W: Widen, const LOWS: usize> {
    kind: NearProducts<W, LOWS>,
    lanes: &'a mut Products<LOWS>,
    groups: &'a [[W; N]],
}

impl<W: Widen, const LOWS: usize> Job for Pairs<'_, W, LOWS> {
    type Output = ();

    #[inline(always)]
    fn run<C: Target>(self) {
        let mut lanes = *self.lanes;
        let (pairs, rest) = self.groups.as_chunks::<2>();
        for [x, y] in pairs {
            self.kind.add_pair(&mut lanes, x, y);
        }
        for x in rest {
            self.kind.add(&mut lanes, x, Positions { first: 0, step: 0 });
        }
        *self.lanes = lanes;
    }
}

/// A product `high + low`, or `high`; NaN where something may have left the range of f64.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NearProduct<const LOWS: usize> {
    pub(crate) high: f64,
    pub(crate) low: [f64; LOWS],
}

/// What lies above, and what it is multiplied by next, is in the range of f64 and so is its error: of narrow floats that may be two factors, no less than 2^-298.
const fn least(lows: usize) -> f64 {
    let exponent = if lows == 0 { 700 } else { 900 };
    f64::from_bits((1023 - exponent) << 52)
}

/// A number, or NaN where it is not to be trusted: by bits, as a selection would be made a branch for each.
#[inline(always)]
pub(super) fn where_sound(x: f64, is_sound: bool) -> f64 {
    f64::from_bits(x.to_bits() | u64::from(!is_sound).wrapping_neg())
}

/// A product with no more than the least magnitude of what was multiplied on the way; zero factors are not seen there if floats are narrow.
#[derive(Clone, Copy)]
struct Factor<const LOWS: usize> {
    high: f64,
    low: [f64; LOWS],
    least: f64,
}

impl<const LOWS: usize> Factor<LOWS> {
    /// The product of two.
    #[inline(always)]
    fn times(self, other: Self) -> Self {
        let (high, mut low) = (self.high * other.high, [0.0; LOWS]);
        for k in 0..LOWS {
            let error = self.high.mul_add(other.high, -high);
            low[k] = self.high.mul_add(other.low[k], self.low[k].mul_add(other.high, error));
        }
        let is_zero = (self.high == 0.0) | (other.high == 0.0);
        let here = if is_zero { f64::INFINITY } else { high.abs() };
        Factor { high, low, least: here.min(self.least).min(other.least) }
    }

    #[inline(always)]
    fn known(self) -> NearProduct<LOWS> {
        let is_sound = (self.least >= least(LOWS)) & self.high.is_finite();
        NearProduct { high: where_sound(self.high, is_sound), low: self.low }
    }
}

/// Products side by side.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Products<const LOWS: usize> {
    high: [f64; N],
    low: [[f64; N]; LOWS],
    least: [f64; N],
}

impl<const LOWS: usize> Products<LOWS> {
    #[inline(always)]
    fn factor(&self, lane: usize) -> Factor<LOWS> {
        let mut low = [0.0; LOWS];
        for k in 0..LOWS {
            low[k] = self.low[k][lane];
        }
        Factor { high: self.high[lane], low, least: self.least[lane] }
    }
}

impl<W: Widen, const LOWS: usize> LaneOperation for NearProducts<W, LOWS> {
    type Element = W;
    type Lanes = Products<LOWS>;
    type Small = NearProduct<LOWS>;
    const NOTHING: NearProduct<LOWS> = NearProduct { high: 1.0, low: [0.0; LOWS] };
    without_exponent_range!(W);

    #[inline(always)]
    fn filler(self, first: W) -> W {
        first
    }

    #[inline(always)]
    fn lanes(self, (): ()) -> Products<LOWS> {
        Products { high: [1.0; N], low: [[0.0; N]; LOWS], least: [1.0; N] }
    }

    #[inline(always)]
    fn add(self, lanes: &mut Products<LOWS>, x: &[W; N], at: Positions) {
        self.add_some(lanes, *x, N, at);
    }

    #[inline(always)]
    fn add_some(self, lanes: &mut Products<LOWS>, x: [W; N], some: usize, _: Positions) {
        let mut factors = [1.0; N];
        for l in 0..N {
            let factor = x[l].widen().0;
            factors[l] = if l < some { factor } else { 1.0 };
        }
        self.multiply(lanes, &factors);
    }

    #[inline(always)]
    fn add_turned(self, isa: Isa, lanes: &mut Self::Lanes, groups: &[[W; N]], first: u64) {
        match LOWS {
            0 => with_lanes_apart(isa, Pairs { kind: self, lanes, groups }),
            _ => add_turned(self, isa, lanes, groups, first),
        }
    }

    #[inline(always)]
    fn add_rows(
        band: &Band<'_, Self>,
        column: usize,
        lanes: Self::Lanes,
        made: &mut Self::Lanes,
    ) -> Self::Monitor {
        if LOWS > 0 || column + N > band.width {
            return band.add_one(column, lanes, made);
        }
        let (mut products, mut k) = (lanes, 0);
        let group = |k: usize| {
            let group = band.row(k)[column..].first_chunk().expect("as many columns");
            prefetch_at(group, band.ahead);
            group
        };
        while k + 1 < band.rows {
            band.kind.add_pair(&mut products, group(k), group(k + 1));
            k += 2;
        }
        if k < band.rows {
            band.kind.add(&mut products, group(k), Positions { first: band.first, step: 0 });
        }
        *made = products;
    }

    #[inline(always)]
    fn lane(self, lanes: &Products<LOWS>, lane: usize) -> NearProduct<LOWS> {
        lanes.factor(lane).known()
    }

    #[inline(always)]
    fn all(self, lanes: &Products<LOWS>) -> [NearProduct<LOWS>; N] {
        let (mut high, mut all) = ([0.0; N], [Self::NOTHING; N]);
        for l in 0..N {
            let is_sound = (lanes.least[l] >= least(LOWS)) & (lanes.high[l].abs() < f64::INFINITY);
            high[l] = where_sound(lanes.high[l], is_sound);
        }
        for l in 0..N {
            all[l].high = high[l];
            for k in 0..LOWS {
                all[l].low[k] = lanes.low[k][l];
            }
        }
        all
    }

    #[inline(always)]
    fn total(self, lanes: &Products<LOWS>) -> NearProduct<LOWS> {
        let mut all = [lanes.factor(0); N];
        for l in 1..N {
            all[l] = lanes.factor(l);
        }
        let mut left = N;
        while left > 1 {
            left /= 2;
            for l in 0..left {
                all[l] = all[l].times(all[l + left]);
            }
        }
        all[0].known()
    }

    /// To multiply the lanes of a run with each other takes longer than to turn it over.
    const BESIDE: usize = MOST as usize;
    const TURNS_FULL: bool = true;

    const MERGES: bool = true;
    // No element stands for one: the last few of a row are added by `add_some`.
    const IS_LARGE: bool = true;

    #[inline(always)]
    fn merge(self, small: &mut NearProduct<LOWS>, other: &NearProduct<LOWS>) -> bool {
        let [one, other] =
            [*small, *other].map(|NearProduct { high, low }| Factor { high, low, least: 1.0 });
        *small = one.times(other).known();
        true
    }
}
