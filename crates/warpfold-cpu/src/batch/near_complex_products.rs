//! Products of few complex numbers of narrow parts, nearly known, as those of real numbers are ([`near_products`](super::near_products)).
//!
//! Parts are multiplied as f64: of each multiplication the error is less than 2^-52 of the product's size, whatever the size of its parts.

use std::marker::PhantomData;

use super::lanes::{LaneOperation, N, Positions, without_exponent_range};
use super::moments::Widen;
use super::near_products::{MOST, where_sound};

/// Products of complex numbers of a part's type.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NearComplexProducts<W>(PhantomData<W>);

impl<W> NearComplexProducts<W> {
    pub(crate) fn new() -> Self {
        NearComplexProducts(PhantomData)
    }
}

/// A product; of no number where something may have left the range of f64 on the way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NearComplexProduct {
    pub(crate) re: f64,
    pub(crate) im: f64,
}

/// The same with no more than the least size of what was multiplied on the way.
#[derive(Clone, Copy)]
struct Factor {
    re: f64,
    im: f64,
    least: f64,
}

/// Sizes above this one have errors and next factors within the range of f64.
const LEAST: f64 = f64::from_bits((1023 - 800) << 52);

/// The size of a number: no less than its magnitude, and no more than 1.5 times that.
#[inline(always)]
fn size(re: f64, im: f64) -> f64 {
    re.abs() + im.abs()
}

/// The product of two numbers.
#[inline(always)]
fn times([a, b]: [f64; 2], [c, d]: [f64; 2]) -> [f64; 2] {
    [a.mul_add(c, -(b * d)), a.mul_add(d, b * c)]
}

impl NearComplexProduct {
    /// What either part is off by at most after so many factors; no number where something may have left the range of f64.
    #[inline(always)]
    pub(crate) fn error(&self, count: f64) -> f64 {
        // Four times what the multiplications lose.
        size(self.re, self.im) * (count * 2f64.powi(-50))
    }
}

impl Factor {
    /// The product of two.
    #[inline(always)]
    fn times(self, other: Self) -> Self {
        let [re, im] = times([self.re, self.im], [other.re, other.im]);
        Factor { re, im, least: size(re, im).min(self.least).min(other.least) }
    }

    #[inline(always)]
    fn known(self) -> NearComplexProduct {
        let is_sound = (self.least >= LEAST) & (size(self.re, self.im) < f64::INFINITY);
        NearComplexProduct {
            re: where_sound(self.re, is_sound),
            im: where_sound(self.im, is_sound),
        }
    }
}

/// Products side by side.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Products {
    re: [f64; N],
    im: [f64; N],
    least: [f64; N],
}

impl Products {
    #[inline(always)]
    fn factor(&self, lane: usize) -> Factor {
        Factor { re: self.re[lane], im: self.im[lane], least: self.least[lane] }
    }
}

impl<W: Widen> LaneOperation for NearComplexProducts<W> {
    type Element = [W; 2];
    type Lanes = Products;
    type Small = NearComplexProduct;
    const NOTHING: NearComplexProduct = NearComplexProduct { re: 1.0, im: 0.0 };
    without_exponent_range!([W; 2]);

    #[inline(always)]
    fn filler(self, first: [W; 2]) -> [W; 2] {
        first
    }

    #[inline(always)]
    fn lanes(self, (): ()) -> Products {
        Products { re: [1.0; N], im: [0.0; N], least: [1.0; N] }
    }

    #[inline(always)]
    fn add(self, lanes: &mut Products, x: &[[W; 2]; N], at: Positions) {
        self.add_some(lanes, *x, N, at);
    }

    #[inline(always)]
    fn add_some(self, lanes: &mut Products, x: [[W; 2]; N], some: usize, _: Positions) {
        const { assert!(W::IS_NARROW, "f64 holds products of narrow parts") };
        let (mut re, mut im) = ([1.0; N], [0.0; N]);
        for l in 0..N {
            let parts = (x[l][0].widen().0, x[l][1].widen().0);
            (re[l], im[l]) = if l < some { parts } else { (1.0, 0.0) };
        }
        for l in 0..N {
            [lanes.re[l], lanes.im[l]] = times([lanes.re[l], lanes.im[l]], [re[l], im[l]]);
        }
        for l in 0..N {
            let here = size(lanes.re[l], lanes.im[l]);
            lanes.least[l] = if here < lanes.least[l] { here } else { lanes.least[l] };
        }
    }

    #[inline(always)]
    fn lane(self, lanes: &Products, lane: usize) -> NearComplexProduct {
        lanes.factor(lane).known()
    }

    #[inline(always)]
    fn all(self, lanes: &Products) -> [NearComplexProduct; N] {
        let (mut re, mut im, mut all) = ([0.0; N], [0.0; N], [Self::NOTHING; N]);
        for l in 0..N {
            let size = size(lanes.re[l], lanes.im[l]);
            let is_sound = (lanes.least[l] >= LEAST) & (size < f64::INFINITY);
            re[l] = where_sound(lanes.re[l], is_sound);
            im[l] = where_sound(lanes.im[l], is_sound);
        }
        for l in 0..N {
            all[l] = NearComplexProduct { re: re[l], im: im[l] };
        }
        all
    }

    #[inline(always)]
    fn total(self, lanes: &Products) -> NearComplexProduct {
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
    fn merge(self, small: &mut NearComplexProduct, other: &NearComplexProduct) -> bool {
        let [one, other] =
            [*small, *other].map(|NearComplexProduct { re, im }| Factor { re, im, least: 1.0 });
        *small = one.times(other).known();
        true
    }
}
