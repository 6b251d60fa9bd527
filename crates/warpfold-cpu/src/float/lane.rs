//! The float types as lanes: bits to compare, a value in f64 to add, exact products.

use warpfold_num::{bf16, f16};

use warpfold_exact::exact::Bin;
use warpfold_num::element::Real;

/// A float type that SIMD lanes hold.
pub(crate) trait Lane: Real + PartialOrd {
    /// The unsigned integer of its width.
    type Word: bytemuck::Pod + Ord + Default + Into<u64> + std::fmt::Debug + Send + Sync;
    /// The type that holds a product of two, exactly or with an error apart.
    type Product: Lane;
    /// The integer in which values of one exponent are summed.
    type Bin: Bin;
    /// The exponent field of infinity and NaN.
    const FIELD_MAX: u32;
    /// The exponent field of 1.0.
    const FIELD_ONE: u32;
    /// Which bits are those of the magnitude: all but the sign.
    const ABS_MASK: Self::Word;
    /// [`wide`](Self::wide) gives the value times 2^SCALE.
    const SCALE: i32;

    /// Whether sums of a few values fit f32.
    const ADD_SHORT: bool;

    /// The bits.
    fn word(self) -> Self::Word;

    /// The bits of the magnitude.
    fn magnitude_bits(self) -> Self::Word;

    /// The bits of the next smaller magnitude; of zero the greatest word.
    fn bits_below(self) -> Self::Word;

    /// A finite value in f32, times 2^SCALE; exact where [`ADD_SHORT`](Self::ADD_SHORT) says that it is of use.
    fn short(self) -> f32;

    /// A finite value in f64, exactly, times 2^SCALE. What is not finite may come out as anything.
    fn wide(self) -> f64;

    /// The rounded product.
    fn product(self, other: Self) -> Self::Product;

    /// What rounding took from a product; exact where the product is far enough from the ends of its exponent range.
    fn error(self, other: Self, product: Self::Product) -> f64;

    /// Whether [`product`](Self::product) may be trusted to show an infinite or NaN factor as an infinite or NaN product.
    fn shows(self) -> bool;

    /// Whether the magnitude's bits lie in `low .. low + span`: one subtraction and one comparison.
    fn within(self, low: Self::Word, span: Self::Word) -> bool;

    /// The exponent field.
    fn field(self) -> u32;

    /// The bits of the smallest magnitude with that exponent field.
    fn field_bits(field: u32) -> Self::Word;

    /// The bits of the magnitude below that; there is none below zero.
    fn below_field(field: u32) -> Self::Word;

    /// Whether the bits of a magnitude are less than `below + span`, neither of which has a sign.
    fn is_below(top: Self::Word, below: Self::Word, span: Self::Word) -> bool;

    /// `high - low`.
    fn span(low: Self::Word, high: Self::Word) -> Self::Word;
}

macro_rules! lane {
    ($($ty:ident: $bits:ty, $bin:ty, $fraction:literal, $scale:literal, $add_short:literal $short:expr, $wide:expr, $product:path => $to:ty, $error:expr, $shows:expr;)+) => {$(
        impl Lane for $ty {
            type Word = $bits;
            type Product = $to;
            type Bin = $bin;
            const FIELD_MAX: u32 = (1 << (<$bits>::BITS - 1 - $fraction)) - 1;
            const FIELD_ONE: u32 = Self::FIELD_MAX / 2;
            const ABS_MASK: $bits = <$bits>::MAX >> 1;
            const SCALE: i32 = $scale;
            const ADD_SHORT: bool = $add_short;

            #[inline(always)]
            fn word(self) -> $bits {
                self.to_bits()
            }

            #[inline(always)]
            fn magnitude_bits(self) -> $bits {
                self.to_bits() & Self::ABS_MASK
            }

            #[inline(always)]
            fn bits_below(self) -> $bits {
                self.magnitude_bits().wrapping_sub(1)
            }

            #[inline(always)]
            fn short(self) -> f32 {
                $short(self)
            }

            #[inline(always)]
            fn wide(self) -> f64 {
                $wide(self)
            }

            #[inline(always)]
            fn product(self, other: Self) -> $to {
                $product(self, other)
            }

            #[inline(always)]
            fn error(self, other: Self, product: $to) -> f64 {
                $error(self, other, product)
            }

            #[inline(always)]
            fn shows(self) -> bool {
                $shows(self)
            }

            #[inline(always)]
            fn within(self, low: $bits, span: $bits) -> bool {
                self.magnitude_bits().wrapping_sub(low) < span
            }

            #[inline(always)]
            fn field(self) -> u32 {
                (self.to_bits() >> $fraction) as u32 & Self::FIELD_MAX
            }

            fn field_bits(field: u32) -> $bits {
                (field as $bits) << $fraction
            }

            fn below_field(field: u32) -> $bits {
                Self::field_bits(field) - 1
            }

            #[inline(always)]
            fn is_below(top: $bits, below: $bits, span: $bits) -> bool {
                top < below + span
            }

            fn span(low: $bits, high: $bits) -> $bits {
                high - low
            }
        }
    )+};
}
lane! {
    f16: u16, i64, 10, -112, true f16_bits_in_f32, |x| f64::from(f16_bits_in_f32(x)), f16_product => f32, no_error, |x: f16| x.to_bits() & 0x7c00 != 0x7c00;
    bf16: u16, i64, 7, 0, true bf16_to_f32, |x| f64::from(bf16_to_f32(x)), bf16_product => f32, no_error, |_| true;
    f32: u32, i64, 23, 0, false std::convert::identity, f64::from, f32_product => f64, no_error, |_| true;
    f64: u64, i128, 52, 0, false |x| x as f32, std::convert::identity, std::ops::Mul::mul => f64, |x: f64, y: f64, product: f64| x.mul_add(y, -product), |_| true;
}

/// The fields of an f16 moved to their places in an f32, which reads as the value times 2^-112 (subnormals included): three
/// vector instructions, since the sign extension fills the bits between with copies to be masked.
#[inline(always)]
pub(crate) fn f16_bits_in_f32(x: f16) -> f32 {
    f32::from_bits(((i32::from(x.to_bits() as i16) << 13) as u32) & 0x8fff_e000)
}

/// The value of an f16.
#[inline(always)]
pub(crate) fn f16_value(x: f16) -> f64 {
    match x.to_bits() & 0x7c00 {
        0x7c00 if x.to_bits() & 0x3ff != 0 => f64::NAN,
        0x7c00 => f64::INFINITY.copysign(f64::from(f16_bits_in_f32(x))),
        _ => f64::from(f16_bits_in_f32(x) * MEND),
    }
}

/// The value of a bf16.
#[inline(always)]
pub(crate) fn bf16_value(x: bf16) -> f64 {
    f64::from(bf16_to_f32(x))
}

#[inline(always)]
pub(crate) fn bf16_to_f32(x: bf16) -> f32 {
    f32::from_bits(u32::from(x.to_bits()) << 16)
}

/// What the bits of an f16 in an f32 lack: 2^112.
pub(crate) const MEND: f32 = f32::from_bits((127 + 112) << 23);

/// Factors of 11 bits and at most 2^16 have a product that f32 holds.
#[inline(always)]
fn f16_product(x: f16, y: f16) -> f32 {
    (f16_bits_in_f32(x) * MEND) * (f16_bits_in_f32(y) * MEND)
}

/// Factors of 8 bits have a product of 16.
#[inline(always)]
fn bf16_product(x: bf16, y: bf16) -> f32 {
    bf16_to_f32(x) * bf16_to_f32(y)
}

/// Factors of 24 bits have a product of 48: f64 holds it.
#[inline(always)]
fn f32_product(x: f32, y: f32) -> f64 {
    f64::from(x) * f64::from(y)
}

/// Of narrow factors. For f64 the error is a fused multiply-add (T. Dekker, 1971; with FMA: P. Markstein, 1990).
#[inline(always)]
fn no_error<F, P>(_: F, _: F, _: P) -> f64 {
    0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finite_narrow_float_widens_exactly() {
        for bits in 0..=u16::MAX {
            let h = f16::from_bits(bits);
            if h.is_finite() {
                assert_eq!(
                    (h.wide() * 2f64.powi(-f16::SCALE)).to_bits(),
                    h.to_f64().to_bits(),
                    "{bits:#x}"
                );
            }
            let b = bf16::from_bits(bits);
            if b.is_finite() {
                assert_eq!(b.wide().to_bits(), b.to_f64().to_bits(), "{bits:#x}");
            }
        }
    }
}
