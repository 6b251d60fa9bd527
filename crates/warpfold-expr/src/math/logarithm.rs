//! Logarithms.

use super::{LN2_SHORT, LOG2_E, MAGIC, ordered_sum, polynomial, sum};

/// (2 atanh(s) / s - 2) / s² of z = s², where |s| < 0.1716, within 2^-69 (Chebyshev); how log(1 + f) is had of it: fdlibm's e_log.c.
const LOG: [f64; 7] = [
    f64::from_bits(0x3fe5_5555_5555_5558),
    f64::from_bits(0x3fd9_9999_9999_51f5),
    f64::from_bits(0x3fd2_4924_92e0_b70c),
    f64::from_bits(0x3fcc_71c6_2c42_db89),
    f64::from_bits(0x3fc7_462b_e245_eae3),
    f64::from_bits(0x3fc3_9fd2_5d62_ab23),
    f64::from_bits(0x3fc2_b677_6a1b_f0b9),
];

/// The bits of sqrt(1/2), from where to where the significand is taken.
const ROOT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
const FRACTION: u64 = (1 << 52) - 1;

/// `x` as 2^k · m with m from sqrt(1/2) to sqrt(2), for a positive normal number.
#[inline(always)]
fn split(x: f64) -> (f64, f64) {
    let moved = x.to_bits().wrapping_add((1023 << 52) - ROOT_HALF);
    let m = f64::from_bits((moved & FRACTION) + ROOT_HALF);
    let k = f64::from_bits(MAGIC.to_bits() + (moved >> 52)) - (MAGIC + 1023.0);
    (k, m)
}

/// log(1 + f) as the sum of two numbers, f from sqrt(1/2) - 1 to sqrt(2) - 1.
#[inline(always)]
fn near_one(f: f64) -> (f64, f64) {
    let s = f / (2.0 + f);
    let z = s * s;
    let half = 0.5 * f;
    let high = (-half).mul_add(f, f);
    let low = (-half).mul_add(f, f - high);
    (high, s.mul_add(half.mul_add(f, z * polynomial(z, &LOG)), low))
}

/// The natural logarithm of 2^k · (1 + what has this logarithm).
#[inline(always)]
fn natural(k: f64, (high, low): (f64, f64)) -> f64 {
    let (head, lacks) = ordered_sum(k * LN2_SHORT.0, high);
    head + (lacks + k.mul_add(LN2_SHORT.1, low))
}

/// A positive number as a normal one times 2 to what it was multiplied by.
#[inline(always)]
fn normal(x: f64) -> (f64, f64) {
    if x < f64::MIN_POSITIVE { (x * 18_014_398_509_481_984.0, -54.0) } else { (x, 0.0) }
}

/// What logarithms have of zero, negative numbers and infinity; NaN stays.
#[inline(always)]
pub(super) fn at_ends(x: f64, value: f64) -> f64 {
    let value = if x == f64::INFINITY { x } else { value };
    let value = if x == 0.0 { f64::NEG_INFINITY } else { value };
    if x >= 0.0 { value } else { f64::NAN }
}

/// Whether subnormal numbers occur: those of `f32` are normal in `f64`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Range {
    All,
    Normal,
}

#[inline(always)]
pub(super) fn log(x: f64, range: Range) -> f64 {
    let (y, less) = if range == Range::All { normal(x) } else { (x, 0.0) };
    let (k, m) = split(y);
    at_ends(x, natural(k + less, near_one(m - 1.0)))
}

#[inline(always)]
pub(super) fn log2(x: f64, range: Range) -> f64 {
    let (y, less) = if range == Range::All { normal(x) } else { (x, 0.0) };
    let (k, m) = split(y);
    let (high, low) = near_one(m - 1.0);
    let head = high * LOG2_E.0;
    let tail = low.mul_add(LOG2_E.0, high.mul_add(LOG2_E.1, high.mul_add(LOG2_E.0, -head)));
    let (head, lacks) = ordered_sum(k + less, head);
    at_ends(x, head + (lacks + tail))
}

/// log(1 + x).
#[inline(always)]
pub(super) fn log1p(x: f64) -> f64 {
    let (u, lacks) = sum(1.0, x);
    // At the ends the sum has no rest; of an infinity it is NaN, which does not matter.
    let (k, m) = split(u);
    // Near one, x is f itself; else what the sum lacks is added, divided by the sum.
    let is_near = (-0.292_893_218_813_452_4..0.414_213_562_373_095).contains(&x);
    let (k, f) = if is_near { (0.0, x) } else { (k, m - 1.0) };
    let (high, low) = near_one(f);
    let rest = if is_near { 0.0 } else { lacks / u };
    let value = at_ends(u, natural(k, (high, low + rest)));
    if x.abs() < 1e-300 { x } else { value }
}
