//! Powers whose exponent is a whole constant.

#![allow(clippy::needless_range_loop, reason = "lanes of several arrays side by side")]

use super::ordered_sum;

/// The smallest exponent of a power of floats.
pub const SMALLEST: i8 = -8;
/// The largest.
pub const LARGEST: i8 = 64;

const FRACTION: u64 = (1 << 52) - 1;

/// Significands from 1 to 2 to the power, each as the sum of two numbers (double-double: within 2^-97), and 2 to the power of their exponents.
#[derive(Clone, Copy)]
pub(super) struct Powers<const L: usize> {
    high: [f64; L],
    low: [f64; L],
    exponent: [i64; L],
}

/// Powers of finite numbers that are not zero; their signs are left out.
#[inline(always)]
pub(super) fn powers<const L: usize>(x: &[f64; L], n: i8) -> Powers<L> {
    let mut m = [0.0; L];
    let mut exponent = [0; L];
    for lane in 0..L {
        let size = x[lane].abs();
        let is_small = size < f64::MIN_POSITIVE;
        let bits = if is_small { size * 18_014_398_509_481_984.0 } else { size }.to_bits();
        m[lane] = f64::from_bits((bits & FRACTION) | (1023 << 52));
        let of_x = (bits >> 52) as i64 - 1023 - if is_small { 54 } else { 0 };
        exponent[lane] = of_x * i64::from(n);
    }
    let (high, low) = raised(&m, n);
    Powers { high, low, exponent }
}

/// Powers of numbers whose powers lie within 2^±[`NEAR`].
#[inline(always)]
fn near_powers<const L: usize>(x: &[f64; L], n: i8) -> ([f64; L], [f64; L]) {
    let mut m = [0.0; L];
    for lane in 0..L {
        m[lane] = x[lane].abs();
    }
    raised(&m, n)
}

/// How far the exponents of powers may lie from zero that need no scaling: whatever cancels on the way, what is left stays normal
/// (as in `warpfold-exact`'s products), so that the bits are those of scaled numbers.
const NEAR: i64 = 700;

/// Whether the powers of all numbers are near one; what is zero or not finite has no need to be.
#[inline(always)]
fn are_near<const L: usize>(x: &[f64; L], n: i8) -> bool {
    let most = (NEAR / i64::from(n).abs()) as u64;
    let (low, high) = (f64::from_bits((1023 - most) << 52), f64::from_bits((1023 + most) << 52));
    let mut far = 0u64;
    for x in x {
        let size = x.abs();
        far |=
            u64::from(((size < low) & (size != 0.0)) | ((size > high) & (size != f64::INFINITY)));
    }
    far == 0
}

/// The powers of numbers whose powers are neither too large nor too small.
#[inline(always)]
fn raised<const L: usize>(m: &[f64; L], n: i8) -> ([f64; L], [f64; L]) {
    // From the highest bit of the exponent down: squared, and multiplied where the bit is set.
    let size = n.unsigned_abs();
    let (mut high, mut low) = (*m, [0.0; L]);
    for bit in (0..size.ilog2()).rev() {
        for lane in 0..L {
            let (a, b) = (high[lane], low[lane]);
            let square = a * a;
            let lacks = a.mul_add(a, -square);
            (high[lane], low[lane]) = ordered_sum(square, (2.0 * a).mul_add(b, lacks));
        }
        if size >> bit & 1 == 1 {
            for lane in 0..L {
                let (a, b) = (high[lane], low[lane]);
                let product = a * m[lane];
                let lacks = a.mul_add(m[lane], -product);
                (high[lane], low[lane]) = ordered_sum(product, b.mul_add(m[lane], lacks));
            }
        }
    }
    if n < 0 {
        for lane in 0..L {
            let inverse = 1.0 / high[lane];
            let rest = (-inverse).mul_add(low[lane], (-inverse).mul_add(high[lane], 1.0));
            (high[lane], low[lane]) = ordered_sum(inverse, inverse * rest);
        }
    }
    (high, low)
}

/// The sum of two numbers rounded to an odd last bit unless it is exact: a narrower type then rounds it as it would the sum itself.
#[inline(always)]
fn odd_sum(high: f64, low: f64) -> f64 {
    let (value, lacks) = ordered_sum(high, low);
    let bits = value.to_bits();
    let is_odd = (bits & 1 == 1) | (lacks == 0.0);
    let towards = if lacks > 0.0 { 1 } else { u64::MAX };
    f64::from_bits(if is_odd { bits } else { bits.wrapping_add(towards) })
}

impl<const L: usize> Powers<L> {
    /// The power of a lane as an `f64`.
    #[inline(always)]
    pub(super) fn double(&self, lane: usize) -> f64 {
        let exponent = self.exponent[lane].clamp(-1300, 1100);
        let first = exponent >> 1;
        let two_to = |k: i64| f64::from_bits(((1023 + k) as u64) << 52);
        (self.high[lane] + self.low[lane]) * two_to(first) * two_to(exponent - first)
    }

    /// The power of a lane as an `f32`, rounded once: what the `f64` lacks sticks to its last bit.
    #[inline(always)]
    pub(super) fn single(&self, lane: usize) -> f32 {
        let exponent = self.exponent[lane].clamp(-400, 200);
        let odd = odd_sum(self.high[lane], self.low[lane]);
        (odd * f64::from_bits(((1023 + exponent) as u64) << 52)) as f32
    }
}

/// What powers have of zero, infinity and NaN, and their sign.
macro_rules! at_ends {
    ($x:expr, $n:expr, $value:expr) => {{
        let (x, n) = ($x, $n);
        let of_end = if n < 0 { 1.0 / x.abs() } else { x.abs() };
        let is_end = x == 0.0 || !x.is_finite();
        let value = if is_end { of_end } else { $value };
        let value = if n & 1 == 1 && x.is_sign_negative() { -value } else { value };
        if x.is_nan() { f64::NAN as _ } else { value }
    }};
}

/// Powers of some numbers.
#[inline(always)]
pub(super) fn double<const L: usize>(x: &[f64; L], n: i8) -> [f64; L] {
    let mut values = [1.0; L];
    if n == 0 {
        return values;
    }
    if are_near(x, n) {
        let (high, low) = near_powers(x, n);
        for lane in 0..L {
            values[lane] = at_ends!(x[lane], n, high[lane] + low[lane]);
        }
        return values;
    }
    let powers = powers(x, n);
    for lane in 0..L {
        values[lane] = at_ends!(x[lane], n, powers.double(lane));
    }
    values
}

/// Powers of some numbers.
#[inline(always)]
pub(super) fn single<const L: usize>(x: &[f32; L], n: i8) -> [f32; L] {
    let mut values = [1.0; L];
    if n == 0 {
        return values;
    }
    let mut wide = [0.0; L];
    for lane in 0..L {
        wide[lane] = f64::from(x[lane]);
    }
    if are_near(&wide, n) {
        let (high, low) = near_powers(&wide, n);
        for lane in 0..L {
            values[lane] = at_ends!(x[lane], n, odd_sum(high[lane], low[lane]) as f32);
        }
        return values;
    }
    let powers = powers(&wide, n);
    for lane in 0..L {
        values[lane] = at_ends!(x[lane], n, powers.single(lane));
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_without_scaling_have_the_same_bits() {
        let mut state = 1u64;
        let mut near = 0;
        for k in 0..200_000u64 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let n = (k % 73) as i8 + SMALLEST;
            if n == 0 {
                continue;
            }
            let most = NEAR / i64::from(n).abs();
            // Exponents up to the bound on both sides, and numbers with few bits, whose powers are exact or ties.
            let exponent = (state >> 40) as i64 % (most + 1) * if k % 2 == 0 { 1 } else { -1 };
            let fraction = if k % 5 == 0 { state & 0xff << 44 } else { state } & FRACTION;
            let x = f64::from_bits(((1023 + exponent) as u64) << 52 | fraction);
            if !are_near(&[x], n) {
                continue;
            }
            near += 1;
            let ([high], [low]) = near_powers(&[x], n);
            let scaled = powers(&[x], n);
            assert_eq!((high + low).to_bits(), scaled.double(0).to_bits(), "{x:e} ** {n}");
            let single = odd_sum(high, low) as f32;
            assert_eq!(single.to_bits(), scaled.single(0).to_bits(), "{x:e} ** {n}");
        }
        assert!(near > 150_000);
    }
}
