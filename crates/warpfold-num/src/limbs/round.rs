//! The one rounding: an exact number, ratio or root to the nearest float.

use num_bigint::{BigInt, BigUint, Sign};

use super::fixed::{Fixed, Limbs, SignMagnitude};
use crate::binary::{Nearest, Rounding};

/// Rounds `fixed · 2^unit`; an exact zero is +0.
pub fn round_fixed<L: Limbs, F: Nearest>(fixed: &Fixed<L>, unit: i32) -> F {
    let SignMagnitude { negative, magnitude } = fixed.sign_magnitude();
    let limbs = magnitude.as_ref();
    let Some(highest) = limbs.iter().rposition(|&limb| limb != 0) else {
        return F::ZERO;
    };
    let zeros = limbs[highest].leading_zeros();
    let below = |k: usize| if highest >= k { limbs[highest - k] } else { 0 };
    let pair = (u128::from(below(0)) << 64 | u128::from(below(1))) << zeros;
    let sticky = pair as u64 != 0 || highest >= 2 && limbs[..highest - 1].iter().any(|&l| l != 0);
    let exponent = i64::from(unit) + 64 * highest as i64 + 63 - i64::from(zeros);
    F::nearest(Rounding { negative, top: (pair >> 64) as u64, exponent, sticky })
}

/// Rounds `numerator / denominator · 2^unit`.
pub fn round_ratio<F: Nearest>(numerator: &BigInt, denominator: &BigUint, unit: i64) -> F {
    let magnitude = numerator.magnitude();
    if magnitude.bits() == 0 {
        return F::ZERO;
    }
    // At least 65 quotient bits, so that 64 are left above the sticky bit.
    let shift = (denominator.bits() + 66).saturating_sub(magnitude.bits());
    let scaled = magnitude << shift;
    let quotient = &scaled / denominator;
    let inexact = &quotient * denominator != scaled;
    round_big(numerator.sign() == Sign::Minus, &quotient, inexact, unit - shift as i64)
}

/// Rounds `√(numerator / denominator · 2^unit)`; the radicand is not negative.
pub fn round_root<F: Nearest>(numerator: &BigUint, denominator: &BigUint, unit: i64) -> F {
    if numerator.bits() == 0 {
        return F::ZERO;
    }
    // At least 132 bits under the root give 66 in it; the unit must stay even to be halved.
    let mut shift = (denominator.bits() + 134).saturating_sub(numerator.bits());
    shift += u64::from((unit - shift as i64) & 1 != 0);
    let scaled = numerator << shift;
    let quotient = &scaled / denominator;
    let root = quotient.sqrt();
    // Below the root's last bit something is left if either step left a remainder.
    let inexact = &root * &root != quotient || &quotient * denominator != scaled;
    round_big(false, &root, inexact, (unit - shift as i64) / 2)
}

/// Rounds `±(integer + ε) · 2^unit`, where `0 < ε < 1` if `inexact` and 0 otherwise.
pub fn round_big<F: Nearest>(negative: bool, integer: &BigUint, inexact: bool, unit: i64) -> F {
    let bits = integer.bits();
    if bits == 0 {
        return F::ZERO;
    }
    let (top, sticky) = if bits > 64 {
        let dropped = bits - 64;
        let lost = integer.trailing_zeros().is_some_and(|zeros| zeros < dropped);
        ((integer >> dropped).iter_u64_digits().next().unwrap_or(0), lost)
    } else {
        (integer.iter_u64_digits().next().unwrap_or(0) << (64 - bits), false)
    };
    let exponent = unit + bits as i64 - 1;
    F::nearest(Rounding { negative, top, exponent, sticky: sticky || inexact })
}

/// The number as an arbitrary-precision integer.
pub fn to_bigint<L: Limbs>(fixed: &Fixed<L>) -> BigInt {
    let SignMagnitude { negative, magnitude } = fixed.sign_magnitude();
    let digits = magnitude.as_ref().iter().flat_map(|&l| [l as u32, (l >> 32) as u32]).collect();
    BigInt::from_biguint(if negative { Sign::Minus } else { Sign::Plus }, BigUint::new(digits))
}
