//! [`Moments`]: exact sum and sum of squares, from which mean, variance, deviation and norm are read.

use num_bigint::{BigInt, BigUint};

use super::sum::{Exact, SumLimbs};
use crate::element::{Components, Decode, Element, Float, Real};
use crate::limbs::tally;
use crate::limbs::{Register, Special};
use crate::limbs::{round_ratio, round_root, to_bigint};
use crate::{Error, Op, Overflow, Result};

/// Limbs of an exact sum of products of `T`'s parts.
pub type ProductLimbs<T> = <<T as Element>::Component as Real>::ProductLimbs;

/// Exact first and second moments of any number of elements, in any order.
///
/// For complex elements the squares are those of both components, so that the variance is the mean of |z - mean|².
///
/// ```
/// let mut m = warpfold_exact::Moments::<f64>::new();
/// [1e15, 1e15 + 1.0, 1e15 + 2.0].map(|x| m.add(x));
/// assert_eq!(m.var(1)?, 1.0);
/// # Ok::<(), warpfold_num::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Moments<T: Element> {
    /// The sum of each part.
    pub sum: T::Components<Register<SumLimbs<T>>>,
    /// The sum of the squares of all parts.
    pub squares: Register<ProductLimbs<T>>,
    /// Elements that went in.
    pub count: u64,
}

impl<T: Element> Default for Moments<T> {
    fn default() -> Self {
        Moments {
            sum: Components::from_fn(|_| Register::default()),
            squares: Register::default(),
            count: 0,
        }
    }
}

impl<T: Element> Moments<T> {
    /// No elements yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one element.
    pub fn add(&mut self, x: T) {
        for (register, &part) in self.sum.as_mut().iter_mut().zip(T::as_parts(&[x])) {
            register.add(part);
            self.squares.add_product(part, part, false);
        }
        tally(&mut self.count, 1);
    }

    /// Adds the moments of another accumulator; associative and commutative to the last bit.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.sum.as_mut().iter_mut().zip(other.sum.as_ref()) {
            mine.merge(theirs);
        }
        self.squares.merge(&other.squares);
        tally(&mut self.count, other.count);
    }

    /// How many elements were added; 2^64 - 1 stands for that many or more.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The exact sum alone.
    pub fn to_sum(&self) -> Exact<T> {
        Exact { parts: self.sum.clone(), count: self.count }
    }

    /// The exact sum over the count, rounded once.
    ///
    /// # Errors
    /// [`Error::Empty`] if nothing was added.
    pub fn mean(&self) -> Result<T::With<T::Round>> {
        self.to_sum().mean()
    }

    /// [`mean`](Self::mean), rounded to a float type of choice.
    ///
    /// # Errors
    /// As [`mean`](Self::mean).
    pub fn mean_as<F: Float>(&self) -> Result<T::With<F>> {
        self.to_sum().mean_as()
    }

    /// The variance over `n - ddof`, rounded once. An infinity among the elements leaves no variance: NaN.
    ///
    /// # Errors
    /// [`Error::Empty`] without elements, [`Error::TooFew`] if `ddof >= n`.
    pub fn var(&self, ddof: u64) -> Result<T::Round> {
        self.var_as(ddof)
    }

    /// The standard deviation: the root of the exact variance, rounded once.
    ///
    /// # Errors
    /// As [`var`](Self::var).
    pub fn std(&self, ddof: u64) -> Result<T::Round> {
        self.std_as(ddof)
    }

    /// The Euclidean norm: the root of the exact sum of squares, rounded once.
    pub fn l2(&self) -> T::Round {
        self.l2_as()
    }

    /// [`var`](Self::var), rounded to a float type of choice.
    ///
    /// # Errors
    /// As [`var`](Self::var).
    pub fn var_as<F: Float>(&self, ddof: u64) -> Result<F> {
        Ok(self.var_over((self.denominator(Op::Var, ddof)?, 0)))
    }

    /// [`std`](Self::std), rounded to a float type of choice.
    ///
    /// # Errors
    /// As [`var`](Self::var).
    pub fn std_as<F: Float>(&self, ddof: u64) -> Result<F> {
        Ok(self.std_over((self.denominator(Op::Std, ddof)?, 0)))
    }

    /// The variance over `n - correction` for a correction that may be fractional or negative, rounded once.
    ///
    /// # Errors
    /// As [`var`](Self::var); a correction that is not finite is too large.
    pub fn var_corrected<F: Float>(&self, correction: f64) -> Result<F> {
        Ok(self.var_over(self.divisor(Op::Var, correction)?))
    }

    /// The root of [`var_corrected`](Self::var_corrected)'s exact value, rounded once.
    ///
    /// # Errors
    /// As [`var_corrected`](Self::var_corrected).
    pub fn std_corrected<F: Float>(&self, correction: f64) -> Result<F> {
        Ok(self.std_over(self.divisor(Op::Std, correction)?))
    }

    /// The numerator over an integer that is in units of `2^-shift`, rounded once.
    fn var_over<F: Float>(&self, (denominator, shift): (BigUint, i64)) -> F {
        match self.numerator() {
            Some(numerator) => {
                round_ratio(&BigInt::from(numerator), &denominator, Self::UNIT + shift)
            }
            None => F::NAN,
        }
    }

    /// The root of the same.
    fn std_over<F: Float>(&self, (denominator, shift): (BigUint, i64)) -> F {
        match self.numerator() {
            Some(numerator) => round_root(&numerator, &denominator, Self::UNIT + shift),
            None => F::NAN,
        }
    }

    /// `n · (n - correction)` as an integer over `2^shift`: every finite float is such a ratio.
    fn divisor(&self, op: Op, correction: f64) -> Result<(BigUint, i64)> {
        let n = self.count;
        if n == 0 {
            return Err(Error::Empty { op, ignored: false });
        }
        let few = Error::TooFew { op, n, ddof: correction.ceil() as u64 };
        if !correction.is_finite() {
            return Err(few);
        }
        let bits = correction.abs().to_bits();
        let (exponent, fraction) = ((bits >> 52) as i64, bits & ((1 << 52) - 1));
        let significand = if exponent == 0 { fraction } else { fraction | 1 << 52 };
        let magnitude = BigInt::from(significand);
        let unit = exponent.max(1) - 1075;
        let shift = (-unit).max(0);
        let magnitude = magnitude << unit.max(0);
        let scaled = BigInt::from(n) << shift;
        let rest = if correction < 0.0 { scaled + magnitude } else { scaled - magnitude };
        match rest.to_biguint() {
            Some(rest) if rest.bits() > 0 => Ok((rest * n, shift)),
            _ => Err(few),
        }
    }

    /// [`l2`](Self::l2), rounded to a float type of choice.
    pub fn l2_as<F: Float>(&self) -> F {
        self.squares.special.value().unwrap_or_else(|| {
            let squares = to_bigint(&self.squares.fixed);
            round_root(squares.magnitude(), &BigUint::from(1u32), Self::UNIT)
        })
    }

    /// The sum of squared magnitudes: of floats rounded once, of integers checked.
    ///
    /// # Errors
    /// [`Error::Overflow`] if an integer result does not fit and `overflow` says so.
    pub fn sumsq(&self, overflow: Overflow) -> Result<T::Squares> {
        T::finish_squares(&self.squares, Self::UNIT as i32, overflow)
    }

    /// [`sumsq`](Self::sumsq), rounded to a float type of choice.
    pub fn sumsq_as<F: Float>(&self) -> F {
        self.squares.round(Self::UNIT as i32)
    }

    const UNIT: i64 = 2 * T::Component::UNIT as i64;

    /// `n · (n - ddof)`.
    fn denominator(&self, op: Op, ddof: u64) -> Result<BigUint> {
        let n = self.count;
        if n == 0 {
            return Err(Error::Empty { op, ignored: false });
        }
        if ddof >= n {
            return Err(Error::TooFew { op, n, ddof });
        }
        Ok(BigUint::from(n) * (n - ddof))
    }

    /// Whether any elements at all have these moments: squares below no sum demands (Cauchy and Schwarz), none negative.
    pub fn is_possible(&self) -> bool {
        let special = self.sum.as_ref().iter().any(|part| part.special != Special::NONE);
        !self.squares.fixed.is_negative()
            && (special || self.squares.special != Special::NONE || self.numerator().is_some())
    }

    /// `n · Σx² - (Σx)²` in units of the squared unit: never negative (Cauchy and Schwarz); `None` if anything was special.
    fn numerator(&self) -> Option<BigUint> {
        let special =
            self.sum.as_ref().iter().fold(self.squares.special, |s, r| s.union(r.special));
        if special != Special::NONE {
            return None;
        }
        let mut value = to_bigint(&self.squares.fixed) * self.count;
        for register in self.sum.as_ref() {
            let sum = to_bigint(&register.fixed);
            value -= &sum * &sum;
        }
        value.to_biguint()
    }
}
