//! Numbers as their bits say, and floats as lists of bit patterns in rising order.

use std::cmp::Ordering;

use num_bigint::BigUint;

/// One real number of an array, taken apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// `±mantissa · 2^exponent`.
    Finite {
        negative: bool,
        mantissa: u128,
        exponent: i64,
    },
    Infinite {
        negative: bool,
    },
    Nan,
}

impl Number {
    pub fn integer(value: i128) -> Number {
        Number::Finite { negative: value < 0, mantissa: value.unsigned_abs(), exponent: 0 }
    }

    /// An integer's value.
    pub fn to_i128(self) -> i128 {
        match self {
            Number::Finite { negative, mantissa, exponent: 0 } => {
                if negative {
                    -(mantissa as i128)
                } else {
                    mantissa as i128
                }
            }
            other => panic!("{other:?} is no integer element"),
        }
    }

    pub fn is_nan(self) -> bool {
        self == Number::Nan
    }

    pub fn is_finite(self) -> bool {
        matches!(self, Number::Finite { .. })
    }

    pub fn is_zero(self) -> bool {
        matches!(self, Number::Finite { mantissa: 0, .. })
    }

    pub fn is_negative(self) -> bool {
        match self {
            Number::Finite { negative, .. } | Number::Infinite { negative } => negative,
            Number::Nan => false,
        }
    }

    /// The number with its sign turned where `negate` holds.
    pub fn negate_if(self, negate: bool) -> Number {
        match self {
            Number::Finite { negative, mantissa, exponent } => {
                Number::Finite { negative: negative ^ negate, mantissa, exponent }
            }
            Number::Infinite { negative } => Number::Infinite { negative: negative ^ negate },
            Number::Nan => Number::Nan,
        }
    }

    pub fn magnitude(self) -> Number {
        self.negate_if(self.is_negative())
    }

    /// The product of two elements: exact, and NaN for 0·∞.
    pub fn times(self, other: Number) -> Number {
        let negative = self.is_negative() ^ other.is_negative();
        match (self, other) {
            (Number::Nan, _) | (_, Number::Nan) => Number::Nan,
            (
                Number::Finite { mantissa: a, exponent: e, .. },
                Number::Finite { mantissa: b, exponent: f, .. },
            ) => Number::Finite { negative, mantissa: a * b, exponent: e + f },
            (a, b) if a.is_zero() || b.is_zero() => Number::Nan,
            _ => Number::Infinite { negative },
        }
    }
}

/// An IEEE 754 binary format.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Format {
    pub name: &'static str,
    pub exponent_bits: u32,
    pub fraction_bits: u32,
}

pub const F16: Format = Format { name: "f16", exponent_bits: 5, fraction_bits: 10 };
pub const BF16: Format = Format { name: "bf16", exponent_bits: 8, fraction_bits: 7 };
pub const F32: Format = Format { name: "f32", exponent_bits: 8, fraction_bits: 23 };
pub const F64: Format = Format { name: "f64", exponent_bits: 11, fraction_bits: 52 };

impl Format {
    /// The exponent of the lowest bit of a subnormal.
    pub fn unit(self) -> i64 {
        2 - (1 << (self.exponent_bits - 1)) - i64::from(self.fraction_bits)
    }

    /// The bits of positive infinity, which follow those of the largest finite number.
    pub fn infinity(self) -> u64 {
        ((1 << self.exponent_bits) - 1) << self.fraction_bits
    }

    /// The bits of the one NaN of results.
    pub fn nan(self) -> u64 {
        self.infinity() | 1 << (self.fraction_bits - 1)
    }

    pub fn sign(self) -> u64 {
        1 << (self.exponent_bits + self.fraction_bits)
    }

    /// What the bits mean.
    pub fn number(self, bits: u64) -> Number {
        let negative = bits & self.sign() != 0;
        let magnitude = bits & (self.sign() - 1);
        match magnitude.cmp(&self.infinity()) {
            Ordering::Greater => Number::Nan,
            Ordering::Equal => Number::Infinite { negative },
            Ordering::Less => {
                let (mantissa, exponent) = self.finite(magnitude);
                Number::Finite { negative, mantissa: mantissa.into(), exponent }
            }
        }
    }

    /// A finite magnitude's mantissa and exponent.
    pub fn finite(self, bits: u64) -> (u64, i64) {
        let fraction = bits & ((1 << self.fraction_bits) - 1);
        match bits >> self.fraction_bits {
            0 => (fraction, self.unit()),
            field => (fraction | 1 << self.fraction_bits, self.unit() + field as i64 - 1),
        }
    }

    /// The bits of the nearest float to a magnitude, ties to even: found by comparing with neighbours.
    pub fn nearest(self, exact: &Magnitude) -> u64 {
        let below = self.at_or_below(exact);
        if below == self.infinity() {
            return below;
        }
        // The next float up stands one mantissa step above, even past a binade's end and past the largest finite one.
        let (mantissa, exponent) = self.finite(below);
        match exact.compare(&BigUint::from(2 * mantissa + 1), exponent - 1) {
            Ordering::Less => below,
            Ordering::Greater => below + 1,
            Ordering::Equal => below + (below & 1),
        }
    }

    /// The bits of the largest float that is not above a magnitude.
    pub fn at_or_below(self, exact: &Magnitude) -> u64 {
        let (mut low, mut high) = (0, self.infinity() + 1);
        // `low` is not above, `high` is above, until they are neighbours.
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            let (mantissa, exponent) = self.finite(middle);
            match exact.compare(&BigUint::from(mantissa), exponent) {
                Ordering::Less => high = middle,
                _ => low = middle,
            }
        }
        low
    }
}

/// `numerator / denominator · 2^exponent`, or the square root of that: a number that is not negative.
#[derive(Debug, Clone)]
pub struct Magnitude {
    pub numerator: BigUint,
    pub denominator: BigUint,
    pub exponent: i64,
    pub root: Root,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Root {
    None,
    Square,
}

impl Magnitude {
    pub fn dyadic(numerator: BigUint, exponent: i64) -> Magnitude {
        Magnitude { numerator, denominator: BigUint::from(1u8), exponent, root: Root::None }
    }

    pub fn over(self, denominator: BigUint) -> Magnitude {
        Magnitude { denominator, ..self }
    }

    pub fn root(self) -> Magnitude {
        Magnitude { root: Root::Square, ..self }
    }

    /// Compares with `mantissa · 2^exponent`; roots by comparing squares.
    pub fn compare(&self, mantissa: &BigUint, exponent: i64) -> Ordering {
        let (power, exponent) = match self.root {
            Root::None => (mantissa.clone(), exponent),
            Root::Square => (mantissa * mantissa, 2 * exponent),
        };
        let right = power * &self.denominator;
        // Highest bits first: what differs there needs no shifting, however far apart the exponents are.
        if self.numerator.bits() == 0 || right.bits() == 0 {
            return self.numerator.cmp(&right);
        }
        let highest = |x: &BigUint, exponent: i64| x.bits() as i64 + exponent;
        let order = highest(&self.numerator, self.exponent).cmp(&highest(&right, exponent));
        order.then_with(|| match self.exponent - exponent {
            up @ 0.. => (&self.numerator << up as u64).cmp(&right),
            down => self.numerator.cmp(&(right << down.unsigned_abs())),
        })
    }
}
