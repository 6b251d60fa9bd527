//! One exact real number on its way: a fixed-point integer beside the special values that were met.

use super::fixed::{Fixed, Limbs};
use super::round::round_fixed;
use crate::binary::{Decode, Decoded, Nearest};

/// Which special values went into a sum. Joining is a set union, so order never matters; infinities of both signs, whose sum is no
/// number, are the same as a NaN, so that equal sums are equal partials.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Special(u8);

impl Special {
    /// Nothing special.
    pub const NONE: Special = Special(0);
    /// A NaN, or an operation without a value.
    pub const NAN: Special = Special(1);
    /// Positive infinity.
    pub const PLUS: Special = Special(2);
    /// Negative infinity.
    pub const MINUS: Special = Special(4);

    /// The infinity of a sign.
    pub const fn infinity(negative: bool) -> Special {
        if negative { Special::MINUS } else { Special::PLUS }
    }

    /// Joins two sets.
    pub const fn union(self, other: Special) -> Special {
        Special(self.0 | other.0).reduced()
    }

    const fn reduced(self) -> Special {
        match self.0 {
            0 | 2 | 4 => self,
            _ => Special::NAN,
        }
    }

    /// The set as bits 0 to 2: NaN, +∞, -∞.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// The set from its bits, if it is one that a sum leaves.
    pub const fn from_bits(bits: u8) -> Option<Special> {
        if matches!(bits, 0 | 1 | 2 | 4) { Some(Special(bits)) } else { None }
    }

    /// What a sum of these is: nothing special, an infinity, or NaN.
    pub fn value<F: Nearest>(self) -> Option<F> {
        match self {
            Special::NONE => None,
            Special::PLUS => Some(F::infinity(false)),
            Special::MINUS => Some(F::infinity(true)),
            _ => Some(F::NAN),
        }
    }
}

/// An exact sum of values or products of one real type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Register<L> {
    /// The sum of everything finite, in units of the type's lowest bit (squared for products).
    pub fixed: Fixed<L>,
    /// The special values met.
    pub special: Special,
}

impl<L: Limbs> Default for Register<L> {
    fn default() -> Self {
        Register { fixed: Fixed::default(), special: Special::NONE }
    }
}

impl<L: Limbs> Register<L> {
    /// Adds a value.
    #[inline]
    pub fn add<R: Decode>(&mut self, x: R) {
        self.take(x.decode());
    }

    /// Adds a number that was taken apart, in units of its type.
    #[inline]
    pub fn take(&mut self, number: Decoded) {
        match number {
            Decoded::Finite { negative, mantissa, shift } => {
                self.fixed.add(u128::from(mantissa), shift, negative);
            }
            Decoded::Infinite { negative } => self.note(Special::infinity(negative)),
            Decoded::Nan => self.note(Special::NAN),
        }
    }

    /// Adds a finite f64 to a register in units of `2^unit`, of which it is a multiple (what lies below is cut off).
    #[inline]
    pub fn add_f64(&mut self, x: f64, unit: i32) {
        let Decoded::Finite { negative, mantissa, shift } = x.decode() else {
            unreachable!("only finite sums are added");
        };
        let at = shift as i32 + f64::UNIT - unit;
        let (mantissa, at) =
            if at < 0 { (mantissa >> (-at).min(63), 0) } else { (mantissa, at as u32) };
        self.fixed.add(u128::from(mantissa), at, negative);
    }

    /// Adds the product `±x·y`; the register's unit is the square of the type's.
    #[inline]
    pub fn add_product<R: Decode>(&mut self, x: R, y: R, negate: bool) {
        use Decoded::{Finite, Infinite, Nan};
        match (x.decode(), y.decode()) {
            (
                Finite { negative: n, mantissa: a, shift: s },
                Finite { negative: m, mantissa: b, shift: t },
            ) => self.fixed.add(u128::from(a) * u128::from(b), s + t, n ^ m ^ negate),
            (Nan, _) | (_, Nan) => self.note(Special::NAN),
            (Infinite { negative: n }, Infinite { negative: m }) => {
                self.note(Special::infinity(n ^ m ^ negate));
            }
            (Infinite { negative: n }, Finite { negative: m, mantissa, .. })
            | (Finite { negative: n, mantissa, .. }, Infinite { negative: m }) => {
                let product = Special::infinity(n ^ m ^ negate);
                self.note(if mantissa == 0 { Special::NAN } else { product });
            }
        }
    }

    /// Records a special value.
    #[inline]
    pub fn note(&mut self, special: Special) {
        self.special = self.special.union(special);
    }

    /// Adds another register of the same unit.
    pub fn merge(&mut self, other: &Self) {
        self.fixed.merge(&other.fixed);
        self.note(other.special);
    }

    /// Rounds once, where the integer counts `2^unit`.
    pub fn round<F: Nearest>(&self, unit: i32) -> F {
        self.special.value().unwrap_or_else(|| round_fixed(&self.fixed, unit))
    }
}
