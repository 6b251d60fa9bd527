//! The float types as lanes: bits to compare, a value in f64 to add.

use half::{bf16, f16};

use crate::element::Real;

/// A float type that SIMD lanes hold.
pub(in crate::cpu) trait Lane: Real {
    /// The unsigned integer of its width.
    type Word: Copy + Default + std::fmt::Debug + Send + Sync;
    /// The exponent field of infinity and NaN.
    const FIELD_MAX: u32;
    /// The exponent field of 1.0.
    const FIELD_ONE: u32;

    /// The value in f64, exactly.
    fn wide(self) -> f64;

    /// The product as an unevaluated sum of two f64, exact where neither end of the exponent range is near.
    fn product(self, other: Self) -> (f64, f64);

    /// Whether the magnitude's bits lie in `low .. low + span`: one subtraction and one comparison.
    fn within(self, low: Self::Word, span: Self::Word) -> bool;

    /// The exponent field.
    fn field(self) -> u32;

    /// The bits of the smallest magnitude with that exponent field.
    fn field_bits(field: u32) -> Self::Word;

    /// `high - low`.
    fn span(low: Self::Word, high: Self::Word) -> Self::Word;
}

macro_rules! lane {
    ($($ty:ident: $bits:ty, $fraction:literal, $wide:expr, $product:ident;)+) => {$(
        impl Lane for $ty {
            type Word = $bits;
            const FIELD_MAX: u32 = (1 << (<$bits>::BITS - 1 - $fraction)) - 1;
            const FIELD_ONE: u32 = Self::FIELD_MAX / 2;

            #[inline(always)]
            fn wide(self) -> f64 {
                $wide(self)
            }

            #[inline(always)]
            fn product(self, other: Self) -> (f64, f64) {
                $product(self, other)
            }

            #[inline(always)]
            fn within(self, low: $bits, span: $bits) -> bool {
                (self.to_bits() & (<$bits>::MAX >> 1)).wrapping_sub(low) < span
            }

            #[inline(always)]
            fn field(self) -> u32 {
                (self.to_bits() >> $fraction) as u32 & Self::FIELD_MAX
            }

            fn field_bits(field: u32) -> $bits {
                (field as $bits) << $fraction
            }

            fn span(low: $bits, high: $bits) -> $bits {
                high - low
            }
        }
    )+};
}
lane! {
    f16: u16, 10, f16_to_f64, f16_product;
    bf16: u16, 7, bf16_to_f64, bf16_product;
    f32: u32, 23, f64::from, f32_product;
    f64: u64, 52, std::convert::identity, f64_product;
}

/// Finite f16 to f64 in a few vector instructions: the fraction and exponent moved into f32's place, then the bias mended
/// by a multiplication, which is exact and takes subnormals along. Infinities and NaNs give finite nonsense; the window keeps them out.
#[inline(always)]
fn f16_to_f64(x: f16) -> f64 {
    let bits = u32::from(x.to_bits());
    let magnitude = f32::from_bits((bits & 0x7fff) << 13) * f32::from_bits((127 + 112) << 23);
    f64::from(f32::from_bits(magnitude.to_bits() | (bits & 0x8000) << 16))
}

#[inline(always)]
fn bf16_to_f64(x: bf16) -> f64 {
    f64::from(f32::from_bits(u32::from(x.to_bits()) << 16))
}

/// Factors of at most 24 bits have a product of at most 48: f64 holds it.
#[inline(always)]
fn f32_product(x: f32, y: f32) -> (f64, f64) {
    (f64::from(x) * f64::from(y), 0.0)
}

#[inline(always)]
fn bf16_product(x: bf16, y: bf16) -> (f64, f64) {
    (bf16_to_f64(x) * bf16_to_f64(y), 0.0)
}

/// As for f32, but what is no finite number must not pass for one: NaN stands for infinities, too, and no window holds it.
#[inline(always)]
fn f16_product(x: f16, y: f16) -> (f64, f64) {
    let finite = |x: f16| x.to_bits() & 0x7c00 != 0x7c00;
    let product = f16_to_f64(x) * f16_to_f64(y);
    (if finite(x) & finite(y) { product } else { f64::NAN }, 0.0)
}

/// The rounded product and, by a fused multiply-add, its error (T. Dekker, 1971; with FMA: P. Markstein, 1990).
#[inline(always)]
fn f64_product(x: f64, y: f64) -> (f64, f64) {
    let product = x * y;
    (product, x.mul_add(y, -product))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finite_narrow_float_widens_exactly() {
        for bits in 0..=u16::MAX {
            let h = f16::from_bits(bits);
            if h.is_finite() {
                assert_eq!(h.wide().to_bits(), h.to_f64().to_bits(), "{bits:#x}");
            }
            let b = bf16::from_bits(bits);
            if b.is_finite() {
                assert_eq!(b.wide().to_bits(), b.to_f64().to_bits(), "{bits:#x}");
            }
        }
    }
}
