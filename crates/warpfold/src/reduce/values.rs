//! The reductions of all element types.

use super::Reduce;
use crate::element::{Element, Float};
use crate::partial::{Finish, Partial, Stats};
use crate::{Op, Result};

/// Rounded to a float type of choice.
pub(crate) fn rounded<F: Float>() -> Finish {
    Finish { round_to: Some(F::DTYPE), ..Finish::default() }
}

impl<T: Element> Reduce<'_, T> {
    /// The sum: floats rounded once, integers checked.
    ///
    /// # Errors
    /// [`Error::Overflow`](crate::Error::Overflow) where an integer sum does not fit.
    pub fn sum(&self) -> Result<T::Sum> {
        self.value(Op::Sum, Finish::default())
    }

    /// The exact sum rounded to a float type of choice.
    ///
    /// # Errors
    /// None for slices; the type leaves room for devices.
    pub fn sum_as<F: Float>(&self) -> Result<T::With<F>> {
        self.value(Op::Sum, rounded::<F>())
    }

    /// The arithmetic mean, rounded once.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty).
    pub fn mean(&self) -> Result<T::With<T::Round>> {
        self.mean_as()
    }

    /// [`mean`](Self::mean), rounded to a float type of choice.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty).
    pub fn mean_as<F: Float>(&self) -> Result<T::With<F>> {
        self.value(Op::Mean, rounded::<F>())
    }

    /// The variance over `n - ddof`, rounded once.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty), [`Error::TooFew`](crate::Error::TooFew).
    pub fn var(&self, ddof: u64) -> Result<T::Round> {
        self.var_as(ddof)
    }

    /// [`var`](Self::var), rounded to a float type of choice.
    ///
    /// # Errors
    /// As [`var`](Self::var).
    pub fn var_as<F: Float>(&self, ddof: u64) -> Result<F> {
        self.value(Op::Var, Finish { ddof, ..rounded::<F>() })
    }

    /// The standard deviation over `n - ddof`, rounded once.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty), [`Error::TooFew`](crate::Error::TooFew).
    pub fn std(&self, ddof: u64) -> Result<T::Round> {
        self.std_as(ddof)
    }

    /// [`std`](Self::std), rounded to a float type of choice.
    ///
    /// # Errors
    /// As [`std`](Self::std).
    pub fn std_as<F: Float>(&self, ddof: u64) -> Result<F> {
        self.value(Op::Std, Finish { ddof, ..rounded::<F>() })
    }

    /// The sum of magnitudes, rounded once (complex: within one ulp).
    pub fn l1(&self) -> T::Round {
        self.sure(Op::L1, Finish::default())
    }

    /// [`l1`](Self::l1), rounded to a float type of choice.
    ///
    /// # Errors
    /// [`Error::Unsupported`](crate::Error::Unsupported) for `Complex<f32>` as f64; see [`Norm1::round_as`](crate::partial::Norm1::round_as).
    pub fn l1_as<F: Float>(&self) -> Result<F> {
        self.value(Op::L1, rounded::<F>())
    }

    /// The Euclidean norm, rounded once.
    pub fn l2(&self) -> T::Round {
        self.l2_as()
    }

    /// [`l2`](Self::l2), rounded to a float type of choice.
    pub fn l2_as<F: Float>(&self) -> F {
        self.sure(Op::L2, rounded::<F>())
    }

    /// The sum of squared magnitudes: `i64` or `u64` of integers, checked; else a float, rounded once.
    ///
    /// ```
    /// assert_eq!(warpfold::reduce(&[3.0f32, 4.0]).sumsq()?, 25.0);
    /// assert_eq!(warpfold::reduce(&[-3i8, 4]).sumsq()?, 25);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Overflow`](crate::Error::Overflow) where an integer sum does not fit.
    pub fn sumsq(&self) -> Result<T::Squares> {
        self.value(Op::Sumsq, Finish::default())
    }

    /// [`sumsq`](Self::sumsq), rounded to a float type of choice.
    pub fn sumsq_as<F: Float>(&self) -> F {
        self.sure(Op::Sumsq, rounded::<F>())
    }

    /// The largest magnitude: `u64` for integers, else a float, rounded once.
    pub fn linf(&self) -> T::Linf {
        self.sure(Op::Linf, Finish::default())
    }

    /// [`linf`](Self::linf), rounded to a float type of choice.
    pub fn linf_as<F: Float>(&self) -> F {
        self.sure(Op::Linf, rounded::<F>())
    }

    /// The product: floats within one ulp (complex: normwise) without overflow or underflow on the way, integers checked.
    ///
    /// # Errors
    /// [`Error::Overflow`](crate::Error::Overflow) where an integer product does not fit.
    pub fn prod(&self) -> Result<T::Sum> {
        self.value(Op::Prod, Finish::default())
    }

    /// [`prod`](Self::prod), rounded to a float type of choice.
    ///
    /// # Errors
    /// None for slices.
    pub fn prod_as<F: Float>(&self) -> Result<T::With<F>> {
        self.value(Op::Prod, rounded::<F>())
    }

    /// Count, NaN count, sum, mean, var, std, min, max, argmin, argmax, l1 and l2 in one pass over the data.
    ///
    /// What an integer sum too large does is chosen when it is read: [`Stats::sum`].
    pub fn stats(&self) -> Stats<T> {
        match self.partial(Op::Stats) {
            Ok(Partial::Stats(stats)) => *stats,
            other => unreachable!("stats leave stats, not {other:?}"),
        }
    }

    /// Whether any element is nonzero.
    pub fn any(&self) -> bool {
        self.sure(Op::Any, Finish::default())
    }

    /// Whether all elements are nonzero.
    pub fn all(&self) -> bool {
        self.sure(Op::All, Finish::default())
    }

    /// How many elements are nonzero.
    pub fn count(&self) -> u64 {
        self.sure(Op::Count, Finish::default())
    }
}
