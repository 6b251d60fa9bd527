//! Products in twice the precision: a number as an unevaluated sum of two f64 (Dekker 1971), about 104 bits.

use std::ops::{Add, Mul, Neg};

/// `high + low`, where |low| is at most half a unit in the last place of high.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Double {
    /// The nearest f64.
    pub high: f64,
    /// What is left.
    pub low: f64,
}

impl Double {
    /// Zero.
    pub const ZERO: Double = Double { high: 0.0, low: 0.0 };
    /// One.
    pub const ONE: Double = Double { high: 1.0, low: 0.0 };

    /// An f64, exactly.
    pub const fn new(x: f64) -> Self {
        Double { high: x, low: 0.0 }
    }

    /// The sum of two f64, exactly (Knuth's TwoSum).
    fn two_sum(a: f64, b: f64) -> Self {
        let high = a + b;
        let rest = high - a;
        Double { high, low: (a - (high - rest)) + (b - rest) }
    }
}

impl Add for Double {
    type Output = Double;

    fn add(self, other: Double) -> Double {
        let high = Double::two_sum(self.high, other.high);
        let low = Double::two_sum(self.low, other.low);
        let middle = Double::two_sum(high.high, high.low + low.high);
        Double::two_sum(middle.high, middle.low + low.low)
    }
}

impl Neg for Double {
    type Output = Double;

    fn neg(self) -> Double {
        Double { high: -self.high, low: -self.low }
    }
}

impl Mul for Double {
    type Output = Double;

    fn mul(self, other: Double) -> Double {
        let high = self.high * other.high;
        let error = self.high.mul_add(other.high, -high);
        Double::two_sum(high, error + (self.high * other.low + self.low * other.high))
    }
}

/// The product of two complex numbers.
pub(super) fn complex([a, b]: [Double; 2], [c, d]: [Double; 2]) -> [Double; 2] {
    [a * c + -(b * d), a * d + b * c]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_third_times_three_is_one_to_a_hundred_bits() {
        let third = Double { high: 1.0 / 3.0, low: 1.0 / 3.0 - 1.0 / 3.0 };
        let low = (-3.0f64).mul_add(third.high, 1.0) / 3.0;
        let product = Double { low, ..third } * Double::new(3.0);
        assert!((product.high - 1.0 + product.low).abs() < 2f64.powi(-100), "{product:?}");
    }

    #[test]
    fn sums_keep_what_one_f64_would_lose() {
        let sum = Double::new(1.0) + Double::new(2f64.powi(-80)) + Double::new(-1.0);
        assert_eq!(sum, Double::new(2f64.powi(-80)));
    }
}
