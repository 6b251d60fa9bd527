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
    let mut base = ([0.0; L], [0.0; L]);
    let mut exponent = [0; L];
    for lane in 0..L {
        let size = x[lane].abs();
        let is_small = size < f64::MIN_POSITIVE;
        let bits = if is_small { size * 18_014_398_509_481_984.0 } else { size }.to_bits();
        base.0[lane] = f64::from_bits((bits & FRACTION) | (1023 << 52));
        let of_x = (bits >> 52) as i64 - 1023 - if is_small { 54 } else { 0 };
        exponent[lane] = of_x * i64::from(n);
    }
    // From the highest bit of the exponent down: squared, and multiplied where the bit is set.
    let m = base.0;
    let size = n.unsigned_abs();
    let (mut high, mut low) = base;
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
    Powers { high, low, exponent }
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
        let (value, lacks) = ordered_sum(self.high[lane], self.low[lane]);
        let bits = value.to_bits();
        let is_odd = bits & 1 == 1 || lacks == 0.0;
        let odd = if is_odd {
            bits
        } else if lacks > 0.0 {
            bits + 1
        } else {
            bits - 1
        };
        (f64::from_bits(odd) * f64::from_bits(((1023 + exponent) as u64) << 52)) as f32
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
    if n == 0 {
        return [1.0; L];
    }
    let powers = powers(x, n);
    std::array::from_fn(|lane| at_ends!(x[lane], n, powers.double(lane)))
}

/// Powers of some numbers.
#[inline(always)]
pub(super) fn single<const L: usize>(x: &[f32; L], n: i8) -> [f32; L] {
    if n == 0 {
        return [1.0; L];
    }
    let powers = powers(&x.map(f64::from), n);
    std::array::from_fn(|lane| at_ends!(x[lane], n, powers.single(lane)))
}
