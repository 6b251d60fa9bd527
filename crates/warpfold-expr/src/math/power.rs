//! Powers whose exponent is a whole constant.

#![allow(clippy::needless_range_loop, reason = "lanes of several arrays side by side")]

use super::number::{Bits, Number, Truth};
use super::{exponent, ordered_sum};

/// The smallest exponent of a power of floats.
pub const SMALLEST: i8 = -8;
/// The largest.
pub const LARGEST: i8 = 64;

const FRACTION: u64 = (1 << 52) - 1;

/// Significands from 1 to 2 to the power, each as the sum of two numbers (double-double: within 2^-97), and 2 to the power of their exponents.
#[derive(Clone, Copy)]
struct Powers<N: Number, const L: usize> {
    high: [N; L],
    low: [N; L],
    /// Modulo 2^64.
    exponent: [N::Bits; L],
}

/// Powers of finite numbers that are not zero; their signs are left out.
#[inline(always)]
fn powers<N: Number, const L: usize>(x: &[N; L], n: i8) -> Powers<N, L> {
    let word = N::Bits::of;
    let (mut m, mut exponent) = ([N::of(0.0); L], [word(0); L]);
    for lane in 0..L {
        let size = x[lane].abs();
        let is_small = size.is_less(N::of(f64::MIN_POSITIVE));
        let normal = N::select(is_small, size * N::of(18_014_398_509_481_984.0), size);
        let bits = normal.to_bits();
        m[lane] = ((bits & word(FRACTION)) | word(1023 << 52)).number();
        let bias = N::Bits::select(is_small, word(1023 + 54), word(1023));
        exponent[lane] = (bits.down(word(52)) - bias) * word(i64::from(n) as u64);
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
fn raised<N: Number, const L: usize>(m: &[N; L], n: i8) -> ([N; L], [N; L]) {
    // From the highest bit of the exponent down: squared, and multiplied where the bit is set.
    let size = n.unsigned_abs();
    let (mut high, mut low) = (*m, [N::of(0.0); L]);
    for bit in (0..size.ilog2()).rev() {
        for lane in 0..L {
            let (a, b) = (high[lane], low[lane]);
            let square = a * a;
            let lacks = a.mul_add(a, -square);
            (high[lane], low[lane]) = ordered_sum(square, (N::of(2.0) * a).mul_add(b, lacks));
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
        let one = N::of(1.0);
        for lane in 0..L {
            let inverse = one / high[lane];
            let rest = (-inverse).mul_add(low[lane], (-inverse).mul_add(high[lane], one));
            (high[lane], low[lane]) = ordered_sum(inverse, inverse * rest);
        }
    }
    (high, low)
}

/// The sum of two numbers rounded to an odd last bit unless it is exact: a narrower type then rounds it as it would the sum itself.
#[inline(always)]
fn odd_sum<N: Number>(high: N, low: N) -> N {
    let (value, lacks) = ordered_sum(high, low);
    let (word, bits) = (N::Bits::of, value.to_bits());
    let is_odd = (bits & word(1)).equals(word(1)).or(lacks.equals(N::of(0.0)));
    let towards = N::Bits::select(N::of(0.0).is_less(lacks), word(1), word(u64::MAX));
    N::Bits::select(is_odd, bits, bits + towards).number()
}

/// An exponent modulo 2^64, but no less and no more than two bounds.
#[inline(always)]
fn clamped<B: Bits>(exponent: B, least: i64, most: i64) -> B {
    // Moved up, so that it has no sign.
    let up = B::of(1 << 62);
    let (least, most) = (B::of(least as u64) + up, B::of(most as u64) + up);
    let moved = exponent + up;
    let moved = B::select(moved.is_less(least), least, moved);
    B::select(most.is_less(moved), most, moved) - up
}

/// 2 to an exponent.
#[inline(always)]
fn two_to<B: Bits>(k: B) -> B::Number {
    exponent(B::of(1023) + k).number()
}

impl<N: Number, const L: usize> Powers<N, L> {
    /// The power of a lane.
    #[inline(always)]
    fn double(&self, lane: usize) -> N {
        // An even number more, so that half of it is its half.
        let up = N::Bits::of(2048);
        let exponent = clamped(self.exponent[lane], -1300, 1100);
        let first = (exponent + up).down(N::Bits::of(1)) - N::Bits::of(1024);
        (self.high[lane] + self.low[lane]) * two_to(first) * two_to(exponent - first)
    }

    /// A number that rounds to an `f32` as the power of a lane does: what it lacks sticks to its last bit.
    #[inline(always)]
    fn odd(&self, lane: usize) -> N {
        let exponent = clamped(self.exponent[lane], -400, 200);
        odd_sum(self.high[lane], self.low[lane]) * two_to(exponent)
    }
}

/// What powers have of zero, infinity and NaN, and their sign.
#[inline(always)]
fn at_ends<N: Number>(x: N, n: i8, value: N) -> N {
    let size = x.abs();
    let of_end = if n < 0 { N::of(1.0) / size } else { size };
    let is_end = size.equals(N::of(0.0)).or(size.is_less(N::of(f64::INFINITY)).not());
    let value = N::select(is_end, of_end, value);
    let sign = N::Bits::of(if n & 1 == 1 { 1 << 63 } else { 0 });
    let value = (value.to_bits() ^ (x.to_bits() & sign)).number();
    N::select(x.is_nan(), N::of(f64::NAN), value)
}

/// The power of any number.
#[inline(always)]
pub(crate) fn double<N: Number>(x: N, n: i8) -> N {
    if n == 0 { N::of(1.0) } else { at_ends(x, n, powers(&[x], n).double(0)) }
}

/// A number that rounds to an `f32` as the power of an `f32` does.
#[inline(always)]
pub(crate) fn wide<N: Number>(x: N, n: i8) -> N {
    if n == 0 { N::of(1.0) } else { at_ends(x, n, powers(&[x], n).odd(0)) }
}

/// Powers of some numbers.
#[inline(always)]
pub(super) fn doubles<const L: usize>(x: &[f64; L], n: i8) -> [f64; L] {
    let mut values = [1.0; L];
    if n == 0 {
        return values;
    }
    if are_near(x, n) {
        let (high, low) = near_powers(x, n);
        for lane in 0..L {
            values[lane] = at_ends(x[lane], n, high[lane] + low[lane]);
        }
        return values;
    }
    let powers = powers(x, n);
    for lane in 0..L {
        values[lane] = at_ends(x[lane], n, powers.double(lane));
    }
    values
}

/// Powers of some numbers, each rounded once.
#[inline(always)]
pub(super) fn singles<const L: usize>(x: &[f32; L], n: i8) -> [f32; L] {
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
            values[lane] = at_ends(wide[lane], n, odd_sum(high[lane], low[lane])) as f32;
        }
        return values;
    }
    let powers = powers(&wide, n);
    for lane in 0..L {
        values[lane] = at_ends(wide[lane], n, powers.odd(lane)) as f32;
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
            assert_eq!(single.to_bits(), (scaled.odd(0) as f32).to_bits(), "{x:e} ** {n}");
        }
        assert!(near > 150_000);
    }
}
