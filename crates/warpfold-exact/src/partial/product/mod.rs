//! [`Product`]: a product that neither overflows nor underflows on its way.

mod complex;
mod integer;
mod real;
#[cfg(test)]
mod tests;
mod tree;

use std::marker::PhantomData;

pub use complex::ComplexProduct;
pub use integer::IntegerProduct;
pub use real::{RealProduct, SpecialFlags};
pub use tree::{Complexes, Reals, join_of};

use crate::double_double::DoubleDouble;
use crate::element::{Components, Element, Float};
use crate::exact::{Fixed, Register, Special};
use crate::tree::{Incomplete, Interval, Tree};
use crate::{Error, Op, Overflow, Result};

/// The product of any number of elements, its exponent kept apart in 64 bits.
///
/// Integers: exact up to 2^64, and beyond it known to be too large, whatever the order; the low 64 bits are kept for
/// [`Overflow::Wrap`]. Floats: mantissas of 106 bits, so that the rounded result is within one ulp (complex: normwise)
/// for any length that can be. They are multiplied along the canonical [tree](crate::tree) of their elements' indices, so that the result has the
/// same bits however the elements were cut into pieces, and in whatever order those are merged. Each piece has to know
/// where it starts.
#[derive(Debug, Clone, PartialEq)]
pub struct Product<T> {
    /// What was multiplied so far.
    pub factors: Factors,
    element: PhantomData<T>,
}

/// A product by class of element.
#[derive(Debug, Clone, PartialEq)]
pub enum Factors {
    /// Of integers.
    Integer(IntegerProduct),
    /// Of real floats, by their indices.
    Reals(Tree<Reals>),
    /// Of complex floats, by their indices.
    Complexes(Tree<Complexes>),
    /// Of real floats whose indices are not known: of a device, or saved before there was a tree. Merged in order.
    Real(RealProduct),
    /// Of complex floats whose indices are not known.
    Complex(ComplexProduct),
}

/// A finite number or a special one, as the accumulators know it: fixed-point in units of `2^unit`.
type Rounded = Register<[u64; 2]>;

impl<T: Element> Default for Product<T> {
    fn default() -> Self {
        let factors = match (T::DTYPE.is_float(), T::DTYPE.is_complex()) {
            (false, _) => Factors::Integer(IntegerProduct::ONE),
            (true, false) => Factors::Reals(Tree::new(Reals { join: join_of::<T>() })),
            (true, true) => Factors::Complexes(Tree::new(Complexes { join: join_of::<T>() })),
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

    /// Of real floats whose indices are not known: merged in order.
    pub fn real(product: RealProduct) -> Self {
        Product { factors: Factors::Real(product), element: PhantomData }
    }

    /// Of complex floats whose indices are not known: merged in order.
    pub fn complex(product: ComplexProduct) -> Self {
        Product { factors: Factors::Complex(product), element: PhantomData }
    }

    /// Of real floats with their indices.
    pub fn of_reals(intervals: impl IntoIterator<Item = Interval<Reals>>) -> Self {
        let mut tree = Tree::new(Reals { join: join_of::<T>() });
        intervals.into_iter().for_each(|interval| tree.insert(interval));
        Product { factors: Factors::Reals(tree), element: PhantomData }
    }

    /// Of complex floats with their indices.
    pub fn of_complexes(intervals: impl IntoIterator<Item = Interval<Complexes>>) -> Self {
        let mut tree = Tree::new(Complexes { join: join_of::<T>() });
        intervals.into_iter().for_each(|interval| tree.insert(interval));
        Product { factors: Factors::Complexes(tree), element: PhantomData }
    }

    pub(super) fn of_factors(factors: Factors) -> Self {
        Product { factors, element: PhantomData }
    }

    /// Whether it is merged in order only, as the indices of its elements are not known.
    pub fn is_ordered(&self) -> bool {
        matches!(self.factors, Factors::Real(_) | Factors::Complex(_))
    }

    /// The same without the indices of its elements, so that it merges in order; but where elements were merged twice, it stays as it is, as its value would be wrong.
    #[must_use]
    pub fn without_indices(self) -> Self {
        let mut ordered = match &self.factors {
            Factors::Reals(_) => Self::real(RealProduct::ONE),
            Factors::Complexes(_) => Self::complex(ComplexProduct::ONE),
            Factors::Integer(_) | Factors::Real(_) | Factors::Complex(_) => return self,
        };
        ordered.merge(&self);
        ordered
    }

    /// Multiplies by another partial, of other elements; in any order, unless one of both [is ordered](Self::is_ordered): then `other` stands for
    /// later elements, and the result is ordered.
    pub fn merge(&mut self, other: &Self) {
        match (&mut self.factors, &other.factors) {
            (Factors::Integer(a), Factors::Integer(b)) => a.merge(b),
            (Factors::Reals(a), Factors::Reals(b)) => a.merge(b),
            (Factors::Complexes(a), Factors::Complexes(b)) => a.merge(b),
            (Factors::Real(a), Factors::Real(b)) => a.merge(b),
            (Factors::Complex(a), Factors::Complex(b)) => a.merge(b),
            // Elements that were there twice stay so, whatever comes in order.
            (Factors::Reals(a), Factors::Real(_)) if a.twice().is_some() => {}
            (Factors::Complexes(a), Factors::Complex(_)) if a.twice().is_some() => {}
            (Factors::Real(_), Factors::Reals(b)) if b.twice().is_some() => {
                self.factors = other.factors.clone();
            }
            (Factors::Complex(_), Factors::Complexes(b)) if b.twice().is_some() => {
                self.factors = other.factors.clone();
            }
            (Factors::Real(a), Factors::Reals(b)) => b.values().for_each(|b| a.merge(&b)),
            (Factors::Complex(a), Factors::Complexes(b)) => b.values().for_each(|b| a.merge(&b)),
            (Factors::Reals(a), Factors::Real(b)) => {
                let mut all = RealProduct::ONE;
                a.values().for_each(|a| all.merge(&a));
                all.merge(b);
                self.factors = Factors::Real(all);
            }
            (Factors::Complexes(a), Factors::Complex(b)) => {
                let mut all = ComplexProduct::ONE;
                a.values().for_each(|a| all.merge(&a));
                all.merge(b);
                self.factors = Factors::Complex(all);
            }
            _ => unreachable!("the element type decides the kind"),
        }
    }

    /// The product in the contract's type.
    ///
    /// # Errors
    /// [`Error::Overflow`] if an integer product does not fit and `overflow` says so; [`Error::Pieces`] if pieces of floats are missing, or were merged
    /// twice.
    pub fn value(&self, overflow: Overflow) -> Result<T::Sum> {
        let (parts, unit) = self.rounded(overflow)?;
        let result = T::finish(&Components::from_fn(|k| parts[k]), unit, Op::Prod, overflow);
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
    ///
    /// # Errors
    /// [`Error::Pieces`] if pieces of floats are missing, or were merged twice.
    pub fn round_as<F: Float>(&self) -> Result<T::With<F>> {
        let (mut parts, unit) = self.rounded(Overflow::Error)?;
        if let Factors::Integer(product) = &self.factors
            && product.is_capped()
        {
            parts[0].note(Special::infinity(product.negative));
        }
        Ok(T::join(Components::from_fn(|k| parts[k].round::<F>(unit))))
    }

    fn rounded(&self, overflow: Overflow) -> Result<([Rounded; 2], i32)> {
        let real = |product: &RealProduct| {
            let (register, unit) = product.register();
            ([register, Rounded::default()], unit)
        };
        Ok(match &self.factors {
            Factors::Integer(product) => ([product.register(overflow), Rounded::default()], 0),
            Factors::Real(product) => real(product),
            Factors::Complex(product) => product.registers(),
            Factors::Reals(tree) => {
                real(&tree.root().map_err(pieces::<T>)?.unwrap_or(RealProduct::ONE))
            }
            Factors::Complexes(tree) => {
                tree.root().map_err(pieces::<T>)?.unwrap_or(ComplexProduct::ONE).registers()
            }
        })
    }
}

/// What is wrong with the pieces of a product, in words.
fn pieces<T: Element>(gap: Incomplete) -> Error {
    let (obstacle, remedy) = match gap {
        Incomplete::Missing { first, end } => (
            format!("elements {first} to {end} are in none of the pieces that were merged"),
            "merge the pieces that have them, or say where each piece starts",
        ),
        Incomplete::Twice { first, end } => (
            format!(
                "elements {first} to {end} are in more than one of the pieces that were merged"
            ),
            "merge each piece once, and say where it starts",
        ),
    };
    Error::Pieces { op: Op::Prod, dtype: T::DTYPE, obstacle, remedy }
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
    exponent.saturating_sub(FRACTION_BITS).clamp(-(1 << 30), 1 << 30) as i32
}
