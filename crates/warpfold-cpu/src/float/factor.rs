//! Floats as factors of squares and magnitudes.

use super::Lane;
use crate::{bf16, f16};
use warpfold_num::element::Ordered;

/// A float as a factor.
pub(crate) trait Factor: Lane + Ordered {
    /// The value in f64, times 2^[`SCALE`](Lane::SCALE); an infinity may become a NaN.
    fn factor(self) -> f64;
}

macro_rules! wide_factors {
    ($($ty:ty),+) => {$(
        impl Factor for $ty {
            #[inline(always)]
            fn factor(self) -> f64 {
                self.wide()
            }
        }
    )+};
}
wide_factors!(bf16, f32, f64);

impl Factor for f16 {
    #[inline(always)]
    fn factor(self) -> f64 {
        const INFINITE: u16 = f16::INFINITY.to_bits();
        if self.magnitude() >= INFINITE { f64::NAN } else { self.wide() }
    }
}
