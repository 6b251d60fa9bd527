//! How products are saved.

use super::intervals::{read_tree, write_tree};
use super::saved::{Header, Saved, VERSION, WITH_INDICES};
use super::words::{Reader, Refused, Writer};
use crate::PartialKind;
use crate::double_double::DoubleDouble;
use crate::element::Element;
use crate::partial::product::Factors;
use crate::partial::{ComplexProduct, IntegerProduct, Product, RealProduct, SpecialFlags};

const NEGATIVE: u64 = 1;
const ZERO: u64 = 2;
const INFINITY: u64 = 4;
const NAN: u64 = 8;

fn flag(set: bool, flag: u64) -> u64 {
    if set { flag } else { 0 }
}

impl<T: Element> Saved for Product<T> {
    const HEADER: Header = Header { kind: PartialKind::Product, dtype: Some(T::DTYPE) };

    fn version(&self) -> u8 {
        match self.factors {
            Factors::Reals(_) | Factors::Complexes(_) => WITH_INDICES,
            Factors::Integer(_) | Factors::Real(_) | Factors::Complex(_) => VERSION,
        }
    }

    fn write(&self, out: &mut Writer) {
        out.word(0);
        match &self.factors {
            Factors::Integer(product) => {
                out.word(flag(product.negative, NEGATIVE));
                out.word(product.magnitude as u64);
                out.word((product.magnitude >> 64) as u64);
                out.word(product.low);
            }
            Factors::Real(product) => write_real(out, product),
            Factors::Complex(product) => {
                out.word(0);
                write_complex(out, product);
            }
            Factors::Reals(tree) => write_tree(out, tree),
            Factors::Complexes(tree) => write_tree(out, tree),
        }
    }

    fn read(input: &mut Reader<'_>) -> Refused<Self> {
        if input.word()? != 0 {
            return Err("a product counts no elements".into());
        }
        let flags = input.word()?;
        let product = match Product::<T>::new().factors {
            Factors::Integer(_) if flags <= NEGATIVE => Product::integer(integer(input, flags)?),
            Factors::Reals(_) if flags <= NEGATIVE | ZERO | INFINITY | NAN => {
                Product::real(real(input, flags)?)
            }
            Factors::Complexes(_) if flags == 0 => Product::complex(complex(input)?),
            _ => return Err("a flag is set that has no meaning here".into()),
        };
        Ok(product)
    }

    fn read_with_indices(input: &mut Reader<'_>) -> Refused<Self> {
        if input.word()? != 0 {
            return Err("a product counts no elements".into());
        }
        let factors = match Product::<T>::new().factors {
            Factors::Reals(tree) => {
                Factors::Reals(read_tree::<T::Component, _>(input, tree.operator())?)
            }
            Factors::Complexes(tree) => {
                Factors::Complexes(read_tree::<T::Component, _>(input, tree.operator())?)
            }
            _ => return Err("a product of integers has no indices".into()),
        };
        Ok(Product::of_factors(factors))
    }
}

pub(super) fn write_real(out: &mut Writer, product: &RealProduct) {
    let RealProduct { mantissa, exponent, negative, specials } = product;
    let specials =
        flag(specials.zero, ZERO) | flag(specials.infinity, INFINITY) | flag(specials.nan, NAN);
    out.word(flag(*negative, NEGATIVE) | specials);
    out.word(*exponent as u64);
    write_part(out, mantissa);
}

pub(super) fn write_complex(out: &mut Writer, product: &ComplexProduct) {
    out.word(product.exponent as u64);
    write_part(out, &product.re);
    write_part(out, &product.im);
}

/// A product of real floats with its flags.
pub(super) fn read_real(input: &mut Reader<'_>) -> Refused<RealProduct> {
    match input.word()? {
        flags if flags <= NEGATIVE | ZERO | INFINITY | NAN => real(input, flags),
        _ => Err("a flag is set that has no meaning here".into()),
    }
}

fn integer(input: &mut Reader<'_>, flags: u64) -> Refused<IntegerProduct> {
    let [least, most, low] = [input.word()?, input.word()?, input.word()?];
    let magnitude = u128::from(most) << 64 | u128::from(least);
    let product = IntegerProduct { magnitude, low, negative: flags == NEGATIVE };
    let agrees = match magnitude {
        0 => product == IntegerProduct::ZERO,
        _ => magnitude == IntegerProduct::CAP || magnitude == u128::from(low),
    };
    match agrees {
        true => Ok(product),
        false => Err("no product has this magnitude and these low bits".into()),
    }
}

fn real(input: &mut Reader<'_>, flags: u64) -> Refused<RealProduct> {
    let specials = SpecialFlags {
        zero: flags & ZERO != 0,
        infinity: flags & INFINITY != 0,
        nan: flags & NAN != 0,
    };
    let exponent = read_exponent(input)?;
    let mantissa = read_part(input)?;
    if !(1.0..2.0).contains(&mantissa.high) {
        return Err("a mantissa does not lie between 1 and 2".into());
    }
    Ok(RealProduct { mantissa, exponent, negative: flags & NEGATIVE != 0, specials })
}

pub(super) fn complex(input: &mut Reader<'_>) -> Refused<ComplexProduct> {
    let exponent = read_exponent(input)?;
    let (re, im) = (read_part(input)?, read_part(input)?);
    let largest = re.high.abs().max(im.high.abs());
    let is_number = re.high.is_finite() && im.high.is_finite() && largest != 0.0;
    if is_number && !(1.0..2.0).contains(&largest) {
        return Err("the larger part does not lie between 1 and 2".into());
    }
    // Beside an infinity or a NaN there is no scale: a part is as the element has it.
    let is_scaled = re.high.is_finite() && im.high.is_finite();
    if !is_scaled && (exponent, re.low, im.low) != (0, 0.0, 0.0) {
        return Err("a part beside one that is not finite is scaled".into());
    }
    Ok(ComplexProduct { re, im, exponent })
}

/// The largest exponent of a product that was saved: 2^48 elements have none beyond.
const LARGEST_EXPONENT: u64 = 1 << 60;

fn read_exponent(input: &mut Reader<'_>) -> Refused<i64> {
    let exponent = input.word()? as i64;
    match exponent.unsigned_abs() <= LARGEST_EXPONENT {
        true => Ok(exponent),
        false => Err("no product has so large an exponent".into()),
    }
}

fn write_part(out: &mut Writer, part: &DoubleDouble) {
    out.word(part.high.to_bits());
    out.word(part.low.to_bits());
}

/// Two f64 of which the second is no more than the rounding error of the first.
fn read_part(input: &mut Reader<'_>) -> Refused<DoubleDouble> {
    let [high, low] = [f64::from_bits(input.word()?), f64::from_bits(input.word()?)];
    match high + low == high || low == 0.0 && !high.is_finite() {
        true => Ok(DoubleDouble { high, low }),
        false => Err("a mantissa is not in order".into()),
    }
}
