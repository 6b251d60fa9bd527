//! How products are saved.

use super::saved::{Header, Kind, Saved};
use super::words::{Reader, Refused, Writer};
use crate::double_double::DoubleDouble;
use crate::element::Element;
use crate::partial::product::{ComplexProduct, IntegerProduct, Met, Product, RealProduct, State};

const NEGATIVE: u64 = 1;
const ZERO: u64 = 2;
const INFINITY: u64 = 4;
const NAN: u64 = 8;

impl<T: Element> Saved for Product<T> {
    const HEADER: Header = Header { kind: Kind::Product, dtype: Some(T::DTYPE) };

    fn write(&self, out: &mut Writer) {
        let flag = |set: bool, bit: u64| if set { bit } else { 0 };
        match self.state() {
            State::Integer(p) => {
                out.word(flag(p.negative, NEGATIVE));
                out.word(p.magnitude as u64);
                out.word((p.magnitude >> 64) as u64);
                out.word(p.low);
            }
            State::Real(p) => {
                let met =
                    flag(p.met.zero, ZERO) | flag(p.met.infinity, INFINITY) | flag(p.met.nan, NAN);
                out.word(flag(p.negative, NEGATIVE) | met);
                out.word(p.exponent as u64);
                mantissa(out, p.mantissa);
            }
            State::Complex(p) => {
                out.word(p.exponent as u64);
                mantissa(out, p.re);
                mantissa(out, p.im);
            }
        }
    }

    fn read(input: &mut Reader<'_>) -> Refused<Self> {
        match Product::<T>::new().state() {
            State::Integer(_) => integer(input).map(Product::integer),
            State::Real(_) => real(input).map(Product::real),
            State::Complex(_) => complex(input).map(Product::complex),
        }
    }
}

fn mantissa(out: &mut Writer, x: DoubleDouble) {
    out.word(x.high.to_bits());
    out.word(x.low.to_bits());
}

fn integer(input: &mut Reader<'_>) -> Refused<IntegerProduct> {
    let flags = flags(input, NEGATIVE)?;
    let magnitude = u128::from(input.word()?) | u128::from(input.word()?) << 64;
    let product = IntegerProduct { magnitude, low: input.word()?, negative: flags & NEGATIVE != 0 };
    // Below the cap the low bits are the magnitude, and zero has no sign.
    let agrees = product.is_capped() || u128::from(product.low) == magnitude;
    match magnitude <= IntegerProduct::CAP && agrees && !(product.is_zero() && product.negative) {
        true => Ok(product),
        false => {
            Err("the magnitude of a product is no such number, or above its cap of 2^64".into())
        }
    }
}

fn real(input: &mut Reader<'_>) -> Refused<RealProduct> {
    let flags = flags(input, NEGATIVE | ZERO | INFINITY | NAN)?;
    let has = |bit: u64| flags & bit != 0;
    let met = Met { zero: has(ZERO), infinity: has(INFINITY), nan: has(NAN) };
    let exponent = input.word()? as i64;
    let mantissa = double_double(input)?;
    let product = RealProduct { mantissa, exponent, negative: has(NEGATIVE), met };
    let normal = mantissa.high >= 1.0 && mantissa.high <= 2.0;
    match normal && exponent.unsigned_abs() < 1 << 62 {
        true => Ok(product),
        false => Err("the mantissa of a product does not lie between 1 and 2".into()),
    }
}

fn complex(input: &mut Reader<'_>) -> Refused<ComplexProduct> {
    let exponent = input.word()? as i64;
    let product = ComplexProduct { re: double_double(input)?, im: double_double(input)?, exponent };
    let (re, im) = (product.re.high.abs(), product.im.high.abs());
    let largest = re.max(im);
    // Once a part is no finite number the other keeps whatever scale it had.
    let finite = re.is_finite() && im.is_finite();
    let normal = !finite || largest == 0.0 || (1.0..=2.0).contains(&largest);
    match normal && exponent.unsigned_abs() < 1 << 62 {
        true => Ok(product),
        false => Err("the larger part of a product does not lie between 1 and 2".into()),
    }
}

fn flags(input: &mut Reader<'_>, known: u64) -> Refused<u64> {
    let flags = input.word()?;
    if flags & !known == 0 { Ok(flags) } else { Err("a flag that means nothing is set".into()) }
}

fn double_double(input: &mut Reader<'_>) -> Refused<DoubleDouble> {
    let (high, low) = (f64::from_bits(input.word()?), f64::from_bits(input.word()?));
    // The low part lies within rounding of the high one; NaN and infinity have none.
    let fits = if high.is_finite() { low.abs() <= high.abs() * f64::EPSILON } else { low == 0.0 };
    if fits {
        Ok(DoubleDouble { high, low })
    } else {
        Err("a mantissa's low part is too large".into())
    }
}
