//! Functions of `f32`, correctly rounded. A NaN gives the positive quiet NaN.

use super::{double, power, wide};

/// Inputs whose results an `f64` rounds to the wrong side, and their results, by their bits.
pub(crate) type Hard<const N: usize> = [(u32, u32); N];

pub(crate) const EXP: Hard<0> = [];
pub(crate) const EXP2: Hard<2> = [(0x3b42_9d37, 0x3f80_4385), (0xbcf3_a937, 0x3f7a_c6b1)];
pub(crate) const EXPM1: Hard<0> = [];
pub(crate) const LOG: Hard<5> = [
    (0x3c41_3d3a, 0xc08e_158f),
    (0x4117_8feb, 0x400f_e5e7),
    (0x4c5d_65a5, 0x418f_034b),
    (0x65d8_90d3, 0x4254_d1f9),
    (0x6f31_a8ec, 0x4284_5a89),
];
pub(crate) const LOG2: Hard<0> = [];
pub(crate) const LOG1P: Hard<9> = [
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
pub(crate) const TANH: Hard<0> = [];
pub(crate) const SIGMOID: Hard<1> = [(0xba92_8601, 0x3eff_db5f)];
pub(crate) const SIN: Hard<1> = [(0x4619_9998, 0xbeb1_fa5d)];
pub(crate) const COS: Hard<2> = [(0x5f18_b878, 0x3f7f_14bb), (0x6115_cb11, 0x3f78_142f)];

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

/// e^x.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    kept(x, wide::exp(f64::from(x)), &EXP)
}

/// 2^x.
#[inline(always)]
pub fn exp2(x: f32) -> f32 {
    kept(x, wide::exp2(f64::from(x)), &EXP2)
}

/// e^x - 1.
#[inline(always)]
pub fn expm1(x: f32) -> f32 {
    kept(x, wide::expm1(f64::from(x)), &EXPM1)
}

/// The natural logarithm: -∞ of 0, NaN of negative numbers.
#[inline(always)]
pub fn log(x: f32) -> f32 {
    kept(x, wide_log(x), &LOG)
}

/// The `f64` that it is rounded from.
#[inline(always)]
pub(crate) fn wide_log(x: f32) -> f64 {
    wide::log(f64::from(x))
}

/// The logarithm to base 2.
#[inline(always)]
pub fn log2(x: f32) -> f32 {
    kept(x, wide::log2(f64::from(x)), &LOG2)
}

/// log(1 + x).
#[inline(always)]
pub fn log1p(x: f32) -> f32 {
    kept(x, wide_log1p(x), &LOG1P)
}

/// The `f64` that it is rounded from.
#[inline(always)]
pub(crate) fn wide_log1p(x: f32) -> f64 {
    wide::log1p(f64::from(x))
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
    odd(x, wide::tanh(f64::from(x)), &TANH)
}

/// 1 / (1 + e^-x).
#[inline(always)]
pub fn sigmoid(x: f32) -> f32 {
    kept(x, wide::sigmoid(f64::from(x)), &SIGMOID)
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
    odd(x, wide::sin(f64::from(x)), &SIN)
}

/// The cosine: NaN of infinities.
pub fn cos(x: f32) -> f32 {
    kept(x.abs(), wide::cos(f64::from(x)), &COS)
}

/// x^n, of exponents from [`SMALLEST`](super::SMALLEST) to [`LARGEST`](super::LARGEST).
pub fn power(x: f32, n: i8) -> f32 {
    power::wide(f64::from(x), n) as f32
}

/// The same of some numbers.
#[inline(always)]
pub(crate) fn powers<const L: usize>(x: &[f32; L], n: i8) -> [f32; L] {
    power::singles(x, n)
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
