//! The builder: one reduction of one array, with every choice of the contract.

mod ordered;
mod pair;
mod values;

pub(crate) use values::rounded;

pub use pair::{ReducePair, reduce_pair};

use warpfold_exact::AnyPartial;
use warpfold_num::Error;

use crate::element::{Element, Scalar};
use crate::input::{Input, Source};
use crate::partial::{Finish, Output, Partial};
use crate::plan::{self, Plan, Problem};
use crate::{Op, Policy, Result, policy_methods};

/// Starts a reduction of a whole array: of a slice, or of anything else that is an [`Input`]; see [`Reduce`].
///
/// ```
/// use warpfold::{View, reduce};
/// let x = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0];
/// let odd_columns = View::strided(&x, &[2, 2], &[3, 2], 0)?;
/// assert_eq!(reduce(&odd_columns).sum()?, 14.0);
/// # Ok::<(), warpfold::Error>(())
/// ```
pub fn reduce<'a, X: Input<'a>>(x: X) -> Reduce<'a, X::Element> {
    Reduce { input: x.source(), policy: Policy::default() }
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
#[derive(Debug, Clone)]
#[must_use = "call a reduction, such as .sum()"]
pub struct Reduce<'a, T> {
    input: Source<'a, T>,
    policy: Policy,
}

impl<'a, T> Reduce<'a, T> {
    /// What is reduced, and how.
    pub(crate) fn source(&self) -> (&Source<'a, T>, Policy) {
        (&self.input, self.policy)
    }
}

impl<T: Element> Reduce<'_, T> {
    policy_methods!("NaN propagates (the default) or is ignored.");

    /// How a reduction would run here, were the elements side by side.
    pub fn plan(&self, op: Op) -> Plan {
        let problem = Problem { op, dtype: T::DTYPE, n: self.input.len(), policy: self.policy };
        plan::choose(problem, warpfold_engine::facts())
    }

    /// The partial result of a reduction of one array.
    ///
    /// # Errors
    /// [`Error::Undefined`](crate::Error::Undefined) where the contract knows no such reduction for the type.
    pub fn partial(&self, op: Op) -> Result<Partial<T>> {
        self.input.partial(op, self.policy).map(typed)
    }

    /// The exact sum, for the integers' [`sum_wide`](Self::sum_wide).
    fn exact_sum(&self) -> Result<warpfold_exact::Exact<T>> {
        match self.partial(Op::Sum)? {
            Partial::Sum(sum) => Ok(sum),
            other => unreachable!("a sum leaves a sum, not {other:?}"),
        }
    }

    fn output(&self, op: Op, finish: Finish) -> Result<Output> {
        if let Some(request) = self.input.request(op, self.policy) {
            return warpfold_engine::output(&request, finish);
        }
        let finish = Finish { overflow: self.policy.overflow, ..finish };
        finished(&self.input.partial(op, self.policy)?, op, finish, self.input.len())
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

/// What a partial of so many elements says.
fn finished(partial: &AnyPartial, op: Op, finish: Finish, of: u64) -> Result<Output> {
    partial.finish(op, finish).map_err(|error| match error {
        Error::Empty { .. } => Error::Empty { op, ignored: of > 0 },
        other => other,
    })
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

pub(crate) fn number<R: Scalar>(value: crate::Value) -> R {
    value
        .typed()
        .unwrap_or_else(|| unreachable!("{value:?} is of another type than the contract's"))
}
