//! Rounding to a float type: one function, four formats.

use half::{bf16, f16};

use super::{Decode, Decoded};

/// A nonzero real number ready to be rounded: `±0.1xxx… · 2^(exponent + 1)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rounding {
    /// Whether the number is negative.
    pub negative: bool,
    /// The leading 64 bits; the highest bit is set.
    pub top: u64,
    /// The exponent of that highest bit.
    pub exponent: i64,
    /// Whether any bit below `top` is set.
    pub sticky: bool,
}

/// A float type to which exact values are rounded.
pub trait Nearest: Copy + PartialEq + std::fmt::Debug {
    /// Significant bits, the implicit one included.
    const PRECISION: u32;
    /// The largest exponent of a finite value.
    const EXPONENT_MAX: i32;
    /// The positive quiet NaN with zero payload: the only NaN that results carry.
    const NAN: Self;
    /// Positive infinity.
    const INFINITY: Self;
    /// Positive zero.
    const ZERO: Self;

    /// Rounds once, to nearest, ties to even; overflows to infinity, underflows to a zero of the same sign.
    fn nearest(number: Rounding) -> Self;

    /// An infinity of the given sign.
    fn infinity(negative: bool) -> Self;

    /// The nearest value to an f64, rounded once; every NaN becomes [`NAN`](Self::NAN).
    #[doc(hidden)]
    fn of(value: f64) -> Self;
}

/// The bits, without the sign, of the nearest value with ties to even, in an IEEE format of
/// `precision` significant bits and `exponent_max`; carries run from fraction to exponent to infinity by themselves.
fn round_magnitude(number: Rounding, precision: u32, exponent_max: i32) -> u64 {
    let exponent_min = i64::from(1 - exponent_max);
    if number.exponent > i64::from(exponent_max) {
        return ((2 * exponent_max as u64) + 1) << (precision - 1);
    }
    // A subnormal keeps fewer bits; at or below zero kept bits only rounding up can leave something.
    let lost = (exponent_min - number.exponent).max(0);
    let kept = i64::from(precision) - lost;
    if kept < 0 {
        return 0;
    }
    let dropped = 64 - kept as u32;
    let (head, tail) = match dropped {
        64 => (0, number.top),
        _ => (number.top >> dropped, number.top << (64 - dropped)),
    };
    const HALF: u64 = 1 << 63;
    let up = tail > HALF || (tail == HALF && (number.sticky || head & 1 == 1));
    // A normal's head carries the implicit bit, which adds one to the exponent field: hence the -1.
    let field = if lost > 0 { 0 } else { (number.exponent - exponent_min) as u64 };
    (field << (precision - 1)) + head + u64::from(up)
}

/// A finite nonzero f64 ready to be rounded; specials and zeros are handed back as they are.
fn rounding(value: f64) -> Option<Rounding> {
    let Decoded::Finite { negative, mantissa, shift } = value.decode() else { return None };
    let zeros = mantissa.leading_zeros();
    (mantissa != 0).then(|| Rounding {
        negative,
        top: mantissa << (zeros & 63),
        exponent: i64::from(shift) + i64::from(f64::UNIT) + 63 - i64::from(zeros),
        sticky: false,
    })
}

/// The narrow formats' rounding of an f64: `half`'s own would round some values twice.
fn narrow<F: Nearest>(value: f64, minus_zero: F) -> F {
    match rounding(value) {
        Some(number) => F::nearest(number),
        None if value.is_nan() => F::NAN,
        None if value.is_infinite() => F::infinity(value < 0.0),
        None if value.is_sign_negative() => minus_zero,
        None => F::ZERO,
    }
}

/// By the bits: the compiler may take the NaN of an operation for any other, and so leaves out a choice between it and one NaN.
#[inline(always)]
const fn is_nan(value: f64) -> bool {
    value.to_bits() & (u64::MAX >> 1) > f64::INFINITY.to_bits()
}

macro_rules! float {
    ($($ty:ident: $bits:ty, $precision:literal, $max:literal, $of:expr;)+) => {$(
        impl Nearest for $ty {
            const PRECISION: u32 = $precision;
            const EXPONENT_MAX: i32 = $max;
            const INFINITY: Self = <$ty>::INFINITY;
            // Exponent field of all ones and the highest fraction bit.
            const NAN: Self = <$ty>::from_bits((2 * $max + 1 << ($precision - 1)) | (1 << ($precision - 2)));
            const ZERO: Self = <$ty>::from_bits(0);

            fn nearest(number: Rounding) -> Self {
                debug_assert!(number.top >> 63 == 1, "the leading bit is set");
                let sign = (number.negative as $bits) << (<$bits>::BITS - 1);
                Self::from_bits(round_magnitude(number, $precision, $max) as $bits | sign)
            }

            fn infinity(negative: bool) -> Self {
                if negative { <$ty>::NEG_INFINITY } else { <$ty>::INFINITY }
            }

            #[inline(always)]
            fn of(value: f64) -> Self {
                $of(value)
            }
        }
    )+};
}
float! {
    f16: u16, 11, 15, |value| narrow(value, f16::NEG_ZERO);
    bf16: u16, 8, 127, |value| narrow(value, bf16::NEG_ZERO);
    f32: u32, 24, 127, |value: f64| if is_nan(value) { <f32 as Nearest>::NAN } else { value as f32 };
    f64: u64, 53, 1023, |value: f64| if is_nan(value) { <f64 as Nearest>::NAN } else { value };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every f64 rounded to f32 as the hardware does it, at the edges of the format.
    #[test]
    fn agrees_with_hardware_casts() {
        let edges = [
            1.0f64,
            1.0 + f64::EPSILON,
            1.0 + 2f64.powi(-24),
            1.0 + 3.0 * 2f64.powi(-24),
            f32::MAX as f64,
            f32::MAX as f64 * (1.0 + 2f64.powi(-25)),
            f32::MAX as f64 * (1.0 + 2f64.powi(-24)),
            2f64.powi(128),
            2f64.powi(-126),
            2f64.powi(-126) * (1.0 - 2f64.powi(-25)),
            2f64.powi(-149),
            2f64.powi(-150),
            2f64.powi(-150) * (1.0 + f64::EPSILON),
            2f64.powi(-151),
            2f64.powi(-149) * 1.5,
            2f64.powi(-149) * 2.5,
            f64::MIN_POSITIVE,
        ];
        for x in edges.into_iter().chain((1..2000).map(|i| (i as f64).powi(-7) * 1.7e-38)) {
            let bits = x.to_bits();
            let field = (bits >> 52) as i64;
            let top = (1 << 63) | (bits << 11);
            let number = Rounding { negative: false, top, exponent: field - 1023, sticky: false };
            assert_eq!(f32::nearest(number).to_bits(), (x as f32).to_bits(), "{x:e}");
            assert_eq!(f64::nearest(number).to_bits(), bits, "{x:e}");
            assert_eq!(f16::nearest(number).to_bits(), f16::from_f64(x).to_bits(), "{x:e}");
            assert_eq!(<f16 as Nearest>::of(x), f16::nearest(number), "{x:e}");
            assert_eq!(<bf16 as Nearest>::of(-x), -bf16::nearest(number), "{x:e}");
            assert_eq!(f32::of(x).to_bits(), f32::nearest(number).to_bits(), "{x:e}");
        }
    }
}
