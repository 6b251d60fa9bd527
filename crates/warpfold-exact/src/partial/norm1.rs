//! [`Norm1`]: the sum of magnitudes.

use crate::element::{Decode, Element, Float, Nearest};
use crate::exact::{Exact, Limbs, ProductLimbs, Register, tally};
use crate::{Error, Op, Result};

/// The sum of the magnitudes of any number of elements, in any order.
///
/// Exact for real elements. The magnitude of a complex number is a root, which is added as exactly as it can be had: to about
/// 100 bits for `Complex<f64>`, 52 for `Complex<f32>`, so that the rounded sum is within one ulp. Merging is
/// associative and commutative to the last bit.
#[derive(Debug, Clone, PartialEq)]
pub struct Norm1<T: Element> {
    /// In units of the square of the type's lowest bit, which leaves room below for the roots.
    pub total: Register<ProductLimbs<T>>,
    /// Elements that went in.
    pub count: u64,
}

impl<T: Element> Default for Norm1<T> {
    fn default() -> Self {
        Norm1 { total: Register::default(), count: 0 }
    }
}

impl<T: Element> Norm1<T> {
    /// The unit of the total.
    pub const UNIT: i32 = 2 * T::Component::UNIT;

    /// The empty sum: zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// From a sum of magnitudes in units of `2^unit`.
    pub fn from_sum<L: Limbs>(sum: &Register<L>, unit: i32, count: u64) -> Self {
        let mut norm = Norm1 { count, ..Self::default() };
        norm.total.fixed.add_shifted(&sum.fixed, unit - Self::UNIT);
        norm.total.note(sum.special);
        norm
    }

    /// From the exact sum of the magnitudes of real elements.
    pub fn from_exact(sum: &Exact<T>) -> Self {
        Self::from_sum(&sum.parts.as_ref()[0], T::Component::UNIT, sum.count)
    }

    /// Adds another partial.
    pub fn merge(&mut self, other: &Self) {
        self.total.merge(&other.total);
        tally(&mut self.count, other.count);
    }

    /// How many elements were added.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The norm in the contract's type, rounded once.
    pub fn round(&self) -> T::Round {
        self.total.round(Self::UNIT)
    }

    /// The norm rounded once to a float type of choice.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for complex elements and a type more precise than the contract's: `Complex<f32>` as f64. The
    /// roots of `Complex<f32>` are kept to 52 bits, which an f64 would show.
    pub fn round_as<F: Float>(&self) -> Result<F> {
        if T::PARTS > 1 && F::PRECISION > <T::Round as Nearest>::PRECISION {
            return Err(Error::Unsupported {
                option: "rounding to a wider float type",
                op: Op::L1,
                dtype: T::DTYPE,
                why: "its roots are kept only as precise as the norm in its own type needs them; convert the elements to complex128",
            });
        }
        Ok(self.total.round(Self::UNIT))
    }
}
