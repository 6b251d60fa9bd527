//! [`Dot`]: an exact sum of exact products.

use super::moments::ProductLimbs;
use crate::element::{Components, Decode, Element, Float};
use crate::limbs::Register;
use crate::limbs::tally;
use crate::{Op, Overflow, Result};

/// The exact dot product of any number of pairs, in any order, without conjugation.
///
/// ```
/// let mut d = warpfold_exact::Dot::<f32>::new();
/// [(1e30, 1e30), (1.0, 1.0), (-1e30, 1e30)].map(|(x, y)| d.add(x, y));
/// assert_eq!(d.round(), 1.0);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Dot<T: Element> {
    /// One accumulator for each part of an element.
    pub parts: T::Components<Register<ProductLimbs<T>>>,
    /// Elements that went in.
    pub count: u64,
}

impl<T: Element> Default for Dot<T> {
    fn default() -> Self {
        Dot { parts: Components::from_fn(|_| Register::default()), count: 0 }
    }
}

impl<T: Element> Dot<T> {
    /// No pairs yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one product.
    pub fn add(&mut self, x: T, y: T) {
        let (x, y) = ([x], [y]);
        match (T::as_parts(&x), T::as_parts(&y), self.parts.as_mut()) {
            ([a], [b], [re]) => re.add_product(*a, *b, false),
            ([a, b], [c, d], [re, im]) => {
                re.add_product(*a, *c, false);
                re.add_product(*b, *d, true);
                im.add_product(*a, *d, false);
                im.add_product(*b, *c, false);
            }
            _ => unreachable!("an element has one part or two"),
        }
        tally(&mut self.count, 1);
    }

    /// Adds another partial; associative and commutative to the last bit.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.parts.as_mut().iter_mut().zip(other.parts.as_ref()) {
            mine.merge(theirs);
        }
        tally(&mut self.count, other.count);
    }

    /// How many products were added; 2^64 - 1 stands for that many or more.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The dot product in the contract's type: floats rounded once, integers checked.
    pub fn round(&self) -> T::Checked<T::Sum> {
        T::checked(self.value(Overflow::Error))
    }

    /// The dot product in the contract's type.
    ///
    /// # Errors
    /// [`Error::Overflow`](crate::Error::Overflow) if an integer result does not fit and `overflow` says so.
    pub fn value(&self, overflow: Overflow) -> Result<T::Sum> {
        T::finish(&self.parts, 2 * T::Component::UNIT, Op::Dot, overflow)
    }

    /// The exact value rounded once to a float type of choice (complex stays complex).
    pub fn round_as<F: Float>(&self) -> T::With<F> {
        T::join(Components::from_fn(|k| self.parts.as_ref()[k].round::<F>(2 * T::Component::UNIT)))
    }
}
