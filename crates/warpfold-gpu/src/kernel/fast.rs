//! Fast float results: values that were rounded on the way, for those who asked for it. No partials: merging them would round again.

use crate::element::{Element, Float, Parts};
use crate::{Error, Op, Result};

/// A rounded sum of elements, products, magnitudes or squares.
#[derive(Debug, Clone, PartialEq)]
pub struct FastSum<T: Element> {
    /// The real part, and for complex elements the imaginary one.
    pub parts: T::Parts<f64>,
    /// Elements that went into it.
    pub count: u64,
}

impl<T: Element> FastSum<T> {
    /// The sum in a float type of choice.
    pub fn round_as<F: Float>(&self) -> T::With<F> {
        self.map(|part| part)
    }

    /// The sum over the count.
    ///
    /// # Errors
    /// [`Error::Empty`] if nothing was added.
    pub fn mean_as<F: Float>(&self) -> Result<T::With<F>> {
        if self.count == 0 {
            return Err(Error::Empty { op: Op::Mean, ignored: false });
        }
        Ok(self.map(|part| part / self.count as f64))
    }

    /// The real part alone, of sums of magnitudes.
    pub fn real_as<F: Float>(&self) -> F {
        F::of(self.parts.as_ref()[0])
    }

    /// The root of the real part, of sums of squares.
    pub fn root_as<F: Float>(&self) -> F {
        F::of(self.parts.as_ref()[0].sqrt())
    }

    fn map<F: Float>(&self, f: impl Fn(f64) -> f64) -> T::With<F> {
        T::join(Parts::from_fn(|k| F::of(f(self.parts.as_ref()[k]))))
    }
}

/// Rounded moments: the mean, and the sum of squared distances from it.
#[derive(Debug, Clone, PartialEq)]
pub struct FastMoments<T: Element> {
    /// The mean, by components.
    pub mean: T::Parts<f64>,
    /// The sum of squared distances from the mean.
    pub squares: f64,
    /// Elements that went into it.
    pub count: u64,
}

impl<T: Element> FastMoments<T> {
    /// The variance over `count - ddof`.
    ///
    /// # Errors
    /// [`Error::Empty`] without elements, [`Error::TooFew`] if `ddof >= count`.
    pub fn var_as<F: Float>(&self, ddof: u64) -> Result<F> {
        Ok(F::of(self.variance(Op::Var, ddof)?))
    }

    /// The root of the variance.
    ///
    /// # Errors
    /// As [`var_as`](Self::var_as).
    pub fn std_as<F: Float>(&self, ddof: u64) -> Result<F> {
        Ok(F::of(self.variance(Op::Std, ddof)?.sqrt()))
    }

    fn variance(&self, op: Op, ddof: u64) -> Result<f64> {
        let n = self.count;
        if n == 0 {
            return Err(Error::Empty { op, ignored: false });
        }
        if ddof >= n {
            return Err(Error::TooFew { op, n, ddof });
        }
        Ok(self.squares / (n - ddof) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_nan_is_the_one_nan_and_values_are_kept() {
        assert_eq!(f32::of(-f64::NAN).to_bits(), 0x7fc0_0000);
        // What an operation gives, not a constant: its NaN is the hardware's choice, or its operand.
        let found = std::hint::black_box(f64::from_bits(u64::MAX >> 1));
        assert_eq!(f64::of(found.sqrt()).to_bits(), f64::NAN.to_bits());
        assert_eq!(f32::of(found.sqrt()).to_bits(), f32::NAN.to_bits());
        assert_eq!(f32::of(1.5), 1.5);
        assert_eq!(f64::of(f64::MAX), f64::MAX);
        assert_eq!(f32::of(1e300), f32::INFINITY);
    }
}
