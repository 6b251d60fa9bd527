//! The builder for two arrays of one length.

use super::values::rounded;
use super::{finished, one, typed};
use crate::element::{Element, Float};
use crate::input::{Input, Source};
use crate::partial::{Finish, Output, Partial};
use crate::plan::{self, Plan, Problem};
use crate::{Op, Policy, Result, policy_methods};

/// Starts a reduction of two arrays of one length; see [`ReducePair`]. Of views, elements go together in C order.
pub fn reduce_pair<'a, X: Input<'a>>(
    x: X,
    y: impl Input<'a, Element = X::Element>,
) -> ReducePair<'a, X::Element> {
    ReducePair { x: x.source(), y: y.source(), policy: Policy::default() }
}

/// A reduction of two arrays being set up: choose, then call [`dot`](Self::dot).
///
/// ```
/// use warpfold::{Nan, reduce_pair};
/// let (x, y) = ([1.0f32, f32::NAN, 3.0], [2.0, 5.0, 4.0]);
/// assert!(reduce_pair(&x, &y).dot()?.is_nan());
/// assert_eq!(reduce_pair(&x, &y).nan(Nan::Ignore).dot()?, 14.0);
/// # Ok::<(), warpfold::Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "call a reduction, such as .dot()"]
pub struct ReducePair<'a, T> {
    x: Source<'a, T>,
    y: Source<'a, T>,
    policy: Policy,
}

impl<T: Element> ReducePair<'_, T> {
    policy_methods!(
        "NaN propagates (the default), or a pair with a NaN on either side is ignored."
    );

    /// How a reduction would run here, were the elements side by side.
    pub fn plan(&self, op: Op) -> Plan {
        let problem = Problem { op, dtype: T::DTYPE, n: self.x.len(), policy: self.policy };
        plan::choose(problem, warpfold_engine::facts())
    }

    /// The partial result of a reduction of two arrays.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`](crate::Error::LengthMismatch); [`Error::Undefined`](crate::Error::Undefined) if the reduction takes one array.
    pub fn partial(&self, op: Op) -> Result<Partial<T>> {
        self.x.partial_of_pair(&self.y, op, self.policy).map(typed)
    }

    /// The dot product, without conjugation: floats rounded once, integers checked.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`](crate::Error::LengthMismatch); [`Error::Overflow`](crate::Error::Overflow) where an integer result does not fit.
    pub fn dot(&self) -> Result<T::Sum> {
        self.output(Finish::default()).map(one)
    }

    /// The exact dot product rounded to a float type of choice.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`](crate::Error::LengthMismatch).
    pub fn dot_as<F: Float>(&self) -> Result<T::With<F>> {
        self.output(rounded::<F>()).map(one)
    }

    fn output(&self, finish: Finish) -> Result<Output> {
        let finish = Finish { overflow: self.policy.overflow, ..finish };
        let partial = self.x.partial_of_pair(&self.y, Op::Dot, self.policy)?;
        finished(&partial, Op::Dot, finish, self.x.len())
    }
}
