//! Numbers that are nearly known: sums of one or two f64 with a bound on what they are off by, the few operations that moments take, and what is certain of them
//! once they are rounded.

use warpfold_num::double_double::{DoubleDouble, fast_two_sum, two_product};
use warpfold_num::element::Float;

/// 2^-106.
const ULP_SQUARED: f64 = f64::from_bits((1023 - 106) << 52);

/// Sums of squares below this, 2^-800, may have lost something to underflow, and counts from 2^50 on are no exact f64.
const LEAST: f64 = f64::from_bits((1023 - 800) << 52);
pub(super) const MOST: u64 = 1 << 50;

/// A float to which moments are rounded in lanes.
pub(crate) trait Certain: Float {
    /// The nearest value to a number that `x` is by no more than `error`, and whether it is certain.
    fn certain(x: DoubleDouble, error: f64) -> (Self, bool);

    /// The middle between two of these floats that is nearest to a positive number in their normal range.
    fn middle(x: f64) -> f64;
}

impl Certain for f64 {
    #[inline(always)]
    fn certain(x: DoubleDouble, error: f64) -> (f64, bool) {
        let (least, greatest) = (x.high + (x.low - error), x.high + (x.low + error));
        (least, (least == greatest) & (least < f64::MAX) & ((least > LEAST) | (error == 0.0)))
    }

    #[inline(always)]
    fn middle(_: f64) -> f64 {
        unreachable!("nothing lies between two f64")
    }
}

impl Certain for f32 {
    #[inline(always)]
    fn certain(x: DoubleDouble, error: f64) -> (f32, bool) {
        // What rounding to f64 first may do is covered too.
        let error = x.high.abs().mul_add(f64::EPSILON * 2.0, error);
        let (least, greatest) = ((x.high - error) as f32, (x.high + error) as f32);
        (greatest, least == greatest)
    }

    #[inline(always)]
    fn middle(x: f64) -> f64 {
        const LOWER: u64 = (1 << (f64::MANTISSA_DIGITS - f32::MANTISSA_DIGITS)) - 1;
        f64::from_bits(x.to_bits() & !LOWER | (LOWER / 2 + 1))
    }
}

/// Numbers that are nearly known, each a sum of two parts, and bounds on what they are off by; those of things that have no result are NaN. Parts stand by
/// themselves, as a register holds one part of several.
pub(super) struct Known<const N: usize> {
    pub(super) high: [f64; N],
    pub(super) low: [f64; N],
    pub(super) error: [f64; N],
}

impl<const N: usize> Known<N> {
    #[inline(always)]
    pub(super) fn value<X: Nearly>(&self, k: usize) -> X {
        X::of(DoubleDouble { high: self.high[k], low: self.low[k] })
    }

    #[inline(always)]
    pub(super) fn set<X: Nearly>(&mut self, k: usize, value: X) {
        DoubleDouble { high: self.high[k], low: self.low[k] } = value.double();
    }

    /// Rounds what is nearly known, and says what is certain.
    #[inline(always)]
    pub(super) fn round<F: Certain>(&self) -> ([F; N], [bool; N]) {
        let (mut results, mut are_certain) = ([F::ZERO; N], [false; N]);
        for k in 0..N {
            (results[k], are_certain[k]) = F::certain(self.value(k), self.error[k]);
        }
        (results, are_certain)
    }
}

/// A number with an error that is known.
pub(super) trait Nearly: Copy {
    /// Whether it is one f64.
    const IS_ONE: bool;
    /// What an addition takes of a bound, and what is beside all; more of each where there are sums or roots beside squares.
    fn room(with_more: bool) -> [f64; 2];
    /// What a number of so many elements may be off by, relative to the sum of squares, after so many additions one after another.
    fn bound(n: f64, additions: f64, room: [f64; 2]) -> f64;
    /// The least sum of squares whose terms underflowed by less than that.
    const LEAST: f64;
    /// What each further operation adds, relative to its result.
    const STEP: f64;

    fn of(parts: DoubleDouble) -> Self;
    fn double(self) -> DoubleDouble;
    /// `n · self - Σ sums²`.
    fn spread<const PARTS: usize>(self, n: f64, sums: &[Self; PARTS]) -> Self;
    /// `1 / (a · b)`.
    fn reciprocal(a: f64, b: f64) -> Self;
    fn times(self, other: Self) -> Self;
    /// The root, and about its reciprocal; of zero, about one.
    fn root(self) -> (Self, f64);
}

/// About the reciprocal of a root, without a condition around a division, which would be a branch for each.
#[inline(always)]
fn reciprocal_of(root: f64) -> f64 {
    let divisor = if root > 0.0 { root } else { 1.0 };
    1.0 / divisor
}

impl Nearly for f64 {
    #[inline(always)]
    fn room(with_more: bool) -> [f64; 2] {
        // Each addition rounds, and six more: what is taken away before, and what joins lanes and parts. What sums are off by counts twice in their squares, (Σx)² ≤ n·Σx². The
        // rest is room.
        if with_more { [4.0, 32.0] } else { [1.0, 8.0] }
    }

    #[inline(always)]
    fn bound(_: f64, additions: f64, [each, beside]: [f64; 2]) -> f64 {
        additions.mul_add(each, beside) * (f64::EPSILON / 2.0)
    }

    const IS_ONE: bool = true;

    // Squares of narrow floats do not underflow.
    const LEAST: f64 = -1.0;
    const STEP: f64 = 8.0 * f64::EPSILON;

    #[inline(always)]
    fn of(parts: DoubleDouble) -> f64 {
        parts.high
    }

    #[inline(always)]
    fn double(self) -> DoubleDouble {
        DoubleDouble { high: self, low: 0.0 }
    }

    #[inline(always)]
    fn spread<const PARTS: usize>(self, n: f64, sums: &[f64; PARTS]) -> f64 {
        sums.iter().fold(n * self, |rest, &sum| (-sum).mul_add(sum, rest))
    }

    #[inline(always)]
    fn reciprocal(a: f64, b: f64) -> f64 {
        1.0 / (a * b)
    }

    #[inline(always)]
    fn times(self, other: f64) -> f64 {
        self * other
    }

    #[inline(always)]
    fn root(self) -> (f64, f64) {
        let root = self.sqrt();
        (root, reciprocal_of(root))
    }
}

impl Nearly for DoubleDouble {
    #[inline(always)]
    fn room(_: bool) -> [f64; 2] {
        [0.0; 2]
    }

    #[inline(always)]
    fn bound(n: f64, _: f64, _: [f64; 2]) -> f64 {
        // Two additions an element, each within 8, and of the sum's square as much again; all that follows, lanes that are joined first of all, within 512.
        n.mul_add(64.0, 512.0) * ULP_SQUARED
    }

    const IS_ONE: bool = false;
    const LEAST: f64 = LEAST;
    const STEP: f64 = 64.0 * ULP_SQUARED;

    #[inline(always)]
    fn of(parts: DoubleDouble) -> DoubleDouble {
        parts
    }

    #[inline(always)]
    fn double(self) -> DoubleDouble {
        self
    }

    #[inline(always)]
    fn spread<const PARTS: usize>(self, n: f64, sums: &[DoubleDouble; PARTS]) -> DoubleDouble {
        let mut total = two_product(n, self.high);
        total.low = n.mul_add(self.low, total.low);
        for sum in sums {
            let square = two_product(sum.high, sum.high);
            let low = (2.0 * sum.high).mul_add(sum.low, square.low);
            total = total.add(DoubleDouble { high: square.high, low }.negate());
        }
        total
    }

    #[inline(always)]
    fn reciprocal(a: f64, b: f64) -> DoubleDouble {
        DoubleDouble::ONE.divide(two_product(a, b))
    }

    #[inline(always)]
    fn times(self, other: DoubleDouble) -> DoubleDouble {
        self.multiply(other)
    }

    #[inline(always)]
    fn root(self) -> (DoubleDouble, f64) {
        let root = self.high.sqrt();
        let reciprocal = reciprocal_of(root);
        // One Newton step on the exact residual, by three roundings of a correction below 2^-52 of the root.
        let residual = root.mul_add(-root, self.high) + self.low;
        (fast_two_sum(root, 0.5 * residual * reciprocal), reciprocal)
    }
}
