//! [`Exact`]: a sum without any rounding error until it is read.

use num_bigint::BigUint;

use crate::element::{Components, Decode, Element, Float, Integer, Real};
use crate::limbs::Register;
use crate::limbs::tally;
use crate::limbs::{round_ratio, to_bigint};
use crate::{Error, Op, Overflow, Result};

/// Limbs of an exact sum of `T`'s parts.
pub type SumLimbs<T> = <<T as Element>::Component as Real>::SumLimbs;

/// The exact sum of any number of elements, in any order, rounded only when asked.
///
/// ```
/// use warpfold_exact::Exact;
/// let mut left = Exact::<f64>::new();
/// left.add(1e300);
/// left.add(1.0);
/// let mut right = Exact::new();
/// right.add(-1e300);
/// left.merge(&right);
/// assert_eq!(left.round(), 1.0);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Exact<T: Element> {
    /// One accumulator for each part of an element.
    pub parts: T::Components<Register<SumLimbs<T>>>,
    /// Elements that went in.
    pub count: u64,
}

impl<T: Element> Default for Exact<T> {
    fn default() -> Self {
        Exact { parts: Components::from_fn(|_| Register::default()), count: 0 }
    }
}

impl<T: Element> Exact<T> {
    /// The empty sum: zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one element.
    pub fn add(&mut self, x: T) {
        for (register, &part) in self.parts.as_mut().iter_mut().zip(T::as_parts(&[x])) {
            register.add(part);
        }
        tally(&mut self.count, 1);
    }

    /// Adds the sum of another accumulator; associative and commutative to the last bit.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.parts.as_mut().iter_mut().zip(other.parts.as_ref()) {
            mine.merge(theirs);
        }
        tally(&mut self.count, other.count);
    }

    /// How many elements were added; 2^64 - 1 stands for that many or more.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The sum in the contract's type: floats rounded once, integers checked.
    pub fn round(&self) -> T::Checked<T::Sum> {
        T::checked(self.sum(Overflow::Error))
    }

    /// The sum in the contract's type.
    ///
    /// # Errors
    /// [`Error::Overflow`] if an integer sum does not fit and `overflow` says so.
    pub fn sum(&self, overflow: Overflow) -> Result<T::Sum> {
        T::finish(&self.parts, T::Component::UNIT, Op::Sum, overflow)
    }

    /// The exact sum rounded once to a float type of choice (complex stays complex).
    pub fn round_as<F: Float>(&self) -> T::With<F> {
        T::join(Components::from_fn(|k| self.parts.as_ref()[k].round::<F>(T::Component::UNIT)))
    }

    /// The exact sum over the count, rounded once.
    ///
    /// # Errors
    /// [`Error::Empty`] if nothing was added.
    pub fn mean(&self) -> Result<T::With<T::Round>> {
        self.mean_as()
    }

    /// [`mean`](Self::mean), rounded to a float type of choice.
    ///
    /// # Errors
    /// [`Error::Empty`] if nothing was added.
    pub fn mean_as<F: Float>(&self) -> Result<T::With<F>> {
        if self.count == 0 {
            return Err(Error::Empty { op: Op::Mean, ignored: false });
        }
        let count = BigUint::from(self.count);
        Ok(T::join(Components::from_fn(|k| {
            let register = &self.parts.as_ref()[k];
            register.special.value().unwrap_or_else(|| {
                round_ratio(&to_bigint(&register.fixed), &count, i64::from(T::Component::UNIT))
            })
        })))
    }
}

impl<T: Integer> Exact<T> {
    /// The sum in 128 bits.
    ///
    /// # Errors
    /// [`Error::Overflow`], which fewer than 2^63 elements never reach.
    pub fn wide(&self) -> Result<T::Wide> {
        T::wide(&self.parts.as_ref()[0].fixed)
    }
}
