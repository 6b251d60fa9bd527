//! Double-double arithmetic: an unevaluated sum of two f64 with about 106 significant bits.
//!
//! Only IEEE additions, multiplications, divisions, roots and fused multiply-adds, so that the bits are the same on every machine.
//! Relative errors are below 2^-102 for each operation, away from overflow and underflow; a sum that cancels has that
//! error relative to its terms. Source: M. Joldes, J.-M. Muller, V. Popescu, *Tight and rigorous error bounds for basic
//! building blocks of double-word arithmetic*, 2017.

/// `high + low`, where `low` is no more than the rounding error of `high`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DoubleDouble {
    /// The nearest f64.
    pub high: f64,
    /// What it leaves.
    pub low: f64,
}

/// `a + b` and its rounding error.
#[inline(always)]
pub fn two_sum(a: f64, b: f64) -> DoubleDouble {
    let high = a + b;
    let b_in = high - a;
    DoubleDouble { high, low: (a - (high - b_in)) + (b - b_in) }
}

/// `a + b` and its rounding error, where `|a| >= |b|` or `a` is zero.
#[inline(always)]
pub fn fast_two_sum(a: f64, b: f64) -> DoubleDouble {
    let high = a + b;
    DoubleDouble { high, low: b - (high - a) }
}

/// `a · b` and its rounding error.
#[inline(always)]
pub fn two_product(a: f64, b: f64) -> DoubleDouble {
    let high = a * b;
    DoubleDouble { high, low: a.mul_add(b, -high) }
}

impl From<DoubleDouble> for (f64, f64) {
    #[inline(always)]
    fn from(x: DoubleDouble) -> Self {
        (x.high, x.low)
    }
}

impl DoubleDouble {
    /// Zero.
    pub const ZERO: Self = DoubleDouble { high: 0.0, low: 0.0 };
    /// One.
    pub const ONE: Self = DoubleDouble { high: 1.0, low: 0.0 };

    /// The sum.
    #[inline(always)]
    #[allow(
        clippy::should_implement_trait,
        reason = "an approximation with a bound, not the operator"
    )]
    pub fn add(self, other: Self) -> Self {
        let sum = two_sum(self.high, other.high);
        let rest = two_sum(self.low, other.low);
        let sum = fast_two_sum(sum.high, sum.low + rest.high);
        fast_two_sum(sum.high, sum.low + rest.low)
    }

    /// The sum with one f64; its relative error is below 2^-105, whatever cancels.
    #[inline(always)]
    pub fn plus(self, other: f64) -> Self {
        let sum = two_sum(self.high, other);
        fast_two_sum(sum.high, self.low + sum.low)
    }

    /// The sum of two numbers of one sign, in half the operations of [`add`](Self::add).
    #[inline(always)]
    pub fn add_same_sign(self, other: Self) -> Self {
        let sum = two_sum(self.high, other.high);
        fast_two_sum(sum.high, sum.low + (self.low + other.low))
    }

    /// The quotient.
    #[inline(always)]
    pub fn divide(self, other: Self) -> Self {
        let quotient = self.high / other.high;
        let rest = (-quotient).mul_add(other.high, self.high);
        let rest = (-quotient).mul_add(other.low, rest + self.low);
        fast_two_sum(quotient, rest / other.high)
    }

    /// The number with the other sign.
    #[inline(always)]
    pub fn negate(self) -> Self {
        DoubleDouble { high: -self.high, low: -self.low }
    }

    /// The product.
    #[inline(always)]
    pub fn multiply(self, other: Self) -> Self {
        let product = two_product(self.high, other.high);
        let cross = self.high.mul_add(other.low, self.low * other.high);
        fast_two_sum(product.high, product.low + cross)
    }

    /// The square root of a number that is not negative.
    #[inline(always)]
    pub fn sqrt(self) -> Self {
        let root = self.high.sqrt();
        // One Newton step on the exact residual; zero would divide by itself.
        let residual = root.mul_add(-root, self.high) + self.low;
        let correction = if root > 0.0 { residual / (2.0 * root) } else { 0.0 };
        fast_two_sum(root, correction)
    }

    /// Times a power of two, exactly unless it underflows.
    #[inline(always)]
    pub fn scale(self, power: f64) -> Self {
        DoubleDouble { high: self.high * power, low: self.low * power }
    }
}

/// `2^exponent` for exponents of normal numbers.
#[inline(always)]
pub fn power_of_two(exponent: i64) -> f64 {
    debug_assert!((-1022..=1023).contains(&exponent), "2^{exponent} is no normal number");
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// The exponent of a normal number: `2^exponent <= |x| < 2^(exponent + 1)`.
#[inline(always)]
pub fn exponent(x: f64) -> i64 {
    (x.to_bits() >> 52 & 0x7ff) as i64 - 1023
}
