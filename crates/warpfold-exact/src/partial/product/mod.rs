//! [`Product`]: a product that neither overflows nor underflows on its way.

mod complex;
mod integer;
mod real;

use std::marker::PhantomData;

pub use complex::ComplexProduct;
pub use integer::IntegerProduct;
pub use real::{Met, RealProduct};

use crate::double_double::DoubleDouble;
use crate::element::{Element, Float, Parts};
use crate::exact::{Fixed, Register, Special};
use crate::{Error, Op, Overflow, Result};

/// The product of any number of elements, its exponent kept apart in 64 bits.
///
/// Integers: exact up to 2^64, and beyond it known to be too large, whatever the order; the low 64 bits are kept for
/// [`Overflow::Wrap`]. Floats: a mantissa of 106 bits, so that the rounded result is within one ulp (complex: normwise)
/// for any length that can be. Products of floats must be merged in order, if the same bits are to come out each time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Product<T> {
    /// What was multiplied so far.
    pub factors: Factors,
    element: PhantomData<T>,
}

/// A product by class of element.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Factors {
    /// Of integers.
    Integer(IntegerProduct),
    /// Of real floats.
    Real(RealProduct),
    /// Of complex floats.
    Complex(ComplexProduct),
}

/// A finite number or a special one, as the accumulators know it: fixed-point in units of `2^unit`.
type Rounded = Register<[u64; 2]>;

impl<T: Element> Default for Product<T> {
    fn default() -> Self {
        let factors = match (T::DTYPE.is_float(), T::DTYPE.is_complex()) {
            (false, _) => Factors::Integer(IntegerProduct::ONE),
            (true, false) => Factors::Real(RealProduct::ONE),
            (true, true) => Factors::Complex(ComplexProduct::ONE),
        };
        Product { factors, element: PhantomData }
    }
}

impl<T: Element> Product<T> {
    /// The empty product: one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Of integers.
    pub fn integer(product: IntegerProduct) -> Self {
        Product { factors: Factors::Integer(product), element: PhantomData }
    }

    /// Of real floats.
    pub fn real(product: RealProduct) -> Self {
        Product { factors: Factors::Real(product), element: PhantomData }
    }

    /// Of complex floats.
    pub fn complex(product: ComplexProduct) -> Self {
        Product { factors: Factors::Complex(product), element: PhantomData }
    }

    /// Multiplies by another partial, which stands for later elements.
    pub fn merge(&mut self, other: &Self) {
        match (&mut self.factors, &other.factors) {
            (Factors::Integer(a), Factors::Integer(b)) => a.merge(b),
            (Factors::Real(a), Factors::Real(b)) => a.merge(b),
            (Factors::Complex(a), Factors::Complex(b)) => a.merge(b),
            _ => unreachable!("the element type decides the kind"),
        }
    }

    /// The product in the contract's type.
    ///
    /// # Errors
    /// [`Error::Overflow`] if an integer product does not fit and `overflow` says so.
    pub fn value(&self, overflow: Overflow) -> Result<T::Sum> {
        let (parts, unit) = self.rounded(overflow);
        let result = T::finish(&Parts::from_fn(|k| parts[k]), unit, Op::Prod, overflow);
        match (result, &self.factors) {
            (Err(Error::Overflow { op, dtype, result, remedy, .. }), Factors::Integer(product))
                if product.is_capped() =>
            {
                let sign = if product.negative { "-" } else { "" };
                let value = format!("{sign}18446744073709551616 or beyond");
                Err(Error::Overflow { op, dtype, result, value, remedy })
            }
            (result, _) => result,
        }
    }

    /// The product rounded once to a float type of choice (complex stays complex); an integer product beyond 2^64 is an infinity.
    pub fn round_as<F: Float>(&self) -> T::With<F> {
        let (mut parts, unit) = self.rounded(Overflow::Error);
        if let Factors::Integer(product) = &self.factors
            && product.is_capped()
        {
            parts[0].note(Special::infinity(product.negative));
        }
        T::join(Parts::from_fn(|k| parts[k].round::<F>(unit)))
    }

    fn rounded(&self, overflow: Overflow) -> ([Rounded; 2], i32) {
        match &self.factors {
            Factors::Integer(product) => ([product.register(overflow), Rounded::default()], 0),
            Factors::Real(product) => {
                let (register, unit) = product.register();
                ([register, Rounded::default()], unit)
            }
            Factors::Complex(product) => product.registers(),
        }
    }
}

/// Fraction bits of [`fixed`].
const FRACTION_BITS: i64 = 116;

/// A number below 4 in magnitude as an integer in units of `2^-FRACTION_BITS`.
fn fixed(x: DoubleDouble) -> Rounded {
    let unit = (FRACTION_BITS as f64).exp2();
    let register = Rounded::default();
    // The product by a power of two is exact; the conversion drops what lies below 2^-116 of the low part.
    let value = (x.high * unit) as i128 + (x.low * unit) as i128;
    let mut fixed = Fixed::default();
    fixed.add_signed(value, 0);
    Rounded { fixed, ..register }
}

/// The unit of [`fixed`] under a scale of `2^exponent`. Beyond the clamp every format overflows or underflows alike.
fn unit(exponent: i64) -> i32 {
    (exponent - FRACTION_BITS).clamp(-(1 << 30), 1 << 30) as i32
}
