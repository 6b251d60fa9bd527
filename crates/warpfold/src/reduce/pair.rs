//! The builder for two arrays of one length.

use warpfold_engine::{self as engine, HostArray, Request};

use super::values::rounded;
use super::{one, typed};
use crate::element::{Element, Float};
use crate::partial::{Finish, Partial};
use crate::plan::Plan;
use crate::{Op, Policy, Result, policy_methods};

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
        engine::plan(&self.request(op))
    }

    /// The partial result of a reduction of two arrays.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`](crate::Error::LengthMismatch); [`Error::Undefined`](crate::Error::Undefined) if the reduction takes one array.
    pub fn partial(&self, op: Op) -> Result<Partial<T>> {
        engine::reduce(&self.request(op)).map(typed)
    }

    /// The dot product, without conjugation: floats rounded once, integers checked.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`](crate::Error::LengthMismatch); [`Error::Overflow`](crate::Error::Overflow) where an integer result does not fit.
    pub fn dot(&self) -> Result<T::Sum> {
        engine::output(&self.request(Op::Dot), Finish::default()).map(one)
    }

    /// The exact dot product rounded to a float type of choice.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`](crate::Error::LengthMismatch).
    pub fn dot_as<F: Float>(&self) -> Result<T::With<F>> {
        engine::output(&self.request(Op::Dot), rounded::<F>()).map(one)
    }

    fn request(&self, op: Op) -> Request<'_> {
        Request::new(op, HostArray::of(self.x)).pair(HostArray::of(self.y)).policy(self.policy)
    }
}
