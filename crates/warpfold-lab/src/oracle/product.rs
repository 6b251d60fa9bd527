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

/// A product of any size: two parts, of which the larger one is from 1 to 2 if it is not zero, times a power of two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Product {
    /// The real and the imaginary part, without the power.
    pub parts: [Double; 2],
    /// The power's exponent.
    pub exponent: i64,
}

impl Product {
    /// One.
    pub const ONE: Product = Product { parts: [Double::ONE, Double::ZERO], exponent: 0 };

    /// A finite number.
    pub fn of(parts: [Double; 2]) -> Self {
        Product { parts, exponent: 0 }.scaled()
    }

    /// Two of them multiplied.
    #[must_use]
    pub fn times(self, other: Product) -> Self {
        let ([a, b], [c, d]) = (self.parts, other.parts);
        let are_real = b == Double::ZERO && d == Double::ZERO;
        let parts = match are_real {
            true => [a * c, Double::ZERO],
            false => [a * c + -(b * d), a * d + b * c],
        };
        Product { parts, exponent: self.exponent + other.exponent }.scaled()
    }

    /// The parts with the power, infinite beyond the range of f64.
    pub fn value(self) -> [Double; 2] {
        self.parts.map(|part| Double {
            high: times_power(part.high, self.exponent),
            low: times_power(part.low, self.exponent),
        })
    }

    fn scaled(self) -> Self {
        let [re, im] = self.parts;
        let larger = re.high.abs().max(im.high.abs());
        if larger == 0.0 {
            return Product { exponent: 0, ..self };
        }
        let exponent = exponent_of(larger);
        let part = |part: Double| Double {
            high: times_power(part.high, -exponent),
            low: times_power(part.low, -exponent),
        };
        Product { parts: self.parts.map(part), exponent: self.exponent + exponent }
    }
}

/// The exponent of a positive number's binade.
fn exponent_of(x: f64) -> i64 {
    let field = |x: f64| (x.to_bits() >> 52) as i64;
    match field(x) {
        0 => field(x * 2f64.powi(64)) - 1023 - 64,
        field => field - 1023,
    }
}

/// A number times a power of two, rounded once where it is below the normal ones, infinite beyond the range.
pub(super) fn times_power(x: f64, exponent: i64) -> f64 {
    const STEP: i64 = 1000;
    let mut x = x;
    let mut left = exponent.clamp(-4 * STEP, 4 * STEP);
    while left > STEP {
        x *= 2f64.powi(STEP as i32);
        left -= STEP;
    }
    // The last step down is from where numbers have all their bits.
    while left < -STEP {
        x *= 2f64.powi(-(STEP as i32) / 2);
        left += STEP / 2;
    }
    x * 2f64.powi(left as i32)
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
    fn products_leave_the_range_and_come_back() {
        for x in [1.5e300, 3e-320, -f64::MIN_POSITIVE] {
            let one = Product::of([Double::new(x), Double::ZERO]);
            assert_eq!(one.value()[0].high, x);
            let many = (0..9).fold(one, |product, _| product.times(one));
            let exponent = 10 * one.exponent;
            assert!((exponent..exponent + 10).contains(&many.exponent), "{many:?}");
            assert_eq!(many.times(Product::ONE), many);
        }
        let turn = Product::of([Double::ZERO, Double::new(2f64.powi(600))]);
        let [re, im] = turn
            .times(turn)
            .times(Product::of([Double::new(2f64.powi(-700)), Double::ZERO]))
            .value();
        assert_eq!((re, im.high), (Double::new(-2f64.powi(500)), 0.0));
    }

    #[test]
    fn sums_keep_what_one_f64_would_lose() {
        let sum = Double::new(1.0) + Double::new(2f64.powi(-80)) + Double::new(-1.0);
        assert_eq!(sum, Double::new(2f64.powi(-80)));
    }
}
