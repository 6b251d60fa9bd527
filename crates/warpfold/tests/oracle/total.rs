//! Sums and products of any size.

use num_bigint::{BigInt, BigUint, Sign};

use super::format::{Format, Magnitude, Number};

/// The special values among the numbers of a sum.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Specials {
    pub nan: bool,
    pub plus: bool,
    pub minus: bool,
}

impl Specials {
    pub fn any(self) -> bool {
        self != Specials::default()
    }

    /// The bits of a sum with these among its numbers, if any is.
    fn bits(self, format: Format) -> Option<u64> {
        match (self.nan, self.plus, self.minus) {
            (false, false, false) => None,
            (false, true, false) => Some(format.infinity()),
            (false, false, true) => Some(format.infinity() | format.sign()),
            _ => Some(format.nan()),
        }
    }
}

/// An exact sum: an integer in units of `2^unit`.
#[derive(Debug, Clone)]
pub struct ExactSum {
    pub finite: BigInt,
    pub specials: Specials,
    pub unit: i64,
}

impl ExactSum {
    pub fn new(unit: i64) -> ExactSum {
        ExactSum { finite: BigInt::ZERO, specials: Specials::default(), unit }
    }

    pub fn add(&mut self, number: Number) {
        match number {
            Number::Nan => self.specials.nan = true,
            Number::Infinite { negative: false } => self.specials.plus = true,
            Number::Infinite { negative: true } => self.specials.minus = true,
            Number::Finite { mantissa: 0, .. } => {}
            Number::Finite { negative, mantissa, exponent } => {
                let integer = BigInt::from(mantissa) << (exponent - self.unit) as u64;
                if negative { self.finite -= integer } else { self.finite += integer }
            }
        }
    }

    /// Rounds `total / denominator`, once.
    pub fn round(&self, format: Format, denominator: u64) -> u64 {
        self.specials.bits(format).unwrap_or_else(|| {
            let magnitude = self.magnitude().over(denominator.into());
            format.round(self.finite.sign() == Sign::Minus, &magnitude)
        })
    }

    /// Rounds the root, once; the total is one of squares.
    pub fn round_root(&self, format: Format) -> u64 {
        let bits = self.specials.bits(format);
        bits.unwrap_or_else(|| format.round(false, &self.magnitude().root()))
    }

    fn magnitude(&self) -> Magnitude {
        Magnitude::dyadic(self.finite.magnitude().clone(), self.unit)
    }
}

/// An exact complex integer times a power of two.
#[derive(Debug, Clone)]
pub struct Factor {
    pub parts: [BigInt; 2],
    pub exponent: i64,
}

impl Factor {
    pub fn new(numbers: &[Number]) -> Factor {
        let finite = |number: &Number| match *number {
            Number::Finite { mantissa: 0, .. } => (BigInt::ZERO, i64::MAX),
            Number::Finite { negative, mantissa, exponent } => {
                let sign = if negative { Sign::Minus } else { Sign::Plus };
                (BigInt::from_biguint(sign, BigUint::from(mantissa)), exponent)
            }
            _ => panic!("special values are no factors"),
        };
        let [re, im] =
            [finite(&numbers[0]), numbers.get(1).map_or((BigInt::ZERO, i64::MAX), finite)];
        let exponent = re.1.min(im.1);
        let align = |(integer, e): (BigInt, i64)| match e {
            i64::MAX => BigInt::ZERO,
            _ => integer << (e - exponent) as u64,
        };
        Factor {
            parts: [align(re), align(im)],
            exponent: if exponent == i64::MAX { 0 } else { exponent },
        }
    }

    fn times(&self, other: &Factor) -> Factor {
        let ([a, b], [c, d]) = (&self.parts, &other.parts);
        let exponent = self.exponent + other.exponent;
        if b.sign() == Sign::NoSign && d.sign() == Sign::NoSign {
            return Factor { parts: [a * c, BigInt::ZERO], exponent };
        }
        Factor { parts: [a * c - b * d, a * d + b * c], exponent }
    }
}

/// An exact product, kept as factors of equal length so that long products multiply numbers of like size.
#[derive(Debug, Clone, Default)]
pub struct Product {
    factors: Vec<(Factor, u64)>,
}

impl Product {
    pub fn multiply(&mut self, mut factor: Factor) {
        let mut length = 1;
        while let Some((last, _)) = self.factors.pop_if(|(_, l)| *l == length) {
            factor = last.times(&factor);
            length *= 2;
        }
        self.factors.push((factor, length));
    }

    pub fn value(&self) -> Factor {
        let one = Factor { parts: [BigInt::from(1), BigInt::ZERO], exponent: 0 };
        self.factors.iter().rev().fold(one, |product, (factor, _)| factor.times(&product))
    }
}
