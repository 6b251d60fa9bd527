//! An exact total wide enough for every integer fold.

use std::ops::{Add, AddAssign};

use warpfold_exact::exact::{Limbs, Register};

/// `low + high · 2^64`. Products of 64-bit words put less than 2^67 into each half, so 2^60 of them fit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Wide {
    pub(super) low: i128,
    pub(super) high: i128,
}

impl Wide {
    /// The total as the fixed-point number of a partial.
    pub(crate) fn register<L: Limbs>(self) -> Register<L> {
        let mut register = Register::default();
        register.fixed.add_signed(self.low, 0);
        if self.high != 0 {
            register.fixed.add_signed(self.high, 64);
        }
        register
    }
}

impl From<i128> for Wide {
    fn from(low: i128) -> Wide {
        Wide { low, high: 0 }
    }
}

impl Add for Wide {
    type Output = Wide;

    #[inline(always)]
    fn add(self, other: Wide) -> Wide {
        Wide { low: self.low + other.low, high: self.high + other.high }
    }
}

impl AddAssign for Wide {
    #[inline(always)]
    fn add_assign(&mut self, other: Wide) {
        *self = *self + other;
    }
}
