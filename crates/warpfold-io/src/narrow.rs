//! f64 rounded to a narrower float type, once, to nearest with ties to even.
//!
//! `half`'s own conversion drops the low half of the significand first, which makes a tie of what only lies near one.

use warpfold_num::Float;
use warpfold_num::element::Rounding;

/// The nearest value of the type; NaN becomes the positive quiet NaN.
pub fn narrow<F: Float + std::ops::Neg<Output = F>>(x: f64) -> F {
    let negative = x.is_sign_negative();
    let bits = x.to_bits();
    let (field, fraction) = ((bits >> 52) & 0x7ff, bits & ((1 << 52) - 1));
    match (field, fraction) {
        (0x7ff, 0) => F::infinity(negative),
        (0x7ff, _) => F::NAN,
        (0, 0) if negative => -F::ZERO,
        (0, 0) => F::ZERO,
        _ => {
            let (mantissa, exponent) = if field == 0 {
                (fraction, -1074)
            } else {
                (fraction | 1 << 52, field as i64 - 1075)
            };
            let shift = mantissa.leading_zeros();
            let exponent = exponent + 63 - i64::from(shift);
            F::nearest(Rounding { negative, top: mantissa << shift, exponent, sticky: false })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpfold_num::{bf16, f16};

    #[test]
    fn agrees_with_the_hardware_on_f32() {
        for x in
            [0.0, -0.0, 1.1, -1e-40, 1e-46, 3e38, 4e38, f64::MIN_POSITIVE, 5e-324, f64::INFINITY]
        {
            assert_eq!(narrow::<f32>(x).to_bits(), (x as f32).to_bits(), "{x:e}");
        }
        assert!(narrow::<f32>(f64::NAN).is_nan());
    }

    #[test]
    fn is_no_tie_where_only_the_last_bit_says_so() {
        let tie = 1.0 + 2f64.powi(-11);
        assert_eq!(narrow::<f16>(tie).to_bits(), 0x3c00);
        assert_eq!(narrow::<f16>(tie.next_up()).to_bits(), 0x3c01);
        let tie = 1.0 + 2f64.powi(-8);
        assert_eq!(narrow::<bf16>(tie.next_up()).to_bits(), 0x3f81);
    }
}
