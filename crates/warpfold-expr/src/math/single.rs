//! Functions of `f32`, correctly rounded. A NaN gives the positive quiet NaN.

use super::circle::{self};
use super::exponential::{self, of_e, of_two};
use super::logarithm::{self, Range};
use super::{double, power};

/// Inputs whose results an `f64` rounds to the wrong side, and their results, by their bits.
type Hard<const N: usize> = [(u32, u32); N];

const EXP: Hard<0> = [];
const EXP2: Hard<2> = [(0x3b42_9d37, 0x3f80_4385), (0xbcf3_a937, 0x3f7a_c6b1)];
const EXPM1: Hard<0> = [];
const LOG: Hard<5> = [
    (0x3c41_3d3a, 0xc08e_158f),
    (0x4117_8feb, 0x400f_e5e7),
    (0x4c5d_65a5, 0x418f_034b),
    (0x65d8_90d3, 0x4254_d1f9),
    (0x6f31_a8ec, 0x4284_5a89),
];
const LOG2: Hard<0> = [];
const LOG1P: Hard<9> = [
    (0x3540_0003, 0x353f_ffff),
    (0x3710_001b, 0x370f_fff3),
    (0x3efd_81ad, 0x3ecd_eee1),
    (0x4107_8feb, 0x400f_e5e7),
    (0x65d8_90d3, 0x4254_d1f9),
    (0x6f31_a8ec, 0x4284_5a89),
    (0xb53f_fffd, 0xb540_0001),
    (0xb70f_ffe5, 0xb710_000d),
    (0xbb0e_c8c4, 0xbb0e_f0a5),
];
/// Of odd functions, and of even ones, positive inputs stand for both signs.
const TANH: Hard<0> = [];
const SIGMOID: Hard<1> = [(0xba92_8601, 0x3eff_db5f)];
const SIN: Hard<1> = [(0x4619_9998, 0xbeb1_fa5d)];
const COS: Hard<2> = [(0x5f18_b878, 0x3f7f_14bb), (0x6115_cb11, 0x3f78_142f)];

/// The value, but that of a hard input where it is one, and NaN where `x` is.
#[inline(always)]
fn kept<const N: usize>(x: f32, value: f64, hard: &Hard<N>) -> f32 {
    let mut value = value as f32;
    for &(input, result) in hard {
        value = if x.to_bits() == input { f32::from_bits(result) } else { value };
    }
    if x.is_nan() { f32::NAN } else { value }
}

/// The same for an odd function.
#[inline(always)]
fn odd<const N: usize>(x: f32, value: f64, hard: &Hard<N>) -> f32 {
    let mut value = value as f32;
    for &(input, result) in hard {
        let is_it = x.to_bits() << 1 == input << 1;
        let result = f32::from_bits(result);
        let result = if x.is_sign_negative() { -result } else { result };
        value = if is_it { result } else { value };
    }
    if x.is_nan() { f32::NAN } else { value }
}

/// `x`, but no less and no more than two bounds; NaN stays.
#[inline(always)]
fn within(x: f32, least: f32, most: f32) -> f64 {
    let x = if x < least { least } else { x };
    f64::from(if x > most { most } else { x })
}

/// e^x.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    kept(x, exponential::normal_value(of_e(within(x, -105.0, 90.0))), &EXP)
}

/// 2^x.
#[inline(always)]
pub fn exp2(x: f32) -> f32 {
    kept(x, exponential::normal_value(of_two(within(x, -151.0, 129.0))), &EXP2)
}

/// e^x - 1.
#[inline(always)]
pub fn expm1(x: f32) -> f32 {
    kept(x, exponential::expm1(f64::from(x)), &EXPM1)
}

/// The natural logarithm: -∞ of 0, NaN of negative numbers.
#[inline(always)]
pub fn log(x: f32) -> f32 {
    kept(x, wide_log(x), &LOG)
}

/// The `f64` that it is rounded from.
#[inline(always)]
pub(crate) fn wide_log(x: f32) -> f64 {
    logarithm::log(f64::from(x), Range::Normal)
}

/// The logarithm to base 2.
#[inline(always)]
pub fn log2(x: f32) -> f32 {
    kept(x, logarithm::log2(f64::from(x), Range::Normal), &LOG2)
}

/// log(1 + x).
#[inline(always)]
pub fn log1p(x: f32) -> f32 {
    kept(x, wide_log1p(x), &LOG1P)
}

/// The `f64` that it is rounded from.
#[inline(always)]
pub(crate) fn wide_log1p(x: f32) -> f64 {
    logarithm::log1p(f64::from(x))
}

/// The `f64` rounded, as it is but for hard inputs.
#[inline(always)]
pub(crate) fn unless_hard(x: f32, value: f64) -> f32 {
    kept(x, value, &[])
}

/// Whether an `f64` lies so near the middle of two normal `f32` that the input may be hard: one in four million does, so that lists of many are
/// looked at for those alone.
#[inline(always)]
pub(crate) fn is_doubtful(value: f64) -> bool {
    const BITS: u64 = (1 << 29) - 1;
    const FROM: u64 = (1 << 28) - 64;
    (value.to_bits() & BITS).wrapping_sub(FROM) < 128
}

/// The hyperbolic tangent.
#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    odd(x, exponential::tanh(f64::from(x)), &TANH)
}

/// 1 / (1 + e^-x).
#[inline(always)]
pub fn sigmoid(x: f32) -> f32 {
    // 1/2 + x/4 - x³/48, where the last is less than an f64 tells beside the first: what it leaves may be the very middle of two f32, so that
    // the next f64 towards 1/2 is taken.
    let near = 0.5 + 0.25 * f64::from(x);
    let towards = if x > 0.0 { u64::MAX } else { u64::from(x < 0.0) };
    let near = f64::from_bits(near.to_bits().wrapping_add(towards));
    // 2^-16.
    let is_near = x.abs() < f32::from_bits(0x3780_0000);
    let value = if is_near { near } else { exponential::sigmoid(f64::from(x)) };
    kept(x, value, &SIGMOID)
}

/// Whether sines of it need no digits of 2/π.
#[inline(always)]
pub(crate) fn is_near(x: f32) -> bool {
    double::is_near(f64::from(x))
}

/// The sine of a number that [is near](is_near).
#[inline(always)]
pub(crate) fn sin_near(x: f32) -> f32 {
    odd(x, double::sin_near(f64::from(x)), &SIN)
}

/// The cosine of a number that [is near](is_near).
#[inline(always)]
pub(crate) fn cos_near(x: f32) -> f32 {
    kept(x.abs(), double::cos_near(f64::from(x)), &COS)
}

/// The sine: NaN of infinities.
pub fn sin(x: f32) -> f32 {
    match x {
        x if is_near(x) => sin_near(x),
        x if x.is_finite() => odd(x, circle::sine(circle::far(f64::from(x)), 0), &SIN),
        _ => f32::NAN,
    }
}

/// The cosine: NaN of infinities.
pub fn cos(x: f32) -> f32 {
    match x {
        x if is_near(x) => cos_near(x),
        x if x.is_finite() => kept(x.abs(), circle::sine(circle::far(f64::from(x)), 1), &COS),
        _ => f32::NAN,
    }
}

/// x^n, of exponents from [`SMALLEST`](super::SMALLEST) to [`LARGEST`](super::LARGEST).
pub fn power(x: f32, n: i8) -> f32 {
    power::single(&[x], n)[0]
}

/// The same of some numbers.
#[inline(always)]
pub(crate) fn powers<const L: usize>(x: &[f32; L], n: i8) -> [f32; L] {
    power::single(x, n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hard_logarithms_are_doubtful() {
        for (input, _) in LOG {
            assert!(is_doubtful(wide_log(f32::from_bits(input))), "{input:x}");
        }
        for (input, _) in LOG1P {
            assert!(is_doubtful(wide_log1p(f32::from_bits(input))), "{input:x}");
        }
    }
}
