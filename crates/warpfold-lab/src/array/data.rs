//! What the arrays hold: natural data, adversarial data, and data on which a reduction has to read everything.

use std::f64::consts::TAU;

use serde::{Deserialize, Serialize};
use warpfold::random::word;
use warpfold::{bf16, f16};

/// A kind of data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Data {
    /// Floats: standard normal. Integers: uniform over the type, 64-bit ones over 38 bits so that their sum fits.
    Natural,
    /// Integers of at most 18 bits, so that their products' sum fits in 64. Floats: as natural.
    Small,
    /// Floats of either sign with exponents uniform from the subnormals up to 2^-32 of the largest, so that nobody's partial
    /// sums overflow (f16: all exponents; its sums are f32). Integers: as natural.
    LogUniform,
    /// Log-uniform values, each with its negative at the mirrored place, and two small ones left over: the sum is
    /// 1 + 2^-8 and the condition number about as large as the type allows. Integers: as natural.
    Cancelling,
    /// Pairs of a number in (0.7, 1.42) and its reciprocal, so that no product ends in 0 or ∞. Complex: unit modulus.
    /// Signed integers: ±1. Others: 1.
    Reciprocal,
    /// Numbers whose products neither vanish nor overflow, in any order: integers are odd and fill their type (their sums wrap), floats are
    /// at most a factor 2^(1/512) from one, either way. Complex: unit modulus.
    Factors,
    /// Floats: uniform in [0, 255). Integers: uniform in 0 to 255, or what of it their type holds.
    Bytes,
    /// All zero, so that `any` reads to the end.
    Zeros,
    /// All one, so that `all` reads to the end.
    Ones,
}

impl Data {
    /// The name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Data::Natural => "natural",
            Data::Small => "small",
            Data::LogUniform => "loguniform",
            Data::Cancelling => "cancelling",
            Data::Reciprocal => "reciprocal",
            Data::Factors => "factors",
            Data::Bytes => "bytes",
            Data::Zeros => "zeros",
            Data::Ones => "ones",
        }
    }
}

impl std::fmt::Display for Data {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// Where in which array a number stands: all that it depends on.
#[derive(Debug, Clone, Copy)]
pub struct Position {
    /// The array's seed.
    pub seed: u64,
    /// The index, counting the parts of complex numbers.
    pub index: u64,
    /// How many numbers the array holds.
    pub count: u64,
    /// 2 where the numbers are the parts of complex ones, else 1.
    pub parts: usize,
}

impl Position {
    /// 64 random bits.
    fn word(self) -> u64 {
        word(self.seed, self.index)
    }

    fn at(self, index: u64) -> Position {
        Position { index, ..self }
    }

    /// The word shared by a pair of neighbours as a fraction of 1.
    fn pair_fraction(self) -> f64 {
        self.at(self.index / 2).word() as f64 / 2f64.powi(64)
    }

    /// A standard normal number (Box and Muller 1958).
    fn normal(self) -> f64 {
        let word = self.word();
        let radius = (((word >> 32) + 1) as f64 / 2f64.powi(32)).ln() * -2.0;
        radius.sqrt() * (TAU * (word as u32 as f64 / 2f64.powi(32))).cos()
    }

    /// So near one that the product of 2^28 of them is some 2^±18: each has one that nearly undoes it, a few places away and no neighbour, so that the rounding
    /// errors of products have nothing to do with each other. (Those of numbers within a 256th of one do: they are all of few bits, and round down more often than up.)
    fn factor(self) -> f64 {
        const AWAY: u64 = 0b10101;
        if self.parts > 1 {
            return self.reciprocal();
        }
        let fraction = |position: Position| position.word() as f64 / 2f64.powi(64) - 0.5;
        let other = self.index ^ AWAY;
        // The two have a number of their own, that of neither.
        let both = fraction(self.at(!self.index.min(other)));
        let exponent = if self.index < other { both } else { -both };
        (exponent / 8.0 + fraction(self) / 256.0).exp2()
    }

    fn reciprocal(self) -> f64 {
        let u = self.pair_fraction();
        match (self.parts, self.index % 2) {
            (1, 0) => (u - 0.5).exp2(),
            (1, _) => (0.5 - u).exp2(),
            (_, 0) => (TAU * u).cos(),
            (_, _) => (TAU * u).sin(),
        }
    }
}

/// A real type that arrays can be filled with.
pub trait Draw: bytemuck::NoUninit {
    /// The number that stands at a place.
    fn draw(data: Data, position: Position) -> Self;
}

macro_rules! floats {
    ($($ty:ident: $bits:ident, $fraction:literal, $fields:literal, $from:expr;)+) => {$(
        impl Draw for $ty {
            fn draw(data: Data, position: Position) -> Self {
                match data {
                    Data::Natural | Data::Small => $from(position.normal()),
                    Data::Reciprocal => $from(position.reciprocal()),
                    Data::Factors => $from(position.factor()),
                    Data::Bytes => $from(255.0 * (position.word() >> 11) as f64 / 2f64.powi(53)),
                    Data::Zeros => $from(0.0),
                    Data::Ones => $from(1.0),
                    Data::LogUniform => {
                        let word = position.word();
                        let sign = (word & 1) << ($bits::BITS - 1);
                        let fraction = (word >> 1) & ((1 << $fraction) - 1);
                        // The exponent wants bits of its own: those of the fraction are used up.
                        let field = position.at(!position.index).word() % $fields;
                        $ty::from_bits((sign | (field << $fraction) | fraction) as $bits)
                    }
                    Data::Cancelling => {
                        let mirror = position.count - 1 - position.index;
                        match position.index.cmp(&mirror) {
                            _ if position.index == 0 => $from(1.0),
                            _ if mirror == 0 => $from(2f64.powi(-8)),
                            std::cmp::Ordering::Less => Self::draw(Data::LogUniform, position),
                            std::cmp::Ordering::Equal => $from(0.0),
                            std::cmp::Ordering::Greater => {
                                -Self::draw(Data::LogUniform, position.at(mirror))
                            }
                        }
                    }
                }
            }
        }
    )+};
}
floats! {
    f16: u16, 10, 31, f16::from_f64;
    bf16: u16, 7, 223, bf16::from_f64;
    f32: u32, 23, 223, |x| x as f32;
    f64: u64, 52, 2015, std::convert::identity;
}

macro_rules! integers {
    ($($ty:ident),+) => {$(
        impl Draw for $ty {
            fn draw(data: Data, position: Position) -> Self {
                // Shifting a signed word keeps its sign, so that signed types get both.
                let narrow = |bits: u32| {
                    let shift = 64 - bits.min($ty::BITS);
                    if $ty::MIN == 0 {
                        (position.word() >> shift) as $ty
                    } else {
                        (position.word().cast_signed() >> shift) as $ty
                    }
                };
                match data {
                    Data::Natural | Data::LogUniform | Data::Cancelling if $ty::BITS == 64 => narrow(38),
                    Data::Natural | Data::LogUniform | Data::Cancelling => narrow($ty::BITS),
                    Data::Small => narrow(18),
                    Data::Factors => narrow($ty::BITS) | 1,
                    Data::Bytes => (position.word() >> 56) as $ty & $ty::MAX,
                    Data::Reciprocal if $ty::MIN != 0 && position.word() & 1 == 1 => (0 as $ty).wrapping_sub(1),
                    Data::Reciprocal | Data::Ones => 1,
                    Data::Zeros => 0,
                }
            }
        }
    )+};
}
integers!(i8, i16, i32, i64, u8, u16, u32, u64);

impl Draw for bool {
    fn draw(data: Data, position: Position) -> Self {
        match data {
            Data::Natural | Data::Small | Data::LogUniform | Data::Cancelling | Data::Bytes => {
                position.word() & 1 == 1
            }
            Data::Reciprocal | Data::Factors | Data::Ones => true,
            Data::Zeros => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Buffer, fill};
    use super::*;

    fn array<T: warpfold::Element>(data: Data, n: usize) -> Vec<T>
    where
        T::Component: Draw,
    {
        let mut buffer = Buffer::new((n * size_of::<T>()) as u64).unwrap();
        fill::<T>(&mut buffer, data, 7);
        buffer.as_slice().to_vec()
    }

    #[test]
    fn natural_floats_are_standard_normal() {
        let x = array::<f64>(Data::Natural, 200_000);
        let moment = |k: i32| x.iter().map(|x| x.powi(k)).sum::<f64>() / x.len() as f64;
        assert!(moment(1).abs() < 0.01, "{}", moment(1));
        assert!((moment(2) - 1.0).abs() < 0.02, "{}", moment(2));
        assert!((moment(4) - 3.0).abs() < 0.2, "{}", moment(4));
    }

    #[test]
    fn log_uniform_floats_reach_the_ends_of_the_exponent_range() {
        let x = array::<f32>(Data::LogUniform, 200_000);
        assert!(x.iter().all(|x| x.is_finite()));
        assert!(x.iter().any(|x| x.is_subnormal()) && x.iter().any(|x| x.abs() > 1e28));
        let negative = x.iter().filter(|x| **x < 0.0).count();
        assert!((90_000..110_000).contains(&negative), "{negative}");
    }

    #[test]
    fn cancelling_floats_leave_two_numbers() {
        for n in [2, 3, 1000, 1001] {
            let x = array::<f32>(Data::Cancelling, n);
            assert_eq!(warpfold::sum(&x), 1.0 + 2f32.powi(-8), "{n}");
        }
    }

    #[test]
    fn products_stay_near_one() {
        let product: f64 = array::<f64>(Data::Reciprocal, 100_000).iter().product();
        assert!((product - 1.0).abs() < 1e-10, "{product}");
        let integers: i32 = array::<i32>(Data::Reciprocal, 1001).iter().product();
        assert_eq!(integers.abs(), 1);
    }

    #[test]
    fn integers_fill_their_type_and_sums_of_wide_ones_fit() {
        let x = array::<i8>(Data::Natural, 10_000);
        assert!(x.contains(&i8::MIN) && x.contains(&i8::MAX));
        let y = array::<i64>(Data::Natural, 10_000);
        assert!(y.iter().all(|y| y.unsigned_abs() <= 1 << 37) && y.iter().any(|y| *y < -(1 << 36)));
    }

    #[test]
    fn factors_are_odd_or_near_one_and_bytes_are_bytes() {
        let x = array::<i64>(Data::Factors, 10_000);
        assert!(x.iter().all(|x| x & 1 == 1) && x.iter().any(|x| x.unsigned_abs() > 1 << 62));
        let y = array::<f32>(Data::Factors, 10_000);
        assert!(y.iter().all(|y| (0.95..1.05).contains(y)) && y.iter().any(|y| *y > 1.04));
        // As errors without a bias would be, within five of their deviations.
        let pairs: Vec<f32> = array::<f32>(Data::Factors, 1 << 18);
        let errors = pairs.chunks(2).map(|two| {
            let exact = f64::from(two[0]) * f64::from(two[1]);
            f64::from(two[0] * two[1]) / exact - 1.0
        });
        assert!(errors.sum::<f64>().abs() < 5.0 * 2f64.powi(17).sqrt() * 2f64.powi(-24) / 2.0);
        let bytes = array::<i32>(Data::Bytes, 10_000);
        assert!(bytes.iter().all(|x| (0..256).contains(x)) && bytes.contains(&255));
        let floats = array::<f64>(Data::Bytes, 10_000);
        assert!(
            floats.iter().all(|x| (0.0..255.0).contains(x)) && floats.iter().any(|x| *x > 254.0)
        );
    }

    #[test]
    fn an_array_is_the_same_twice() {
        assert_eq!(array::<f16>(Data::Natural, 70_000), array::<f16>(Data::Natural, 70_000));
    }
}
