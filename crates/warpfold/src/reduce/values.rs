//! The reductions of all element types.

use super::Reduce;
use crate::element::{Element, Float};
use crate::exact::{Exact, Moments};
use crate::partial::{Count, Magnitude, Norm1, Partial, Product, Stats};
use crate::{Op, Result};

/// Methods that unpack the partial of a reduction.
macro_rules! unpack {
    ($($name:ident: $variant:ident($ty:ty);)+) => {$(
        fn $name(&self, op: Op) -> $ty {
            match self.partial(op) {
                Ok(Partial::$variant(partial)) => unpack!(@$name partial),
                other => unreachable!("{op} leaves another partial than {other:?}"),
            }
        }
    )+};
    (@exact $partial:ident) => { $partial };
    (@counted $partial:ident) => { $partial };
    (@$boxed:ident $partial:ident) => { *$partial };
}

impl<T: Element> Reduce<'_, T> {
    unpack! {
        exact: Sum(Exact<T>);
        counted: Count(Count);
        moments: Moments(Moments<T>);
        norm1: Norm1(Norm1<T>);
        magnitude: Magnitude(Magnitude<T>);
        product: Product(Product<T>);
        statistics: Stats(Stats<T>);
    }

    /// The exact sum, for the integers' [`sum_wide`](Self::sum_wide).
    pub(super) fn exact_sum(&self) -> Exact<T> {
        self.exact(Op::Sum)
    }

    /// The sum: floats rounded once, integers checked.
    ///
    /// # Errors
    /// [`Error::Overflow`](crate::Error::Overflow) where an integer sum does not fit.
    pub fn sum(&self) -> Result<T::Sum> {
        self.exact(Op::Sum).sum(self.policy.overflow)
    }

    /// The exact sum rounded to a float type of choice.
    ///
    /// # Errors
    /// None for slices; the type leaves room for devices.
    pub fn sum_as<F: Float>(&self) -> Result<T::With<F>> {
        Ok(self.exact(Op::Sum).round_as())
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
        self.exact(Op::Mean).mean_as().map_err(|e| self.explain(e, Op::Mean))
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
        self.moments(Op::Var).var_as(ddof).map_err(|e| self.explain(e, Op::Var))
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
        self.moments(Op::Std).std_as(ddof).map_err(|e| self.explain(e, Op::Std))
    }

    /// The sum of magnitudes, rounded once (complex: within one ulp).
    pub fn l1(&self) -> T::Round {
        self.norm1(Op::L1).round()
    }

    /// [`l1`](Self::l1), rounded to a float type of choice.
    ///
    /// # Errors
    /// [`Error::Unsupported`](crate::Error::Unsupported) for `Complex<f32>` as f64; see [`Norm1::round_as`].
    pub fn l1_as<F: Float>(&self) -> Result<F> {
        self.norm1(Op::L1).round_as()
    }

    /// The Euclidean norm, rounded once.
    pub fn l2(&self) -> T::Round {
        self.l2_as()
    }

    /// [`l2`](Self::l2), rounded to a float type of choice.
    pub fn l2_as<F: Float>(&self) -> F {
        self.moments(Op::L2).l2_as()
    }

    /// The largest magnitude: `u64` for integers, else a float, rounded once.
    pub fn linf(&self) -> T::Linf {
        self.magnitude(Op::Linf).value()
    }

    /// [`linf`](Self::linf), rounded to a float type of choice.
    pub fn linf_as<F: Float>(&self) -> F {
        self.magnitude(Op::Linf).round_as()
    }

    /// The product: floats within one ulp (complex: normwise) without overflow or underflow on the way, integers checked.
    ///
    /// # Errors
    /// [`Error::Overflow`](crate::Error::Overflow) where an integer product does not fit.
    pub fn prod(&self) -> Result<T::Sum> {
        self.product(Op::Prod).value(self.policy.overflow)
    }

    /// [`prod`](Self::prod), rounded to a float type of choice.
    ///
    /// # Errors
    /// None for slices.
    pub fn prod_as<F: Float>(&self) -> Result<T::With<F>> {
        Ok(self.product(Op::Prod).round_as())
    }

    /// Count, NaN count, sum, mean, var, std, min, max, argmin, argmax, l1 and l2 in one pass over the data.
    ///
    /// What an integer sum too large does is chosen when it is read: [`Stats::sum`].
    pub fn stats(&self) -> Stats<T> {
        self.statistics(Op::Stats)
    }

    /// Whether any element is nonzero.
    pub fn any(&self) -> bool {
        self.counted(Op::Any).any()
    }

    /// Whether all elements are nonzero.
    pub fn all(&self) -> bool {
        self.counted(Op::All).all()
    }

    /// How many elements are nonzero.
    pub fn count(&self) -> u64 {
        self.counted(Op::Count).nonzero
    }
}
