//! The builder: one reduction of one array, with every choice of the contract.

mod ordered;
mod pair;
mod values;

pub use pair::{ReducePair, reduce_pair};

use crate::cpu::{self, Input};
use crate::element::Element;
use crate::partial::Partial;
use crate::plan::{self, Plan, Problem};
use crate::policy::policy_methods;
use crate::{Error, Op, Policy, Result};

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
        let n = self.input.len() as u64;
        plan::choose(Problem { op, dtype: T::DTYPE, n, policy: self.policy }, cpu::facts())
    }

    /// The partial result of a reduction of one array.
    ///
    /// # Errors
    /// [`Error::Undefined`] where the contract knows no such reduction for the type.
    pub fn partial(&self, op: Op) -> Result<Partial<T>> {
        cpu::run(&self.plan(op), Input::One(self.input), 0)
    }

    /// Says that NaNs were ignored where that is why nothing is left.
    fn explain(&self, error: Error, op: Op) -> Error {
        match error {
            Error::Empty { .. } => Error::Empty { op, ignored: !self.input.is_empty() },
            other => other,
        }
    }
}
