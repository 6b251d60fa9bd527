//! Sines and cosines.

use super::number::{Bits, Number, Truth};
use super::{MAGIC, exponent, ordered_sum, polynomial, sum};

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
pub(super) static DIGITS: [u64; 20] = [
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

/// How many of them are enough for `f32`.
pub(super) const OF_SINGLE: usize = 6;

/// The largest magnitude that is reduced without the digits of 2/π.
const NEAR: f64 = 1_048_576.0;

/// Whether a number is reduced without them.
#[inline(always)]
pub(super) fn is_near<N: Number>(x: N) -> N::Truth {
    x.abs().is_at_most(N::of(NEAR))
}

/// What a number has: near, far, or NaN if it is not finite.
#[inline(always)]
pub(super) fn any<N: Number>(x: N, near: impl FnOnce() -> N, far: impl FnOnce() -> N) -> N {
    let is_finite = x.abs().is_less(N::of(f64::INFINITY));
    N::choose(is_near(x), near, || N::choose(is_finite, far, || N::of(f64::NAN)))
}

/// An angle as so many quarters (in its last two bits) and a rest, the sum of two numbers, that is no larger than π/4.
#[derive(Clone, Copy)]
pub(super) struct Angle<N: Number> {
    quarters: N::Bits,
    rest: N,
    low: N,
}

/// The angle of a number that [is near](is_near).
#[inline(always)]
pub(super) fn near<N: Number>(x: N) -> Angle<N> {
    let rounded = x.mul_add(N::of(PER_QUARTER), N::of(MAGIC));
    let k = rounded - N::of(MAGIC);
    // Exact: it is a multiple of 2^-53 and below 1 (Cody and Waite, with a fused multiply-add).
    let first = (-k).mul_add(N::of(HALF_PI[0]), x);
    let product = k * N::of(HALF_PI[1]);
    let product_low = k.mul_add(N::of(HALF_PI[1]), -product);
    let (second, lacks) = sum(first, -product);
    let (rest, low) = ordered_sum(second, (-k).mul_add(N::of(HALF_PI[2]), lacks - product_low));
    Angle { quarters: rounded.to_bits(), rest, low }
}

/// The angle of any finite number that is above 2^-9 (Payne and Hanek 1983), of whose digits there are enough.
pub(super) fn far<N: Number>(x: N, digits: &'static [u64]) -> Angle<N> {
    let word = N::Bits::of;
    let bits = x.abs().to_bits();
    // |x| = significand · 2^exponent.
    let significand = (bits & word((1 << 52) - 1)) | word(1 << 52);
    // The digits from the one that weighs 2 on, times the significand: higher ones make whole turns.
    let first = bits.down(word(52)) - word(1013);
    let (at, shift) = (first.down(word(6)), first & word(63));
    let digits = [0, 1, 2, 3].map(|k| (at + word(k)).of_table(digits));
    let part = |k: usize| digits[k].up(shift) | digits[k + 1].down(word(64) - shift);
    let [high, middle, low] = [part(0), part(1), part(2)];
    let carried = significand.upper_product(low);
    let low = significand * low;
    let middle_low = significand * middle;
    let sum = middle_low + carried;
    let carry = N::Bits::select(sum.is_less(carried), word(1), word(0));
    let high = significand * high + significand.upper_product(middle) + carry;
    let middle = sum;
    // 192 bits, of which the first two are quarters and the rest is a fraction of one.
    let quarters = high.down(word(62));
    let joined = |a: N::Bits, b: N::Bits| a.up(word(2)) | b.down(word(62));
    let fraction = [joined(high, middle), joined(middle, low), low.up(word(2))];
    let is_above_half = word(0).equals(fraction[0].down(word(63))).not();
    let quarters = quarters + N::Bits::select(is_above_half, word(1), word(0));
    let negative = negated(fraction);
    let [a, b, c] = [0, 1, 2].map(|k| N::Bits::select(is_above_half, negative[k], fraction[k]));
    // The first 106 bits that are not zero.
    let is_empty = a.equals(word(0));
    let of_words = N::Bits::select(is_empty, word(64), word(0));
    let (a, b, c) = (
        N::Bits::select(is_empty, b, a),
        N::Bits::select(is_empty, c, b),
        N::Bits::select(is_empty, word(0), c),
    );
    let by = a.leading_zeros();
    let rest = word(64) - by;
    let (a, b) = (a.up(by) | b.down(rest), b.up(by) | c.down(rest));
    let unit = exponent(word(1023 - 53) - (of_words + by)).number();
    let head = a.down(word(11)).converted() * unit;
    let tail = (a.up(word(53)) | b.down(word(11))).down(word(11)).converted()
        * (unit * N::of(f64::from_bits((1023 - 53) << 52)));
    let product = head * N::of(HALF_PI[0]);
    let product_low = head.mul_add(N::of(HALF_PI[0]), -product)
        + head.mul_add(N::of(HALF_PI[1]), tail * N::of(HALF_PI[0]));
    let (rest, low) = ordered_sum(product, product_low);
    let is_negative = x.is_less(N::of(0.0));
    let quarters = N::Bits::select(is_negative, word(0) - quarters, quarters);
    let one = N::of(1.0);
    let sign = N::select(is_above_half, -one, one) * N::select(is_negative, -one, one);
    Angle { quarters, rest: rest * sign, low: low * sign }
}

/// The negative of a number of three words.
fn negated<B: Bits>([a, b, c]: [B; 3]) -> [B; 3] {
    let ones = B::of(u64::MAX);
    let [a, b, c] = [a ^ ones, b ^ ones, c ^ ones];
    // Carries, where all words below are zero.
    let one_if = |carries: B::Truth| B::select(carries, B::of(1), B::of(0));
    let c = c + B::of(1);
    let is_zero = c.equals(B::of(0));
    let b = b + one_if(is_zero);
    let carries = is_zero.and(b.equals(B::of(0)));
    [a + one_if(carries), b, c]
}

/// The sine of an angle, or that of as many quarters more: one more is the cosine.
#[inline(always)]
pub(super) fn sine<N: Number>(angle: Angle<N>, more: u64) -> N {
    let Angle { quarters, rest, low } = angle;
    let square = rest * rest;
    let lacks = rest.mul_add(rest, -square);
    let half = N::of(0.5) * square;
    let sine = {
        let tail = (-half).mul_add(low, low);
        rest + (square * rest).mul_add(polynomial(square, &SIN), tail)
    };
    let cosine = {
        let (high, lost) = ordered_sum(N::of(1.0), -half);
        let tail = N::of(-0.5).mul_add(lacks, (-rest).mul_add(low, lost));
        high + (square * square).mul_add(polynomial(square, &COS), tail)
    };
    let quarters = quarters + N::Bits::of(more);
    let is_even = (quarters & N::Bits::of(1)).equals(N::Bits::of(0));
    let value = N::select(is_even, sine, cosine);
    (value.to_bits() ^ (quarters & N::Bits::of(2)).up(N::Bits::of(62))).number()
}
