//! Products: of floats from mantissas and exponents, rounded as their partials are; of integers from what is left modulo 2^64.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use warpfold_exact::partial::Output;
use warpfold_num::double_double::fast_two_sum;
use warpfold_num::element::Float;
use warpfold_num::{Complex, DType, Overflow, Scalar};

use super::{alone, one, with_real};
use crate::batch::{AT_ONCE, Lone, Multiplied, NearComplexProduct, NearProduct, Read, Wrapped};

/// A float type that products of many inputs are rounded to, or complex numbers of one.
pub(crate) trait Rounded: Scalar {
    /// The nearest to a product, where its numbers tell.
    fn of(numbers: &[f64; 5]) -> Option<Self>;

    /// Products of one element each.
    fn lone(inputs: Lone<'_, Self>);
}

/// Beyond exponents of this size parts of products, from `2^-40` to 4, are infinities or zeros: results nearer than that which are not normal are left in doubt.
const FAR: f64 = 1080.0;
/// The same of what is rounded to f32.
const FAR_F32: f64 = 180.0;

/// Zero or infinity, as a far exponent has it.
#[inline(always)]
fn far(high: f64, exponent: f64) -> f64 {
    let end = if exponent < 0.0 || high == 0.0 { 0.0 } else { f64::INFINITY };
    end.copysign(high)
}

/// The nearest f64 to `(high + low) · 2^exponent`, where it is a normal number, or far from one: `high` is the nearest to the sum.
#[inline(always)]
fn nearest(high: f64, exponent: f64) -> Option<f64> {
    if exponent.abs() > FAR {
        return Some(far(high, exponent));
    }
    let field = exponent + 1023.0;
    // A special value has the exponent zero.
    let is_near = field >= 1.0 && field < 2046.0;
    is_near.then(|| high * f64::from_bits((field as u64) << 52))
}

/// Whether `high + low` rounds to f32 as `high` does: not where that lies between two of them.
#[inline(always)]
fn rounds_alike(high: f64, low: f64) -> bool {
    high.to_bits() & 0x1fff_ffff != 0x1000_0000 || low == 0.0
}

/// The same in f32, normal numbers too.
#[inline(always)]
fn nearest_f32(high: f64, low: f64, exponent: f64) -> Option<f32> {
    if exponent.abs() > FAR_F32 {
        return Some(far(high, exponent) as f32);
    }
    let is_normal = exponent >= -126.0 || high == 0.0;
    (is_normal && rounds_alike(high, low))
        .then(|| nearest(high, exponent).map(|x| x as f32))
        .flatten()
}

/// The one NaN.
#[inline(always)]
fn canonical<F: Float>(x: F, is_nan: bool) -> F {
    if is_nan { F::NAN } else { x }
}

impl Rounded for f64 {
    #[inline(always)]
    fn of(&[high, _, exponent, ..]: &[f64; 5]) -> Option<f64> {
        nearest(high, exponent).map(|x| canonical(x, x.is_nan()))
    }

    fn lone(inputs: Lone<'_, Self>) {
        alone::rounded(inputs);
    }
}

impl Rounded for f32 {
    #[inline(always)]
    fn of(&[high, low, exponent, ..]: &[f64; 5]) -> Option<f32> {
        nearest_f32(high, low, exponent).map(|x| canonical(x, x.is_nan()))
    }

    fn lone(inputs: Lone<'_, Self>) {
        alone::rounded(inputs);
    }
}

/// Parts are cut 116 binades below the larger one before they are rounded: a far smaller one takes its partial.
#[inline(always)]
fn are_alike([re, _, im, ..]: &[f64; 5]) -> bool {
    let is_large = |part: f64| part == 0.0 || part.abs() > 2f64.powi(-40);
    is_large(*re) && is_large(*im)
}

impl Rounded for Complex<f64> {
    #[inline(always)]
    fn of(numbers @ &[re, _, im, _, exponent]: &[f64; 5]) -> Option<Self> {
        // The smaller part is a normal number, too.
        let is_normal = exponent > -900.0 || exponent < -FAR;
        let parts = (nearest(re, exponent)?, nearest(im, exponent)?);
        (are_alike(numbers) && is_normal).then(|| Complex::new(parts.0, parts.1))
    }

    fn lone(inputs: Lone<'_, Self>) {
        alone::complex_products(inputs);
    }
}

impl Rounded for Complex<f32> {
    #[inline(always)]
    fn of(numbers @ &[re, re_low, im, im_low, exponent]: &[f64; 5]) -> Option<Self> {
        let is_normal = exponent >= -126.0 + 40.0 || exponent < -FAR_F32;
        let parts = (nearest_f32(re, re_low, exponent)?, nearest_f32(im, im_low, exponent)?);
        (are_alike(numbers) && is_normal).then(|| Complex::new(parts.0, parts.1))
    }

    fn lone(inputs: Lone<'_, Self>) {
        alone::complex_products(inputs);
    }
}

/// Products of a type.
pub(crate) struct ProductAs<R> {
    /// The bits of a factor at most.
    bits: u32,
    result: PhantomData<R>,
}

impl<R> ProductAs<R> {
    /// Of factors of any type.
    pub(crate) fn of_any() -> Self {
        Self::of_bits(f64::MANTISSA_DIGITS)
    }

    /// Of factors of so many bits: products of few of them are exact in f64.
    pub(crate) fn of_bits(bits: u32) -> Self {
        ProductAs { bits, result: PhantomData }
    }
}

impl<R: Rounded + Copy + Send + Sync> Read<Multiplied> for ProductAs<R> {
    type Result = R;

    #[inline(always)]
    fn small(&self, product: &Multiplied, _: u64) -> Option<R> {
        R::of(&product.0)
    }

    fn finished(&self, output: Output) -> R {
        one(output)
    }

    fn lone(&self, inputs: Lone<'_, R>) {
        R::lone(inputs);
    }
}

macro_rules! near_products {
    ($($result:ty, $near:ty: $known:ident, $lone:path;)+) => {$(
        impl Read<$near> for ProductAs<$result> {
            type Result = $result;
            const IS_LONG: bool = true;

            #[inline(always)]
            fn small(&self, product: &$near, count: u64) -> Option<$result> {
                let (result, is_certain) = $known(product, count as f64, self.bits);
                is_certain.then_some(result)
            }

            #[inline(always)]
            fn neighbours(
                &self,
                products: &[$near; AT_ONCE],
                counts: [u64; AT_ONCE],
            ) -> ([MaybeUninit<$result>; AT_ONCE], [bool; AT_ONCE]) {
                let mut results = [MaybeUninit::uninit(); AT_ONCE];
                let mut are_certain = [false; AT_ONCE];
                for k in 0..AT_ONCE {
                    let (result, is_certain) = $known(&products[k], counts[k] as f64, self.bits);
                    (results[k], are_certain[k]) = (MaybeUninit::new(result), is_certain);
                }
                (results, are_certain)
            }

            fn finished(&self, output: Output) -> $result {
                one(output)
            }

            fn lone(&self, inputs: Lone<'_, $result>) {
                $lone(inputs);
            }
        }
    )+};
}
near_products! {
    f32, NearProduct<0>: near_f32, alone::rounded;
    f64, NearProduct<1>: near_f64, alone::rounded;
    Complex<f32>, NearComplexProduct: near_complex, alone::complex_products;
}

/// A product of narrow floats in f32, where both ends of what it may be round alike, and are numbers. An exact zero is positive.
#[inline(always)]
fn near_f32(&NearProduct { high, .. }: &NearProduct<0>, n: f64, bits: u32) -> (f32, bool) {
    // So few bits in all that f64 has lost none.
    let is_exact = n * f64::from(bits) <= f64::from(f64::MANTISSA_DIGITS);
    let error = if is_exact { 0.0 } else { high.abs() * ((n + 8.0) * f64::EPSILON) };
    let (least, greatest) = ((high - error) as f32, (high + error) as f32);
    (if high == 0.0 { 0.0 } else { greatest }, least == greatest)
}

/// The same of f64, with room for what the canonical tree is off by.
#[inline(always)]
fn near_f64(&NearProduct { high, low: [low] }: &NearProduct<1>, n: f64, _: u32) -> (f64, bool) {
    let sum = fast_two_sum(high, low);
    let error = sum.high.abs() * (256.0 * n * n * f64::EPSILON * f64::EPSILON);
    let (least, greatest) = (sum.high + (sum.low - error), sum.high + (sum.low + error));
    (greatest, (least == greatest) & greatest.is_finite())
}

/// A product of complex numbers in f32, where both ends of what each part may be round alike; zeros and infinities are left in doubt.
#[inline(always)]
fn near_complex(product: &NearComplexProduct, n: f64, _: u32) -> (Complex<f32>, bool) {
    let error = product.error(n);
    let (least, greatest) = ((product.re - error) as f32, (product.re + error) as f32);
    let is_known = (least == greatest) & (least != 0.0) & least.is_finite();
    let re = greatest;
    let (least, greatest) = ((product.im - error) as f32, (product.im + error) as f32);
    let is_known = is_known & (least == greatest) & (least != 0.0) & least.is_finite();
    (Complex::new(re, greatest), is_known)
}

/// Products of integers in an integer type.
pub(crate) struct ProductOf<I> {
    pub(crate) overflow: Overflow,
    pub(crate) result: PhantomData<I>,
}

macro_rules! integer_products {
    ($($integer:ty: [$($variant:ident $ty:ty),+], $of:expr;)+) => {$(
        impl Read<Wrapped> for ProductOf<$integer> {
            type Result = $integer;

            #[inline(always)]
            fn small(&self, product: &Wrapped, _: u64) -> Option<$integer> {
                match self.overflow == Overflow::Wrap || product.is_short() {
                    true => Some(product.bits as $integer),
                    false => $of(product.parts(), product.bits as $integer),
                }
            }

            #[inline(always)]
            fn neighbours(
                &self,
                products: &[Wrapped; AT_ONCE],
                _: [u64; AT_ONCE],
            ) -> ([MaybeUninit<$integer>; AT_ONCE], [bool; AT_ONCE]) {
                let mut results = [MaybeUninit::uninit(); AT_ONCE];
                let mut are_short = true;
                for k in 0..AT_ONCE {
                    results[k] = MaybeUninit::new(products[k].bits as $integer);
                    are_short &= products[k].is_short();
                }
                let mut are_results = [true; AT_ONCE];
                if !are_short && self.overflow == Overflow::Error {
                    for k in 0..AT_ONCE {
                        are_results[k] = self.small(&products[k], 0).is_some();
                    }
                }
                (results, are_results)
            }

            fn finished(&self, output: Output) -> $integer {
                one(output)
            }

            fn lone(&self, inputs: Lone<'_, $integer>) {
                with_real!(inputs.dtype(), [$($variant $ty),+], T => inputs.each(|x: T| x.into()), else inputs.defer());
            }
        }
    )+};
}
integer_products! {
    i64: [I8 i8, I16 i16, I32 i32, I64 i64],
        |(negative, magnitude): (bool, Option<u64>), value| magnitude.filter(|&x| x <= i64::MAX as u64 + u64::from(negative)).map(|_| value);
    u64: [Bool bool, U8 u8, U16 u16, U32 u32, U64 u64], |(_, magnitude): (bool, Option<u64>), _| magnitude;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A part of a product, in two steps that each are in range.
    fn scaled(part: f64, exponent: i32) -> f64 {
        part * 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2)
    }

    #[test]
    fn only_what_is_near_the_ends_is_in_doubt() {
        for exponent in -1400..=1400 {
            for part in [1.0, 1.5, 2f64.next_down(), -1.0, -2f64.next_down()] {
                let (numbers, expected) =
                    ([part, 0.0, exponent.into(), 0.0, 0.0], scaled(part, exponent));
                let wide = <f64 as Rounded>::of(&numbers);
                let is_near =
                    (-1080..-1022).contains(&exponent) || (1023..=1080).contains(&exponent);
                assert_eq!(wide.is_none(), is_near, "{exponent}");
                assert!(wide.is_none_or(|x| x.to_bits() == expected.to_bits()), "{exponent}");
                let narrow = <f32 as Rounded>::of(&numbers);
                assert_eq!(narrow.is_none(), (-180..-126).contains(&exponent), "{exponent}");
                assert!(
                    narrow.is_none_or(|x| x.to_bits() == (expected as f32).to_bits()),
                    "{exponent}"
                );
            }
        }
    }
}
