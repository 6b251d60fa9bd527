//! Logarithms.

use super::number::{Bits, Number, Truth};
use super::{LN2_SHORT, LOG2_E, MAGIC, ordered_sum, polynomial, sum, unless_tiny};

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
fn split<N: Number>(x: N) -> (N, N) {
    let moved = x.to_bits() + N::Bits::of((1023 << 52) - ROOT_HALF);
    let m = ((moved & N::Bits::of(FRACTION)) + N::Bits::of(ROOT_HALF)).number();
    let k = (N::Bits::of(MAGIC.to_bits()) + moved.down(N::Bits::of(52))).number();
    (k - N::of(MAGIC + 1023.0), m)
}

/// log(1 + f) as the sum of two numbers, f from sqrt(1/2) - 1 to sqrt(2) - 1.
#[inline(always)]
fn near_one<N: Number>(f: N) -> (N, N) {
    let s = f / (N::of(2.0) + f);
    let z = s * s;
    let half = N::of(0.5) * f;
    let high = (-half).mul_add(f, f);
    let low = (-half).mul_add(f, f - high);
    (high, s.mul_add(half.mul_add(f, z * polynomial(z, &LOG)), low))
}

/// The natural logarithm of 2^k · (1 + what has this logarithm).
#[inline(always)]
fn natural<N: Number>(k: N, (high, low): (N, N)) -> N {
    let (head, lacks) = ordered_sum(k * N::of(LN2_SHORT.0), high);
    head + (lacks + k.mul_add(N::of(LN2_SHORT.1), low))
}

/// A positive number as a normal one times 2 to what it was multiplied by.
#[inline(always)]
fn normal<N: Number>(x: N) -> (N, N) {
    let is_small = x.is_less(N::of(f64::MIN_POSITIVE));
    let y = N::select(is_small, x * N::of(18_014_398_509_481_984.0), x);
    (y, N::select(is_small, N::of(-54.0), N::of(0.0)))
}

/// What logarithms have of zero, negative numbers and infinity; NaN stays.
#[inline(always)]
pub(super) fn at_ends<N: Number>(x: N, value: N) -> N {
    let value = N::select(x.equals(N::of(f64::INFINITY)), x, value);
    let value = N::select(x.equals(N::of(0.0)), N::of(f64::NEG_INFINITY), value);
    N::select(N::of(0.0).is_at_most(x), value, N::of(f64::NAN))
}

/// Whether subnormal numbers occur: those of `f32` are normal in `f64`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Range {
    All,
    Normal,
}

#[inline(always)]
fn normal_of<N: Number>(x: N, range: Range) -> (N, N) {
    if range == Range::All { normal(x) } else { (x, N::of(0.0)) }
}

#[inline(always)]
pub(super) fn log<N: Number>(x: N, range: Range) -> N {
    let (y, less) = normal_of(x, range);
    let (k, m) = split(y);
    at_ends(x, natural(k + less, near_one(m - N::of(1.0))))
}

#[inline(always)]
pub(super) fn log2<N: Number>(x: N, range: Range) -> N {
    let (y, less) = normal_of(x, range);
    let (k, m) = split(y);
    let (high, low) = near_one(m - N::of(1.0));
    let of_e = N::of(LOG2_E.0);
    let head = high * of_e;
    let tail = low.mul_add(of_e, high.mul_add(N::of(LOG2_E.1), high.mul_add(of_e, -head)));
    let (head, lacks) = ordered_sum(k + less, head);
    at_ends(x, head + (lacks + tail))
}

/// log(1 + x).
#[inline(always)]
pub(super) fn log1p<N: Number>(x: N) -> N {
    let (u, lacks) = sum(N::of(1.0), x);
    // At the ends the sum has no rest; of an infinity it is NaN, which does not matter.
    let (k, m) = split(u);
    // Near one, x is f itself; else what the sum lacks is added, divided by the sum.
    let least = N::of(-0.292_893_218_813_452_4);
    let is_near = least.is_at_most(x).and(x.is_less(N::of(0.414_213_562_373_095)));
    let zero = N::of(0.0);
    let (high, low) = near_one(N::select(is_near, x, m - N::of(1.0)));
    let rest = N::select(is_near, zero, lacks / u);
    let value = at_ends(u, natural(N::select(is_near, zero, k), (high, low + rest)));
    unless_tiny(x, value)
}
