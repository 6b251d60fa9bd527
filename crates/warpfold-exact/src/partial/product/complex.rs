//! Products of complex floats.

use super::{Rounded, fixed, unit};
use crate::double_double::{DoubleDouble, exponent, power_of_two};
use crate::element::Nearest;
use crate::exact::Special;

/// `(re + im·i) · 2^exponent`, the larger part from 1 to just above 2 unless both are zero or one is no finite number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ComplexProduct {
    /// The real part.
    pub re: DoubleDouble,
    /// The imaginary part.
    pub im: DoubleDouble,
    /// The power of two beside it.
    pub exponent: i64,
}

impl ComplexProduct {
    /// The product of nothing.
    pub const ONE: Self =
        ComplexProduct { re: DoubleDouble::ONE, im: DoubleDouble::ZERO, exponent: 0 };

    /// A single number, of any kind.
    pub fn of(re: f64, im: f64) -> Self {
        let is_finite = re.is_finite() && im.is_finite();
        let (re, im, exponent) = if is_finite && re.abs().max(im.abs()) < f64::MIN_POSITIVE {
            (re * 2f64.powi(64), im * 2f64.powi(64), -64)
        } else {
            (re, im, 0)
        };
        let part = |high| DoubleDouble { high, low: 0.0 };
        let mut product = ComplexProduct { re: part(re), im: part(im), exponent };
        product.normalise();
        product
    }

    /// From parts that are in order, times a power of two.
    pub fn of_parts(re: DoubleDouble, im: DoubleDouble, exponent: i64) -> Self {
        let mut product = ComplexProduct { re, im, exponent };
        product.normalise();
        product.without_signs_of_zeros()
    }

    /// The same with +0 for -0: whether a zero is one or the other says nothing about a product, and depends on how it was computed.
    #[must_use]
    #[inline(always)]
    pub fn without_signs_of_zeros(self) -> Self {
        let plus = |part: DoubleDouble| DoubleDouble { high: part.high + 0.0, low: part.low + 0.0 };
        ComplexProduct { re: plus(self.re), im: plus(self.im), exponent: self.exponent }
    }

    /// Whether it is finite and not zero.
    pub fn is_plain(&self) -> bool {
        self.is_finite() && (self.re.high != 0.0 || self.im.high != 0.0)
    }

    /// Whether both parts are finite.
    #[inline(always)]
    pub fn is_finite(&self) -> bool {
        self.re.high.is_finite() && self.im.high.is_finite()
    }

    /// Brings the larger part to `1 <= |high| < 2`.
    #[inline(always)]
    pub fn normalise(&mut self) {
        let largest = self.re.high.abs().max(self.im.high.abs());
        if !self.is_finite() || largest == 0.0 {
            self.exponent = 0;
            // Which of two NaNs an instruction hands on is the compiler's choice: one stands for all.
            for part in [&mut self.re, &mut self.im] {
                if part.high.is_nan() {
                    *part = DoubleDouble { high: <f64 as Nearest>::NAN, low: 0.0 };
                }
            }
            return;
        }
        let shift = exponent(largest);
        if shift.abs() < 1022 {
            let by = power_of_two(-shift);
            (self.re, self.im) = (self.re.scale(by), self.im.scale(by));
        } else {
            // The power that scales the very largest numbers is itself subnormal: two steps.
            let (half, rest) = (power_of_two(-shift / 2), power_of_two(-(shift - shift / 2)));
            self.re = self.re.scale(half).scale(rest);
            self.im = self.im.scale(half).scale(rest);
        }
        self.exponent = self.exponent.saturating_add(shift);
    }

    /// Multiplies by a product of later elements.
    #[inline(always)]
    pub fn merge(&mut self, other: &Self) {
        let (a, b, c, d) = (self.re, self.im, other.re, other.im);
        if self.is_finite() && other.is_finite() {
            self.re = a.multiply(c).add(b.multiply(d).negate());
            self.im = a.multiply(d).add(b.multiply(c));
            self.exponent = self.exponent.saturating_add(other.exponent);
        } else if *self == Self::ONE {
            *self = *other;
        } else if *other != Self::ONE {
            // Both are scaled, so that only infinities and NaNs can make more of them.
            let part = |high| DoubleDouble { high, low: 0.0 };
            let re = a.high * c.high - b.high * d.high;
            let im = a.high * d.high + b.high * c.high;
            (self.re, self.im) = (part(re), part(im));
        }
        self.normalise();
    }

    pub(super) fn registers(&self) -> ([Rounded; 2], i32) {
        let mut scaled = *self;
        if !self.is_finite() {
            // A finite part beside one that is none is as its element has it, not scaled.
            let finite = [self.re.high, self.im.high].into_iter().find(|part| part.is_finite());
            let part = Self::of(finite.unwrap_or(0.0), 0.0);
            let put = |own: DoubleDouble| if own.high.is_finite() { part.re } else { own };
            scaled = ComplexProduct { re: put(self.re), im: put(self.im), exponent: part.exponent };
        }
        scaled.scaled_registers()
    }

    fn scaled_registers(&self) -> ([Rounded; 2], i32) {
        let register = |part: DoubleDouble| {
            let mut special = Rounded::default();
            match part.high {
                high if high.is_nan() => special.note(Special::NAN),
                high if high.is_infinite() => special.note(Special::infinity(high < 0.0)),
                _ => return fixed(part),
            }
            special
        };
        ([register(self.re), register(self.im)], unit(self.exponent))
    }
}
