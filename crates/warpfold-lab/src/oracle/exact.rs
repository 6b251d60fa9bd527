//! A rational number, and whether a float is the nearest to it or to its root.

use std::cmp::Ordering;
use std::ops::{Add, Sub};

use num_bigint::BigInt;
use num_traits::{One, Signed, ToPrimitive, Zero};

use super::Split;

/// `numerator · 2^exponent / denominator`; the denominator is positive.
#[derive(Debug, Clone)]
pub struct Exact {
    numerator: BigInt,
    exponent: i32,
    denominator: BigInt,
}

impl Exact {
    /// `integer · 2^exponent`.
    pub fn integer(integer: BigInt, exponent: i32) -> Self {
        Exact { numerator: integer, exponent, denominator: BigInt::one() }
    }

    /// A finite number of an element type.
    pub fn of<S: Split>(x: S) -> Self {
        let (mantissa, exponent) = x.split();
        Exact::integer(mantissa.into(), exponent)
    }

    /// The number divided by a positive integer.
    pub fn over(mut self, n: impl Into<BigInt>) -> Self {
        self.denominator *= n.into();
        self
    }

    /// The number times an integer.
    pub fn times(mut self, n: impl Into<BigInt>) -> Self {
        self.numerator *= n.into();
        self
    }

    /// The number's square.
    pub fn squared(&self) -> Self {
        Exact {
            numerator: &self.numerator * &self.numerator,
            exponent: 2 * self.exponent,
            denominator: &self.denominator * &self.denominator,
        }
    }

    /// Whether it is zero.
    pub fn is_zero(&self) -> bool {
        self.numerator.is_zero()
    }

    /// The integer that it is, if it is one.
    pub fn to_integer(&self) -> Option<BigInt> {
        let over = |n: BigInt, d: &BigInt| ((&n % d).is_zero()).then(|| n / d);
        match self.exponent {
            0.. => over(&self.numerator << self.exponent, &self.denominator),
            _ => over(self.numerator.clone(), &(&self.denominator << -self.exponent)),
        }
    }

    /// The number within a few units of the 64th bit; for messages and for measuring errors.
    pub fn approximate(&self) -> f64 {
        let wanted = self.denominator.bits() as i64 + 64;
        let shift = wanted - self.numerator.bits() as i64;
        let scaled = if shift >= 0 { &self.numerator << shift } else { &self.numerator >> -shift };
        let quotient = (scaled / &self.denominator).to_f64().unwrap_or(f64::NAN);
        let exponent = i64::from(self.exponent) - shift;
        // Two steps, so that a subnormal result does not lose its scale on the way.
        let half = exponent / 2;
        quotient * 2f64.powi(half as i32) * 2f64.powi((exponent - half) as i32)
    }

    /// Whether `value` is the number rounded to nearest, ties to even.
    pub fn rounds_to<F: Nearest>(&self, value: F) -> bool {
        value.is_nearest(|midpoint| self.cmp(midpoint))
    }

    /// Whether `value` is the number's square root rounded to nearest, ties to even.
    pub fn root_rounds_to<F: Nearest>(&self, value: F) -> bool {
        value.is_nearest(|midpoint| match midpoint.numerator.is_negative() {
            true => Ordering::Greater,
            false => self.cmp(&midpoint.squared()),
        })
    }

    /// The distance of `value` from the number in units of the last place of `F` at the number.
    ///
    /// Infinite where one is finite and the other is not.
    pub fn ulps<F: Nearest>(&self, value: F) -> f64 {
        let wide = value.widen();
        let at = F::ulp(self.approximate());
        match wide.is_finite() && at.is_finite() {
            true => (Exact::of(wide) - self.clone()).approximate().abs() / at,
            false if self.rounds_to(value) => 0.0,
            false => f64::INFINITY,
        }
    }
}

impl Ord for Exact {
    fn cmp(&self, other: &Self) -> Ordering {
        let lowest = self.exponent.min(other.exponent);
        let left = (&self.numerator * &other.denominator) << (self.exponent - lowest);
        let right = (&other.numerator * &self.denominator) << (other.exponent - lowest);
        left.cmp(&right)
    }
}

impl PartialOrd for Exact {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Exact {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Exact {}

impl Add for Exact {
    type Output = Exact;

    fn add(self, other: Exact) -> Exact {
        let lowest = self.exponent.min(other.exponent);
        let left = (self.numerator * &other.denominator) << (self.exponent - lowest);
        let right = (other.numerator * &self.denominator) << (other.exponent - lowest);
        let denominator = self.denominator * other.denominator;
        Exact { numerator: left + right, exponent: lowest, denominator }
    }
}

impl Sub for Exact {
    type Output = Exact;

    fn sub(self, other: Exact) -> Exact {
        self + other.times(-1)
    }
}

/// A float type as a grid of numbers on the line.
pub trait Nearest: Copy {
    /// The value in f64, exactly.
    fn widen(self) -> f64;

    /// The distance of neighbours in the binade of `x`.
    fn ulp(x: f64) -> f64;

    /// Whether a number is nearest to this value, told where the number lies from the midpoints to both neighbours.
    fn is_nearest(self, compare: impl Fn(&Exact) -> Ordering) -> bool;
}

macro_rules! nearest {
    ($($ty:ident: $wide:ty, $fraction:literal, $lowest:literal;)+) => {$(
        impl Nearest for $ty {
            fn widen(self) -> f64 {
                f64::from(self)
            }

            fn ulp(x: f64) -> f64 {
                let lowest: i32 = $lowest;
                let binade = if x == 0.0 { lowest } else { x.abs().log2().floor() as i32 - $fraction };
                2f64.powi(binade.max(lowest))
            }

            fn is_nearest(self, compare: impl Fn(&Exact) -> Ordering) -> bool {
                if self.is_nan() {
                    return false;
                }
                // Beyond the largest finite value the grid goes on by its last step: that is where infinity begins.
                let finite = |x: $ty| match x.is_finite() {
                    true => Exact::of(x),
                    false => {
                        let top = Exact::of($ty::MAX);
                        let beyond = top.clone() + (top - Exact::of($ty::MAX.next_down()));
                        beyond.times(if x > 0.0 { 1 } else { -1 })
                    }
                };
                let midpoint = |x: $ty, y: $ty| (finite(x) + finite(y)).over(2);
                let even = self.to_bits() & 1 == 0;
                let above = self == $ty::NEG_INFINITY || match compare(&midpoint(self.next_down(), self)) {
                    Ordering::Greater => true,
                    Ordering::Equal => even,
                    Ordering::Less => false,
                };
                let below = self == $ty::INFINITY || match compare(&midpoint(self, self.next_up())) {
                    Ordering::Less => true,
                    Ordering::Equal => even,
                    Ordering::Greater => false,
                };
                above && below
            }
        }
    )+};
}
nearest! {
    f32: f64, 23, -149;
    f64: f64, 52, -1074;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_float_is_nearest() {
        let third = Exact::of(1i32).over(3);
        let nearest = 1.0f64 / 3.0;
        assert!(third.rounds_to(nearest));
        assert!(!third.rounds_to(nearest.next_up()) && !third.rounds_to(nearest.next_down()));
        assert!(third.rounds_to(1.0f32 / 3.0) && !third.rounds_to((1.0f32 / 3.0).next_down()));
    }

    #[test]
    fn ties_go_to_even() {
        let tie = Exact::of(1.0f64) + Exact::of(2f64.powi(-24));
        assert!(tie.rounds_to(1.0f32) && !tie.rounds_to(1.0f32.next_up()));
    }

    #[test]
    fn the_edge_of_overflow_is_half_a_step_beyond_the_largest() {
        let top = Exact::of(f32::MAX);
        let half_step = Exact::of(2f64.powi(103));
        let edge = top.clone() + half_step;
        assert!(edge.rounds_to(f32::INFINITY) && !edge.rounds_to(f32::MAX));
        let below = edge - Exact::of(1.0f64);
        assert!(below.rounds_to(f32::MAX) && !below.rounds_to(f32::INFINITY));
    }

    #[test]
    fn roots_are_judged_by_squares() {
        let two = Exact::of(2.0f64);
        assert!(two.root_rounds_to(2f64.sqrt()) && two.root_rounds_to(2f32.sqrt()));
        assert!(!two.root_rounds_to(2f64.sqrt().next_up()));
        assert!(Exact::of(0.0f64).root_rounds_to(0.0f64));
        assert!(Exact::of(5e-324f64).root_rounds_to(5e-324f64.sqrt()));
    }

    #[test]
    fn errors_are_counted_in_units_of_the_last_place() {
        let one = Exact::of(1.0f64);
        assert_eq!(one.ulps(1.0f64 + 3.0 * f64::EPSILON), 3.0);
        assert_eq!(one.ulps(1.0f32), 0.0);
        assert_eq!(one.ulps(f64::INFINITY), f64::INFINITY);
        assert_eq!(one.ulps(f64::NAN), f64::INFINITY);
        assert_eq!(Exact::of(1e-300f64).times(3).approximate(), 3e-300);
    }
}
