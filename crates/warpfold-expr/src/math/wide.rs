//! Functions of `f32` as the `f64` that they are rounded from, where `x` is an `f32`: right but for hard inputs (`single.rs`).

use super::circle::{self, DIGITS, OF_SINGLE};
use super::exponential::{self, of_e, of_two};
use super::logarithm::{self, Range};
use super::number::{Bits, Number};
use super::{double, within};

pub(crate) use super::power::wide as power;

/// e^x.
#[inline(always)]
pub(crate) fn exp<N: Number>(x: N) -> N {
    exponential::normal_value(of_e(within(x, -105.0, 90.0)))
}

/// 2^x.
#[inline(always)]
pub(crate) fn exp2<N: Number>(x: N) -> N {
    exponential::normal_value(of_two(within(x, -151.0, 129.0)))
}

/// e^x - 1.
#[inline(always)]
pub(crate) fn expm1<N: Number>(x: N) -> N {
    exponential::expm1(x)
}

/// The natural logarithm: -∞ of 0, NaN of negative numbers.
#[inline(always)]
pub(crate) fn log<N: Number>(x: N) -> N {
    logarithm::log(x, Range::Normal)
}

/// The logarithm to base 2.
#[inline(always)]
pub(crate) fn log2<N: Number>(x: N) -> N {
    logarithm::log2(x, Range::Normal)
}

/// log(1 + x).
#[inline(always)]
pub(crate) fn log1p<N: Number>(x: N) -> N {
    logarithm::log1p(x)
}

/// The hyperbolic tangent.
#[inline(always)]
pub(crate) fn tanh<N: Number>(x: N) -> N {
    exponential::tanh(x)
}

/// 1 / (1 + e^-x).
#[inline(always)]
pub(crate) fn sigmoid<N: Number>(x: N) -> N {
    // 1/2 + x/4 - x³/48, where the last is less than an f64 tells beside the first: what it leaves may be the very middle of two f32, so that
    // the next f64 towards 1/2 is taken.
    let (zero, word) = (N::of(0.0), N::Bits::of);
    let near = N::of(0.5) + N::of(0.25) * x;
    let up = N::Bits::select(x.is_less(zero), word(1), word(0));
    let towards = N::Bits::select(zero.is_less(x), word(u64::MAX), up);
    let near = (near.to_bits() + towards).number();
    // 2^-16.
    let is_near = x.abs().is_less(N::of(f64::from_bits(0x3ef0_0000_0000_0000)));
    N::select(is_near, near, exponential::sigmoid(x))
}

/// The sine: NaN of infinities.
pub(crate) fn sin<N: Number>(x: N) -> N {
    let far = || circle::sine(circle::far(x, &DIGITS[..OF_SINGLE]), 0);
    circle::any(x, || double::sin_near(x), far)
}

/// The cosine: NaN of infinities.
pub(crate) fn cos<N: Number>(x: N) -> N {
    let far = || circle::sine(circle::far(x, &DIGITS[..OF_SINGLE]), 1);
    circle::any(x, || double::cos_near(x), far)
}
