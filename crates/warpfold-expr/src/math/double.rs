//! Functions of `f64`, within one ulp. A NaN gives the positive quiet NaN.

use super::circle::{self, DIGITS};
use super::exponential::{self, of_e, of_two};
use super::logarithm::{self, Range};
use super::number::Number;
use super::{power, unless_tiny, within};

/// The value, NaN where `x` is.
#[inline(always)]
fn kept<N: Number>(x: N, value: N) -> N {
    N::select(x.is_nan(), N::of(f64::NAN), value)
}

/// e^x.
#[inline(always)]
pub fn exp<N: Number>(x: N) -> N {
    kept(x, exponential::value(of_e(within(x, -746.0, 710.0))))
}

/// 2^x.
#[inline(always)]
pub fn exp2<N: Number>(x: N) -> N {
    kept(x, exponential::value(of_two(within(x, -1076.0, 1025.0))))
}

/// e^x - 1.
#[inline(always)]
pub fn expm1<N: Number>(x: N) -> N {
    kept(x, exponential::expm1(x))
}

/// The natural logarithm: -∞ of 0, NaN of negative numbers.
#[inline(always)]
pub fn log<N: Number>(x: N) -> N {
    logarithm::log(x, Range::All)
}

/// The logarithm to base 2.
#[inline(always)]
pub fn log2<N: Number>(x: N) -> N {
    logarithm::log2(x, Range::All)
}

/// log(1 + x).
#[inline(always)]
pub fn log1p<N: Number>(x: N) -> N {
    logarithm::log1p(x)
}

/// The hyperbolic tangent.
#[inline(always)]
pub fn tanh<N: Number>(x: N) -> N {
    kept(x, exponential::tanh(x))
}

/// 1 / (1 + e^-x).
#[inline(always)]
pub fn sigmoid<N: Number>(x: N) -> N {
    kept(x, exponential::sigmoid(x))
}

/// Whether sines of it need no digits of 2/π.
#[inline(always)]
pub(crate) fn is_near(x: f64) -> bool {
    circle::is_near(x)
}

/// The sine of a number that [is near](is_near).
#[inline(always)]
pub(crate) fn sin_near<N: Number>(x: N) -> N {
    // Keeps the sign of a zero.
    unless_tiny(x, circle::sine(circle::near(x), 0))
}

/// The cosine of a number that [is near](is_near).
#[inline(always)]
pub(crate) fn cos_near<N: Number>(x: N) -> N {
    circle::sine(circle::near(x), 1)
}

/// The sine: NaN of infinities.
pub fn sin<N: Number>(x: N) -> N {
    circle::any(x, || sin_near(x), || circle::sine(circle::far(x, &DIGITS), 0))
}

/// The cosine: NaN of infinities.
pub fn cos<N: Number>(x: N) -> N {
    circle::any(x, || cos_near(x), || circle::sine(circle::far(x, &DIGITS), 1))
}

/// x^n, of exponents from [`SMALLEST`](super::SMALLEST) to [`LARGEST`](super::LARGEST).
pub fn power<N: Number>(x: N, n: i8) -> N {
    power::double(x, n)
}

/// The same of some numbers.
#[inline(always)]
pub(crate) fn powers<const L: usize>(x: &[f64; L], n: i8) -> [f64; L] {
    power::doubles(x, n)
}
