//! Powers of e and 2, and what is made of them.

use super::number::{Bits, Number};
use super::{
    LN2, LOG2_E, MAGIC, ordered_sum, polynomial, scaled, sum, two_to, unless_tiny, within,
};

/// (e^r - 1 - r) / r² where |r| < 0.347, within 2^-59 (Chebyshev).
const EXP: [f64; 11] = [
    f64::from_bits(0x3fe0_0000_0000_0000),
    f64::from_bits(0x3fc5_5555_5555_5557),
    f64::from_bits(0x3fa5_5555_5555_5556),
    f64::from_bits(0x3f81_1111_1111_00be),
    f64::from_bits(0x3f56_c16c_16c1_62c3),
    f64::from_bits(0x3f2a_01a0_1abf_85ab),
    f64::from_bits(0x3efa_01a0_1a6e_1e2a),
    f64::from_bits(0x3ec7_1de0_1fdb_f9ca),
    f64::from_bits(0x3e92_7e4d_b46c_ddd1),
    f64::from_bits(0x3e5a_f4e5_5437_7204),
    f64::from_bits(0x3e21_f734_0dbc_337e),
];

/// (2^r - 1 - r log 2) / r² where |r| <= 1/2, within 2^-60.
const EXP2: [f64; 11] = [
    f64::from_bits(0x3fce_bfbd_ff82_c58f),
    f64::from_bits(0x3fac_6b08_d704_a0c2),
    f64::from_bits(0x3f83_b2ab_6fba_4e78),
    f64::from_bits(0x3f55_d87f_e78a_5276),
    f64::from_bits(0x3f24_3091_2f86_bf52),
    f64::from_bits(0x3eef_fcbf_c670_dcd4),
    f64::from_bits(0x3eb6_2c02_2401_b97d),
    f64::from_bits(0x3e7b_524f_ae62_7834),
    f64::from_bits(0x3e3e_4cf1_cd08_d4b8),
    f64::from_bits(0x3dfe_9d3f_e395_2179),
    f64::from_bits(0x3dbc_48f7_69ad_2c46),
];

/// 2^k · (1 + head + tail), where k is an integer and `rounded` its sum with [`MAGIC`].
#[derive(Clone, Copy)]
pub(super) struct Parts<N> {
    rounded: N,
    head: N,
    tail: N,
}

/// e^x in parts, of a number that is no larger than 2^20.
#[inline(always)]
pub(super) fn of_e<N: Number>(x: N) -> Parts<N> {
    let rounded = x.mul_add(N::of(LOG2_E.0), N::of(MAGIC));
    let k = rounded - N::of(MAGIC);
    // Exact: it is a multiple of 2^-54 and below 0.35.
    let rest = (-k).mul_add(N::of(LN2.0), x);
    let head = (-k).mul_add(N::of(LN2.1), rest);
    let low = (-k).mul_add(N::of(LN2.1), rest - head);
    let tail = (head * head).mul_add(polynomial(head, &EXP), low.mul_add(head, low));
    Parts { rounded, head, tail }
}

/// 2^x in parts, of a number that is no larger than 2^20.
#[inline(always)]
pub(super) fn of_two<N: Number>(x: N) -> Parts<N> {
    let rounded = x + N::of(MAGIC);
    let rest = x - (rounded - N::of(MAGIC));
    let head = rest * N::of(LN2.0);
    let low = rest.mul_add(N::of(LN2.1), rest.mul_add(N::of(LN2.0), -head));
    let tail = (rest * rest).mul_add(polynomial(rest, &EXP2), low);
    Parts { rounded, head, tail }
}

/// The power itself, any finite one.
#[inline(always)]
pub(super) fn value<N: Number>(parts: Parts<N>) -> N {
    let (high, low) = ordered_sum(N::of(1.0), parts.head);
    scaled(high + (low + parts.tail), parts.rounded)
}

/// The power itself, if it is no subnormal number and no larger than 2^1023.
#[inline(always)]
pub(super) fn normal_value<N: Number>(parts: Parts<N>) -> N {
    let scale = two_to(parts.rounded, 0);
    scale.mul_add(parts.head + parts.tail, scale)
}

/// Half of e^x - 1, as the sum of two numbers, where x is from -50 to 710.
#[inline(always)]
fn half_less_one<N: Number>(x: N) -> (N, N) {
    let Parts { rounded, head, tail } = of_e(x);
    // Half, as 2^1024 is no number.
    let scale = two_to(rounded, -1);
    let base = scale - N::of(0.5);
    // From 2^53 on, the difference has no room for the half.
    let lost = (scale - base) - N::of(0.5);
    let (high, low) = ordered_sum(base, scale * head);
    (high, scale.mul_add(tail, low + lost))
}

/// e^x - 1.
#[inline(always)]
pub(super) fn expm1<N: Number>(x: N) -> N {
    let (high, low) = half_less_one(within(x, -50.0, 710.0));
    // Keeps the sign of a zero, and subnormal numbers, half of which are none.
    unless_tiny(x, (high + low) * N::of(2.0))
}

/// (e^2x - 1) / (e^2x + 1).
#[inline(always)]
pub(super) fn tanh<N: Number>(x: N) -> N {
    // From 19.1 on it rounds to 1.
    let (high, low) = half_less_one(within(x.abs(), 0.0, 22.0) * N::of(2.0));
    let (n, n_low) = ordered_sum(high, low);
    let (d, d_low) = sum(N::of(1.0), n);
    let value = quotient((n, n_low), (d, d_low + n_low));
    let sign = x.to_bits() & N::Bits::of(1 << 63);
    unless_tiny(x, (value.abs().to_bits() | sign).number())
}

/// 1 / (1 + e^-x).
#[inline(always)]
pub(super) fn sigmoid<N: Number>(x: N) -> N {
    // Of e^-|x|, which is no larger than 1.
    let Parts { rounded, head, tail } = of_e(-within(x.abs(), 0.0, 750.0));
    let (high, low) = ordered_sum(N::of(1.0), head);
    let (n, n_low) = ordered_sum(high, low + tail);
    let least = N::of(MAGIC - 200.0);
    let scale = two_to(N::select(rounded.is_less(least), least, rounded), 0);
    let (d, d_low) = ordered_sum(N::of(1.0), scale * n);
    let is_negative = x.is_less(N::of(0.0));
    let numerator =
        (N::select(is_negative, n, N::of(1.0)), N::select(is_negative, n_low, N::of(0.0)));
    let value = quotient(numerator, (d, scale.mul_add(n_low, d_low)));
    scaled(value, N::select(is_negative, rounded, N::of(MAGIC)))
}

/// The quotient of two numbers that are sums of two.
#[inline(always)]
fn quotient<N: Number>((n, n_low): (N, N), (d, d_low): (N, N)) -> N {
    let inverse = N::of(1.0) / d;
    let quotient = n * inverse;
    let rest = (-quotient).mul_add(d, n) + (-quotient).mul_add(d_low, n_low);
    rest.mul_add(inverse, quotient)
}
