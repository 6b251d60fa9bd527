//! The builder: one reduction of one array, with every choice of the contract.

mod ordered;
mod pair;
mod values;

pub(crate) use values::rounded;

pub use pair::{ReducePair, reduce_pair};

use warpfold_engine::{HostArray, Request};

use crate::element::{Element, Scalar};
use crate::partial::{Finish, Output, Partial};
use crate::plan::Plan;
use crate::{Op, Policy, Result, policy_methods};

/// Starts a reduction of a slice; see [`Reduce`].
pub fn reduce<T: Element>(x: &[T]) -> Reduce<'_, T> {
    Reduce { input: x, policy: Policy::default() }
}

/// A reduction being set up: choose, then call the reduction.
///
/// ```
/// use warpfold::{Nan, reduce};
/// let x = [1.0f32, f32::NAN, 3.0];
/// assert!(reduce(&x).mean()?.is_nan());
/// assert_eq!(reduce(&x).nan(Nan::Ignore).threads(4).var(1)?, 2.0);
/// # Ok::<(), warpfold::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
#[must_use = "call a reduction, such as .sum()"]
pub struct Reduce<'a, T> {
    input: &'a [T],
    policy: Policy,
}

impl<'a, T: Element> Reduce<'a, T> {
    policy_methods!("NaN propagates (the default) or is ignored.");

    /// How a reduction would run here.
    pub fn plan(&self, op: Op) -> Plan {
        warpfold_engine::plan(&self.request(op))
    }

    /// The partial result of a reduction of one array.
    ///
    /// # Errors
    /// [`Error::Undefined`](crate::Error::Undefined) where the contract knows no such reduction for the type.
    pub fn partial(&self, op: Op) -> Result<Partial<T>> {
        warpfold_engine::reduce(&self.request(op)).map(typed)
    }

    /// The exact sum, for the integers' [`sum_wide`](Self::sum_wide).
    fn exact_sum(&self) -> Result<warpfold_exact::Exact<T>> {
        match self.partial(Op::Sum)? {
            Partial::Sum(sum) => Ok(sum),
            other => unreachable!("a sum leaves a sum, not {other:?}"),
        }
    }

    fn request(&self, op: Op) -> Request<'a> {
        Request::new(op, HostArray::of(self.input)).policy(self.policy)
    }

    fn output(&self, op: Op, finish: Finish) -> Result<Output> {
        warpfold_engine::output(&self.request(op), finish)
    }

    /// The one number that a reduction gives.
    fn value<R: Scalar>(&self, op: Op, finish: Finish) -> Result<R> {
        self.output(op, finish).map(one)
    }

    /// The one number that a reduction gives which cannot fail.
    fn sure<R: Scalar>(&self, op: Op, finish: Finish) -> R {
        self.value(op, finish).unwrap_or_else(|error| unreachable!("{op} cannot fail: {error}"))
    }
}

/// A partial with its type outside.
pub(crate) fn typed<T: Element>(partial: warpfold_exact::AnyPartial) -> Partial<T> {
    partial.typed().unwrap_or_else(|| unreachable!("the partial of an array has the array's type"))
}

/// The one number of an output, of the type that the contract gives it.
pub(crate) fn one<R: Scalar>(output: Output) -> R {
    match output {
        Output::One(value) => number(value),
        other => unreachable!("the reduction has one number, not {other:?}"),
    }
}

fn number<R: Scalar>(value: crate::Value) -> R {
    value
        .typed()
        .unwrap_or_else(|| unreachable!("{value:?} is of another type than the contract's"))
}
