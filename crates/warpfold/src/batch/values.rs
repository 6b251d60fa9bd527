//! The reductions of all element types, of each input.

use super::{Arrange, ReduceMany};
use crate::element::{Element, Float};
use crate::partial::{Finish, Output, Partial, Stats};
use crate::{Op, Result};

/// What a reduction leaves, unpacked.
macro_rules! read {
    ($self:ident, $op:ident: $variant:ident as $partial:ident => $read:expr) => {
        $self.each(Op::$op, move |partial| match partial {
            Partial::$variant($partial) => $read,
            other => unreachable!("{} leaves another partial than {other:?}", Op::$op),
        })
    };
}
pub(super) use read;

impl<T: Element, A: Arrange> ReduceMany<'_, T, A> {
    /// The sums: floats rounded once, integers checked.
    ///
    /// # Errors
    /// [`Error::Overflow`](crate::Error::Overflow) where an integer sum does not fit.
    pub fn sum(&self) -> Result<A::Of<T::Sum>> {
        let overflow = self.policy.overflow;
        read!(self, Sum: Sum as p => p.sum(overflow))
    }

    /// The exact sums rounded to a float type of choice.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape).
    pub fn sum_as<F: Float>(&self) -> Result<A::Of<T::With<F>>> {
        read!(self, Sum: Sum as p => Ok(p.round_as::<F>()))
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
        read!(self, Mean: Sum as p => p.mean_as::<F>())
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
        read!(self, Var: Moments as p => p.var_as::<F>(ddof))
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
        read!(self, Std: Moments as p => p.std_as::<F>(ddof))
    }

    /// The sums of magnitudes, rounded once (complex: within one ulp).
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape).
    pub fn l1(&self) -> Result<A::Of<T::Round>> {
        self.l1_as()
    }

    /// [`l1`](Self::l1), rounded to a float type of choice.
    ///
    /// # Errors
    /// [`Error::Unsupported`](crate::Error::Unsupported) for `Complex<f32>` as f64.
    pub fn l1_as<F: Float>(&self) -> Result<A::Of<F>> {
        read!(self, L1: Norm1 as p => p.round_as::<F>())
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
        read!(self, L2: Moments as p => Ok(p.l2_as::<F>()))
    }

    /// The largest magnitudes: `u64` for integers, else floats, rounded once.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape).
    pub fn linf(&self) -> Result<A::Of<T::Linf>> {
        read!(self, Linf: Magnitude as p => Ok(p.value()))
    }

    /// [`linf`](Self::linf), rounded to a float type of choice.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape).
    pub fn linf_as<F: Float>(&self) -> Result<A::Of<F>> {
        read!(self, Linf: Magnitude as p => Ok(p.round_as::<F>()))
    }

    /// The products: floats within one ulp (complex: normwise) without overflow or underflow on the way, integers checked.
    ///
    /// # Errors
    /// [`Error::Overflow`](crate::Error::Overflow) where an integer product does not fit.
    pub fn prod(&self) -> Result<A::Of<T::Sum>> {
        let overflow = self.policy.overflow;
        read!(self, Prod: Product as p => p.value(overflow))
    }

    /// [`prod`](Self::prod), rounded to a float type of choice.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape).
    pub fn prod_as<F: Float>(&self) -> Result<A::Of<T::With<F>>> {
        read!(self, Prod: Product as p => Ok(p.round_as::<F>()))
    }

    /// Whether any element is nonzero.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape).
    pub fn any(&self) -> Result<A::Of<bool>> {
        read!(self, Any: Count as p => Ok(p.any()))
    }

    /// Whether all elements are nonzero.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape).
    pub fn all(&self) -> Result<A::Of<bool>> {
        read!(self, All: Count as p => Ok(p.all()))
    }

    /// How many elements are nonzero.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape).
    pub fn count(&self) -> Result<A::Of<u64>> {
        read!(self, Count: Count as p => Ok(p.nonzero))
    }

    /// Count, NaN count, sum, mean, var, std, min, max, argmin, argmax, l1 and l2 of each in one pass.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape).
    pub fn stats(&self) -> Result<A::Of<Stats<T>>> {
        read!(self, Stats: Stats as p => Ok((**p).clone()))
    }

    /// The partials of a reduction, exact and ready to be merged; large, for float sums: up to kilobytes each.
    ///
    /// # Errors
    /// [`Error::Undefined`](crate::Error::Undefined) where the contract knows no such reduction for the type.
    pub fn partials(&self, op: Op) -> Result<A::Of<Partial<T>>> {
        self.each(op, |partial| Ok(partial.clone()))
    }

    /// The results of any reduction, by name.
    ///
    /// # Errors
    /// As [`Partial::finish`], of each.
    pub fn outputs(&self, op: Op, finish: Finish) -> Result<A::Of<Output>> {
        let finish = Finish { overflow: self.policy.overflow, ..finish };
        self.each(op, move |partial| partial.finish(op, finish))
    }
}
