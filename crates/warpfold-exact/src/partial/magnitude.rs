//! [`Magnitude`]: the largest magnitude.

use num_bigint::BigUint;

use crate::element::{Decode, Decoded, Element, Float, Ordered};
use crate::exact::{ProductLimbs, Register, Special, round_root, to_bigint};

/// The largest magnitude of any number of elements, in any order: kept as its exact square, which complex numbers have too.
#[derive(Debug, Clone, PartialEq)]
pub struct Magnitude<T: Element> {
    /// Zero once anything special was met.
    pub square: Register<ProductLimbs<T>>,
}

impl<T: Element> Default for Magnitude<T> {
    fn default() -> Self {
        Magnitude { square: Register::default() }
    }
}

/// The magnitudes of an element's parts, as integers.
pub type Magnitudes<T> =
    <T as Element>::Components<<<T as Element>::Component as Ordered>::Magnitude>;

impl<T: Element> Magnitude<T> {
    /// Nothing seen yet: zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// The magnitude of one element.
    pub fn of(parts: &Magnitudes<T>) -> Self {
        let mut square = Register::<ProductLimbs<T>>::default();
        for &part in parts.as_ref() {
            match T::Component::decode_magnitude(part) {
                Decoded::Finite { mantissa, shift, .. } => {
                    square.fixed.add(u128::from(mantissa) * u128::from(mantissa), 2 * shift, false);
                }
                Decoded::Infinite { .. } => square.note(Special::PLUS),
                Decoded::Nan => square.note(Special::NAN),
            }
        }
        Self::ordered(square)
    }

    fn ordered(square: Register<ProductLimbs<T>>) -> Self {
        match square.special {
            Special::NONE => Magnitude { square },
            // A NaN outranks everything, so that what else was met, and where, does not show.
            special if special.union(Special::NAN) == special => {
                Magnitude { square: Register { special: Special::NAN, ..Register::default() } }
            }
            special => Magnitude { square: Register { special, ..Register::default() } },
        }
    }

    /// Takes in another partial; associative and commutative to the last bit.
    pub fn merge(&mut self, other: &Self) {
        let special = self.square.special.union(other.square.special);
        let square = if self.is_below(other) { other.square } else { self.square };
        *self = Self::ordered(Register { special, ..square });
    }

    /// Whether the finite magnitude is less than the other's.
    pub fn is_below(&self, other: &Self) -> bool {
        let limbs = |m: &'_ Self| m.square.fixed.0;
        let (mine, theirs) = (limbs(self), limbs(other));
        mine.as_ref().iter().rev().lt(theirs.as_ref().iter().rev())
    }

    /// The largest magnitude in the contract's type: `u64` for integers, else a float, rounded once.
    pub fn value(&self) -> T::Linf {
        T::linf(self.square.special, to_bigint(&self.square.fixed).magnitude())
    }

    /// The largest magnitude rounded once to a float type of choice.
    pub fn round_as<F: Float>(&self) -> F {
        self.square.special.value().unwrap_or_else(|| {
            let square = to_bigint(&self.square.fixed);
            round_root(square.magnitude(), &BigUint::from(1u32), 2 * i64::from(T::Component::UNIT))
        })
    }
}
