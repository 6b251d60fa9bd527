//! Sines and cosines.

use super::{MAGIC, ordered_sum, polynomial, sum};

/// π/2 as the sum of three numbers.
const HALF_PI: [f64; 3] = [
    f64::from_bits(0x3ff9_21fb_5444_2d18),
    f64::from_bits(0x3c91_a626_3314_5c07),
    f64::from_bits(0xb91f_1976_b7ed_8fbc),
];

/// 2/π.
const PER_QUARTER: f64 = f64::from_bits(0x3fe4_5f30_6dc9_c883);

/// (sin(r)/r - 1) / r² of r², where |r| <= π/4, within 2^-66 (Chebyshev).
const SIN: [f64; 7] = [
    f64::from_bits(0xbfc5_5555_5555_5555),
    f64::from_bits(0x3f81_1111_1111_1110),
    f64::from_bits(0xbf2a_01a0_1a01_9936),
    f64::from_bits(0x3ec7_1de3_a546_05ee),
    f64::from_bits(0xbe5a_e645_4126_6378),
    f64::from_bits(0x3de6_1217_ec01_749d),
    f64::from_bits(0xbd6a_b17a_7923_7a19),
];

/// (cos(r) - 1 + r²/2) / r⁴ of r², within 2^-70.
const COS: [f64; 7] = [
    f64::from_bits(0x3fa5_5555_5555_5555),
    f64::from_bits(0xbf56_c16c_16c1_6c16),
    f64::from_bits(0x3efa_01a0_1a01_9d0a),
    f64::from_bits(0xbe92_7e4f_b771_2bdf),
    f64::from_bits(0x3e21_eed8_deb6_d561),
    f64::from_bits(0xbda9_394b_9c9c_20a4),
    f64::from_bits(0x3d2a_b783_3769_62cf),
];

/// The digits of 2/π after 64 zeros, as words of 64 bits.
const DIGITS: [u64; 20] = [
    0,
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0,
    0x0649_2eea_09d1_921c,
    0xfe1d_eb1c_b129_a73e,
    0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41,
    0x3991_d639_8353_39f4,
    0x9c84_5f8b_bdf9_283b,
    0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f,
    0x6d36_7ecf_27cb_09b7,
    0x4f46_3f66_9e5f_ea2d,
    0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea,
    0x6bfb_5fb1_1f8d_5d08,
    0x5603_3046_fc7b_6bab,
];

/// The largest magnitude that is reduced without the digits of 2/π.
pub(super) const NEAR: f64 = 1_048_576.0;

/// An angle as so many quarters (in its last two bits) and a rest, the sum of two numbers, that is no larger than π/4.
#[derive(Clone, Copy)]
pub(super) struct Angle {
    quarters: u64,
    rest: f64,
    low: f64,
}

/// The angle of a number that is not above [`NEAR`].
#[inline(always)]
pub(super) fn near(x: f64) -> Angle {
    let rounded = x.mul_add(PER_QUARTER, MAGIC);
    let k = rounded - MAGIC;
    // Exact: it is a multiple of 2^-53 and below 1 (Cody and Waite, with a fused multiply-add).
    let first = (-k).mul_add(HALF_PI[0], x);
    let product = k * HALF_PI[1];
    let product_low = k.mul_add(HALF_PI[1], -product);
    let (second, lacks) = sum(first, -product);
    let (rest, low) = ordered_sum(second, (-k).mul_add(HALF_PI[2], lacks - product_low));
    Angle { quarters: rounded.to_bits(), rest, low }
}

/// The angle of any finite number that is above 2^-9 (Payne and Hanek 1983).
pub(super) fn far(x: f64) -> Angle {
    let bits = x.abs().to_bits();
    // |x| = significand · 2^exponent.
    let exponent = (bits >> 52) as usize;
    let significand = (bits & ((1 << 52) - 1)) | (1 << 52);
    // The digits from the one that weighs 2 on, times the significand: higher ones make whole turns.
    let first = exponent - 1013;
    let word = |k: usize| {
        let (at, shift) = (first / 64 + k, first % 64);
        let next = if shift == 0 { 0 } else { DIGITS[at + 1] >> (64 - shift) };
        DIGITS[at] << shift | next
    };
    let wide = |word: u64| u128::from(significand) * u128::from(word);
    let low = wide(word(2));
    let middle = wide(word(1)) + (low >> 64);
    let high = (wide(word(0)) as u64).wrapping_add((middle >> 64) as u64);
    // 192 bits, of which the first two are quarters and the rest is a fraction of one.
    let [high, middle, low] = [high, middle as u64, low as u64];
    let mut quarters = high >> 62;
    let mut fraction = [high << 2 | middle >> 62, middle << 2 | low >> 62, low << 2];
    let is_above_half = fraction[0] >> 63 == 1;
    if is_above_half {
        quarters += 1;
        fraction = negated(fraction);
    }
    // The first 106 bits that are not zero.
    let mut shift = fraction[0].leading_zeros();
    let [mut a, mut b, mut c] = fraction;
    if shift == 64 {
        (a, b, c) = (b, c, 0);
        shift = 64 + a.leading_zeros();
    }
    let by = shift % 64;
    if by > 0 {
        (a, b) = (a << by | b >> (64 - by), b << by | c >> (64 - by));
    }
    let leading = (u128::from(a) << 64) | u128::from(b);
    let unit = f64::from_bits(u64::from(1023 - 53 - shift) << 52);
    let head = (leading >> 75) as f64 * unit;
    let tail = (leading << 53 >> 75) as f64 * (unit * f64::from_bits((1023 - 53) << 52));
    let product = head * HALF_PI[0];
    let product_low =
        head.mul_add(HALF_PI[0], -product) + head.mul_add(HALF_PI[1], tail * HALF_PI[0]);
    let (rest, low) = ordered_sum(product, product_low);
    let is_back = is_above_half != (x < 0.0);
    let quarters = if x < 0.0 { quarters.wrapping_neg() } else { quarters };
    let sign = if is_back { -1.0 } else { 1.0 };
    Angle { quarters, rest: rest * sign, low: low * sign }
}

/// The negative of a number of three words.
fn negated([a, b, c]: [u64; 3]) -> [u64; 3] {
    let (c, carry) = (!c).overflowing_add(1);
    let (b, carry) = (!b).overflowing_add(u64::from(carry));
    [(!a).wrapping_add(u64::from(carry)), b, c]
}

/// The sine of an angle, or that of as many quarters more: one more is the cosine.
#[inline(always)]
pub(super) fn sine(angle: Angle, more: u64) -> f64 {
    let Angle { quarters, rest, low } = angle;
    let square = rest * rest;
    let lacks = rest.mul_add(rest, -square);
    let half = 0.5 * square;
    let sine = {
        let tail = (-half).mul_add(low, low);
        rest + (square * rest).mul_add(polynomial(square, &SIN), tail)
    };
    let cosine = {
        let (high, lost) = ordered_sum(1.0, -half);
        let tail = (-0.5f64).mul_add(lacks, (-rest).mul_add(low, lost));
        high + (square * square).mul_add(polynomial(square, &COS), tail)
    };
    let quarters = quarters.wrapping_add(more);
    let value = if quarters & 1 == 0 { sine } else { cosine };
    f64::from_bits(value.to_bits() ^ (quarters & 2) << 62)
}
