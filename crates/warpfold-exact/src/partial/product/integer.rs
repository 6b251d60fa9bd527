//! Products of integers: exact as far as a result can be, then known to be too large.

use super::Rounded;
use crate::Overflow;

/// Sign, magnitude and low bits of a product. Merging is associative and commutative to the last bit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IntegerProduct {
    /// The magnitude, or [`Self::CAP`] if it is that or more.
    pub magnitude: u128,
    /// The magnitude modulo 2^64.
    pub low: u64,
    /// Whether the product is below zero.
    pub negative: bool,
}

impl IntegerProduct {
    /// The first magnitude that no result type holds.
    pub const CAP: u128 = 1 << 64;
    /// The product of nothing.
    pub const ONE: Self = IntegerProduct { magnitude: 1, low: 1, negative: false };
    /// Zero.
    pub const ZERO: Self = IntegerProduct { magnitude: 0, low: 0, negative: false };

    /// Is zero.
    pub fn is_zero(&self) -> bool {
        self.magnitude == 0
    }

    /// Is capped.
    pub fn is_capped(&self) -> bool {
        self.magnitude == Self::CAP
    }

    /// Takes in another one.
    pub fn merge(&mut self, other: &Self) {
        if self.is_zero() || other.is_zero() {
            *self = Self::ZERO;
            return;
        }
        self.magnitude = self.magnitude.saturating_mul(other.magnitude).min(Self::CAP);
        self.low = self.low.wrapping_mul(other.low);
        self.negative ^= other.negative;
    }

    pub(super) fn register(&self, overflow: Overflow) -> Rounded {
        let mut register = Rounded::default();
        match overflow {
            Overflow::Wrap if self.is_capped() => {
                let low = if self.negative { self.low.wrapping_neg() } else { self.low };
                register.fixed.add(u128::from(low), 0, false);
            }
            _ => register.fixed.add(self.magnitude, 0, self.negative),
        }
        register
    }
}
