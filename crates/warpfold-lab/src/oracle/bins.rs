//! Exact sums as one wide integer for each exponent: nothing carries, nothing rounds.

use num_bigint::BigInt;
use warpfold::{bf16, f16};

use super::Exact;

/// The lowest exponent of an f64, subnormals included, and so of every narrower float.
const LOWEST: i32 = -1074;
/// Exponents of f64 mantissas: -1074 to 971.
const EXPONENTS: usize = 2046;

/// A finite real number as `mantissa · 2^exponent`.
pub trait Split: Copy + PartialOrd + Send + Sync {
    /// Mantissa (at most 64 bits and a sign) and exponent.
    ///
    /// # Panics
    /// If the number is not finite: benchmark data is.
    fn split(self) -> (i128, i32);

    /// The number as a float, rounded where it is a wide integer.
    fn approximate(self) -> f64;
}

impl Split for f64 {
    #[inline]
    fn split(self) -> (i128, i32) {
        assert!(self.is_finite(), "benchmark data is finite, and this is {self}");
        let field = (self.to_bits() >> 52 & 0x7ff) as i32;
        let fraction = (self.to_bits() & ((1 << 52) - 1)) as i64;
        let magnitude = if field == 0 { fraction } else { fraction | 1 << 52 };
        let mantissa = if self.is_sign_negative() { -magnitude } else { magnitude };
        (i128::from(mantissa), LOWEST + (field - 1).max(0))
    }

    #[inline]
    fn approximate(self) -> f64 {
        self
    }
}

macro_rules! narrow_floats {
    ($($ty:ty),+) => {$(
        impl Split for $ty {
            #[inline]
            fn split(self) -> (i128, i32) {
                f64::from(self).split()
            }

            #[inline]
            fn approximate(self) -> f64 {
                f64::from(self)
            }
        }
    )+};
}
narrow_floats!(f16, bf16, f32);

macro_rules! integers {
    ($($ty:ty),+) => {$(
        impl Split for $ty {
            #[inline]
            fn split(self) -> (i128, i32) {
                (self as i128, 0)
            }

            #[inline]
            fn approximate(self) -> f64 {
                self as i128 as f64
            }
        }
    )+};
}
integers!(bool, i8, i16, i32, i64, u8, u16, u32, u64);

/// The exact sum of up to 2^63 numbers.
#[derive(Debug, Clone)]
pub struct Bins(Vec<i128>);

impl Default for Bins {
    fn default() -> Self {
        Bins(vec![0; EXPONENTS])
    }
}

impl Bins {
    /// Adds `mantissa · 2^exponent`; |mantissa| ≤ 2^64.
    #[inline]
    pub fn add(&mut self, mantissa: i128, exponent: i32) {
        self.0[(exponent - LOWEST) as usize] += mantissa;
    }

    /// Adds another sum.
    pub fn merge(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(mine, theirs)| *mine += theirs);
    }

    /// The sum.
    pub fn value(&self) -> Exact {
        Exact::integer(join(&self.0), LOWEST)
    }
}

/// The exact sum of up to 2^63 products of two numbers: the halves of each 128-bit product have bins of their own.
#[derive(Debug, Clone)]
pub struct ProductBins {
    low: Vec<i128>,
    high: Vec<i128>,
}

impl Default for ProductBins {
    fn default() -> Self {
        ProductBins { low: vec![0; 2 * EXPONENTS], high: vec![0; 2 * EXPONENTS] }
    }
}

impl ProductBins {
    /// Adds the product of two numbers taken apart.
    #[inline]
    pub fn add(&mut self, x: (i128, i32), y: (i128, i32)) {
        let magnitude = x.0.unsigned_abs() * y.0.unsigned_abs();
        let (low, high) = (i128::from(magnitude as u64), (magnitude >> 64) as i128);
        let bin = (x.1 + y.1 - 2 * LOWEST) as usize;
        let sign = if (x.0 < 0) == (y.0 < 0) { 1 } else { -1 };
        self.low[bin] += sign * low;
        self.high[bin] += sign * high;
    }

    /// Adds another sum.
    pub fn merge(&mut self, other: &Self) {
        self.low.iter_mut().zip(&other.low).for_each(|(mine, theirs)| *mine += theirs);
        self.high.iter_mut().zip(&other.high).for_each(|(mine, theirs)| *mine += theirs);
    }

    /// The sum.
    pub fn value(&self) -> Exact {
        Exact::integer(join(&self.low) + (join(&self.high) << 64), 2 * LOWEST)
    }
}

/// `Σ bin[k] · 2^k`.
fn join(bins: &[i128]) -> BigInt {
    bins.iter().rev().fold(BigInt::ZERO, |sum, &bin| (sum << 1) + bin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitting_loses_nothing() {
        for x in [0.0, -0.0, 1.0, -1.5, f64::MAX, f64::MIN_POSITIVE, 5e-324, -3.1e-310, 1e-17] {
            let (mantissa, exponent) = x.split();
            assert_eq!(
                mantissa as f64 * 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2),
                x
            );
            assert!(mantissa.unsigned_abs() < 1 << 53 && (LOWEST..=971).contains(&exponent));
        }
        assert_eq!(u64::MAX.split(), (i128::from(u64::MAX), 0));
        assert_eq!(f16::from_f32(-0.5).approximate(), -0.5);
    }

    #[test]
    fn sums_cancel_exactly() {
        let mut bins = Bins::default();
        for x in [1e300, 5e-324, -1e300, 1.0] {
            let (mantissa, exponent) = f64::split(x);
            bins.add(mantissa, exponent);
        }
        let expected = Exact::of(1.0) + Exact::of(5e-324);
        assert_eq!(bins.value(), expected);
    }

    #[test]
    fn products_of_the_widest_integers_are_exact() {
        let mut bins = ProductBins::default();
        bins.add(u64::MAX.split(), u64::MAX.split());
        bins.add(i64::MIN.split(), 3i64.split());
        let expected = BigInt::from(u64::MAX) * u64::MAX + BigInt::from(i64::MIN) * 3;
        assert_eq!(bins.value().to_integer(), Some(expected));
    }
}
