//! Products of integers, many at a time: each lane has the product modulo 2^64, and beside it what f64 makes of the same factors.
//!
//! Both together are exact as far as a result can be. A factor that is not one at least doubles the magnitude, so that no more than 65 of them make a
//! product below 2^65, and f64 has it within `2^-45` of itself: of all numbers with these low bits one alone is so near. Larger products have a larger f64, an infinity in the
//! end; a zero leaves zero, or NaN beside an infinity.

use std::marker::PhantomData;

use super::lanes::{LaneOperation, N, Positions, without_exponent_range};
use warpfold_exact::partial::IntegerProduct;

/// An integer as these lanes multiply it.
pub(crate) trait IntegerFactor: Copy + Send + Sync {
    const ONE: Self;

    /// The value modulo 2^64.
    fn bits(self) -> u64;

    /// The value, rounded.
    fn near(self) -> f64;
}

macro_rules! factors {
    ($($ty:ty),+) => {$(
        impl IntegerFactor for $ty {
            const ONE: Self = 1;

            #[inline(always)]
            fn bits(self) -> u64 {
                self as u64
            }

            #[inline(always)]
            fn near(self) -> f64 {
                self as f64
            }
        }
    )+};
}
factors!(i8, i16, i32, i64, u8, u16, u32, u64);

/// A product: modulo 2^64, and nearly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Wrapped {
    pub(crate) bits: u64,
    near: f64,
}

impl Wrapped {
    const ONE: Self = Wrapped { bits: 1, near: 1.0 };

    #[inline(always)]
    fn multiply(&mut self, bits: u64, near: f64) {
        self.bits = self.bits.wrapping_mul(bits);
        self.near *= near;
    }

    /// Whether it is far from the ends of all result types: it is what it is modulo 2^64 then.
    #[inline(always)]
    pub(crate) fn is_short(self) -> bool {
        self.near.abs() < 2f64.powi(62)
    }

    /// The sign and the magnitude; `None` of the latter where it is 2^64 or more.
    #[inline(always)]
    pub(crate) fn parts(self) -> (bool, Option<u64>) {
        let Wrapped { bits, near } = self;
        let negative = near < 0.0;
        let low = if negative { bits.wrapping_neg() } else { bits };
        // No comparison holds of NaN, which a zero and an infinity leave.
        let is_capped = near.abs() - low as f64 > 2f64.powi(63);
        (negative, (!is_capped).then_some(low))
    }

    /// As a partial has it.
    pub(crate) fn product(self) -> IntegerProduct {
        let (negative, magnitude) = self.parts();
        if magnitude == Some(0) {
            return IntegerProduct::ZERO;
        }
        let low = if negative { self.bits.wrapping_neg() } else { self.bits };
        let magnitude = magnitude.map_or(IntegerProduct::CAP, u128::from);
        IntegerProduct { magnitude, low, negative }
    }
}

/// Products of a type's words.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IntegerProducts<W>(pub(crate) PhantomData<W>);

/// Products side by side.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lanes {
    bits: [u64; N],
    near: [f64; N],
}

impl<W: IntegerFactor> LaneOperation for IntegerProducts<W> {
    type Element = W;
    type Lanes = Lanes;
    type Small = Wrapped;
    const NOTHING: Wrapped = Wrapped::ONE;
    without_exponent_range!(W);
    const TURNS_FULL: bool = size_of::<W>() == 1;

    #[inline(always)]
    fn filler(self, _: W) -> W {
        W::ONE
    }

    #[inline(always)]
    fn lanes(self, (): ()) -> Lanes {
        Lanes { bits: [1; N], near: [1.0; N] }
    }

    #[inline(always)]
    fn add(self, lanes: &mut Lanes, x: &[W; N], _: Positions) {
        for l in 0..N {
            lanes.bits[l] = lanes.bits[l].wrapping_mul(x[l].bits());
        }
        for l in 0..N {
            lanes.near[l] *= x[l].near();
        }
    }

    #[inline(always)]
    fn lane(self, lanes: &Lanes, lane: usize) -> Wrapped {
        Wrapped { bits: lanes.bits[lane], near: lanes.near[lane] }
    }

    #[inline(always)]
    fn total(self, lanes: &Lanes) -> Wrapped {
        let mut all = *lanes;
        let mut width = N;
        while width > 1 {
            width /= 2;
            for l in 0..width {
                all.bits[l] = all.bits[l].wrapping_mul(all.bits[l + width]);
                all.near[l] *= all.near[l + width];
            }
        }
        self.lane(&all, 0)
    }

    const MERGES: bool = true;
    // Of long arrays most factors need not be multiplied at all.
    const MOST_TILES: usize = 1;

    #[inline(always)]
    fn merge(self, small: &mut Wrapped, other: &Wrapped) -> bool {
        small.multiply(other.bits, other.near);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What lanes make of factors, and what partials do.
    fn agree<W: IntegerFactor + Into<i128> + std::fmt::Debug>(x: &[W]) {
        let kind = IntegerProducts::<W>(PhantomData);
        let mut lanes = kind.lanes(());
        for group in x.chunks(N) {
            kind.add(&mut lanes, &kind.group(group), Positions { first: 0, step: 1 });
        }
        let mut expected = IntegerProduct::ONE;
        for &x in x {
            let x: i128 = x.into();
            let magnitude = x.unsigned_abs();
            expected.merge(&IntegerProduct { magnitude, low: magnitude as u64, negative: x < 0 });
        }
        assert_eq!(kind.total(&lanes).product(), expected, "{x:?}");
    }

    #[test]
    fn products_about_the_ends_of_64_bits() {
        let near = |x: i64| (-3..4).map(move |k| x.wrapping_add(k));
        for x in [0, 1, i64::MAX, 1 << 62, 1 << 32, 3_037_000_499, 6_074_000_999]
            .map(near)
            .into_iter()
            .flatten()
        {
            for y in [1, -1, 2, 3, -4, 0, i64::MIN, 1 << 33, -6_074_000_999] {
                agree(&[x, y]);
                agree(&[x, y, -1, 1, 1]);
                agree(&[x as u64, y.unsigned_abs()]);
                agree(&[x, y, x, y, x]);
                agree(&[&[x, y][..], &[i64::MAX; 40], &[0]].concat());
            }
        }
        for power in 0..70 {
            agree(&vec![2i64; power]);
            agree(&vec![-2i8; power]);
            agree(&[&vec![2u64; power][..], &[3]].concat());
        }
        agree(&[u64::MAX, 1]);
        agree(&[u64::MAX, 2]);
        agree(&[i16::MIN; 4]);
        agree(&[i8::MIN; 9]);
        agree(&[0u8; 3]);
        agree(&[255u8; 8]);
        agree(&[-1i32; 999]);
        agree::<i16>(&[]);
    }
}
