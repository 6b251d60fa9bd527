//! [`Widen`]: words as one or two f64, exactly.

use crate::float::{MEND, bf16_to_f32, f16_bits_in_f32};
use warpfold_num::{bf16, f16};

/// A number whose square two f64 hold, or nearly.
pub(crate) trait Widen: Copy + Default + Send + Sync {
    /// Whether one f64 holds the value.
    const IS_SHORT: bool;
    /// The bits of a value.
    const BITS: u32;
    /// Whether one f64 holds the square.
    const IS_NARROW: bool;

    /// The value in two f64, the second zero if it is short; what is not finite stays so.
    fn widen(self) -> (f64, f64);
}

macro_rules! widen {
    ($($ty:ty: $short:literal, $narrow:literal, $bits:literal, |$x:ident| $value:expr;)+) => {$(
        impl Widen for $ty {
            const IS_SHORT: bool = $short;
            const IS_NARROW: bool = $narrow;
            const BITS: u32 = $bits;

            #[inline(always)]
            fn widen(self) -> (f64, f64) {
                let $x = self;
                $value
            }
        }
    )+};
}
widen! {
    u64: false, false, 64, |x| (low_half(x >> 32) * TWO_TO_32, low_half(x));
    i64: false, false, 64, |x| (f64::from((x >> 32) as i32) * TWO_TO_32, low_half(x as u64));
    f16: true, true, 11, |x| (f64::from(f16_to_f32(x)), 0.0);
    bf16: true, true, 8, |x| (f64::from(bf16_to_f32(x)), 0.0);
    f32: true, true, 24, |x| (f64::from(x), 0.0);
    f64: true, false, 53, |x| (x, 0.0);
}

pub(super) const TWO_TO_32: f64 = 4_294_967_296.0;

/// The low 32 bits as a number: below the implicit bit of 2^52, which is taken away again. (AVX2 converts no unsigned integers.)
#[inline(always)]
fn low_half(x: u64) -> f64 {
    const TWO_TO_52: f64 = 4_503_599_627_370_496.0;
    f64::from_bits(TWO_TO_52.to_bits() | (x & 0xffff_ffff)) - TWO_TO_52
}

/// Infinities and NaNs become NaNs.
#[inline(always)]
fn f16_to_f32(x: f16) -> f32 {
    let value = f16_bits_in_f32(x) * MEND;
    if value.abs() >= 65_536.0 { f32::NAN } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_widened_exactly() {
        for bits in 0..=u16::MAX {
            let (wide, exact) = (f16::from_bits(bits).widen().0, f16::from_bits(bits).to_f64());
            assert!(wide == exact || !wide.is_finite() && !exact.is_finite(), "{bits:#x}");
            let (wide, exact) = (bf16::from_bits(bits).widen().0, bf16::from_bits(bits).to_f64());
            assert!(wide == exact || wide.is_nan() && exact.is_nan(), "{bits:#x}");
        }
        for x in [0, 1, -1, i64::MAX, i64::MIN, 1 << 32, -(1 << 32) - 1, 0x1234_5678_9abc_def0] {
            let (high, low) = x.widen();
            assert_eq!(high as i128 + low as i128, i128::from(x));
            let (high, low) = (x as u64).widen();
            assert_eq!(high as i128 + low as i128, i128::from(x as u64));
        }
    }
}
