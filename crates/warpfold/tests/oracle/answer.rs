//! What an answer may be, and how one is compared with it: by bits.

use num_bigint::{BigInt, Sign};
use warpfold::partial::Output;
use warpfold::{Complex, Error, Float, Op, Value};

use super::format::{BF16, F16, F32, F64, Format, Magnitude, Root};

/// One value as its type and bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    pub dtype: &'static str,
    pub words: Vec<u64>,
}

impl Cell {
    pub fn new(dtype: &'static str, words: &[u64]) -> Cell {
        Cell { dtype, words: words.to_vec() }
    }

    /// The bits of a float of the format, or of two that are a complex number.
    pub fn floats(format: Format, words: &[u64]) -> Cell {
        let dtype = match (words, format.name) {
            ([_], name) => name,
            (_, "f16") => "complex<f16>",
            (_, "bf16") => "complex<bf16>",
            (_, "f32") => "complex64",
            (_, _) => "complex128",
        };
        Cell::new(dtype, words)
    }
}

impl From<Value> for Cell {
    fn from(value: Value) -> Cell {
        fn pair<F: Float>(dtype: &'static str, z: Complex<F>, bits: fn(F) -> u64) -> Cell {
            Cell::new(dtype, &[bits(z.re), bits(z.im)])
        }
        match value {
            Value::Bool(x) => Cell::new("bool", &[x.into()]),
            Value::I8(x) => Cell::new("i8", &[x as u64]),
            Value::I16(x) => Cell::new("i16", &[x as u64]),
            Value::I32(x) => Cell::new("i32", &[x as u64]),
            Value::I64(x) => Cell::new("i64", &[x as u64]),
            Value::I128(x) => Cell::new("i128", &[x as u64, (x >> 64) as u64]),
            Value::U8(x) => Cell::new("u8", &[x.into()]),
            Value::U16(x) => Cell::new("u16", &[x.into()]),
            Value::U32(x) => Cell::new("u32", &[x.into()]),
            Value::U64(x) => Cell::new("u64", &[x]),
            Value::U128(x) => Cell::new("u128", &[x as u64, (x >> 64) as u64]),
            Value::F16(x) => Cell::new("f16", &[x.to_bits().into()]),
            Value::BF16(x) => Cell::new("bf16", &[x.to_bits().into()]),
            Value::F32(x) => Cell::new("f32", &[x.to_bits().into()]),
            Value::F64(x) => Cell::new("f64", &[x.to_bits()]),
            Value::ComplexF16(z) => pair("complex<f16>", z, |x| x.to_bits().into()),
            Value::ComplexBF16(z) => pair("complex<bf16>", z, |x| x.to_bits().into()),
            Value::Complex64(z) => pair("complex64", z, |x| x.to_bits().into()),
            Value::Complex128(z) => pair("complex128", z, f64::to_bits),
        }
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    Empty,
    TooFew,
    Overflow,
    Undefined,
    Unsupported,
}

/// What the contract allows.
#[derive(Debug, Clone)]
pub enum Expected {
    /// These bits and no others.
    Bits(Vec<Cell>),
    /// A float within one ulp of an exact value, with its sign.
    Near { format: Format, negative: bool, exact: Magnitude },
    /// A complex number within one ulp of an exact one (both parts in units of `2^exponent`), measured by the norm.
    NearComplex { format: Format, exact: [BigInt; 2], exponent: i64 },
    /// A complex number of which a part, or both, is NaN or infinite: which depends on how the factors are associated.
    Special,
    /// An error of this kind, of this reduction.
    Refused(Refusal, Op),
}

impl Expected {
    /// What the answer lacks, if anything.
    pub fn check(&self, answer: &Result<Output, Error>) -> Result<(), String> {
        let fine = match (self, answer) {
            (Expected::Refused(refusal, op), Err(error)) => (*refusal, *op) == classify(error),
            (Expected::Refused(..), Ok(_)) | (_, Err(_)) => false,
            (expected, Ok(output)) => expected.allows(&cells(output)),
        };
        if fine { Ok(()) } else { Err(format!("expected {self:x?}, got {answer:?}")) }
    }

    fn allows(&self, cells: &[Cell]) -> bool {
        match self {
            Expected::Bits(expected) => cells == expected,
            Expected::Near { format, negative, exact } => match cells {
                [Cell { dtype, words }] if *dtype == format.name => {
                    let sign = if *negative { format.sign() } else { 0 };
                    (words[0] & format.sign()) == sign && within(*format, exact, words[0] ^ sign)
                }
                _ => false,
            },
            Expected::NearComplex { format, exact, exponent } => match cells {
                [cell @ Cell { words, .. }] if *cell == Cell::floats(*format, words) => {
                    within_by_norm(*format, exact, *exponent, words)
                }
                _ => false,
            },
            Expected::Special => match cells {
                [Cell { dtype, words }] => {
                    let is_of = |format: &Format| Cell::floats(*format, words).dtype == *dtype;
                    let format = [F16, BF16, F32, F64].into_iter().find(is_of).expect("a float");
                    words.iter().any(|word| word & (format.sign() - 1) >= format.infinity())
                }
                _ => false,
            },
            Expected::Refused(..) => false,
        }
    }
}

/// An output as bits.
pub fn cells(output: &Output) -> Vec<Cell> {
    match output {
        Output::One(value) => vec![(*value).into()],
        Output::Pair(a, b) => vec![(*a).into(), (*b).into()],
        other => panic!("{other:?} is compared field by field"),
    }
}

fn classify(error: &Error) -> (Refusal, Op) {
    match error {
        Error::Empty { op, .. } => (Refusal::Empty, *op),
        Error::TooFew { op, .. } => (Refusal::TooFew, *op),
        Error::Overflow { op, .. } => (Refusal::Overflow, *op),
        Error::Undefined { op, .. } => (Refusal::Undefined, *op),
        Error::Unsupported { op, .. } => (Refusal::Unsupported, *op),
        other => panic!("no reduction of the contract ends with {other:?}"),
    }
}

/// Whether a float stands within one ulp of a magnitude: a neighbour of it, or next to it where it is a float itself.
fn within(format: Format, exact: &Magnitude, bits: u64) -> bool {
    let below = format.at_or_below(exact);
    if exact.numerator.bits() == 0 {
        return bits == 0;
    }
    let (mantissa, exponent) = format.finite(below);
    let is_float = exact.compare(&mantissa.into(), exponent).is_eq();
    let top = (below + 1).min(format.infinity());
    (below..=top).contains(&bits) || (is_float && bits + 1 == below)
}

/// Whether `|z - exact| <= 2^(1 - precision) · |exact|`, with the smallest subnormal as the least tolerance.
fn within_by_norm(format: Format, exact: &[BigInt; 2], exponent: i64, words: &[u64]) -> bool {
    let unit = exponent.min(format.unit());
    let scaled = |x: &BigInt, e: i64| x << (e - unit) as u64;
    let mut error = BigInt::ZERO;
    let mut norm = BigInt::ZERO;
    for (exact, &word) in exact.iter().zip(words) {
        let wanted = scaled(exact, exponent);
        norm += &wanted * &wanted;
        let magnitude = word & (format.sign() - 1);
        let negative = word != magnitude;
        if magnitude >= format.infinity() {
            // A part that is too large for the format, and no NaN, is an infinity of its sign.
            let size = Magnitude::dyadic(exact.magnitude().clone(), exponent);
            let overflows = format.at_or_below(&size) + 1 >= format.infinity();
            let same_sign = negative == (exact.sign() == Sign::Minus);
            if overflows && same_sign && magnitude == format.infinity() {
                continue;
            }
            return false;
        }
        let (mantissa, e) = format.finite(magnitude);
        let value = scaled(&mantissa.into(), e);
        let difference = if negative { -value } else { value } - wanted;
        error += &difference * &difference;
    }
    let least = scaled(&1.into(), format.unit());
    error <= &least * &least || (error << (2 * format.fraction_bits)) <= norm
}

impl Expected {
    /// The bits of a root or ratio that is rounded once.
    pub fn rounded(format: Format, negative: bool, exact: &Magnitude) -> Expected {
        Expected::Bits(vec![Cell::floats(format, &[format.round(negative, exact)])])
    }
}

impl Format {
    /// The bits of the nearest float; an exact zero is positive.
    pub fn round(self, negative: bool, exact: &Magnitude) -> u64 {
        debug_assert!(exact.root == Root::None || !negative, "a root is not negative");
        let sign = if negative && exact.numerator.bits() > 0 { self.sign() } else { 0 };
        self.nearest(exact) | sign
    }
}
