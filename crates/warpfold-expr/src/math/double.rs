//! Functions of `f64`, within one ulp. A NaN gives the positive quiet NaN.

use super::circle::{self, NEAR};
use super::exponential::{self, of_e, of_two};
use super::logarithm::{self, Range};
use super::{power, within};

/// The value, NaN where `x` is.
#[inline(always)]
fn kept(x: f64, value: f64) -> f64 {
    if x.is_nan() { f64::NAN } else { value }
}

/// e^x.
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    kept(x, exponential::value(of_e(within(x, -746.0, 710.0))))
}

/// 2^x.
#[inline(always)]
pub fn exp2(x: f64) -> f64 {
    kept(x, exponential::value(of_two(within(x, -1076.0, 1025.0))))
}

/// e^x - 1.
#[inline(always)]
pub fn expm1(x: f64) -> f64 {
    kept(x, exponential::expm1(x))
}

/// The natural logarithm: -∞ of 0, NaN of negative numbers.
#[inline(always)]
pub fn log(x: f64) -> f64 {
    logarithm::log(x, Range::All)
}

/// The logarithm to base 2.
#[inline(always)]
pub fn log2(x: f64) -> f64 {
    logarithm::log2(x, Range::All)
}

/// log(1 + x).
#[inline(always)]
pub fn log1p(x: f64) -> f64 {
    logarithm::log1p(x)
}

/// The hyperbolic tangent.
#[inline(always)]
pub fn tanh(x: f64) -> f64 {
    kept(x, exponential::tanh(x))
}

/// 1 / (1 + e^-x).
#[inline(always)]
pub fn sigmoid(x: f64) -> f64 {
    kept(x, exponential::sigmoid(x))
}

/// Whether sines of it need no digits of 2/π.
#[inline(always)]
pub(crate) fn is_near(x: f64) -> bool {
    x.abs() <= NEAR
}

/// The sine of a number that [is near](is_near).
#[inline(always)]
pub(crate) fn sin_near(x: f64) -> f64 {
    // Keeps the sign of a zero.
    if x.abs() < 1e-300 { x } else { circle::sine(circle::near(x), 0) }
}

/// The cosine of a number that [is near](is_near).
#[inline(always)]
pub(crate) fn cos_near(x: f64) -> f64 {
    circle::sine(circle::near(x), 1)
}

/// The sine: NaN of infinities.
pub fn sin(x: f64) -> f64 {
    match x {
        x if is_near(x) => sin_near(x),
        x if x.is_finite() => circle::sine(circle::far(x), 0),
        _ => f64::NAN,
    }
}

/// The cosine: NaN of infinities.
pub fn cos(x: f64) -> f64 {
    match x {
        x if is_near(x) => cos_near(x),
        x if x.is_finite() => circle::sine(circle::far(x), 1),
        _ => f64::NAN,
    }
}

/// x^n, of exponents from [`SMALLEST`](super::SMALLEST) to [`LARGEST`](super::LARGEST).
pub fn power(x: f64, n: i8) -> f64 {
    power::double(&[x], n)[0]
}

/// The same of some numbers.
#[inline(always)]
pub(crate) fn powers<const L: usize>(x: &[f64; L], n: i8) -> [f64; L] {
    power::double(x, n)
}
