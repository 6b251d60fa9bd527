//! The reductions of all element types, of each input.

use warpfold_engine as engine;

use super::{OutputShape, ReduceBatched};
use crate::element::{Element, Float};
use crate::partial::{Finish, Partial, Stats};
use crate::reduce::{rounded, typed};
use crate::{Op, Result};

impl<T: Element, A: OutputShape> ReduceBatched<'_, T, A> {
    /// The sums: floats rounded once, integers checked.
    ///
    /// # Errors
    /// [`Error::Overflow`](crate::Error::Overflow) where an integer sum does not fit.
    pub fn sum(&self) -> Result<A::Of<T::Sum>> {
        self.values(Op::Sum, Finish::default())
    }

    /// The exact sums rounded to a float type of choice.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape).
    pub fn sum_as<F: Float>(&self) -> Result<A::Of<T::With<F>>> {
        self.values(Op::Sum, rounded::<F>())
    }

    /// The arithmetic means, rounded once.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty).
    pub fn mean(&self) -> Result<A::Of<T::With<T::Round>>> {
        self.mean_as()
    }

    /// [`mean`](Self::mean), rounded to a float type of choice.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty).
    pub fn mean_as<F: Float>(&self) -> Result<A::Of<T::With<F>>> {
        self.values(Op::Mean, rounded::<F>())
    }

    /// The variances over `n - ddof`, rounded once.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty), [`Error::TooFew`](crate::Error::TooFew).
    pub fn var(&self, ddof: u64) -> Result<A::Of<T::Round>> {
        self.var_as(ddof)
    }

    /// [`var`](Self::var), rounded to a float type of choice.
    ///
    /// # Errors
    /// As [`var`](Self::var).
    pub fn var_as<F: Float>(&self, ddof: u64) -> Result<A::Of<F>> {
        self.values(Op::Var, Finish { ddof, ..rounded::<F>() })
    }

    /// The standard deviations over `n - ddof`, rounded once.
    ///
    /// # Errors
    /// As [`var`](Self::var).
    pub fn std(&self, ddof: u64) -> Result<A::Of<T::Round>> {
        self.std_as(ddof)
    }

    /// [`std`](Self::std), rounded to a float type of choice.
    ///
    /// # Errors
    /// As [`var`](Self::var).
    pub fn std_as<F: Float>(&self, ddof: u64) -> Result<A::Of<F>> {
        self.values(Op::Std, Finish { ddof, ..rounded::<F>() })
    }

    /// The Euclidean norms, rounded once.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape).
    pub fn l2(&self) -> Result<A::Of<T::Round>> {
        self.l2_as()
    }

    /// [`l2`](Self::l2), rounded to a float type of choice.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape).
    pub fn l2_as<F: Float>(&self) -> Result<A::Of<F>> {
        self.values(Op::L2, rounded::<F>())
    }

    /// The sums of squared magnitudes: of floats rounded once, of integers checked.
    ///
    /// # Errors
    /// [`Error::Overflow`](crate::Error::Overflow) where an integer sum does not fit; [`Error::Shape`](crate::Error::Shape).
    pub fn sumsq(&self) -> Result<A::Of<T::Squares>> {
        self.values(Op::Sumsq, Finish::default())
    }

    /// [`sumsq`](Self::sumsq), rounded to a float type of choice.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape).
    pub fn sumsq_as<F: Float>(&self) -> Result<A::Of<F>> {
        self.values(Op::Sumsq, rounded::<F>())
    }

    /// The products: floats within one ulp (complex: normwise) without overflow or underflow on the way, integers checked.
    ///
    /// # Errors
    /// [`Error::Overflow`](crate::Error::Overflow) where an integer product does not fit.
    pub fn prod(&self) -> Result<A::Of<T::Sum>> {
        self.values(Op::Prod, Finish::default())
    }

    /// [`prod`](Self::prod), rounded to a float type of choice.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape).
    pub fn prod_as<F: Float>(&self) -> Result<A::Of<T::With<F>>> {
        self.values(Op::Prod, rounded::<F>())
    }

    /// The sums of magnitudes, rounded once (complex: within one ulp).
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape).
    pub fn l1(&self) -> Result<A::Of<T::Round>> {
        self.values(Op::L1, Finish::default())
    }

    /// [`l1`](Self::l1), rounded to a float type of choice.
    ///
    /// # Errors
    /// [`Error::Unsupported`](crate::Error::Unsupported) for `Complex<f32>` as f64.
    pub fn l1_as<F: Float>(&self) -> Result<A::Of<F>> {
        self.values(Op::L1, rounded::<F>())
    }

    /// The largest magnitudes: `u64` for integers, else floats, rounded once.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape).
    pub fn linf(&self) -> Result<A::Of<T::Linf>> {
        self.values(Op::Linf, Finish::default())
    }

    /// [`linf`](Self::linf), rounded to a float type of choice.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape).
    pub fn linf_as<F: Float>(&self) -> Result<A::Of<F>> {
        self.values(Op::Linf, rounded::<F>())
    }

    /// Whether any element is nonzero.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape).
    pub fn any(&self) -> Result<A::Of<bool>> {
        self.values(Op::Any, Finish::default())
    }

    /// Whether all elements are nonzero.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape).
    pub fn all(&self) -> Result<A::Of<bool>> {
        self.values(Op::All, Finish::default())
    }

    /// How many elements are nonzero.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape).
    pub fn count(&self) -> Result<A::Of<u64>> {
        self.values(Op::Count, Finish::default())
    }

    /// Count, NaN count, sum, mean, var, std, min, max, argmin, argmax, l1 and l2 of each in one pass.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape).
    pub fn stats(&self) -> Result<A::Of<Stats<T>>> {
        let stats = engine::partials(&self.request(Op::Stats))?.into_iter().map(|partial| {
            match typed(partial) {
                Partial::Stats(stats) => *stats,
                other => unreachable!("stats leave stats, not {other:?}"),
            }
        });
        Ok(self.output_shape.output_shape(stats.collect(), &[]))
    }
}
