//! The builder: one reduction of one array, with every choice of the contract.

use crate::cpu::{self, Input};
use crate::element::{Element, Float, Integer, Ordered};
use crate::exact::{Exact, Moments};
use crate::partial::{Count, Extremes, Partial};
use crate::plan::{self, Plan, Problem};
use crate::{Accuracy, Error, Nan, Op, Overflow, Policy, Result};

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
    /// Exact (the default) or fast float sums.
    pub fn accuracy(mut self, accuracy: Accuracy) -> Self {
        self.policy.accuracy = accuracy;
        self
    }

    /// NaN propagates (the default) or is ignored.
    pub fn nan(mut self, nan: Nan) -> Self {
        self.policy.nan = nan;
        self
    }

    /// Integer overflow is an error (the default) or wraps.
    pub fn overflow(mut self, overflow: Overflow) -> Self {
        self.policy.overflow = overflow;
        self
    }

    /// At most so many threads; the default takes what the machine offers.
    pub fn threads(mut self, threads: usize) -> Self {
        self.policy.threads = Some(threads);
        self
    }

    /// All choices at once.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

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

    /// The sum: floats rounded once, integers checked.
    ///
    /// # Errors
    /// [`Error::Overflow`] where an integer sum does not fit.
    pub fn sum(&self) -> Result<T::Sum> {
        self.exact().sum(self.policy.overflow)
    }

    /// The exact sum rounded to a float type of choice.
    ///
    /// # Errors
    /// None for slices; the type leaves room for devices.
    pub fn sum_as<F: Float>(&self) -> Result<T::With<F>> {
        Ok(self.exact().round_as())
    }

    /// The arithmetic mean, rounded once.
    ///
    /// # Errors
    /// [`Error::Empty`].
    pub fn mean(&self) -> Result<T::With<T::Round>> {
        self.exact().mean().map_err(|e| self.explain(e, Op::Mean))
    }

    /// The variance over `n - ddof`, rounded once.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::TooFew`].
    pub fn var(&self, ddof: u64) -> Result<T::Round> {
        self.moments().var(ddof).map_err(|e| self.explain(e, Op::Var))
    }

    /// The standard deviation over `n - ddof`, rounded once.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::TooFew`].
    pub fn std(&self, ddof: u64) -> Result<T::Round> {
        self.moments().std(ddof).map_err(|e| self.explain(e, Op::Std))
    }

    /// The Euclidean norm, rounded once.
    pub fn l2(&self) -> T::Round {
        self.moments().l2()
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

    fn exact(&self) -> Exact<T> {
        match self.partial(Op::Sum) {
            Ok(Partial::Sum(partial)) => partial,
            other => unreachable!("a sum leaves a sum, not {other:?}"),
        }
    }

    fn moments(&self) -> Moments<T> {
        match self.partial(Op::Var) {
            Ok(Partial::Moments(partial)) => *partial,
            other => unreachable!("var leaves moments, not {other:?}"),
        }
    }

    fn counted(&self, op: Op) -> Count {
        match self.partial(op) {
            Ok(Partial::Count(partial)) => partial,
            other => unreachable!("{op} leaves a count, not {other:?}"),
        }
    }

    /// Says that NaNs were ignored where that is why nothing is left.
    fn explain(&self, error: Error, op: Op) -> Error {
        match error {
            Error::Empty { .. } => Error::Empty { op, ignored: !self.input.is_empty() },
            other => other,
        }
    }
}

impl<T: Integer> Reduce<'_, T> {
    /// The sum in 128 bits, which no array of fewer than 2^63 elements overflows.
    ///
    /// # Errors
    /// None for slices.
    pub fn sum_wide(&self) -> Result<T::Wide> {
        self.exact().wide()
    }
}

impl<T: Ordered> Reduce<'_, T> {
    /// The smallest element: NaN propagates, -0 < +0.
    ///
    /// # Errors
    /// [`Error::Empty`].
    pub fn min(&self) -> Result<T> {
        self.extremes(Op::Min).min().map_err(|e| self.explain(e, Op::Min))
    }

    /// The largest element: NaN propagates, -0 < +0.
    ///
    /// # Errors
    /// [`Error::Empty`].
    pub fn max(&self) -> Result<T> {
        self.extremes(Op::Max).max().map_err(|e| self.explain(e, Op::Max))
    }

    /// The smallest and the largest element.
    ///
    /// # Errors
    /// [`Error::Empty`].
    pub fn minmax(&self) -> Result<(T, T)> {
        let extremes = self.extremes(Op::MinMax);
        let both = extremes.min().and_then(|min| Ok((min, extremes.max()?)));
        both.map_err(|e| self.explain(e, Op::MinMax))
    }

    /// The first index of the smallest element, or of the first NaN.
    ///
    /// # Errors
    /// [`Error::Empty`].
    pub fn argmin(&self) -> Result<u64> {
        self.extremes(Op::ArgMin).argmin().map_err(|e| self.explain(e, Op::ArgMin))
    }

    /// The first index of the largest element, or of the first NaN.
    ///
    /// # Errors
    /// [`Error::Empty`].
    pub fn argmax(&self) -> Result<u64> {
        self.extremes(Op::ArgMax).argmax().map_err(|e| self.explain(e, Op::ArgMax))
    }

    fn extremes(&self, op: Op) -> Extremes<T> {
        match self.partial(op) {
            Ok(Partial::Extremes(partial)) => partial,
            other => unreachable!("{op} leaves extremes, not {other:?}"),
        }
    }
}
