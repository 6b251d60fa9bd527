//! Products of real floats.

use super::{Rounded, fixed, unit};
use crate::double_double::{DoubleDouble, exponent, fast_two_sum, power_of_two};
use crate::exact::Special;

/// `±mantissa · 2^exponent`, and what makes the product no such number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RealProduct {
    /// From 1 to just above 2, as long as nothing below was met.
    pub mantissa: DoubleDouble,
    /// The power of two beside it.
    pub exponent: i64,
    /// Negative.
    pub negative: bool,
    /// SpecialFlags.
    pub specials: SpecialFlags,
}

/// Which factors were met that a mantissa cannot show.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SpecialFlags {
    /// Zero.
    pub zero: bool,
    /// Infinity.
    pub infinity: bool,
    /// What a NaN does.
    pub nan: bool,
}

impl SpecialFlags {
    /// Any.
    #[inline(always)]
    pub fn any(self) -> bool {
        self.zero | self.infinity | self.nan
    }

    /// Union.
    #[inline(always)]
    pub fn union(self, other: Self) -> Self {
        SpecialFlags {
            zero: self.zero | other.zero,
            infinity: self.infinity | other.infinity,
            nan: self.nan | other.nan,
        }
    }
}

impl RealProduct {
    /// The product of nothing.
    pub const ONE: Self = RealProduct {
        mantissa: DoubleDouble::ONE,
        exponent: 0,
        negative: false,
        specials: SpecialFlags { zero: false, infinity: false, nan: false },
    };

    /// From a chain of factors, as `high + low` times a power of two: brought to order. Neither is zero where `high` is a number but zero.
    ///
    /// Negative numbers are brought to their magnitude with the sign apart, and zeros to +0, so that equal products have equal bits.
    pub fn of_chain(high: f64, low: f64, exponent: i64) -> Self {
        let sum = fast_two_sum(high, low);
        let (negative, sign) = (sum.high < 0.0, if sum.high < 0.0 { -1.0 } else { 1.0 });
        let mantissa = DoubleDouble { high: sum.high * sign, low: sum.low * sign + 0.0 };
        let mut product =
            RealProduct { mantissa, exponent, negative, specials: SpecialFlags::default() };
        product.normalise();
        product
    }

    /// A single finite number.
    pub fn of(x: f64) -> Self {
        let specials = SpecialFlags { zero: x == 0.0, ..SpecialFlags::default() };
        // A subnormal is brought among the normals first.
        let (x, shift) =
            if x.abs() < f64::MIN_POSITIVE { (x * 2f64.powi(64), -64) } else { (x, 0) };
        let mantissa = DoubleDouble { high: x.abs(), low: 0.0 };
        let mut product =
            RealProduct { mantissa, exponent: shift, negative: x.is_sign_negative(), specials };
        product.normalise();
        product
    }

    /// Brings the mantissa, a positive normal number, to `1 <= high < 2`. Once the product is special the mantissa no longer matters.
    #[inline(always)]
    pub fn normalise(&mut self) {
        if self.specials.any() {
            (self.mantissa, self.exponent) = (DoubleDouble::ONE, 0);
            return;
        }
        let shift = exponent(self.mantissa.high);
        // The power that scales the very largest numbers is itself subnormal: two steps.
        let (half, rest) = (power_of_two(-shift / 2), power_of_two(-(shift - shift / 2)));
        self.mantissa = self.mantissa.scale(half).scale(rest);
        self.exponent = self.exponent.saturating_add(shift);
    }

    /// Takes in another one.
    #[inline(always)]
    pub fn merge(&mut self, other: &Self) {
        self.specials = self.specials.union(other.specials);
        self.negative ^= other.negative;
        self.mantissa = self.mantissa.multiply(other.mantissa);
        self.exponent = self.exponent.saturating_add(other.exponent);
        self.normalise();
    }

    /// The product in units of a power of two; an exact zero is +0.
    pub(super) fn register(&self) -> (Rounded, i32) {
        let mut register = Rounded::default();
        match self.specials {
            SpecialFlags { nan: true, .. } | SpecialFlags { zero: true, infinity: true, .. } => {
                register.note(Special::NAN);
            }
            SpecialFlags { infinity: true, .. } => register.note(Special::infinity(self.negative)),
            SpecialFlags { zero: true, .. } => {}
            SpecialFlags { .. } => {
                let mantissa = if self.negative { self.mantissa.negate() } else { self.mantissa };
                register = fixed(mantissa);
            }
        }
        (register, unit(self.exponent))
    }
}
