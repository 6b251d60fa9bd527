//! What a stream has come to, typed.

use super::Stream;
use crate::element::{Element, Float, Ordered, Scalar};
use crate::partial::{Finish, Output, Partial, Stats};
use crate::reduce::{number, one, rounded};
use crate::{Error, Op, Result};

impl<T: Element> Stream<T> {
    /// What the stream has come to, read as a reduction that its partial serves.
    fn output(&self, op: Op, finish: Finish) -> Result<Output> {
        let empty = Partial::empty(self.op);
        let partial = self.partial().unwrap_or(&empty);
        if !partial.serves(op) {
            let why = "the stream is one of another reduction; start one of this";
            return Err(Error::Undefined { op, dtype: T::DTYPE, why });
        }
        let finish = Finish { overflow: self.policy.overflow, ..finish };
        partial.finish(op, finish).map_err(|error| match error {
            Error::Empty { .. } => Error::Empty { op, ignored: self.seen() > 0 },
            other => other,
        })
    }

    fn value<R: Scalar>(&self, op: Op, finish: Finish) -> Result<R> {
        self.output(op, finish).map(one)
    }
}

/// Methods that read one number: `name, op, type` as the contract has it, and `name` rounded to a float type of choice.
macro_rules! results {
    ($($doc:literal $name:ident $as:ident $(($ddof:ident))?: $op:ident -> $natural:ty, $float:ty;)+) => {$(
        #[doc = $doc]
        ///
        /// # Errors
        /// [`Error::Undefined`] if the stream is one of another reduction; else as the reduction of a slice.
        pub fn $name(&self $(, $ddof: u64)?) -> Result<$natural> {
            self.value(Op::$op, Finish { $($ddof,)? ..Finish::default() })
        }

        #[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), ") so far, rounded once to a float type of choice.")]
        ///
        /// # Errors
        #[doc = concat!("As [`", stringify!($name), "`](Self::", stringify!($name), "); [`Error::Unsupported`] for sums of magnitudes of `Complex<f32>` as f64.")]
        pub fn $as<F: Float>(&self $(, $ddof: u64)?) -> Result<$float> {
            self.value(Op::$op, Finish { $($ddof,)? ..rounded::<F>() })
        }
    )+};
}

/// What pieces have come to so far; more may be pushed after.
///
/// ```
/// use warpfold::{Op, Policy, Stream};
/// let mut spread = Stream::<f32>::new(Op::Var, Policy::default())?;
/// spread.push(&[1.0, 2.0])?;
/// spread.push(&[3.0])?;
/// let (var, std): (f32, f32) = (spread.var(1)?, spread.std(1)?);
/// assert_eq!((var, std), (1.0, 1.0));
/// assert_eq!(spread.l2_as::<f64>()?, 14f64.sqrt());
/// assert!(spread.max().is_err());
/// # Ok::<(), warpfold::Error>(())
/// ```
impl<T: Element> Stream<T> {
    results! {
        "The sum so far." sum sum_as: Sum -> T::Sum, T::With<F>;
        "The mean so far." mean mean_as: Mean -> T::With<T::Round>, T::With<F>;
        "The variance so far, over `n - ddof`." var var_as (ddof): Var -> T::Round, F;
        "The standard deviation so far, over `n - ddof`." std std_as (ddof): Std -> T::Round, F;
        "The sum of magnitudes so far." l1 l1_as: L1 -> T::Round, F;
        "The Euclidean norm so far." l2 l2_as: L2 -> T::Round, F;
        "The sum of squared magnitudes so far." sumsq sumsq_as: Sumsq -> T::Squares, F;
        "The largest magnitude so far." linf linf_as: Linf -> T::Linf, F;
        "The product so far." prod prod_as: Prod -> T::Sum, T::With<F>;
        "The dot product so far." dot dot_as: Dot -> T::Sum, T::With<F>;
    }

    /// Whether any element so far is nonzero.
    ///
    /// # Errors
    /// [`Error::Undefined`] if the stream is one of another reduction.
    pub fn any(&self) -> Result<bool> {
        self.value(Op::Any, Finish::default())
    }

    /// Whether all elements so far are nonzero.
    ///
    /// # Errors
    /// As [`any`](Self::any).
    pub fn all(&self) -> Result<bool> {
        self.value(Op::All, Finish::default())
    }

    /// How many elements so far are nonzero.
    ///
    /// # Errors
    /// As [`any`](Self::any).
    pub fn count(&self) -> Result<u64> {
        self.value(Op::Count, Finish::default())
    }

    /// Count, NaN count, sum, mean, var, std, min, max, argmin, argmax, l1 and l2 so far.
    ///
    /// # Errors
    /// As [`any`](Self::any).
    pub fn stats(&self) -> Result<Stats<T>> {
        match self.partial() {
            Some(Partial::Stats(stats)) => Ok((**stats).clone()),
            None if self.op == Op::Stats => Ok(Stats::new()),
            _ => {
                let why = "the stream is one of another reduction; start one of this";
                Err(Error::Undefined { op: Op::Stats, dtype: T::DTYPE, why })
            }
        }
    }
}

impl<T: Ordered> Stream<T> {
    /// The smallest element so far.
    ///
    /// # Errors
    /// [`Error::Empty`]; [`Error::Undefined`] if the stream is one of another reduction.
    pub fn min(&self) -> Result<T> {
        self.value(Op::Min, Finish::default())
    }

    /// The largest element so far.
    ///
    /// # Errors
    /// As [`min`](Self::min).
    pub fn max(&self) -> Result<T> {
        self.value(Op::Max, Finish::default())
    }

    /// The smallest and the largest element so far.
    ///
    /// # Errors
    /// As [`min`](Self::min).
    pub fn minmax(&self) -> Result<(T, T)> {
        match self.output(Op::MinMax, Finish::default())? {
            Output::Pair(min, max) => Ok((number(min), number(max))),
            other => unreachable!("minmax has two numbers, not {other:?}"),
        }
    }

    /// The first index of the smallest element so far, or of the first NaN.
    ///
    /// # Errors
    /// As [`min`](Self::min).
    pub fn argmin(&self) -> Result<u64> {
        self.value(Op::ArgMin, Finish::default())
    }

    /// The first index of the largest element so far, or of the first NaN.
    ///
    /// # Errors
    /// As [`min`](Self::min).
    pub fn argmax(&self) -> Result<u64> {
        self.value(Op::ArgMax, Finish::default())
    }
}
