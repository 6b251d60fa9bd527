//! Results of inputs of one element each, from the elements.
//!
//! What a rule here does not cover is left to a partial: a complex product of parts of very different size, and squares whose rounding is in doubt.

use warpfold_num::double_double::{DoubleDouble, two_product};
use warpfold_num::element::{Element, Float, Ordered};
use warpfold_num::{Complex, DType, bf16, f16};

use super::moments::{Moment, MomentAs};
use super::nearly::Certain;
use super::with_real;
use crate::Op;
use crate::batch::{Approximate, Lone, Read};
use crate::float::{bf16_value, f16_value};

/// A number that f64 holds, as one, in instructions that every element of a vector takes.
trait Wide: Copy {
    fn wide(self) -> f64;
}

macro_rules! wide {
    ($($ty:ty: $wide:expr;)+) => {$(
        impl Wide for $ty {
            #[inline(always)]
            fn wide(self) -> f64 {
                $wide(self)
            }
        }
    )+};
}
wide! {
    f16: f16_value;
    bf16: bf16_value;
    f32: f64::from;
    f64: std::convert::identity;
    i8: f64::from;
    i16: f64::from;
    i32: f64::from;
    u8: f64::from;
    u16: f64::from;
    u32: f64::from;
}

/// The sum, mean or product of each real element.
pub(super) fn rounded<F: Float>(inputs: Lone<'_, F>) {
    // The sum of -0 is +0.
    with_real!(inputs.dtype(), [F16 f16, BF16 bf16, F32 f32, F64 f64, I8 i8, I16 i16, I32 i32, U8 u8, U16 u16, U32 u32],
        T => inputs.each(|x: T| F::of(x.wide() + 0.0)),
        else with_real!(inputs.dtype(), [Bool bool, I64 i64, U64 u64],
            T => inputs.each(|x: T| x.alone_as::<F>()), else inputs.defer()));
}

/// The sum or mean of each complex element.
pub(super) fn complex<F: Float>(inputs: Lone<'_, Complex<F>>) {
    match inputs.dtype() {
        DType::Complex64 => inputs.each(|x: Complex<f32>| x.alone_as::<F>()),
        DType::Complex128 => inputs.each(|x: Complex<f64>| x.alone_as::<F>()),
        _ => inputs.defer(),
    }
}

/// A finite number whose parts are both zero, or neither is 2^40 times the other: products may lose bits of a part that is far smaller.
#[inline(always)]
fn is_plain(re: f64, im: f64) -> bool {
    let (re, im) = (re.abs(), im.abs());
    let (least, most) = if re < im { (re, im) } else { (im, re) };
    (re + im == 0.0) | ((most < f64::INFINITY) & (least > most * 2f64.powi(-40)))
}

/// The product of each complex element.
pub(super) fn complex_products<F: Float>(inputs: Lone<'_, Complex<F>>) {
    macro_rules! each {
        ($part:ty) => {
            inputs.each_known(|x: Complex<$part>| {
                (x.alone_as::<F>(), is_plain(x.re.into(), x.im.into()))
            })
        };
    }
    match inputs.dtype() {
        DType::Complex64 => each!(f32),
        DType::Complex128 => each!(f64),
        _ => inputs.defer(),
    }
}

/// The magnitude of each real element.
pub(super) fn magnitudes<F: Float>(inputs: Lone<'_, F>) {
    with_real!(inputs.dtype(), [F16 f16, BF16 bf16, F32 f32, F64 f64, I8 i8, I16 i16, I32 i32, U8 u8, U16 u16, U32 u32],
        T => inputs.each(|x: T| F::of(x.wide().abs())),
        else with_real!(inputs.dtype(), [Bool bool, I64 i64, U64 u64],
            T => inputs.each(|x: T| T::round_magnitude::<F>(x.magnitude())), else inputs.defer()));
}

/// A moment of each element.
pub(super) fn moments<F: Certain>(what: Moment, inputs: Lone<'_, F>) {
    match what.op {
        Op::Var | Op::Std if what.ddof == 0 => spreads(inputs),
        // One element is too few.
        Op::Var | Op::Std => inputs.defer(),
        _ if inputs.dtype().is_complex() => complex_norms(what, inputs),
        Op::L2 => magnitudes(inputs),
        _ => squares(inputs),
    }
}

/// The variance of each element: zero where it is finite.
fn spreads<F: Float>(inputs: Lone<'_, F>) {
    #[inline(always)]
    fn spread<F: Float>(is_finite: bool) -> F {
        if is_finite { F::ZERO } else { F::NAN }
    }
    with_real!(inputs.dtype(), [F16 f16, BF16 bf16, F32 f32, F64 f64],
        T => inputs.each(|x: T| spread(x.wide().is_finite())),
        else with_real!(inputs.dtype(), [Complex64 Complex<f32>, Complex128 Complex<f64>],
        T => inputs.each(|x: T| spread(x.re.is_finite() & x.im.is_finite())),
        else with_real!(inputs.dtype(), [Bool bool, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64],
            T => inputs.each(|_: T| F::ZERO), else inputs.defer())));
}

/// The square of each real element.
fn squares<F: Float>(inputs: Lone<'_, F>) {
    with_real!(inputs.dtype(), [F16 f16, BF16 bf16, F32 f32], T => inputs.each(|x: T| F::of(x.wide() * x.wide())),
    else match inputs.dtype() {
        // Rounded twice it need not be the nearest.
        DType::F64 if F::DTYPE == DType::F64 => inputs.each(|x: f64| F::of(x * x)),
        _ => inputs.defer(),
    });
}

/// The magnitude of each complex element, or its square.
pub(super) fn complex_norms<F: Certain>(what: Moment, inputs: Lone<'_, F>) {
    match inputs.dtype() {
        DType::Complex64 if F::PRECISION < f64::MANTISSA_DIGITS => match what.op {
            Op::Sumsq => inputs.each_known(|x: Complex<f32>| either_way(squared(x))),
            _ => inputs.each_known(|x: Complex<f32>| either_way(squared(x).sqrt())),
        },
        DType::Complex64 => {
            inputs.each_known(|x: Complex<f32>| complex_norm(what, x.re.into(), x.im.into()));
        }
        DType::Complex128 => inputs.each_known(|x: Complex<f64>| complex_norm(what, x.re, x.im)),
        _ => inputs.defer(),
    }
}

/// The square of a magnitude: those of the parts are exact.
#[inline(always)]
fn squared(x: Complex<f32>) -> f64 {
    let (re, im) = (f64::from(x.re), f64::from(x.im));
    re.mul_add(re, im * im)
}

/// What a number that is off by two roundings is rounded to, and whether that is certain.
#[inline(always)]
fn either_way<F: Float>(x: f64) -> (F, bool) {
    let error = x * (2.0 * f64::EPSILON);
    let (least, greatest) = (F::of(x - error), F::of(x + error));
    (greatest, (least == greatest) & (x < f64::INFINITY))
}

#[inline(always)]
fn complex_norm<F: Certain>(what: Moment, re: f64, im: f64) -> (F, bool) {
    let squares = two_product(re, re).add_same_sign(two_product(im, im));
    let norm = Approximate::<DoubleDouble, 0> { sum: [], squares };
    let is_zero = (re == 0.0) & (im == 0.0);
    match MomentAs::<F>::of(what).small(&norm, 1) {
        Some(norm) if !is_zero => (norm, true),
        _ => (F::ZERO, is_zero),
    }
}
