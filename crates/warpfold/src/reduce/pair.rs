//! The builder for two arrays of one length.

use crate::cpu::{self, Input};
use crate::element::{Element, Float};
use crate::exact::Dot;
use crate::partial::Partial;
use crate::plan::{self, Plan, Problem};
use crate::policy::policy_methods;
use crate::{Error, Op, Policy, Result};

/// Starts a reduction of two slices of one length; see [`ReducePair`].
pub fn reduce_pair<'a, T: Element>(x: &'a [T], y: &'a [T]) -> ReducePair<'a, T> {
    ReducePair { x, y, policy: Policy::default() }
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
#[derive(Debug, Clone, Copy)]
#[must_use = "call a reduction, such as .dot()"]
pub struct ReducePair<'a, T> {
    x: &'a [T],
    y: &'a [T],
    policy: Policy,
}

impl<T: Element> ReducePair<'_, T> {
    policy_methods!(
        "NaN propagates (the default), or a pair with a NaN on either side is ignored."
    );

    /// How a reduction would run here.
    pub fn plan(&self, op: Op) -> Plan {
        let n = self.x.len() as u64;
        plan::choose(Problem { op, dtype: T::DTYPE, n, policy: self.policy }, cpu::facts())
    }

    /// The partial result of a reduction of two arrays.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`]; [`Error::Undefined`] if the reduction takes one array.
    pub fn partial(&self, op: Op) -> Result<Partial<T>> {
        if self.x.len() != self.y.len() {
            let (left, right) = (self.x.len() as u64, self.y.len() as u64);
            return Err(Error::LengthMismatch { left, right });
        }
        cpu::run(&self.plan(op), Input::Two(self.x, self.y), 0)
    }

    /// The dot product, without conjugation: floats rounded once, integers checked.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`]; [`Error::Overflow`] where an integer result does not fit.
    pub fn dot(&self) -> Result<T::Sum> {
        self.exact()?.value(self.policy.overflow)
    }

    /// The exact dot product rounded to a float type of choice.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`].
    pub fn dot_as<F: Float>(&self) -> Result<T::With<F>> {
        Ok(self.exact()?.round_as())
    }

    fn exact(&self) -> Result<Dot<T>> {
        match self.partial(Op::Dot)? {
            Partial::Dot(partial) => Ok(*partial),
            other => unreachable!("dot leaves a dot, not {other:?}"),
        }
    }
}
